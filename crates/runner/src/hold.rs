//! Running a command that is not measured, on the terminal of becalm.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus};

use becalm_kernel::interrupt::Interrupt;
use becalm_kernel::poll::{self, Entry};
use becalm_kernel::{process, signal, wait};

/// Runs a command to its end. A signal that asks becalm to stop goes on to the command, which then
/// has all the time that it takes: a second signal goes on as well.
///
/// If becalm dies, the command is asked to end (SIGTERM): what it does next would be done on another
/// machine than it was started on. Ctrl-C, and the terminal's end, reach both from the terminal, and are not sent again.
///
/// # Errors
///
/// If the command cannot be started or waited for.
pub fn hold(command: &mut Command, interrupt: &Interrupt) -> io::Result<ExitStatus> {
    process::ends_with_us(command, signal::SIGTERM);
    let mut child = command.spawn()?;
    let ended = watch(&mut child, wait::pidfd)?;
    let mut told = 0;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if interrupt.times() > told {
            told = interrupt.times();
            interrupt.rearm();
            if let Some(sent) = interrupt.sent() {
                // It has not been waited for, so that the number is still its own.
                let _ = signal::send(child.id(), sent);
            }
        }
        poll::wait(&mut [Entry::readable(&ended), Entry::readable(interrupt)], None)?;
    }
}

/// Opens what tells when a child ends. One that cannot be watched is ended at once: the caller says that it was not
/// run, and nobody would wait for it.
fn watch(child: &mut Child, open: impl FnOnce(u32) -> io::Result<OwnedFd>) -> io::Result<OwnedFd> {
    open(child.id()).inspect_err(|_| {
        let _ = child.kill().and_then(|()| child.wait());
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_kernel::interrupt::Sender;
    use std::os::unix::process::ExitStatusExt as _;
    use std::time::Duration;

    #[test]
    fn the_status_is_that_of_the_command() {
        let interrupt = Interrupt::new().unwrap();
        let mut shell = Command::new("sh");
        assert_eq!(hold(shell.args(["-c", "exit 7"]), &interrupt).unwrap().code(), Some(7));
        assert!(hold(&mut Command::new("/nonexistent/becalm"), &interrupt).is_err());
    }

    #[test]
    fn a_command_that_cannot_be_watched_does_not_run_on() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let refused = |_| Err(io::Error::from(io::ErrorKind::QuotaExceeded));
        assert!(watch(&mut child, refused).is_err());
        // It is reaped, so this is what was noted then.
        assert_eq!(child.try_wait().unwrap().unwrap().signal(), Some(9));
    }

    #[test]
    fn a_signal_that_was_sent_goes_on_to_the_command() {
        for sent in [signal::SIGTERM, signal::SIGUSR1] {
            let interrupt = Interrupt::new().unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(50));
                    // The terminal would have reached the command too.
                    interrupt.raise_by(Sender::Terminal, signal::SIGINT);
                    std::thread::sleep(Duration::from_millis(50));
                    interrupt.raise(sent);
                });
                let status = hold(Command::new("sleep").arg("1000"), &interrupt).unwrap();
                assert_eq!(status.signal(), Some(sent));
            });
        }
    }
}
