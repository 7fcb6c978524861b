//! Signals that a process waits for, where they would end it otherwise: how a guardian is asked to go.

use std::io;
use std::mem::MaybeUninit;

/// Signals that end programs, and one by which a guardian is relieved.
const ENDINGS: [libc::c_int; 5] =
    [libc::SIGTERM, libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, RELIEVED];

/// Somebody else takes over from the guardian.
pub const RELIEVED: i32 = libc::SIGUSR1;

/// Why a guardian ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Somebody else takes over.
    Relieved,
    /// A signal that ends programs.
    Asked,
}

/// Blocks the signals that end programs: from now on they wait until somebody asks for them.
pub fn block_endings() -> io::Result<()> {
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

/// Waits for one of the blocked signals. A terminal that hangs up is no reason to end.
pub fn wait_for_ending() -> io::Result<Ending> {
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
    let mut set = MaybeUninit::uninit();
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
