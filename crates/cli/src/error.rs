//! Errors as people see them: what failed, and what to do.

use std::fmt::Display;

use crate::exit::Exit;

/// A failed command.
#[derive(Debug)]
pub(crate) struct CommandError {
    /// Exit code.
    pub(crate) exit: Exit,
    /// What failed, on which path or value.
    pub(crate) message: String,
    /// What to do, or what state things are in.
    pub(crate) hints: Vec<String>,
}

impl CommandError {
    /// The command line does not make sense.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self { exit: Exit::Usage, message: message.to_string(), hints: Vec::new() }
    }

    /// Something did not allow the measurement.
    pub(crate) fn measure(message: impl Display) -> Self {
        Self { exit: Exit::CouldNotMeasure, message: message.to_string(), hints: Vec::new() }
    }

    /// Adds a line that helps.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Display) -> Self {
        self.hints.push(hint.to_string());
        self
    }
}
