//! A counter that is a file: it wakes a poll from inside a signal handler.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use crate::owned;

/// An eventfd, which is readable while it is not zero.
#[derive(Debug)]
pub(crate) struct EventFd(OwnedFd);

impl EventFd {
    /// Makes one that is zero.
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: takes plain numbers.
        owned(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) }).map(Self)
    }

    /// Adds one. Async-signal-safe: one `write`, and `errno` is left as it was.
    pub(crate) fn wake(&self) {
        let one = 1_u64.to_ne_bytes();
        // SAFETY: writes the eight bytes of `one`; errno is thread-local and restored, because the
        // interrupted code may be between a call and its look at errno.
        unsafe {
            let errno = *libc::__errno_location();
            libc::write(self.0.as_raw_fd(), one.as_ptr().cast(), one.len());
            *libc::__errno_location() = errno;
        }
    }

    /// Sets it back to zero.
    pub(crate) fn drain(&self) {
        let mut count = [0_u8; 8];
        // SAFETY: reads at most the eight bytes that there is room for; does not block, as the eventfd
        // was made with EFD_NONBLOCK.
        unsafe {
            libc::read(self.0.as_raw_fd(), count.as_mut_ptr().cast(), count.len());
        }
    }
}

impl AsRawFd for EventFd {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
