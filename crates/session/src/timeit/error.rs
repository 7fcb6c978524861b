//! Why a statement cannot be timed.

use becalm_model::with_causes;
use becalm_runner::LaunchError;
use becalm_runner::timeit::{CalibrationError, CompileError, Language};

use crate::error::Fault;

/// Why a statement cannot be timed.
#[derive(Debug, thiserror::Error)]
pub enum TimeitError {
    /// Nothing says which language it is written in.
    #[error("the name of the program does not show its language")]
    NoLanguage,
    /// There is no compiler for its flags.
    #[error("--flags are for a compiler, and {} has none", .0.name())]
    NoCompiler(Language),
    /// A program name is empty.
    #[error("{0} names no program")]
    NoProgram(String),
    /// A flag cannot be split into words.
    #[error("{flag} {text}: {source}")]
    Words {
        /// The flag.
        flag: String,
        /// What it says.
        text: String,
        /// What is wrong with that.
        source: shell_words::ParseError,
    },
    /// Only compiled languages have code outside of functions.
    #[error("--global is for C, C++ and Rust; use --setup")]
    NoGlobal,
    /// There is nothing to time.
    #[error("the statement is empty")]
    NoStatement,
    /// The benchmark has an empty name.
    #[error("--name: the name is empty")]
    NoName,
    /// The benchmark would be taken for another metric.
    #[error("`{0}` is the name of a metric of becalm")]
    NameTaken(String),
    /// The code has no place.
    #[error("cannot create a temporary folder for the code: {0}")]
    Folder(std::io::Error),
    /// A signal ended it before the first run.
    #[error("stopped while the code was compiled")]
    Stopped(i32),
    /// The code cannot be compiled.
    #[error("{}", with_causes(source))]
    NotCompiled {
        /// Why.
        source: CompileError,
        /// What it is written in.
        language: Language,
    },
    /// The loops of a value are unknown.
    #[error("{}", with_causes(source))]
    NotCalibrated {
        /// Why.
        source: CalibrationError,
        /// What it is written in.
        language: Language,
    },
}

impl TimeitError {
    /// Returns which kind of failure it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Stopped(signal)
            | Self::NotCalibrated {
                source: CalibrationError::Launch(LaunchError::Interrupted { signal }),
                ..
            } => Fault::Signal(*signal),
            Self::Folder(_) | Self::NotCompiled { .. } | Self::NotCalibrated { .. } => {
                Fault::Measurement
            }
            _ => Fault::Usage,
        }
    }
}
