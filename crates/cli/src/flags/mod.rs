//! Flags that commands share, and the terms of a session that they make.

pub(crate) mod bisect;
pub(crate) mod compare;
mod conditions;
mod exports;
mod measure;
mod memory;
mod parameters;
pub(crate) mod run;
mod suite;
mod tune;
pub(crate) mod words;

pub(crate) use conditions::{ConditionFlags, LayoutFlag, Switch};
pub(crate) use exports::ExportFlags;
pub(crate) use measure::{MeasureFlags, command_of, confidence, line_of, stop};
pub(crate) use memory::{MallocFlag, MemoryFlags};
pub(crate) use tune::{RequestFlags, WaitFlag};

/// Puts a value in the place of another, if one was given.
fn replace<T>(term: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *term = given;
    }
}
