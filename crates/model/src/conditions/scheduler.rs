//! The scheduling class of a subject.

use std::fmt;
use std::str::FromStr;

use crate::as_text::as_text;

/// The scheduling class of a subject.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// Whatever becalm has, which is the normal time-sharing class unless something changed it.
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

/// The scheduling class that a subject had, whoever has chosen it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchedulingClass {
    /// The normal time-sharing class.
    Other,
    /// `SCHED_FIFO` with this priority.
    Fifo(u8),
    /// `SCHED_RR` with this priority.
    RoundRobin(u8),
    /// `SCHED_BATCH`.
    Batch,
    /// `SCHED_IDLE`.
    Idle,
    /// Another class, by the number that the kernel gives it.
    Numbered(i32),
}

impl SchedulingClass {
    /// Says whether the kernel's throttle of real-time tasks applies.
    pub fn is_real_time(self) -> bool {
        matches!(self, Self::Fifo(_) | Self::RoundRobin(_))
    }
}

/// A text that names no class that a subject may have had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected other, fifo:N, rr:N, batch, idle or class N")]
pub struct SchedulingClassError;

impl FromStr for SchedulingClass {
    type Err = SchedulingClassError;

    fn from_str(text: &str) -> Result<Self, SchedulingClassError> {
        let (word, number) = match text.split_once([':', ' ']) {
            Some((word, number)) => (word, number.parse().ok()),
            None => (text, None),
        };
        let priority = number.and_then(|number: i32| u8::try_from(number).ok());
        match (word, number, priority) {
            ("other", None, _) => Ok(Self::Other),
            ("batch", None, _) => Ok(Self::Batch),
            ("idle", None, _) => Ok(Self::Idle),
            ("fifo", _, Some(priority)) => Ok(Self::Fifo(priority)),
            ("rr", _, Some(priority)) => Ok(Self::RoundRobin(priority)),
            ("class", Some(number), _) => Ok(Self::Numbered(number)),
            _ => Err(SchedulingClassError),
        }
    }
}

impl fmt::Display for SchedulingClass {
    /// Writes `other`, `fifo:N`, `rr:N`, `batch`, `idle` or `class N`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other => f.write_str("other"),
            Self::Fifo(priority) => write!(f, "fifo:{priority}"),
            Self::RoundRobin(priority) => write!(f, "rr:{priority}"),
            Self::Batch => f.write_str("batch"),
            Self::Idle => f.write_str("idle"),
            Self::Numbered(number) => write!(f, "class {number}"),
        }
    }
}

as_text!(SchedulingClass);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_survives_being_written_and_read() {
        use SchedulingClass::{Batch, Fifo, Idle, Numbered, Other, RoundRobin};
        for class in [Other, Fifo(1), RoundRobin(99), Batch, Idle, Numbered(6)] {
            assert_eq!(class.to_string().parse(), Ok(class));
        }
        for text in ["", "fifo", "fifo:x", "rr:300", "class"] {
            assert!(text.parse::<SchedulingClass>().is_err(), "{text}");
        }
    }
}
