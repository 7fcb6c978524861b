//! The few system calls that the standard library does not wrap. All `unsafe` of this crate.

#![expect(unsafe_code, reason = "direct system calls; this is the only file that has any")]

use std::io;
use std::os::fd::{AsFd as _, AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::Duration;

use becalm_model::{CpuId, CpuSet, MAX_CPU};

/// Returns the time of `CLOCK_MONOTONIC`, the clock that [`crate::Activity::at`] uses.
pub fn monotonic_now() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec that outlives the call, which only writes to it.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    assert_eq!(status, 0, "every Linux kernel has CLOCK_MONOTONIC");
    let seconds = u64::try_from(time.tv_sec).expect("the monotonic clock starts at 0");
    let nanos = u32::try_from(time.tv_nsec).expect("a timespec has less than 1e9 nanoseconds");
    Duration::new(seconds, nanos)
}

/// Lets a descriptor live on with the program that this process becomes.
pub(crate) fn keep_over_exec(descriptor: &impl AsRawFd) -> io::Result<()> {
    const NO_FLAGS: libc::c_int = 0;
    // SAFETY: plain numbers; the descriptor is open for as long as it is borrowed.
    let status = unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_SETFD, NO_FLAGS) };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Lets a program that `command` starts have its standard input, output and error, and nothing else that this
/// process was started with: a lock, the end of a pipe.
pub(crate) fn hand_on_nothing_else(command: &mut Command) {
    const FIRST: libc::c_uint = 3;
    /// As far as older kernels are asked one by one: who hands something on uses low numbers.
    const SEARCHED: libc::c_int = 256;
    let close = || {
        // SAFETY: these calls take plain numbers, and change nothing of the process before it executes another
        // program. The one for all was made in Linux 5.9, and knows the flag from 5.11 on.
        unsafe {
            if libc::syscall(
                libc::SYS_close_range,
                FIRST,
                libc::c_uint::MAX,
                libc::CLOSE_RANGE_CLOEXEC,
            ) < 0
            {
                for descriptor in FIRST.cast_signed()..SEARCHED {
                    libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
                }
            }
        }
        Ok(())
    };
    // SAFETY: the closure runs between fork and exec and makes system calls only.
    unsafe { command.pre_exec(close) };
}

/// Returns how many ticks `/proc/stat` counts in a second (100 on every common architecture).
pub(crate) fn ticks_per_second() -> f64 {
    // SAFETY: sysconf takes a plain number and touches no memory of ours.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    if ticks > 0 { ticks as f64 } else { 100.0 }
}

/// The first published layout of `struct perf_event_attr` (`include/uapi/linux/perf_event.h`).
#[repr(C)]
struct PerfAttr {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

/// Opens a counter of everything that runs on `cpu`, in the group of `leader` if there is one, whose
/// counters are all read together.
pub(crate) fn open_counter(
    kind: u32,
    config: u64,
    cpu: CpuId,
    leader: Option<BorrowedFd<'_>>,
) -> io::Result<OwnedFd> {
    const FORMAT_GROUP: u64 = 1 << 3;
    const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;
    const EVERYBODY: libc::pid_t = -1;
    let attr = PerfAttr {
        kind,
        size: 64,
        config,
        sample_period: 0,
        sample_type: 0,
        read_format: FORMAT_GROUP,
        flags: 0,
        wakeup_events: 0,
        breakpoint_type: 0,
        config1: 0,
    };
    let cpu = libc::c_int::try_from(cpu.0).map_err(io::Error::other)?;
    let leader = leader.map_or(-1, |leader| leader.as_raw_fd());
    // SAFETY: `attr` is a valid perf_event_attr of the size that it states and outlives the call, which
    // only reads it.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attr,
            EVERYBODY,
            cpu,
            leader,
            CLOSE_ON_EXEC,
        )
    };
    match libc::c_int::try_from(fd) {
        // SAFETY: the kernel has just returned this descriptor, so nobody else owns it.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Reads the three counters of a group.
pub(crate) fn read_counters(leader: BorrowedFd<'_>) -> io::Result<[u64; 3]> {
    let mut words = [0_u64; 4];
    let size = std::mem::size_of_val(&words);
    // SAFETY: the buffer is valid for writes of `size` bytes and outlives the call.
    let read = unsafe { libc::read(leader.as_raw_fd(), words.as_mut_ptr().cast(), size) };
    match usize::try_from(read) {
        // The number of counters comes first.
        Ok(read) if read == size && words[0] == 3 => Ok([words[1], words[2], words[3]]),
        Ok(_) => Err(io::Error::other("the group of counters is not complete")),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Opens a socket for messages about network interfaces and routes.
pub(crate) fn route_socket() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: plain numbers go in; the descriptor that comes back is owned by nobody else.
    unsafe {
        match libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE) {
            fd if fd >= 0 => Ok(OwnedFd::from_raw_fd(fd)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Returns the number of a network interface.
pub(crate) fn interface_index(name: &str) -> io::Result<u32> {
    let name = std::ffi::CString::new(name)?;
    // SAFETY: the name ends with a zero byte and outlives the call, which only reads it.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}

/// Signals that end programs, and one by which a guardian is relieved.
const ENDINGS: [libc::c_int; 5] =
    [libc::SIGTERM, libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, RELIEVED];
/// Somebody else takes over from the guardian.
pub(crate) const RELIEVED: libc::c_int = libc::SIGUSR1;

/// Leaves the session, and with it the terminal that can end its processes.
pub(crate) fn leave_session() {
    // SAFETY: setsid takes and touches no memory. It fails only for a group leader, which a process
    // started by another one is not; then the process simply stays in its session.
    unsafe { libc::setsid() };
}

/// Blocks the signals that end programs: from now on they wait until somebody asks for them.
pub(crate) fn block_endings() -> io::Result<()> {
    let set = endings();
    // SAFETY: `set` is an initialised signal set that outlives the call; no old set is asked for.
    let error =
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    // SAFETY: ignoring a signal installs no code of ours.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    Ok(())
}

/// Why a guardian ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Somebody else takes over.
    Relieved,
    /// A signal that ends programs.
    Asked,
}

/// Waits for one of the blocked signals. A terminal that hangs up is no reason to end.
pub(crate) fn wait_for_ending() -> io::Result<Ending> {
    let set = endings();
    loop {
        let mut signal = 0;
        // SAFETY: `set` is an initialised signal set and `signal` a valid place for the number, both
        // outlive the call.
        let error = unsafe { libc::sigwait(&raw const set, &raw mut signal) };
        match (error, signal) {
            (0, libc::SIGHUP) => {}
            (0, RELIEVED) => return Ok(Ending::Relieved),
            (0, _) => return Ok(Ending::Asked),
            (error, _) => return Err(io::Error::from_raw_os_error(error)),
        }
    }
}

fn endings() -> libc::sigset_t {
    let mut set = std::mem::MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the whole set, and sigaddset changes it afterwards; the
    // numbers are those of existing signals, so neither fails.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in ENDINGS {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// Lets standard error go nowhere from now on.
pub(crate) fn mute() -> io::Result<()> {
    let null = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
    // SAFETY: both descriptors are open; dup2 makes the second one mean the first one's file.
    if unsafe { libc::dup2(null.as_raw_fd(), libc::STDERR_FILENO) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Returns a second handle to the standard input.
pub(crate) fn standard_input() -> io::Result<OwnedFd> {
    io::stdin().as_fd().try_clone_to_owned()
}

/// Sends a signal to a process.
pub(crate) fn signal(pid: u32, signal: libc::c_int) -> io::Result<()> {
    let pid = libc::pid_t::try_from(pid).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: kill takes plain numbers; `pid` is positive, so it means one process.
    if pid > 0 && unsafe { libc::kill(pid, signal) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Returns which process listens on an abstract socket, 0 if it is in another container; `None` if
/// nobody does. The listener is not disturbed.
pub(crate) fn owner_of_socket(name: &[u8]) -> Option<u32> {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: plain numbers; the descriptor is owned by nobody else.
    let socket = unsafe {
        let fd = libc::socket(libc::AF_UNIX, kind, 0);
        if fd < 0 {
            return None;
        }
        OwnedFd::from_raw_fd(fd)
    };
    // SAFETY: all bytes zero is a valid address.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::sa_family_t::try_from(libc::AF_UNIX).ok()?;
    // An abstract name starts with a zero byte, which is there already.
    let place = address.sun_path.get_mut(1..=name.len())?;
    for (to, from) in place.iter_mut().zip(name) {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    let length = std::mem::offset_of!(libc::sockaddr_un, sun_path) + 1 + name.len();
    let length = libc::socklen_t::try_from(length).ok()?;
    // SAFETY: `address` is an initialised address of at least `length` bytes, which is only read.
    let connected =
        unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) };
    if connected < 0 {
        // A full queue has a listener too, who cannot be asked for the name any more.
        let is_full = io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN);
        return is_full.then_some(0);
    }
    let mut owner = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut size = libc::socklen_t::try_from(size_of_val(&owner)).ok()?;
    // SAFETY: `owner` is a valid place of `size` bytes, and both outlive the call.
    let got = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut owner).cast(),
            &raw mut size,
        )
    };
    Some(if got < 0 { 0 } else { u32::try_from(owner.pid).unwrap_or(0) })
}

/// Puts a thread on these CPUs.
pub(crate) fn set_affinity(tid: u32, cpus: &CpuSet) -> io::Result<()> {
    const WORDS: usize = (MAX_CPU as usize + 1) / 64;
    let mut words = [0_u64; WORDS];
    for cpu in cpus.iter() {
        if let Some(word) = words.get_mut(cpu.0 as usize / 64) {
            *word |= 1 << (cpu.0 % 64);
        }
    }
    // SAFETY: pointer and length describe `words`, which the kernel only reads.
    let result = unsafe {
        libc::syscall(libc::SYS_sched_setaffinity, tid, size_of_val(&words), words.as_ptr())
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_monotonic_clock_does_not_run_backwards() {
        let earlier = monotonic_now();
        assert!(monotonic_now() >= earlier);
    }

    #[test]
    fn ticks_are_a_sensible_number() {
        assert!((50.0..=10_000.0).contains(&ticks_per_second()));
    }
}
