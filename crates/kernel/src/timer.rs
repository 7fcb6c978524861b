//! Timers that are files (`timerfd`): to wait for one together with connections, and to disturb on purpose in tests.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use crate::{checked, clock, owned};

/// A timer that is a file.
#[derive(Debug)]
pub struct FileTimer(File);

impl FileTimer {
    /// Makes one that is not set.
    pub fn new() -> io::Result<Self> {
        Self::create(libc::TFD_NONBLOCK)
    }

    /// Makes one that expires again and again.
    pub fn every(period: Duration) -> io::Result<Self> {
        let timer = Self::create(0)?;
        let period = clock::timespec(period);
        timer.set(libc::itimerspec { it_interval: period, it_value: period }, 0)?;
        Ok(timer)
    }

    /// Sets it to a time of [`clock::monotonic_nanos`]; it can be read from then on, at once if that has passed. What it
    /// was set to before, and whether that has expired, is forgotten.
    pub fn set_to(&self, nanos: u64) -> io::Result<()> {
        // A value of 0 would end it.
        let at = clock::timespec(Duration::from_nanos(nanos.max(1)));
        let once = clock::timespec(Duration::ZERO);
        self.set(libc::itimerspec { it_interval: once, it_value: at }, libc::TFD_TIMER_ABSTIME)
    }

    fn create(flags: libc::c_int) -> io::Result<Self> {
        let flags = libc::TFD_CLOEXEC | flags;
        // SAFETY: plain numbers.
        let timer = owned(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) })?;
        Ok(Self(File::from(timer)))
    }

    fn set(&self, setting: libc::itimerspec, flags: libc::c_int) -> io::Result<()> {
        let no_old = std::ptr::null_mut();
        // SAFETY: the descriptor is open, `setting` is only read, and no old setting is asked for.
        checked(unsafe {
            libc::timerfd_settime(self.0.as_raw_fd(), flags, &raw const setting, no_old)
        })
        .map(drop)
    }

    /// Waits until it has expired.
    pub fn wait(&mut self) -> io::Result<()> {
        self.0.read_exact(&mut [0; 8])
    }
}

impl AsRawFd for FileTimer {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
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

    #[test]
    fn a_timer_expires_at_its_time_and_can_be_set_again() {
        let mut timer = FileTimer::new().unwrap();
        assert_eq!(timer.wait().unwrap_err().kind(), io::ErrorKind::WouldBlock, "it is not set");
        let until = clock::monotonic_nanos() + 2_000_000;
        timer.set_to(until).unwrap();
        while timer.wait().is_err() {}
        assert!(clock::monotonic_nanos() >= until);
        timer.set_to(0).unwrap();
        while timer.wait().is_err() {}
        timer.set_to(u64::MAX / 2).unwrap();
        assert_eq!(timer.wait().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
}
