//! How many loops make a value: found out once, in a process of its own, before the first run.
//!
//! The loops are doubled until a value takes the least time, as pyperf does, so that both time the same number
//! of them. What a calibration timed is no part of any result.

use std::time::Duration;

use becalm_model::Outcome;

use super::answer::{AnswerError, Calibration};
use super::workbench::Worker;
use crate::{
    CounterPlan, Environment, Finished, Interrupt, Launch, LaunchError, Placement, Program, Stderr,
    Stdin, Stdout, launch,
};

/// In what a worker is calibrated: as the runs are made, but without waiting for any condition.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// The variables it sees.
    pub environment: &'a Environment,
    /// Where and as whom it runs.
    pub placement: &'a Placement,
    /// Nothing is counted.
    pub counters: &'a CounterPlan,
    /// Ends it.
    pub interrupt: &'a Interrupt,
}

/// Why the loops are unknown.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// The worker cannot be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The worker failed; what it said went to standard error.
    #[error("the code cannot be timed: `{program}` {outcome}")]
    Failed {
        /// What ran it.
        program: String,
        /// How it ended.
        outcome: Outcome,
    },
    /// The worker said nothing of use.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// However many loops there are, they take no time worth the name.
    #[error("{loops} loops take {taken:?}, less than the {least:?} that a value must take")]
    NoWork {
        /// How many loops.
        loops: u64,
        /// How long they took.
        taken: Duration,
        /// How long a value has to take.
        least: Duration,
    },
}

/// Finds out how many loops take at least `least`, and who ran them.
pub fn calibrate(
    worker: &Worker,
    least: Duration,
    setting: Setting<'_>,
) -> Result<Calibration, CalibrationError> {
    let nanoseconds = u64::try_from(least.as_nanos()).unwrap_or(u64::MAX);
    let command = worker.calibration(nanoseconds);
    let path = setting.environment.get("PATH".as_ref());
    let program = Program::resolve(&command, path, None)?;
    let finished = launch(
        &Launch {
            program: &program,
            environment: setting.environment,
            padding: 0,
            placement: setting.placement,
            stdin: &Stdin::Null,
            stdout: &Stdout::Capture,
            // What is wrong with the code is told by the language itself.
            stderr: Stderr::Inherit,
            cwd: None,
            timeout: None,
        },
        setting.counters,
        setting.interrupt,
    )?;
    conclude(program.name(), &finished, least)
}

fn conclude(
    program: &str,
    finished: &Finished,
    least: Duration,
) -> Result<Calibration, CalibrationError> {
    let outcome = finished.outcome;
    if outcome != Outcome::Exited(0) {
        return Err(CalibrationError::Failed { program: program.to_owned(), outcome });
    }
    let calibration = Calibration::read(finished.output.as_deref().unwrap_or_default())?;
    let taken = Duration::from_nanos(calibration.nanoseconds);
    if taken < least {
        return Err(CalibrationError::NoWork { loops: calibration.loops, taken, least });
    }
    Ok(calibration)
}
