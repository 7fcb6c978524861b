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

/// Submits a script as a job of this name.
pub(crate) fn submit(
    allocation: &Allocation,
    name: &str,
    script: &Path,
    output: &Path,
    folder: &Path,
) -> Result<Queued, FleetError> {
    let mut command = Command::new("sbatch");
    command.args(allocation.arguments(name));
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

/// A job that Slurm lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Its number.
    pub(crate) number: String,
    /// Its name.
    pub(crate) name: String,
    /// How it is, unless it is over.
    pub(crate) state: Option<State>,
}

/// What `squeue` is asked about each job.
const FORMAT: &str = "--format=%A|%T|%N|%r|%j";

/// Lists the jobs of this user that are not forgotten.
pub(crate) fn own_jobs() -> Result<Vec<Listed>, FleetError> {
    let mut command = Command::new("squeue");
    let text = answer(command.args(["--noheader", "--me", FORMAT]))?;
    Ok(text.lines().filter_map(listed).collect())
}

/// Reads a line of `squeue`.
fn listed(line: &str) -> Option<Listed> {
    let mut parts = line.trim().splitn(5, '|').map(str::to_owned);
    let (number, state, node) = (parts.next()?, parts.next()?, parts.next()?);
    let (reason, name) = (parts.next()?, parts.next()?);
    let state = match state.as_str() {
        "PENDING" | "CONFIGURING" | "SUSPENDED" => Some(State::Waits(reason)),
        "RUNNING" | "COMPLETING" | "STOPPED" => Some(State::Runs(node)),
        _ => None,
    };
    Some(Listed { number, name, state })
}

impl Queued {
    /// Asks how it is.
    pub(crate) fn state(&self) -> State {
        let mut command = Command::new("squeue");
        command.args(["--noheader", FORMAT, "--jobs", &self.number]);
        // It fails for one that it has forgotten.
        let line = answer(&mut command).unwrap_or_default();
        listed(&line).and_then(|job| job.state).unwrap_or_else(|| State::Over(self.end()))
    }

    /// Returns how it ended, as far as Slurm remembers: `FAILED`, `TIMEOUT`, `NODE_FAIL`.
    pub(crate) fn end(&self) -> String {
        let mut command = Command::new("scontrol");
        command.args(["--oneliner", "show", "job", &self.number]);
        // Without a number it would show every job.
        let text = if self.number.is_empty() { None } else { answer(&mut command).ok() };
        let text = text.unwrap_or_default();
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

/// Returns what one of Slurm's commands prints.
pub(super) fn answer(command: &mut Command) -> Result<String, FleetError> {
    let name = match command.get_program().to_str() {
        Some("sbatch") => "sbatch",
        Some("squeue") => "squeue",
        Some("scontrol") => "scontrol",
        Some("sinfo") => "sinfo",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_whose_number_is_lost_is_forgotten() {
        assert_eq!(Queued { number: String::new() }.end(), "forgotten");
    }

    #[test]
    fn a_line_of_the_queue() {
        let of = |line: &str| listed(line).unwrap();
        let waits = of("12|PENDING||Resources|becalm-1-0");
        assert_eq!((&*waits.number, &*waits.name), ("12", "becalm-1-0"));
        assert_eq!(waits.state, Some(State::Waits("Resources".to_owned())));
        assert_eq!(of("9|RUNNING|n1|None|a|b").state, Some(State::Runs("n1".to_owned())));
        assert_eq!(of("9|RUNNING|n1|None|a|b").name, "a|b");
        assert_eq!(of("7|CANCELLED|n1|None|x").state, None);
        assert_eq!(listed("slurm_load_jobs error"), None);
    }
}
