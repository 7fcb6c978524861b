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

/// Returns an error's message followed by those of its causes.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let part = inner.to_string();
        // Some messages already name their cause.
        if !text.ends_with(&part) && !text.contains(&format!(": {part}")) {
            text.push_str(": ");
            text.push_str(&part);
        }
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{message}")]
    struct Failed {
        message: &'static str,
        source: std::io::Error,
    }

    #[test]
    fn a_cause_that_a_message_names_already_is_not_told_twice() {
        let told = |message| with_causes(&Failed { message, source: std::io::Error::other("no") });
        assert_eq!(told("cannot start"), "cannot start: no");
        assert_eq!(told("cannot start: no (see the manual)"), "cannot start: no (see the manual)");
    }
}
