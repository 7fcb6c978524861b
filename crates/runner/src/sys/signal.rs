//! Signal masks and the handler that turns SIGINT, SIGTERM and SIGHUP into a flag.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;

use crate::interrupt::{Interrupt, Sender};

use super::checked;

/// The signals that ask becalm to stop.
pub(crate) const STOPPING: [libc::c_int; 4] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// Highest signal number of Linux on every architecture but MIPS.
const LAST_SIGNAL: libc::c_int = 64;

/// Keeps every signal from the calling thread while it lives.
pub(super) struct Blocked {
    before: libc::sigset_t,
}

impl Blocked {
    pub(super) fn all() -> Self {
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
pub(super) fn unblock_all() -> libc::c_int {
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
pub(super) fn reset(mask: u64) -> libc::c_long {
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
pub(super) fn not_default() -> u64 {
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

/// Makes an eventfd, whose counter wakes a poll from inside a signal handler.
pub(crate) fn eventfd() -> io::Result<OwnedFd> {
    // SAFETY: takes plain numbers; the descriptor returned is new and owned by nobody else.
    unsafe {
        let fd = checked(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Adds one to an eventfd. Async-signal-safe: one `write`, and `errno` is left as it was.
pub(crate) fn wake(eventfd: &OwnedFd) {
    let one = 1_u64.to_ne_bytes();
    // SAFETY: writes the eight bytes of `one`; errno is thread-local and restored, because the
    // interrupted code may be between a call and its look at errno.
    unsafe {
        let errno = *libc::__errno_location();
        libc::write(eventfd.as_raw_fd(), one.as_ptr().cast(), one.len());
        *libc::__errno_location() = errno;
    }
}

/// Sets an eventfd back to zero.
pub(crate) fn drain(eventfd: &OwnedFd) {
    let mut count = [0_u8; 8];
    // SAFETY: reads at most the eight bytes that there is room for; does not block, as the eventfd
    // was made with EFD_NONBLOCK.
    unsafe {
        libc::read(eventfd.as_raw_fd(), count.as_mut_ptr().cast(), count.len());
    }
}

static INSTALLED: OnceLock<Interrupt> = OnceLock::new();

extern "C" fn on_signal(
    signal: libc::c_int,
    facts: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    // SAFETY: the kernel gives a handler with SA_SIGINFO a valid `siginfo_t`. Signals of the kernel, as
    // those of a terminal are, have a positive code (sigaction(2)).
    let sender = if unsafe { (*facts).si_code } > 0 { Sender::Terminal } else { Sender::Process };
    // `get` is one atomic load, `raise_by` is atomics and one write: both async-signal-safe.
    if let Some(interrupt) = INSTALLED.get() {
        interrupt.raise_by(sender, signal);
    }
}

/// Sends SIGINT, SIGTERM and SIGHUP to one [`Interrupt`], from now on and for the whole process.
///
/// A signal that was ignored when becalm started stays ignored, so that `nohup` works.
pub(crate) fn install(interrupt: Interrupt) -> io::Result<&'static Interrupt> {
    if let Some(installed) = INSTALLED.get() {
        return Ok(installed);
    }
    let installed = INSTALLED.get_or_init(|| interrupt);
    // Who starts becalm may have ignored it, and children would then vanish without being waited for.
    if reset(1 << (libc::SIGCHLD - 1)) < 0 {
        return Err(io::Error::last_os_error());
    }
    for signal in STOPPING {
        // SAFETY: an all-zero sigaction is a valid value: empty mask, no flags, SIG_DFL.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: without a new action the call only writes the present one.
        checked(unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) })?;
        if action.sa_sigaction == libc::SIG_IGN {
            continue;
        }
        let handler: extern "C" fn(_, _, _) = on_signal;
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART | libc::SA_SIGINFO;
        // SAFETY: `action` is filled in, and the handler is async-signal-safe (see above).
        checked(unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) })?;
    }
    Ok(installed)
}
