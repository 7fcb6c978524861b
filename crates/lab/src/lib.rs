//! Experiments about the machine itself: workloads of known work, and what they show of it.

pub mod ablate;
mod iterate;
mod namespace;
mod places;
pub mod probe;
pub mod reproduce;
mod spin;
mod sys;
mod timer;
pub mod trace;
mod workloads;

pub use iterate::{IterateError, Options, Series, TaskSeries, iterate};
pub use places::PlaceError;
pub use spin::{Spin, spin};
pub use timer::{Timer, TimerChoice, TimerError};
pub use workloads::{Workload, WorkloadError};
