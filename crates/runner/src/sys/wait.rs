//! Waiting for the child, ending it and learning what it used.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};
use std::time::Duration;

use super::{checked, clock};

/// A process id as the kernel gives it.
pub(crate) type Pid = libc::pid_t;

/// How a child ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Status(libc::c_int);

impl Status {
    /// Returns the exit code, or the signal as the error.
    pub(crate) fn exit(self) -> Result<i32, i32> {
        if libc::WIFSIGNALED(self.0) {
            Err(libc::WTERMSIG(self.0))
        } else {
            Ok(libc::WEXITSTATUS(self.0))
        }
    }
}

/// What a process and the children that it waited for have used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    /// Seconds in user mode.
    pub(crate) user: f64,
    /// Seconds in the kernel.
    pub(crate) system: f64,
    /// Bytes, at the most.
    pub(crate) max_rss: u64,
    /// `ru_nvcsw`.
    pub(crate) voluntary_switches: u64,
    /// `ru_nivcsw`.
    pub(crate) involuntary_switches: u64,
    /// `ru_minflt`.
    pub(crate) minor_faults: u64,
    /// `ru_majflt`.
    pub(crate) major_faults: u64,
}

impl Usage {
    /// Returns the CPU time in user mode and in the kernel, in seconds.
    pub(crate) fn cpu_time(&self) -> f64 {
        self.user + self.system
    }

    /// Returns how often it left its CPU.
    pub(crate) fn switches(&self) -> u64 {
        self.voluntary_switches + self.involuntary_switches
    }

    /// Returns what was used after `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
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

/// Reaps a child that has ended or is about to.
pub(crate) fn reap(pid: Pid) -> io::Result<(Status, Usage)> {
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
    Ok((Status(status), usage.into()))
}

/// Returns what a child has used that has ended and is not reaped; `None` where it has not ended.
///
/// Of the switch of its end it cannot be said whether it is in it yet.
pub(crate) fn used_by_ended(pid: Pid) -> Option<Usage> {
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
pub(crate) fn reap_orphans(group: Pid) {
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
pub(crate) enum Sent {
    /// It has, or nobody was left.
    Done,
    /// All that is left of the group belongs to another user.
    NotAllowed,
}

/// Sends a signal to a whole process group.
pub(crate) fn kill_group(group: Pid, signal: libc::c_int) -> Sent {
    // SAFETY: takes plain numbers. The caller has not reaped the leader yet, so that the number
    // cannot have been given to another group.
    match checked(unsafe { libc::kill(-group, signal) }) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => Sent::NotAllowed,
        _ => Sent::Done,
    }
}

/// Sends a signal to a subject, which the caller has not reaped: to its process group, and to the process itself
/// where it has left that.
pub(crate) fn kill_subject(leader: Pid, signal: libc::c_int) -> Sent {
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
pub(crate) fn wants_terminal(pid: Pid) -> bool {
    let mut facts = MaybeUninit::<libc::siginfo_t>::zeroed();
    let Ok(id) = libc::id_t::try_from(pid) else { return false };
    let options = libc::WSTOPPED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `facts` has room for what the call writes, and is all zero, which is valid, where it writes nothing.
    unsafe {
        checked(libc::waitid(libc::P_PID, id, facts.as_mut_ptr(), options)).is_ok()
            && [libc::SIGTTIN, libc::SIGTTOU].contains(&facts.assume_init().si_status())
    }
}

/// Makes an entry for [`poll`]; a descriptor of -1 is passed over by the kernel.
pub(crate) fn readable(fd: RawFd) -> libc::pollfd {
    libc::pollfd { fd, events: libc::POLLIN, revents: 0 }
}

/// Sends a signal to one process, which the caller has started and not reaped.
pub(crate) fn kill(pid: Pid, signal: libc::c_int) {
    // SAFETY: takes plain numbers. The number cannot have been given to another process yet.
    unsafe {
        libc::kill(pid, signal);
    }
}

/// Returns a descriptor that is readable once the process has ended.
pub(crate) fn pidfd(pid: Pid) -> io::Result<OwnedFd> {
    // SAFETY: takes plain numbers.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let fd = checked(RawFd::try_from(fd).map_err(io::Error::other)?)?;
    // SAFETY: the kernel just made this descriptor for us, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Waits until one of the entries has something, or the time is up, or a signal arrived.
///
/// Looking at the entries again and computing the rest of the time is the caller's loop, so a
/// signal is no error here.
pub(crate) fn poll(entries: &mut [libc::pollfd], timeout: Option<Duration>) -> io::Result<()> {
    let limit = timeout.map(clock::timespec);
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let length = libc::nfds_t::try_from(entries.len()).unwrap_or(libc::nfds_t::MAX);
    for entry in entries.iter_mut() {
        entry.revents = 0;
    }
    // SAFETY: pointer and length describe `entries`; `limit` is null or a live timespec; without a
    // signal mask the call is `poll` with a finer timeout.
    match checked(unsafe { libc::ppoll(entries.as_mut_ptr(), length, limit, std::ptr::null()) }) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(()),
    }
}

/// Lets a pipe hold more before its writer has to wait. Failing is harmless.
pub(crate) fn enlarge_pipe(fd: RawFd, bytes: libc::c_int) {
    // SAFETY: takes plain numbers; the descriptor is open in the caller.
    unsafe {
        libc::fcntl(fd, libc::F_SETPIPE_SZ, bytes);
    }
}

/// Makes reads and writes of a descriptor wait, or return at once.
pub(crate) fn set_blocking(fd: RawFd, waits: bool) -> io::Result<()> {
    // SAFETY: takes plain numbers; the descriptor is open in the caller.
    unsafe {
        let flags = checked(libc::fcntl(fd, libc::F_GETFL))? & !libc::O_NONBLOCK;
        let flags = if waits { flags } else { flags | libc::O_NONBLOCK };
        checked(libc::fcntl(fd, libc::F_SETFL, flags))?;
    }
    Ok(())
}
