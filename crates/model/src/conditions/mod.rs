//! How subjects are started: one type for each choice, with the words of command line and JSON.

mod affinity;
mod choices;
mod rest;
mod scheduler;

pub use affinity::{Affinity, AffinityError};
pub use choices::{Aslr, Cache, Malloc, OnDisturbance, Pace, Padding};
pub use rest::{Rest, RestError};
pub use scheduler::{Scheduler, SchedulerError};
