//! The shell commands around the runs.

use std::fmt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use becalm_kernel::signal;
use becalm_kernel::wait::{self, Sent};

use crate::Interrupt;
use crate::launch_error::WANTS_TERMINAL;

/// A moment at which a command of the user runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hook {
    /// Once, before the first run.
    Setup,
    /// Before each run.
    Prepare,
    /// After each run.
    Conclude,
    /// Once, after the last run.
    Cleanup,
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Setup => "setup",
            Self::Prepare => "prepare",
            Self::Conclude => "conclude",
            Self::Cleanup => "cleanup",
        })
    }
}

/// Longest pause between two looks at a hook that runs.
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// How long a hook may take to end by itself after SIGTERM, before SIGKILL.
const GRACE: Duration = Duration::from_millis(500);

/// With this in it a hook shows what it prints. becalm shows only its standard error: a `prepare` that prints before
/// each of a thousand runs would bury the rest, and output that becalm kept would grow with a server that it started.
const TO_STANDARD_ERROR: &str = ">&2";

/// Runs a hook to its end, in `folder` if there is one; says in words how it failed. A signal to
/// becalm ends it, but what it started in the background stays: that may be a server which the
/// runs need.
pub(crate) fn run_hook(
    hook: Hook,
    text: &str,
    folder: Option<&Path>,
    interrupt: &Interrupt,
) -> Result<(), String> {
    // A cleanup also runs, and to its end, after the signal that ended the session.
    let accepted = if hook == Hook::Cleanup { interrupt.times() } else { 0 };
    if interrupt.times() > accepted {
        return Err("it was not started, because becalm was stopped by a signal".to_owned());
    }
    let mut shell = Command::new("sh");
    shell.args(["-c", text]).stdin(Stdio::null()).stdout(Stdio::null());
    if let Some(folder) = folder {
        shell.current_dir(folder);
        if let Ok(own) = std::env::current_dir() {
            shell.env("OLDPWD", own);
        }
    }
    let mut child = start(shell).map_err(|error| format!("cannot run sh: {error}"))?;
    match end(&mut child, interrupt, accepted) {
        Ok(status) if status.success() => Ok(()),
        Ok(status) if text.contains(TO_STANDARD_ERROR) => Err(status.to_string()),
        Ok(status) => Err(format!(
            "{status}; its standard output was not shown: add `{TO_STANDARD_ERROR}` to the command to see it"
        )),
        Err(error) => Err(error.to_string()),
    }
}

/// Runs a command to its end. After more than `accepted` signals to becalm it is told to end, and then made to.
pub fn run_to_end(
    command: Command,
    interrupt: &Interrupt,
    accepted: u32,
) -> std::io::Result<ExitStatus> {
    end(&mut start(command)?, interrupt, accepted)
}

/// Starts a command in a group of its own, so that a signal reaches all of it, and only when becalm says so.
fn start(mut command: Command) -> std::io::Result<Child> {
    command.process_group(0).spawn()
}

fn end(child: &mut Child, interrupt: &Interrupt, accepted: u32) -> std::io::Result<ExitStatus> {
    let group = wait::Pid::try_from(child.id()).expect("the kernel gave this number as one");
    let mut pause = Duration::from_micros(200);
    let mut told = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let signal = match told {
            None if interrupt.times() > accepted => {
                told = Some(crate::monotonic_raw());
                Some(signal::SIGTERM)
            }
            Some(since) if crate::monotonic_raw().saturating_sub(since) > GRACE => {
                Some(signal::SIGKILL)
            }
            _ => None,
        };
        if let Some(signal) = signal
            && wait::kill_group(group, signal) == Sent::NotAllowed
        {
            return Err(std::io::Error::other(format!(
                "process {group} runs as another user, so becalm cannot end it; it is still running"
            )));
        }
        if pause == LONGEST_PAUSE && wait::wants_terminal(group) {
            let _ = wait::kill_group(group, signal::SIGKILL);
            child.wait()?;
            return Err(std::io::Error::other(format!("it {WANTS_TERMINAL}")));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::wait_until;

    #[test]
    fn a_hook_that_fails_says_how() {
        let interrupt = Interrupt::new().unwrap();
        assert_eq!(run_hook(Hook::Prepare, "true", None, &interrupt), Ok(()));
        let error = run_hook(Hook::Prepare, "exit 3", None, &interrupt).unwrap_err();
        assert!(error.starts_with("exit status: 3; its standard output was not shown"), "{error}");
        let error = run_hook(Hook::Prepare, "(exit 3) >&2", None, &interrupt).unwrap_err();
        assert_eq!(error, "exit status: 3");
    }

    #[test]
    fn a_signal_ends_a_hook_and_keeps_the_next_one_from_starting() {
        let interrupt = Interrupt::new().unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                wait_until("the start of the hook", || folder.path().join("runs").exists());
                interrupt.raise(signal::SIGTERM);
            });
            let (text, folder) = ("touch runs; sleep 1000", Some(folder.path()));
            let error = run_hook(Hook::Setup, text, folder, &interrupt).unwrap_err();
            assert!(error.contains("SIGTERM"), "{error}");
        });
        let error = run_hook(Hook::Prepare, "true", None, &interrupt).unwrap_err();
        assert!(error.contains("not started"), "{error}");
        assert_eq!(run_hook(Hook::Cleanup, "true", None, &interrupt), Ok(()));
    }
}
