//! The scheduling class of a subject.

use std::fmt;
use std::str::FromStr;

use crate::as_text::as_text;

/// The scheduling class of a subject.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// Whatever becalm has, which is the normal time-sharing class unless somebody changed it.
    #[default]
    Other,
    /// `SCHED_FIFO` with this priority, 1 to 99: nothing but a higher priority takes the CPU away.
    Fifo(u8),
}

/// A text that names no scheduling class.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected other or fifo:N with N from 1 to 99")]
pub struct SchedulerError;

impl FromStr for Scheduler {
    type Err = SchedulerError;

    fn from_str(text: &str) -> Result<Self, SchedulerError> {
        match text.strip_prefix("fifo:").map(str::parse) {
            None if text == "other" => Ok(Self::Other),
            Some(Ok(priority @ 1..=99)) => Ok(Self::Fifo(priority)),
            _ => Err(SchedulerError),
        }
    }
}

impl fmt::Display for Scheduler {
    /// Writes `other` or `fifo:N`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other => f.write_str("other"),
            Self::Fifo(priority) => write!(f, "fifo:{priority}"),
        }
    }
}

as_text!(Scheduler);
