//! What may be set of an open file, whichever file it is.

use std::io;
use std::os::fd::{AsFd as _, AsRawFd, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use crate::{checked, owned};

/// Makes reads and writes of a descriptor wait, or return at once.
pub fn set_blocking(fd: &impl AsRawFd, waits: bool) -> io::Result<()> {
    let flags = fcntl(fd, libc::F_GETFL, 0)? & !libc::O_NONBLOCK;
    let flags = if waits { flags } else { flags | libc::O_NONBLOCK };
    fcntl(fd, libc::F_SETFL, flags).map(drop)
}

/// Lets a pipe hold more before its writer has to wait. Failing is harmless.
pub fn enlarge_pipe(fd: &impl AsRawFd, bytes: i32) {
    let _ = fcntl(fd, libc::F_SETPIPE_SZ, bytes);
}

/// Lets a descriptor live on with the program that this process becomes.
pub fn keep_over_exec(fd: &impl AsRawFd) -> io::Result<()> {
    const NO_FLAGS: libc::c_int = 0;
    fcntl(fd, libc::F_SETFD, NO_FLAGS).map(drop)
}

/// Gives a file another descriptor, of this number or above.
pub fn moved_above(fd: &OwnedFd, least: crate::limit::Count) -> io::Result<OwnedFd> {
    let least = libc::c_int::try_from(least).map_err(io::Error::other)?;
    owned(fcntl(fd, libc::F_DUPFD_CLOEXEC, least)?)
}

/// Returns a second handle to the standard input.
pub fn standard_input() -> io::Result<OwnedFd> {
    io::stdin().as_fd().try_clone_to_owned()
}

/// Takes the first descriptor behind the standard streams, as whoever started this process has said that it has handed one
/// over; `None` where that is not open. To be called once, before the process opens anything.
pub fn handed_over() -> Option<OwnedFd> {
    const FIRST: RawFd = 3;
    // SAFETY: plain numbers.
    checked(unsafe { libc::fcntl(FIRST, libc::F_SETFD, libc::FD_CLOEXEC) }).ok()?;
    // SAFETY: it is open, and nothing of this process has opened it.
    Some(unsafe { OwnedFd::from_raw_fd(FIRST) })
}

/// Takes standard input and output for this process alone: what it starts reads nothing, and what that writes goes to standard
/// error.
pub fn take_standard_streams() -> io::Result<(OwnedFd, OwnedFd)> {
    let input = standard_input()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    let null = std::fs::File::open("/dev/null")?;
    for (from, to) in
        [(null.as_raw_fd(), libc::STDIN_FILENO), (libc::STDERR_FILENO, libc::STDOUT_FILENO)]
    {
        // SAFETY: both descriptors are open; dup2 makes the second one mean the first one's file.
        checked(unsafe { libc::dup2(from, to) })?;
    }
    Ok((input, output))
}

/// Lets standard error go nowhere from now on.
pub fn mute() -> io::Result<()> {
    let null = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
    // SAFETY: both descriptors are open; dup2 makes the second one mean the first one's file.
    checked(unsafe { libc::dup2(null.as_raw_fd(), libc::STDERR_FILENO) }).map(drop)
}

/// Closes every descriptor but that of a socket and standard error; standard input and output lead nowhere then.
pub(crate) fn only(socket: UnixStream) -> io::Result<UnixStream> {
    const FIRST: RawFd = 3;
    let null = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    for standard in [libc::STDIN_FILENO, libc::STDOUT_FILENO] {
        // SAFETY: both descriptors are open; dup2 makes the second one mean the first one's file.
        checked(unsafe { libc::dup2(null.as_raw_fd(), standard) })?;
    }
    drop(null);
    let kept = if socket.as_raw_fd() == FIRST {
        socket
    } else {
        // SAFETY: plain numbers. What `FIRST` was before is used by nobody: this process has just begun.
        let to = owned(unsafe { libc::dup3(socket.as_raw_fd(), FIRST, libc::O_CLOEXEC) })?;
        // It is among those that are closed now.
        std::mem::forget(socket);
        UnixStream::from(to)
    };
    close_from(FIRST + 1);
    Ok(kept)
}

/// Closes every descriptor from this number on, whoever has opened it.
fn close_from(first: RawFd) {
    let limit = crate::limit::FileLimit::read()
        .map_or(SEARCHED, |limit| RawFd::try_from(limit.files()).unwrap_or(SEARCHED));
    // SAFETY: plain numbers. Nobody who has opened one of them uses it again: this is a process that has just begun.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first.cast_unsigned(), libc::c_uint::MAX, 0) < 0 {
            for descriptor in first..limit.min(MOST_SEARCHED) {
                libc::close(descriptor);
            }
        }
    }
}

/// Where older kernels are asked one by one: as far as that takes milliseconds.
const MOST_SEARCHED: RawFd = 1 << 16;
/// As far as they are asked where no limit is known, or where low numbers are enough.
const SEARCHED: RawFd = 256;

/// The requests that take a number, and nothing or a number for an answer.
fn fcntl(
    fd: &impl AsRawFd,
    request: libc::c_int,
    argument: libc::c_int,
) -> io::Result<libc::c_int> {
    // SAFETY: plain numbers; the descriptor is open for as long as it is borrowed.
    checked(unsafe { libc::fcntl(fd.as_raw_fd(), request, argument) })
}

/// Has every descriptor from this number on closed by the next `execve` of the calling process. Makes system calls
/// only, since it is for a child that has not executed its program yet.
pub(crate) fn close_on_exec_from(first: RawFd) {
    // SAFETY: these calls take plain numbers, and change nothing of the process before it executes another
    // program. The one for all was made in Linux 5.9, and knows the flag from 5.11 on.
    unsafe {
        if libc::syscall(
            libc::SYS_close_range,
            first.cast_unsigned(),
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        ) < 0
        {
            for descriptor in first..SEARCHED {
                libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
            }
        }
    }
}
