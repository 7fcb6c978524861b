//! Flags that commands share, and the terms of a session that they make.

pub(crate) mod bisect;
pub(crate) mod choices;
pub(crate) mod compare;
pub(crate) mod conditions;
mod elsewhere;
mod exports;
mod measure;
mod memory;
mod parameters;
pub(crate) mod run;
mod servers;
mod suite;
mod tune;
mod verbose;
pub(crate) mod words;

pub(crate) use conditions::ConditionFlags;
pub(crate) use elsewhere::ElsewhereFlags;
pub(crate) use exports::{ExportFlags, ReportFlags};
pub(crate) use measure::{MeasureFlags, command_of, confidence, line_of, stop};
pub(crate) use memory::MemoryFlags;
pub(crate) use tune::{RequestFlags, WaitFlag};

use becalm_model::parse_share;

/// Returns the value of a flag if it makes sense there, else why it does not.
pub(crate) fn checked<T>(
    read: Result<T, impl ToString>,
    makes_sense: impl FnOnce(&T) -> bool,
    otherwise: &str,
) -> Result<T, String> {
    let value = read.map_err(|error| error.to_string())?;
    if makes_sense(&value) { Ok(value) } else { Err(otherwise.to_owned()) }
}

/// Reads a relative change or difference. Without a unit, 1 is 100 %, which nobody means.
pub(crate) fn change(text: &str) -> Result<f64, String> {
    let share = parse_share(text).map_err(|error| error.to_string())?;
    let is_one = text.trim().parse() == Ok(1_u32);
    if is_one { Err(format!("`{text}` is 100%; did you mean {text}%?")) } else { Ok(share) }
}

/// Puts values in the place of others, if any were given.
fn replace_all<T: Clone>(term: &mut Vec<T>, given: &[T]) {
    if !given.is_empty() {
        *term = given.to_vec();
    }
}

/// Puts a value in the place of another, if one was given.
fn replace<T>(term: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *term = given;
    }
}
