//! Clocks and timers for tests that disturb on purpose. All `unsafe` of it.

#![expect(unsafe_code, reason = "system calls that the standard library does not wrap")]

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::FromRawFd as _;
use std::time::Duration;

/// Returns the CPU time that the calling thread has used, in seconds.
pub fn thread_cpu_time() -> f64 {
    let mut used = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `used` is a valid place for one timespec; the call touches nothing else.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut used) };
    assert_eq!(result, 0, "every Linux kernel has this clock");
    used.tv_sec as f64 + used.tv_nsec as f64 * 1e-9
}

/// A timer that is a file (`timerfd`).
#[derive(Debug)]
pub struct FileTimer(File);

impl FileTimer {
    /// Makes one that expires again and again.
    pub fn every(period: Duration) -> io::Result<Self> {
        // SAFETY: plain numbers.
        let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just returned this descriptor, so nobody else owns it.
        let file = unsafe { File::from_raw_fd(fd) };
        let period = libc::timespec {
            tv_sec: libc::time_t::try_from(period.as_secs()).map_err(io::Error::other)?,
            tv_nsec: libc::c_long::from(i32::try_from(period.subsec_nanos()).unwrap_or(0)),
        };
        let setting = libc::itimerspec { it_interval: period, it_value: period };
        // SAFETY: the descriptor is open, `setting` is only read, and no old setting is asked for.
        let set = unsafe { libc::timerfd_settime(fd, 0, &raw const setting, std::ptr::null_mut()) };
        if set < 0 { Err(io::Error::last_os_error()) } else { Ok(Self(file)) }
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
        let before = thread_cpu_time();
        let mut timer = FileTimer::every(Duration::from_micros(100)).unwrap();
        (0..3).for_each(|_| timer.wait().unwrap());
        assert!(thread_cpu_time() >= before);
    }
}
