//! Files: how they are opened, what they lie on, and what the kernel keeps of them in memory.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd as _;

pub use libc::{O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, major, makedev, minor};

use crate::checked;

/// Says whether a file lies in memory alone, so that nothing can make reading it cold.
pub fn is_in_memory(file: &File) -> io::Result<bool> {
    /// `RAMFS_MAGIC` of `linux/magic.h`.
    const RAMFS: u64 = 0x8584_58f6;
    const LOW: u64 = 0xffff_ffff;
    let mut facts = MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the descriptor is open in the caller and `facts` has room for what is written.
    checked(unsafe { libc::fstatfs(file.as_raw_fd(), facts.as_mut_ptr()) })?;
    // SAFETY: fstatfs has filled it in; it was zeroed before, which is a valid value too.
    let facts = unsafe { facts.assume_init() };
    // The type of the field differs between architectures; the magic numbers have 32 bits.
    #[expect(clippy::cast_sign_loss, reason = "only the bits are compared")]
    let (kind, tmpfs) = (facts.f_type as u64 & LOW, libc::TMPFS_MAGIC as u64 & LOW);
    Ok(kind == tmpfs || kind == RAMFS)
}

/// Lets the kernel drop the clean pages of a file from memory; what was written has to be synced before.
pub fn forget(file: &File) -> io::Result<()> {
    // SAFETY: takes plain numbers; the descriptor is open in the caller. Length 0 means up to the end.
    let error = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}

/// Waits until every file system has written its dirty pages.
pub fn sync() {
    // SAFETY: `sync` takes nothing, returns nothing and cannot fail.
    unsafe { libc::sync() }
}
