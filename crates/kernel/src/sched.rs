//! Scheduling class and niceness of threads, and what the scheduler did to them.

use std::fs::File;
use std::io::{self, Read as _};

pub use libc::{SCHED_BATCH, SCHED_FIFO, SCHED_IDLE, SCHED_OTHER, SCHED_RR};

use crate::checked;
use crate::wait::Pid;

/// The calling thread, as these calls name it.
const ITSELF: Pid = 0;

/// Returns the scheduling class of the calling thread, with `SCHED_RESET_ON_FORK` where it has that.
fn own_policy() -> io::Result<libc::c_int> {
    // The raw call: musl's wrapper refuses. SAFETY: plain numbers.
    let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, ITSELF) };
    libc::c_int::try_from(policy)
        .ok()
        .filter(|policy| *policy >= 0)
        .ok_or_else(io::Error::last_os_error)
}

/// Returns the niceness of the calling thread. -1 may be an error too, which is not to be expected for itself.
fn own_nice() -> i32 {
    // SAFETY: plain numbers.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }
}

/// Says whether the calling thread has the normal scheduling class and no niceness.
pub fn is_ordinary() -> io::Result<bool> {
    Ok(own_policy()? & !libc::SCHED_RESET_ON_FORK == libc::SCHED_OTHER && own_nice() == 0)
}

/// The scheduling of the calling thread as what it starts inherits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inherited {
    /// `SCHED_OTHER` and its like.
    pub policy: libc::c_int,
    /// Real-time priority.
    pub priority: libc::c_int,
    /// Niceness.
    pub nice: i32,
}

impl Inherited {
    /// Reads it.
    pub fn read() -> io::Result<Self> {
        let mut priority: libc::c_int = 0;
        // The raw call: musl's wrapper refuses. SAFETY: `priority` is the one field of `struct sched_param` as the
        // kernel knows it.
        checked(unsafe { libc::syscall(libc::SYS_sched_getparam, ITSELF, &raw mut priority) })?;
        let (policy, nice) = (own_policy()?, own_nice());
        if policy & libc::SCHED_RESET_ON_FORK == 0 {
            return Ok(Self { policy, priority, nice });
        }
        let policy = match policy & !libc::SCHED_RESET_ON_FORK {
            libc::SCHED_FIFO | libc::SCHED_RR => libc::SCHED_OTHER,
            other => other,
        };
        Ok(Self { policy, priority: 0, nice: nice.max(0) })
    }
}

/// Gives the calling thread `SCHED_FIFO` with this priority; what it starts later gets the normal class.
pub fn set_own_fifo(priority: u8) -> io::Result<()> {
    set_own_class(libc::SCHED_FIFO, priority)
}

/// Gives the calling thread the normal class back. The flag stays, because dropping it needs
/// privilege and keeping it only makes children as ordinary as they are.
pub fn leave_own_fifo() -> io::Result<()> {
    set_own_class(libc::SCHED_OTHER, 0)
}

/// Lets the calling thread run only while nothing else wants to (`SCHED_IDLE`).
pub fn go_idle() -> io::Result<()> {
    set_own_class(libc::SCHED_IDLE, 0)
}

/// Lets the calling thread, which is of the normal class, wake up when it asked to: its timers no longer wait to fire
/// together with others (up to 50 us, `PR_SET_TIMERSLACK`), and with a slice this short it goes at once before a
/// thread that computes (Linux 6.12; `sched_runtime` of `sched_setattr`). Where the kernel knows neither it only
/// wakes up later.
pub fn wake_up_on_time() {
    // SAFETY: plain numbers.
    let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
    shorten_own_slice();
}

/// Lets the calling thread, which is of the normal class, go on only for a moment each time it has its CPU.
fn shorten_own_slice() {
    /// The shortest that the kernel takes, in nanoseconds.
    const SLICE: u64 = 100_000;
    let attributes = libc::sched_attr {
        // The fields that every kernel with this call knows (`SCHED_ATTR_SIZE_VER0`).
        size: 48,
        sched_policy: libc::SCHED_OTHER.unsigned_abs(),
        // A thread that has the flag could not drop it without privilege.
        sched_flags: u64::from(libc::SCHED_FLAG_RESET_ON_FORK.unsigned_abs()),
        sched_nice: own_nice(),
        sched_priority: 0,
        sched_runtime: SLICE,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the kernel reads as many bytes as `size` says, which the structure has.
    let _ = unsafe { libc::syscall(libc::SYS_sched_setattr, ITSELF, &raw const attributes, 0_u32) };
}

fn set_own_class(policy: libc::c_int, priority: u8) -> io::Result<()> {
    checked(set_class_raw(ITSELF, policy | libc::SCHED_RESET_ON_FORK, priority)).map(drop)
}

/// Puts a thread, 0 for the calling one, into `SCHED_FIFO`.
pub fn set_fifo(tid: u32, priority: u8) -> io::Result<()> {
    let tid = Pid::try_from(tid).map_err(|_| io::ErrorKind::InvalidInput)?;
    checked(set_class_raw(tid, libc::SCHED_FIFO, priority)).map(drop)
}

/// Gives a thread this class; 0, or -1 with `errno` set. The kernel's own call: musl's wrapper refuses. Allocates
/// nothing.
pub(crate) fn set_class_raw(thread: Pid, policy: libc::c_int, priority: u8) -> libc::c_long {
    let parameter = libc::c_int::from(priority);
    // SAFETY: `parameter` is the one field of `struct sched_param` as the kernel knows it, and is only read.
    unsafe { libc::syscall(libc::SYS_sched_setscheduler, thread, policy, &raw const parameter) }
}

/// Sets the niceness of the calling thread; 0, or -1 with `errno` set. Allocates nothing.
pub(crate) fn set_nice_raw(nice: i32) -> libc::c_int {
    const THIS_THREAD: libc::id_t = 0;
    // SAFETY: plain numbers.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, THIS_THREAD, nice) }
}

/// Lets the calling thread go after all others of the normal class, for a hundredth of the time that one of them has, and in
/// slices so short that what wakes up soon has its CPU. Without privilege it cannot take that back. (`SCHED_IDLE` would have
/// a third of a thousandth: beside a program that computes it never gets done.)
pub fn go_last() {
    // Niceness can always be raised.
    let _ = set_nice_raw(19);
    shorten_own_slice();
}

/// Lets the calling thread go before all others of the normal class.
pub fn go_first() -> io::Result<()> {
    checked(set_nice_raw(-20)).map(drop)
}

/// Returns how often the CPU was taken from the calling thread by another one.
pub fn involuntary_switches() -> io::Result<u64> {
    // SAFETY: all bytes zero is a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is valid, outlives the call, and the kernel only writes to it.
    checked(unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) })?;
    u64::try_from(usage.ru_nivcsw).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// What the scheduler did with a thread since it was made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scheduled {
    /// Seconds on a CPU.
    pub ran: f64,
    /// Seconds in which it was ready to run and waited for a CPU.
    pub waited: f64,
}

/// Reads that of a thread of this machine, or of the main thread of a process, from `/proc/PID/schedstat`. The file is
/// there without `CONFIG_SCHEDSTATS`, and after the process has ended, until it is reaped.
pub fn scheduled(pid: Pid) -> Option<Scheduled> {
    let mut buffer = [0; 80];
    let length = File::open(format!("/proc/{pid}/schedstat")).ok()?.read(&mut buffer).ok()?;
    let mut numbers = std::str::from_utf8(&buffer[..length]).ok()?.split_ascii_whitespace();
    let mut seconds = || Some(numbers.next()?.parse::<u64>().ok()? as f64 * 1e-9);
    Some(Scheduled { ran: seconds()?, waited: seconds()? })
}

/// Returns what the scheduler did with the calling thread.
pub fn own_scheduled() -> Option<Scheduled> {
    scheduled(Pid::try_from(own_tid()).ok()?)
}

/// Returns the number of the calling thread.
pub fn own_tid() -> u32 {
    // SAFETY: takes and touches nothing.
    let tid = unsafe { libc::syscall(libc::SYS_gettid) };
    u32::try_from(tid).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_goes_last_is_as_nice_as_can_be() {
        let nice = std::thread::spawn(|| {
            go_last();
            own_nice()
        });
        assert_eq!(nice.join().unwrap(), 19);
    }

    #[test]
    fn a_thread_that_cannot_exist_is_refused() {
        assert!(set_fifo(u32::MAX, 1).is_err());
        assert!(set_fifo(0, 200).is_err());
    }

    #[test]
    fn what_the_scheduler_did_with_this_thread_is_counted() {
        if let Some(before) = own_scheduled() {
            let after = own_scheduled().unwrap();
            assert!(after.ran >= before.ran && after.waited >= before.waited);
        }
        assert!(scheduled(Pid::MAX).is_none());
    }

    #[test]
    fn switches_are_counted() {
        assert!(involuntary_switches().is_ok());
    }
}
