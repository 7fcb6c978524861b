//! Waiting for a child, ending it and learning what it used.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use crate::{checked, owned};

/// A process id as the kernel gives it.
pub type Pid = libc::pid_t;

/// What a process and the children that it waited for have used.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// Seconds in user mode.
    pub user: f64,
    /// Seconds in the kernel.
    pub system: f64,
    /// Bytes, at the most.
    pub max_rss: u64,
    /// `ru_nvcsw`.
    pub voluntary_switches: u64,
    /// `ru_nivcsw`.
    pub involuntary_switches: u64,
    /// `ru_minflt`.
    pub minor_faults: u64,
    /// `ru_majflt`.
    pub major_faults: u64,
}

impl Usage {
    /// Returns the CPU time in user mode and in the kernel, in seconds.
    pub fn cpu_time(&self) -> f64 {
        self.user + self.system
    }

    /// Returns how often it left its CPU.
    pub fn switches(&self) -> u64 {
        self.voluntary_switches + self.involuntary_switches
    }

    /// Returns what was used after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let seconds = |field: fn(&Self) -> f64| (field(self) - field(earlier)).max(0.0);
        let count = |field: fn(&Self) -> u64| field(self).saturating_sub(field(earlier));
        Self {
            user: seconds(|usage| usage.user),
            system: seconds(|usage| usage.system),
            max_rss: self.max_rss,
            voluntary_switches: count(|usage| usage.voluntary_switches),
            involuntary_switches: count(|usage| usage.involuntary_switches),
            minor_faults: count(|usage| usage.minor_faults),
            major_faults: count(|usage| usage.major_faults),
        }
    }
}

impl From<libc::rusage> for Usage {
    fn from(usage: libc::rusage) -> Self {
        Self {
            user: seconds(usage.ru_utime),
            system: seconds(usage.ru_stime),
            max_rss: count(usage.ru_maxrss) * 1024,
            voluntary_switches: count(usage.ru_nvcsw),
            involuntary_switches: count(usage.ru_nivcsw),
            minor_faults: count(usage.ru_minflt),
            major_faults: count(usage.ru_majflt),
        }
    }
}

/// Ends the process of a [`pidfd`] at once, and no other: its number cannot be somebody else's.
pub fn kill(process: &OwnedFd) -> io::Result<()> {
    let nothing = std::ptr::null::<libc::siginfo_t>();
    let number = process.as_raw_fd();
    // SAFETY: plain numbers, and no information to go with the signal.
    let done =
        unsafe { libc::syscall(libc::SYS_pidfd_send_signal, number, libc::SIGKILL, nothing, 0) };
    checked(done).map(drop)
}

/// Reaps a child that has ended or is about to.
pub fn reap(pid: Pid) -> io::Result<(ExitStatus, Usage)> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are valid places for what the call writes.
        match checked(unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) }) {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // SAFETY: wait4 has filled it in; it was zeroed before, which is a valid rusage too.
    let usage = unsafe { usage.assume_init() };
    Ok((ExitStatus::from_raw(status), usage.into()))
}

/// Returns what a child has used that has ended and is not reaped; `None` where it has not ended.
///
/// Of the switch of its end it cannot be said whether it is in it yet.
pub fn used_by_ended(pid: Pid) -> Option<Usage> {
    let id = libc::id_t::try_from(pid).ok()?;
    let mut ended = MaybeUninit::<libc::siginfo_t>::zeroed();
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // The raw call, because libc's does not tell what was used. SAFETY: both pointers are valid places for what the
    // call writes.
    let result = unsafe {
        libc::syscall(
            libc::SYS_waitid,
            libc::P_PID,
            id,
            ended.as_mut_ptr(),
            libc::WEXITED | libc::WNOWAIT | libc::WNOHANG,
            usage.as_mut_ptr(),
        )
    };
    // SAFETY: both were zeroed, which is valid, before the call filled them in.
    let (ended, usage) = unsafe { (ended.assume_init().si_pid(), usage.assume_init()) };
    (result == 0 && ended == pid).then(|| usage.into())
}

/// Reaps what is left of a group that was killed, where this process is the first of a container: orphans are its
/// children, and nobody else takes them away. They take a moment to end, and a long one where others want their CPU.
pub fn reap_orphans(group: Pid) {
    const TRIES: u32 = 1000;
    if std::process::id() != 1 {
        return;
    }
    for _ in 0..TRIES {
        // SAFETY: takes plain numbers; no status is asked for.
        match unsafe { libc::waitpid(-group, std::ptr::null_mut(), libc::WNOHANG) } {
            0 => std::thread::sleep(Duration::from_millis(1)),
            1.. => {}
            ..0 => return,
        }
    }
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 * 1e-6
}

fn count(value: libc::c_long) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// Whether a signal has come to anybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It has, or nobody was left.
    Done,
    /// All that is left of the group belongs to another user.
    NotAllowed,
}

/// Sends a signal to a whole process group.
pub fn kill_group(group: Pid, signal: i32) -> Sent {
    // SAFETY: takes plain numbers. The caller has not reaped the leader yet, so that the number
    // cannot have been given to another group.
    match checked(unsafe { libc::kill(-group, signal) }) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => Sent::NotAllowed,
        _ => Sent::Done,
    }
}

/// Sends a signal to a subject, which the caller has not reaped: to its process group, and to the process itself
/// where it has left that.
pub fn kill_subject(leader: Pid, signal: i32) -> Sent {
    let sent = kill_group(leader, signal);
    // SAFETY: takes a plain number.
    if unsafe { libc::getpgid(leader) } == leader {
        return sent;
    }
    // SAFETY: takes plain numbers. The number cannot have been given to another process yet.
    match checked(unsafe { libc::kill(leader, signal) }) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => Sent::NotAllowed,
        _ => Sent::Done,
    }
}

/// Says whether a child was stopped because it wanted to use the terminal: its group is in the background.
pub fn wants_terminal(pid: Pid) -> bool {
    let mut facts = MaybeUninit::<libc::siginfo_t>::zeroed();
    let Ok(id) = libc::id_t::try_from(pid) else { return false };
    let options = libc::WSTOPPED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `facts` has room for what the call writes, and is all zero, which is valid, where it writes nothing.
    unsafe {
        checked(libc::waitid(libc::P_PID, id, facts.as_mut_ptr(), options)).is_ok()
            && [libc::SIGTTIN, libc::SIGTTOU].contains(&facts.assume_init().si_status())
    }
}

/// Returns a descriptor that is readable once the process has ended.
pub fn pidfd(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: takes plain numbers.
    owned(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })
}
