//! Why a session was not made, or not finished.

use becalm_lab::trace::TraceError;

use crate::ablate::AblateError;
use crate::bisect::BisectError;
use crate::build::BuildError;
use crate::environment::EnvironmentError;
use crate::files::FileError;
use crate::harness::HarnessError;
use crate::metrics::MetricsError;
use crate::pilot::PilotError;
use crate::profile::ProfileError;
use crate::quiet::QuietError;
use crate::resume::ResumeError;
use crate::revisions::{GitError, RevisionsError};
use crate::same::ReplacedBySetup;
use crate::setup::SetupError;
use crate::subjects::SubjectsError;
use crate::suite::SuiteError;
use crate::timeit::TimeitError;
use crate::tuned::TunedError;

/// What an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The request makes no sense; nothing was started.
    Usage,
    /// Something prevented the measurement.
    Measurement,
    /// A signal ended it.
    Signal(i32),
    /// A setting of the machine could not be put back.
    NotRestored,
}

/// Why a session was not made, or not finished.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its subjects are invalid.
    #[error(transparent)]
    Subjects(#[from] SubjectsError),
    /// Its metrics are invalid.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    /// Its suite is invalid.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// It cannot be continued.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// Its subjects cannot be started.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// One setup would replace what another has made.
    #[error(transparent)]
    Replaced(#[from] ReplacedBySetup),
    /// A program cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Revisions cannot be built.
    #[error(transparent)]
    Revisions(#[from] RevisionsError),
    /// The machine cannot be made quiet.
    #[error(transparent)]
    Quiet(#[from] QuietError),
    /// The machine cannot be tuned, or put back.
    #[error(transparent)]
    Tuned(#[from] TunedError),
    /// The kernel cannot be traced.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Signal handlers cannot be installed.
    #[error("cannot install a signal handler: {0}")]
    Signals(std::io::Error),
    /// A commit cannot be searched for, or was not found.
    #[error(transparent)]
    Bisect(#[from] BisectError),
    /// A statement cannot be timed.
    #[error(transparent)]
    Timeit(#[from] TimeitError),
    /// The experiment on mitigations failed.
    #[error(transparent)]
    Ablate(#[from] AblateError),
    /// A record cannot serve as a pilot.
    #[error(transparent)]
    Pilot(#[from] PilotError),
    /// It failed, and the machine could not be put back.
    #[error("{0}")]
    NotRestored(Box<Error>),
}

impl Error {
    /// Returns what it is about.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Subjects(_)
            | Self::Metrics(_)
            | Self::Suite(_)
            | Self::Resume(_)
            | Self::Replaced(_) => Fault::Usage,
            Self::Setup(error) => error.fault(),
            Self::Build(error) => error.fault(),
            Self::Revisions(error) => error.fault(),
            Self::Quiet(error) => error.fault(),
            Self::Tuned(error) => error.fault(),
            Self::File(error) if error.is_usage() => Fault::Usage,
            Self::Bisect(error) => error.fault(),
            Self::Timeit(error) => error.fault(),
            Self::Pilot(error) => error.fault(),
            Self::Ablate(error) => error.fault(),
            Self::Trace(_) | Self::File(_) | Self::Signals(_) => Fault::Measurement,
            Self::NotRestored(_) => Fault::NotRestored,
        }
    }
}

/// Lets `?` turn the error of a part of a part into that of a session.
macro_rules! by_way_of {
    ($($type:ty => $part:ident),+) => {$(
        impl From<$type> for Error {
            fn from(error: $type) -> Self {
                Self::$part(error.into())
            }
        }
    )+};
}

by_way_of!(
    EnvironmentError => Setup,
    HarnessError => Setup,
    ProfileError => Quiet,
    GitError => Revisions
);
