//! Sending signals, and what a process does with those it gets.

use std::io;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

pub use libc::{SIGCONT, SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM, SIGUSR1};

use crate::checked;
use crate::wait::Pid;

/// The signals that ask becalm to stop.
pub(crate) const STOPPING: [libc::c_int; 4] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// Highest signal number of Linux on every architecture but MIPS.
const LAST_SIGNAL: libc::c_int = 64;

/// Lets a write beyond the limit on the size of files (`RLIMIT_FSIZE`) fail, where the kernel would end this process. A
/// program that it executes has the default again.
pub fn outlive_file_size_limit() {
    extern "C" fn nothing(_: libc::c_int) {}
    let nothing: extern "C" fn(libc::c_int) = nothing;
    // SAFETY: the handler does nothing at all, at whatever moment.
    unsafe { libc::signal(libc::SIGXFSZ, nothing as libc::sighandler_t) };
}

/// Keeps every signal from the calling thread while it lives.
pub(crate) struct Blocked {
    before: libc::sigset_t,
}

impl Blocked {
    /// From now on.
    pub(crate) fn all() -> Self {
        let mut all = MaybeUninit::uninit();
        let mut before = MaybeUninit::uninit();
        // SAFETY: sigfillset makes a full set of the memory it is given, and pthread_sigmask
        // writes the former mask; with a valid `how` neither can fail.
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
            Self { before: before.assume_init() }
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: `before` is the mask that pthread_sigmask returned for this thread.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut());
        }
    }
}

/// Lets every signal through to the calling process. For the child, which makes no allocation.
pub(crate) fn unblock_all() -> libc::c_int {
    let mut none = MaybeUninit::uninit();
    // SAFETY: sigemptyset makes an empty set of the memory it is given; no old mask is asked for.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut())
    }
}

/// `struct sigaction` as the kernel itself knows it: the handler is its first word on every
/// architecture but MIPS, and it is no longer than this.
type KernelAction = [usize; 8];

/// Size of the kernel's signal set in bytes.
const SET_BYTES: usize = 8;

/// Sets the signals whose bits are in `mask` (bit 0 is signal 1) back to their default action.
///
/// The raw call, because libc's keep tables of their own, which we share with the parent, and
/// refuse signals 32 and 33, which a caller of becalm can have ignored like any other.
pub(crate) fn reset(mask: u64) -> libc::c_long {
    let default: KernelAction = [0; 8];
    let mut left = mask;
    while left != 0 {
        let signal = left.trailing_zeros().cast_signed() + 1;
        left &= left - 1;
        // SAFETY: an all-zero action is SIG_DFL without flags, and is only read. The table of
        // actions is our own, since we were not cloned with CLONE_SIGHAND.
        let result = unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                std::ptr::null_mut::<KernelAction>(),
                SET_BYTES,
            )
        };
        if result < 0 {
            return result;
        }
    }
    0
}

/// Returns the signals that this process does not treat in the default way.
///
/// Asked once: 64 system calls for every run would be a percent of a short one. A handler
/// installed later is reset by `execve` itself; only a signal *ignored* later would be missed, and
/// nothing in becalm does that.
pub(crate) fn not_default() -> u64 {
    static MASK: OnceLock<u64> = OnceLock::new();
    *MASK.get_or_init(|| {
        let mut mask = 0;
        for signal in 1..=LAST_SIGNAL {
            let mut action: KernelAction = [0; 8];
            // SAFETY: without a new action the call only writes the present one into `action`,
            // which has room for it.
            let result = unsafe {
                libc::syscall(
                    libc::SYS_rt_sigaction,
                    signal,
                    std::ptr::null::<KernelAction>(),
                    action.as_mut_ptr(),
                    SET_BYTES,
                )
            };
            let custom = result == 0 && action[0] != libc::SIG_DFL;
            if custom || STOPPING.contains(&signal) || signal == libc::SIGPIPE {
                mask |= 1 << (signal - 1);
            }
        }
        mask
    })
}

/// Sends a signal to a process.
pub fn send(pid: u32, signal: i32) -> io::Result<()> {
    // 0 and what is negative means groups.
    let pid = Pid::try_from(pid).ok().filter(|pid| *pid > 0).ok_or(io::ErrorKind::InvalidInput)?;
    // SAFETY: takes plain numbers.
    checked(unsafe { libc::kill(pid, signal) }).map(drop)
}
