//! The wish of the user, or of the system, that becalm stops.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::Duration;

use crate::eventfd::EventFd;
use crate::{checked, clock, poll, signal};

/// Where a signal comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// A process, by `kill(2)` or one of its kind.
    Process,
    /// The terminal, which sends it to all processes in the foreground.
    Terminal,
}

/// A flag that a signal raises and that every wait for a subject looks at.
///
/// It is an eventfd beside the flag, so that a signal which arrives between a look at the flag and
/// the start of a wait, or on another thread, still ends the wait.
#[derive(Debug)]
pub struct Interrupt {
    signal: AtomicI32,
    /// The latest signal that a process has sent; 0 after one of the terminal.
    sent: AtomicI32,
    times: AtomicU32,
    wake: EventFd,
}

impl Interrupt {
    /// Makes a flag that only [`Interrupt::raise`] raises.
    pub fn new() -> io::Result<Self> {
        let wake = EventFd::new()?;
        Ok(Self {
            signal: AtomicI32::new(0),
            sent: AtomicI32::new(0),
            times: AtomicU32::new(0),
            wake,
        })
    }

    /// Makes SIGINT, SIGTERM and SIGHUP raise one flag for the whole process; later calls return
    /// the same flag. Signals that were ignored at the start of the process stay ignored.
    pub fn install() -> io::Result<&'static Self> {
        install(Self::new()?)
    }

    /// Raises the flag as a signal would that a process sends. The first signal is the one that is
    /// kept.
    pub fn raise(&self, signal: i32) {
        self.raise_by(Sender::Process, signal);
    }

    /// Raises the flag. Async-signal-safe: atomics and one write.
    pub fn raise_by(&self, sender: Sender, signal: i32) {
        let sent = if sender == Sender::Process { signal } else { 0 };
        self.sent.store(sent, Ordering::SeqCst);
        let _ = self.signal.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
        self.times.fetch_add(1, Ordering::SeqCst);
        self.wake.wake();
    }

    /// Returns the first signal that arrived.
    pub fn signal(&self) -> Option<i32> {
        Some(self.signal.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
    }

    /// Returns the latest signal if a process has sent it; one from the terminal reaches the children of
    /// becalm by itself.
    pub fn sent(&self) -> Option<i32> {
        Some(self.sent.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
    }

    /// Returns how often the flag was raised: twice means "now, not in a while".
    pub fn times(&self) -> u32 {
        self.times.load(Ordering::SeqCst)
    }

    /// Makes the descriptor wait for the next signal. Only for who has seen that the flag is up:
    /// everybody else looks at the flag before waiting.
    pub fn rearm(&self) {
        self.wake.drain();
    }

    /// Sleeps; returns `false` at once when the flag is or becomes raised.
    pub fn sleep(&self, duration: Duration) -> bool {
        let end = clock::monotonic_raw() + duration;
        loop {
            if self.signal().is_some() {
                return false;
            }
            let left = end.saturating_sub(clock::monotonic_raw());
            if left.is_zero() {
                return true;
            }
            if poll::wait(&mut [poll::Entry::readable(self)], Some(left)).is_err() {
                // Only a lack of memory gets here; the rest of the sleep is then not worth a fuss.
                std::thread::sleep(left);
            }
        }
    }
}

impl AsRawFd for Interrupt {
    /// Returns a descriptor that is readable once the flag was raised.
    fn as_raw_fd(&self) -> RawFd {
        self.wake.as_raw_fd()
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
fn install(interrupt: Interrupt) -> io::Result<&'static Interrupt> {
    if let Some(installed) = INSTALLED.get() {
        return Ok(installed);
    }
    let installed = INSTALLED.get_or_init(|| interrupt);
    // Who starts becalm may have ignored it, and children would then vanish without being waited for.
    if signal::reset(1 << (libc::SIGCHLD - 1)) < 0 {
        return Err(io::Error::last_os_error());
    }
    for signal in signal::STOPPING {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_lasts_as_long_as_asked() {
        let start = clock::monotonic_raw();
        assert!(Interrupt::new().unwrap().sleep(Duration::from_millis(20)));
        let slept = clock::monotonic_raw().saturating_sub(start);
        assert!(slept >= Duration::from_millis(20), "{slept:?}");
    }

    #[test]
    fn a_sleep_ends_when_the_flag_is_raised_by_another_thread() {
        let interrupt = Interrupt::new().unwrap();
        let start = clock::monotonic_raw();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(30));
                interrupt.raise(libc::SIGTERM);
            });
            assert!(!interrupt.sleep(Duration::from_secs(20)));
        });
        assert!(clock::monotonic_raw().saturating_sub(start) < Duration::from_secs(10));
        assert_eq!(interrupt.signal(), Some(libc::SIGTERM));
        assert!(!interrupt.sleep(Duration::from_secs(20)), "a raised flag stays raised");
    }

    #[test]
    fn the_first_signal_is_kept() {
        let interrupt = Interrupt::new().unwrap();
        interrupt.raise(libc::SIGHUP);
        interrupt.raise(libc::SIGINT);
        assert_eq!((interrupt.signal(), interrupt.times()), (Some(libc::SIGHUP), 2));
    }
}
