//! Why the experiment on mitigations failed.

use std::time::Duration;

use super::time::FEWEST_BLOCKS;
use crate::error::Fault;

/// Why the experiment on mitigations failed.
#[derive(Debug, thiserror::Error)]
pub enum AblateError {
    /// The subject does not run. The machine is as before.
    #[error("`{subject}`: {why}")]
    Subject {
        /// The subject.
        subject: String,
        /// What is wrong with it.
        why: String,
    },
    /// The processes that should make the machine busy cannot be started.
    #[error("cannot start the processes that make the machine busy: {0}")]
    NotBusy(String),
    /// No mitigation is possible.
    #[error("no mitigation {} can be tried here", if *.of_some { "chosen with --only" } else { "that becalm knows" })]
    Nothing {
        /// Whether only some were asked for.
        of_some: bool,
        /// The reason for each that was.
        reasons: Vec<String>,
    },
    /// The time is not enough for the first stage.
    #[error(
        "{FEWEST_BLOCKS} runs under each mitigation take {:.0} s, but only {:.0} s are left for \
         them: trying each once took {:.0} s, and the later stages need their share of the {:.0} s",
        .needed.as_secs_f64().ceil(), .left.as_secs_f64().floor(), .used.as_secs_f64().ceil(),
        .whole.as_secs_f64().ceil()
    )]
    NoTime {
        /// What the first stage needs.
        needed: Duration,
        /// What it has.
        left: Duration,
        /// What was used before.
        used: Duration,
        /// Total time.
        whole: Duration,
        /// What would be enough.
        enough: String,
    },
    /// A signal ended it. The machine is as before.
    #[error("stopped by signal {0}")]
    Stopped(i32),
    /// A setting of the machine could not be put back.
    #[error("the experiment ends here, so that nothing more is changed")]
    NotRestored,
}

impl AblateError {
    /// Returns which kind of failure it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Stopped(signal) => Fault::Signal(*signal),
            Self::NotRestored => Fault::NotRestored,
            _ => Fault::Measurement,
        }
    }
}
