//! The file system in which the kernel describes its tracepoints.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use crate::{checked, owned};

/// Opens tracefs without mounting it anywhere: what is below the returned folder is gone when it is
/// closed. Needs Linux 5.2 and `CAP_SYS_ADMIN`.
pub fn open() -> io::Result<OwnedFd> {
    const FSOPEN_CLOEXEC: libc::c_uint = 1;
    const FSMOUNT_CLOEXEC: libc::c_uint = 1;
    const FSCONFIG_CMD_CREATE: libc::c_uint = 6;
    const NO_ATTRIBUTES: libc::c_uint = 0;
    let null = std::ptr::null::<libc::c_char>();
    // SAFETY: the name is a text with its zero byte, which the kernel only reads.
    let context =
        owned(unsafe { libc::syscall(libc::SYS_fsopen, c"tracefs".as_ptr(), FSOPEN_CLOEXEC) })?;
    // SAFETY: this command takes neither key nor value.
    checked(unsafe {
        libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), FSCONFIG_CMD_CREATE, null, null, 0)
    })?;
    // SAFETY: plain numbers.
    owned(unsafe {
        libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), FSMOUNT_CLOEXEC, NO_ATTRIBUTES)
    })
}
