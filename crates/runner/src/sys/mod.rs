//! Every raw system call of this crate, so that all `unsafe` is in one folder.
//!
//! The wrappers are thin: they turn an error return into [`std::io::Error`] and decide nothing.
#![expect(unsafe_code, reason = "the one place of this crate for raw system calls")]

pub(crate) mod clock;
pub(crate) mod clone;
pub(crate) mod disks;
pub(crate) mod filesystem;
pub(crate) mod perf;
pub(crate) mod sched;
pub(crate) mod signal;
pub(crate) mod user;
pub(crate) mod wait;

use std::io;

/// Turns the -1 of a libc call into the error it stands for.
fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
