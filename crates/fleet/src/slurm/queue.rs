//! Slurm's commands: `sbatch`, `squeue`, `scontrol` and `scancel`, whose outputs stay the same over its versions.

use std::path::Path;
use std::process::{Command, Stdio};

use super::allocation::Allocation;
use crate::error::FleetError;
use crate::ssh::last_line;

/// A job of Slurm's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Queued {
    /// Its number.
    pub(crate) number: String,
}

/// What Slurm says of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// It waits, for this reason.
    Waits(String),
    /// It runs on this node.
    Runs(String),
    /// It is over, or unknown: in this state, as far as that is known.
    Over(String),
}

/// Submits a script.
pub(crate) fn submit(
    allocation: &Allocation,
    script: &Path,
    output: &Path,
    folder: &Path,
) -> Result<Queued, FleetError> {
    let mut command = Command::new("sbatch");
    command.args(allocation.arguments());
    command.arg(format!("--output={}", output.display()));
    command.arg(format!("--chdir={}", folder.display()));
    let answer = answer(command.arg(script))?;
    // Of a federation it adds the cluster: `12;name`.
    let number = answer.trim().split(';').next().unwrap_or_default().to_owned();
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(FleetError::Slurm { command: "sbatch", text: last_line(&answer) });
    }
    Ok(Queued { number })
}

impl Queued {
    /// Asks how it is.
    pub(crate) fn state(&self) -> State {
        let mut command = Command::new("squeue");
        command.args(["--noheader", "--format=%T|%N|%r", "--jobs", &self.number]);
        // It fails for one that it has forgotten.
        let line = answer(&mut command).unwrap_or_default();
        let mut parts = line.trim().split('|').map(str::to_owned);
        let (state, node, reason) = (parts.next(), parts.next(), parts.next());
        match state.as_deref() {
            Some("PENDING" | "CONFIGURING" | "SUSPENDED") => {
                State::Waits(reason.unwrap_or_default())
            }
            Some("RUNNING" | "COMPLETING" | "STOPPED") => State::Runs(node.unwrap_or_default()),
            _ => State::Over(self.end()),
        }
    }

    /// Returns how it ended, as far as Slurm remembers: `FAILED`, `TIMEOUT`, `NODE_FAIL`.
    fn end(&self) -> String {
        let mut command = Command::new("scontrol");
        command.args(["--oneliner", "show", "job", &self.number]);
        let text = answer(&mut command).unwrap_or_default();
        let state = text.split(' ').find_map(|word| word.strip_prefix("JobState="));
        state.unwrap_or("forgotten").to_owned()
    }

    /// Sends a signal to its script; one that does not run yet is cancelled.
    pub(crate) fn signal(&self, is_running: bool) {
        let mut command = Command::new("scancel");
        if is_running {
            command.args(["--batch", "--signal=TERM"]);
        }
        // Whether it worked is seen by the end of the job.
        let _ = answer(command.arg(&self.number));
    }
}

fn answer(command: &mut Command) -> Result<String, FleetError> {
    let name = match command.get_program().to_str() {
        Some("sbatch") => "sbatch",
        Some("squeue") => "squeue",
        Some("scontrol") => "scontrol",
        _ => "scancel",
    };
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|source| FleetError::NoSlurm { command: name, source })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let text = last_line(&String::from_utf8_lossy(&output.stderr));
    // `sbatch: error: ...`, after which it says what failed.
    let text = text.strip_prefix(&format!("{name}: ")).unwrap_or(&text).to_owned();
    let text = text.strip_prefix("error: ").unwrap_or(&text).to_owned();
    Err(FleetError::Slurm { command: name, text })
}
