//! System calls that the standard library does not wrap; all `unsafe` of this crate.

#![expect(unsafe_code, reason = "wait4, geteuid and prctl have no safe wrapper in std")]

use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};

/// Returns the effective user id.
pub(crate) fn effective_user() -> u32 {
    // SAFETY: geteuid has no arguments, touches no memory and cannot fail.
    unsafe { libc::geteuid() }
}

/// Makes a command be killed when this process ends, however it ends.
pub(crate) fn dies_with_us(command: &mut Command) {
    let end = || {
        // SAFETY: prctl with these arguments touches no memory; it is safe between fork and exec.
        let result = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: the closure makes one system call and allocates nothing.
    unsafe { command.pre_exec(end) };
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
