//! Timers that disturb on purpose, in tests.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsRawFd as _;
use std::time::Duration;

use crate::{checked, clock, owned};

/// A timer that is a file (`timerfd`).
#[derive(Debug)]
pub struct FileTimer(File);

impl FileTimer {
    /// Makes one that expires again and again.
    pub fn every(period: Duration) -> io::Result<Self> {
        // SAFETY: plain numbers.
        let timer =
            owned(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) })?;
        let period = clock::timespec(period);
        let setting = libc::itimerspec { it_interval: period, it_value: period };
        let no_old = std::ptr::null_mut();
        // SAFETY: the descriptor is open, `setting` is only read, and no old setting is asked for.
        checked(unsafe {
            libc::timerfd_settime(timer.as_raw_fd(), 0, &raw const setting, no_old)
        })?;
        Ok(Self(File::from(timer)))
    }

    /// Waits until it has expired.
    pub fn wait(&mut self) -> io::Result<()> {
        self.0.read_exact(&mut [0; 8])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_expires_again_and_again_while_the_thread_sleeps() {
        let before = clock::thread_cpu_time();
        let mut timer = FileTimer::every(Duration::from_micros(100)).unwrap();
        (0..3).for_each(|_| timer.wait().unwrap());
        assert!(clock::thread_cpu_time() >= before);
    }
}
