//! Waiting until one of several files has something.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use crate::{checked, clock};

/// A file that [`wait`] looks at.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Entry(libc::pollfd);

impl Entry {
    /// Waits until there is something to read, or an end.
    pub fn readable(file: &impl AsRawFd) -> Self {
        Self::of(file.as_raw_fd())
    }

    /// Waits for nothing.
    pub fn none() -> Self {
        // The kernel passes such a descriptor over.
        Self::of(-1)
    }

    fn of(fd: RawFd) -> Self {
        Self(libc::pollfd { fd, events: libc::POLLIN, revents: 0 })
    }

    /// Says whether the last wait found something.
    pub fn is_ready(&self) -> bool {
        self.0.revents != 0
    }
}

/// Waits until one of the entries has something, or the time is up, or a signal arrived.
///
/// Looking at the entries again and computing the rest of the time is the caller's loop, so a
/// signal is no error here.
pub fn wait(entries: &mut [Entry], timeout: Option<Duration>) -> io::Result<()> {
    let limit = timeout.map(clock::timespec);
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let length = libc::nfds_t::try_from(entries.len()).unwrap_or(libc::nfds_t::MAX);
    for entry in entries.iter_mut() {
        entry.0.revents = 0;
    }
    let first = entries.as_mut_ptr().cast();
    // SAFETY: pointer and length describe `entries`, each of which is a pollfd and nothing else; `limit` is null or
    // a live timespec; without a signal mask the call is `poll` with a finer timeout.
    match checked(unsafe { libc::ppoll(first, length, limit, std::ptr::null()) }) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(()),
    }
}
