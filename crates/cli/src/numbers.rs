//! What is wrong with a number, in the user's terms and not the parser's.

use std::num::{IntErrorKind, ParseFloatError, ParseIntError};

use clap::error::ContextKind;

use crate::error::CommandError;
use crate::foreign_flags::context;

/// Answers a number that a flag does not take.
pub(crate) fn refused(error: &clap::Error) -> Option<CommandError> {
    let source = std::error::Error::source(error)?;
    let wanted = if let Some(error) = source.downcast_ref::<ParseIntError>() {
        match error.kind() {
            IntErrorKind::Zero => "a whole number from 1".to_owned(),
            IntErrorKind::PosOverflow => "a smaller number".to_owned(),
            _ => "a whole number".to_owned(),
        }
    } else if source.is::<ParseFloatError>() {
        "a number".to_owned()
    } else {
        in_range(&source.to_string())?
    };
    let flag = context(error, ContextKind::InvalidArg)?;
    Some(takes(&flag, &wanted, &context(error, ContextKind::InvalidValue)?))
}

/// Answers a negative number after a flag, which the parser takes for a flag of its own.
pub(crate) fn negative(error: &clap::Error, words: &[String]) -> Option<CommandError> {
    let given = context(error, ContextKind::InvalidArg)?;
    // The parser names only the first of several digits.
    let at = words.iter().skip(1).position(|word| {
        word.starts_with(&given) && word.parse::<f64>().is_ok_and(|number| number < 0.0)
    })? + 1;
    let flag = words.get(at - 1).filter(|flag| flag.starts_with('-') && flag.len() > 1)?;
    Some(takes(flag, "no negative number", &words[at]))
}

fn takes(flag: &str, wanted: &str, value: &str) -> CommandError {
    let name = flag.split_whitespace().next().unwrap_or_default();
    if wanted.starts_with("no ") {
        return CommandError::usage(format!("{name} takes {wanted}: `{value}`"));
    }
    CommandError::usage(format!("{name} takes {wanted}, not `{value}`"))
}

/// Reads the range out of clap's `0 is not in 1..=19`. A limit that is only the type's is not named unless the number
/// exceeds it.
fn in_range(said: &str) -> Option<String> {
    let (value, range) = said.split_once(" is not in ")?;
    let (low, high) = range.split_once("..")?;
    let value: f64 = value.parse().ok()?;
    let limit = high.trim_start_matches('=').parse::<f64>();
    let is_named = limit.is_ok_and(|limit| limit < f64::from(u32::MAX) || value > limit);
    let to = if is_named { format!(" to {}", high.trim_start_matches('=')) } else { String::new() };
    Some(format!("a whole number from {low}{to}"))
}

#[cfg(test)]
mod tests {
    use crate::foreign_flags::tests::answer;

    #[test]
    fn numbers_are_named_in_the_users_terms() {
        let check = |line: &str, expected: &str| {
            let said = answer(&format!("becalm compare {line} a b"));
            assert_eq!(said.as_deref(), Some(format!("{expected}: ").as_str()));
        };
        check("--rounds x", "--rounds takes a whole number, not `x`");
        check("-r 1.5", "--rounds takes a whole number, not `1.5`");
        check("--threads 0", "--threads takes a whole number from 1, not `0`");
        check("--min-rounds 0", "--min-rounds takes a whole number from 1, not `0`");
        check("--nice 99", "--nice takes a whole number from -20 to 19, not `99`");
        check(
            "-r 4294967296",
            "--rounds takes a whole number from 1 to 4294967295, not `4294967296`",
        );
        check("--rounds -15", "--rounds takes no negative number: `-15`");
        check("--seed -1", "--seed takes no negative number: `-1`");
    }
}
