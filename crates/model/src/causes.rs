//! Errors in one line.

use std::error::Error;

/// Returns an error's message followed by those of its causes, after colons.
pub fn with_causes(error: &dyn Error) -> String {
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
    use std::fmt;

    use super::*;

    #[derive(Debug)]
    struct Failed {
        message: &'static str,
        source: std::io::Error,
    }

    impl fmt::Display for Failed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.message)
        }
    }

    impl Error for Failed {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.source)
        }
    }

    #[test]
    fn a_cause_that_a_message_names_already_is_not_told_twice() {
        let told = |message| with_causes(&Failed { message, source: std::io::Error::other("no") });
        assert_eq!(told("cannot start"), "cannot start: no");
        assert_eq!(told("cannot start: no (see the manual)"), "cannot start: no (see the manual)");
    }
}
