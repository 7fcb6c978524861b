//! System calls that the standard library does not wrap; all `unsafe` of this crate.

#![expect(unsafe_code, reason = "wait4, prctl, signals and geteuid have no safe wrapper in std")]

use std::io::{self, PipeWriter, Read as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::OnceLock;

/// Returns the effective user id.
pub(crate) fn effective_user() -> u32 {
    // SAFETY: geteuid has no arguments, touches no memory and cannot fail.
    unsafe { libc::geteuid() }
}

/// Makes a command be killed when this process ends, however it ends.
///
/// To the kernel the parent is the thread that starts the command: it must be one that lives as long as
/// the process, as the first one does.
pub(crate) fn dies_with_us(command: &mut Command) {
    let us = std::process::id();
    let end = move || {
        // SAFETY: prctl with these arguments touches no memory; it is safe between fork and exec.
        let result = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        // Whoever died before that call will not die again.
        // SAFETY: getppid takes and touches no memory.
        let parent = unsafe { libc::getppid() };
        if u32::try_from(parent) == Ok(us) { Ok(()) } else { Err(io::ErrorKind::Other.into()) }
    };
    // SAFETY: the closure makes one system call and allocates nothing.
    unsafe { command.pre_exec(end) };
}

/// Signals that end a process and can be waited for.
const ENDINGS: [libc::c_int; 3] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP];

/// Where the handler says which signal came.
static TOLD: OnceLock<PipeWriter> = OnceLock::new();

/// Lets `act` run, in a thread of its own, when a signal comes that ends processes. Signals that were
/// ignored at the start stay so. What this process starts has them as ever: a handler is not inherited,
/// as a mask would be.
pub(crate) fn on_ending(act: impl FnOnce(libc::c_int) + Send + 'static) -> io::Result<()> {
    let (mut reader, writer) = io::pipe()?;
    if TOLD.set(writer).is_err() {
        return Err(io::Error::other("signals are watched already"));
    }
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut byte = [0];
        if reader.read_exact(&mut byte).is_ok() {
            act(libc::c_int::from(byte[0]));
        }
    })?;
    for signal in ENDINGS {
        // SAFETY: an all-zero sigaction is a value: default action, no flags, empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: without a new action the call only writes the present one.
        if unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) } != 0 {
            return Err(io::Error::last_os_error());
        }
        if action.sa_sigaction == libc::SIG_IGN {
            continue;
        }
        action.sa_sigaction = tell as extern "C" fn(libc::c_int) as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        // SAFETY: `action` is filled in, and the handler makes one system call.
        if unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

extern "C" fn tell(signal: libc::c_int) {
    let Some(pipe) = TOLD.get() else { return };
    let byte = u8::try_from(signal).unwrap_or(0);
    // SAFETY: writes one byte of a live value. The pipe is never full: the first byte ends the process.
    unsafe { libc::write(pipe.as_raw_fd(), (&raw const byte).cast(), 1) };
}

/// Asks a process to end. One that has ended already is no error.
pub(crate) fn terminate(pid: u32) {
    if let Ok(pid) = libc::pid_t::try_from(pid)
        && pid > 1
    {
        // SAFETY: kill takes plain numbers; `pid` means one process.
        unsafe { libc::kill(pid, libc::SIGTERM) };
    }
}

/// Ends this process by a signal, as if nobody had watched for it.
pub(crate) fn end_by(signal: libc::c_int) -> ! {
    // SAFETY: plain numbers; the default action installs no code of ours.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::kill(libc::getpid(), signal);
    }
    // Not reached, unless the signal has no power to end processes.
    std::process::exit(128 + signal)
}

/// Waits for a child, which must not be waited for again, and returns its status and the peak resident memory in bytes of it, or of a
/// descendant that it waited for, whichever is larger.
pub(crate) fn wait_with_memory(child: &Child) -> io::Result<(ExitStatus, u64)> {
    let pid = libc::pid_t::try_from(child.id()).expect("a process id fits");
    let mut status = 0;
    // SAFETY: `rusage` holds integers only, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to live local values; the child is a child of
        // this process, and wait4 on one already reaped only fails.
        let reaped = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
        if reaped == pid {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let kibibytes = u64::try_from(usage.ru_maxrss).unwrap_or(0);
    Ok((ExitStatus::from_raw(status), kibibytes * 1024))
}
