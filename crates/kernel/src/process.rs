//! What a process is to others: whom it ends with, what it hands on, which session it is in.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::{checked, descriptor, sched, wait};

/// Makes a command get `signal` when this process dies, however that happens. To be called last: a change of the user
/// forgets it.
///
/// To the kernel the parent is the thread that starts the command: it must be one that lives as long as the process,
/// as the first one does.
pub fn ends_with_us(command: &mut Command, signal: i32) {
    let us = std::process::id();
    let ask = move || {
        // SAFETY: prctl takes plain numbers here.
        checked(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal) })?;
        // Whoever died before that call will not die again.
        // SAFETY: getppid takes and touches no memory.
        let parent = unsafe { libc::getppid() };
        if parent.cast_unsigned() == us { Ok(()) } else { Err(io::ErrorKind::Other.into()) }
    };
    // SAFETY: the closure runs between fork and exec, makes system calls only and allocates nothing.
    unsafe { command.pre_exec(ask) };
}

/// Lets a program that `command` starts have its standard input, output and error, and nothing else that this
/// process was started with: a lock, the end of a pipe.
pub fn hand_on_nothing_else(command: &mut Command) {
    const FIRST: i32 = 3;
    let close = || {
        descriptor::close_on_exec_from(FIRST);
        Ok(())
    };
    // SAFETY: the closure runs between fork and exec and makes system calls only.
    unsafe { command.pre_exec(close) };
}

/// Starts a command as a login would, whatever this process was started with: the signals that end a program do so, its
/// class is the normal one, without niceness where that may be given back, and its addresses are random.
pub fn starts_afresh(command: &mut Command) {
    // SAFETY: the closure makes system calls only and allocates nothing, as is required between
    // fork and exec; no handler is installed.
    unsafe {
        command.pre_exec(|| {
            for signal in crate::signal::STOPPING {
                if libc::signal(signal, libc::SIG_DFL) == libc::SIG_ERR {
                    return Err(io::Error::last_os_error());
                }
            }
            sched::set_class_raw(0, libc::SCHED_OTHER, 0);
            sched::set_nice_raw(0);
            libc::personality(0);
            Ok(())
        });
    }
}

/// Leaves the session, and with it the terminal that can end its processes.
pub fn leave_session() {
    // SAFETY: setsid takes and touches no memory. It fails only for a group leader, which a process
    // started by another one is not; then the process simply stays in its session.
    unsafe { libc::setsid() };
}

/// Keeps other programs of this user from reading or changing the memory of this process, or looking at its open
/// files (`PR_SET_DUMPABLE`).
pub(crate) fn forbid_inspection() -> io::Result<()> {
    // SAFETY: plain numbers.
    checked(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) }).map(drop)
}

/// Lets programs that this process starts have none of the files that it was started with, but the standard streams.
pub fn hand_on_standard_streams_alone() {
    const FIRST: i32 = 3;
    descriptor::close_on_exec_from(FIRST);
}

/// Leaves the keyrings of whoever called, for an empty one of its own: what a process possesses it may read, whoever it
/// is. Kernels without keyrings have nothing to leave.
pub(crate) fn leave_keyrings() {
    const KEYCTL_JOIN_SESSION_KEYRING: libc::c_int = 1;
    let no_name = std::ptr::null::<libc::c_char>();
    // SAFETY: the call takes a number and a name, of which there is none.
    let _ = unsafe { libc::syscall(libc::SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, no_name) };
}

/// Keeps this process and all that it starts from getting rights that it does not have by the bits of a file, as sudo does
/// (`PR_SET_NO_NEW_PRIVS`).
pub fn forgo_new_privileges() -> io::Result<()> {
    // SAFETY: plain numbers.
    checked(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }).map(drop)
}

/// Splits this process in two: the new one does `work`, in a session of its own, with `socket` and standard error as
/// its only open files, and ends. Returns its number.
///
/// For a process that has only one thread yet: of the others the new process would have the locks, and not the threads.
pub fn split(
    socket: std::os::unix::net::UnixStream,
    work: impl FnOnce(std::os::unix::net::UnixStream),
) -> io::Result<u32> {
    // SAFETY: takes nothing. The child has the one thread that this process has.
    let pid = checked(unsafe { libc::fork() })?;
    if pid != 0 {
        return Ok(pid.cast_unsigned());
    }
    // Nothing may come back from here into what the other process does.
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        leave_session();
        let socket = descriptor::only(socket)?;
        std::env::set_current_dir("/")?;
        // What is made is for everybody to read, as everything of the kernel's is, unless it says otherwise.
        // SAFETY: plain numbers.
        unsafe { libc::umask(0o022) };
        work(socket);
        io::Result::Ok(())
    }));
    let code = i32::from(!matches!(done, Ok(Ok(()))));
    // SAFETY: runs no handlers, which are the other process's.
    unsafe { libc::_exit(code) }
}

/// Closes a file in a process that ends with that, which this one does not wait for: at the end of a process no
/// connection lingers. Gives the file back where no process can be started. For a process that has only one thread yet.
pub(crate) fn close_elsewhere(file: OwnedFd) -> Result<(), OwnedFd> {
    let Ok((here, there)) = io::pipe() else { return Err(file) };
    // SAFETY: takes nothing. The child has the one thread that this process has, and calls nothing but the system.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop(there);
        // One in between, which is waited for, so that the other one is nobody's to wait for.
        // SAFETY: as above.
        if unsafe { libc::fork() } == 0 {
            // Until this process has closed the file: it is the other one that has it last.
            let _ = io::Read::read(&mut &here, &mut [0]);
        }
        // SAFETY: runs no handlers, which are the other process's.
        unsafe { libc::_exit(0) }
    }
    if child < 0 {
        return Err(file);
    }
    let _ = wait::reap(child);
    drop(file);
    drop(there);
    Ok(())
}

/// Changes the environment of this process, for programs that it starts and for itself. For a process that has only
/// one thread yet.
pub fn set_variables(
    changes: impl IntoIterator<Item = (std::ffi::OsString, Option<std::ffi::OsString>)>,
) {
    for (name, value) in changes {
        // SAFETY: nobody else reads the environment at the same time, because there is nobody else.
        unsafe {
            match value {
                Some(value) => std::env::set_var(name, value),
                None => std::env::remove_var(name),
            }
        }
    }
}

/// Ends this process by a signal, as if nobody had watched for it.
pub fn end_by(signal: i32) -> ! {
    // SAFETY: plain numbers; the default action installs no code of ours.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::kill(libc::getpid(), signal);
    }
    // Not reached, unless the signal has no power to end processes.
    std::process::exit(128 + signal)
}
