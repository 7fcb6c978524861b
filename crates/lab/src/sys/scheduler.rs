//! Scheduling class of threads, and what the scheduler did to the calling one.

use std::io;

/// Puts a thread, 0 for the calling one, into `SCHED_FIFO`.
pub(crate) fn set_fifo(tid: u32, priority: u8) -> io::Result<()> {
    let tid = libc::pid_t::try_from(tid).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: all bytes zero is a valid value; some platforms have more fields than the priority.
    let mut parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    parameter.sched_priority = libc::c_int::from(priority);
    // The system call, because musl's function of that name refuses everything.
    // SAFETY: `parameter` is initialised, outlives the call and is only read.
    let result = unsafe {
        libc::syscall(libc::SYS_sched_setscheduler, tid, libc::SCHED_FIFO, &raw const parameter)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Returns how often the CPU was taken from the calling thread by another one.
pub(crate) fn involuntary_switches() -> io::Result<u64> {
    // SAFETY: all bytes zero is a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is valid, outlives the call, and the kernel only writes to it.
    if unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) } < 0 {
        return Err(io::Error::last_os_error());
    }
    u64::try_from(usage.ru_nivcsw).map_err(|_| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_cannot_exist_is_refused() {
        assert!(set_fifo(u32::MAX, 1).is_err());
        assert!(set_fifo(0, 200).is_err());
    }

    #[test]
    fn switches_are_counted() {
        assert!(involuntary_switches().is_ok());
    }
}
