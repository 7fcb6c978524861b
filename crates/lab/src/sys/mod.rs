//! Every raw system call and instruction of this crate, so that all `unsafe` is in one folder.
//!
//! The wrappers are thin: they turn an error return into [`std::io::Error`] and decide nothing.
#![expect(unsafe_code, reason = "the one place of this crate for raw system calls")]

pub(crate) mod memory;
pub(crate) mod page_cache;
pub(crate) mod scheduler;
pub(crate) mod trace;
pub(crate) mod tsc;

use std::io;

/// Turns the -1 of a libc call into the error it stands for.
fn checked(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
