//! Exit codes, as documented in the command reference.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// The answer to a question is no: the machine is not quiet, the change is slower, or results are beyond the
    /// rules of the gate.
    No,
    /// The command line does not make sense.
    Usage,
    /// A decision was asked for and the data do not give one.
    Inconclusive,
    /// A subject, a file or the machine prevented the measurement.
    CouldNotMeasure,
    /// A setting of the machine could not be put back.
    NotRestored,
    /// A command that was run on behalf of the user ended with this code.
    Command(u8),
    /// A signal ended the session; what was measured is printed and saved.
    Signal(i32),
}

impl Exit {
    /// Returns how a becalm ended of which the shell sees this number.
    pub(crate) fn of_code(code: u8) -> Self {
        match code {
            0 => Self::Done,
            1 => Self::No,
            2 => Self::Usage,
            3 => Self::Inconclusive,
            4 => Self::CouldNotMeasure,
            5 => Self::NotRestored,
            code @ 129..=159 => Self::Signal(i32::from(code) - 128),
            code => Self::Command(code),
        }
    }

    /// Returns the number that the shell sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::Inconclusive => 3,
            Self::CouldNotMeasure => 4,
            Self::NotRestored => 5,
            Self::Command(code) => code,
            Self::Signal(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
