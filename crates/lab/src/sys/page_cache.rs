//! What the kernel keeps of files.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

/// Lets the kernel drop the clean pages of a file from memory; what was written has to be synced before.
pub(crate) fn forget(file: &File) -> io::Result<()> {
    // SAFETY: takes plain numbers; the descriptor is open in the caller. Length 0 means up to the end.
    let error = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}
