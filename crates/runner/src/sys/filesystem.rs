//! Which kind of file system a file lies on.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd as _;

/// Says whether a file lies in memory alone, so that nothing can make reading it cold.
pub fn is_in_memory(file: &File) -> io::Result<bool> {
    /// `RAMFS_MAGIC` of `linux/magic.h`.
    const RAMFS: u64 = 0x8584_58f6;
    const LOW: u64 = 0xffff_ffff;
    let mut facts = MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the descriptor is open in the caller and `facts` has room for what is written.
    if unsafe { libc::fstatfs(file.as_raw_fd(), facts.as_mut_ptr()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: fstatfs has filled it in; it was zeroed before, which is a valid value too.
    let facts = unsafe { facts.assume_init() };
    // The type of the field differs between architectures; the magic numbers have 32 bits.
    #[expect(clippy::cast_sign_loss, reason = "only the bits are compared")]
    let (kind, tmpfs) = (facts.f_type as u64 & LOW, libc::TMPFS_MAGIC as u64 & LOW);
    Ok(kind == tmpfs || kind == RAMFS)
}
