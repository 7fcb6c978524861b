//! Errors as people see them: what failed, and what to do.

mod fleet;
mod session;

use std::fmt::Display;

use becalm_session::GivenUp;

use crate::exit::Exit;

/// A failed command.
#[derive(Debug)]
pub(crate) struct CommandError {
    /// Exit code.
    pub(crate) exit: Exit,
    /// What failed, on which path or value.
    pub(crate) message: String,
    /// What to do, or the state that things are in.
    pub(crate) hints: Vec<String>,
}

impl CommandError {
    /// The command line does not make sense.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self { exit: Exit::Usage, message: message.to_string(), hints: Vec::new() }
    }

    /// Something prevented the measurement.
    pub(crate) fn measure(message: impl Display) -> Self {
        Self { exit: Exit::CouldNotMeasure, message: message.to_string(), hints: Vec::new() }
    }

    /// The machine is not as it was.
    pub(crate) fn not_restored(message: impl Display) -> Self {
        Self { exit: Exit::NotRestored, ..Self::measure(message) }
    }

    /// Adds a hint.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Display) -> Self {
        self.hints.push(hint.to_string());
        self
    }
}

/// Returns the error that caused everything to be put back at once, with the result of that.
pub(crate) fn given_up<E: Into<CommandError>>(given_up: GivenUp<E>) -> CommandError {
    let mut error: CommandError = given_up.error.into();
    if !given_up.machine.is_complete() {
        error.exit = Exit::NotRestored;
    }
    error.hints.extend(session::of_put_back(&given_up.machine));
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_session::PutBack;

    #[test]
    fn an_error_says_what_became_of_the_machine() {
        let check = |machine: PutBack, exit: Exit, hint: &str| {
            let error = given_up(GivenUp { error: CommandError::measure("it failed"), machine });
            assert_eq!((error.exit, error.message.as_str()), (exit, "it failed"));
            assert!(error.hints[0].contains(hint), "{:?}", error.hints);
        };
        check(PutBack::Unchanged, Exit::CouldNotMeasure, "everything that becalm changed");
        check(PutBack::Everything, Exit::CouldNotMeasure, "the earlier changes have been put back");
        check(PutBack::NotEverything, Exit::NotRestored, "some settings could not be put back");
    }
}
