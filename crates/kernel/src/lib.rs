//! Every raw system call of becalm, and all of its `unsafe`.
//!
//! The wrappers are thin: they turn an error return into [`std::io::Error`] and decide nothing. What a number means,
//! and what a person is told about it, stands above. There is one wrapper for each thing, by subject: processes
//! ([`clone`], [`wait`], [`process`], [`signal`], [`interrupt`], [`user`]), where and when they run ([`affinity`],
//! [`sched`], [`clock`], [`timer`]), on which memory ([`numa`], [`huge_pages`], [`cached`]), what the kernel counts ([`perf`]), files and memory ([`allocator`] is what static builds
//! have of it).
//!
//! It may use `libc` alone, and in static builds the allocator, and is the only crate that does: the numbers that others need ([`errno`], signals, flags
//! of files) are passed on here. Start with [`clone`]: a subject is started there. Each `unsafe` block says in a
//! SAFETY line why it is sound, and a test of the sources counts them.

#![expect(unsafe_code, reason = "the one crate for raw system calls")]
#![warn(clippy::undocumented_unsafe_blocks)]

pub mod affinity;
pub mod allocator;
pub mod cached;
pub mod capability;
pub mod clock;
pub mod clone;
pub mod descriptor;
pub mod ending;
pub mod errno;
mod eventfd;
pub mod file;
pub mod huge_pages;
pub mod interrupt;
pub mod limit;
pub mod memory;
pub mod numa;
pub mod perf;
pub mod personality;
pub mod poll;
pub mod process;
pub mod sched;
pub mod seccomp;
pub mod signal;
pub mod socket;
mod stack;
mod step;
pub mod timer;
pub mod tracefs;
pub mod tsc;
pub mod user;
pub mod wait;

use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};

/// Turns the -1 of a call into the error that it stands for.
fn checked<T: Copy + Into<i64>>(result: T) -> io::Result<T> {
    if result.into() < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Takes the descriptor that a call has just made, or the error that it returned instead.
fn owned(fd: impl Into<i64>) -> io::Result<OwnedFd> {
    let fd = RawFd::try_from(checked(fd.into())?).map_err(io::Error::other)?;
    // SAFETY: the kernel has just returned this descriptor, so nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
