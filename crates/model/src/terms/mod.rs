//! What a session is asked for: when it ends, what it takes, what decides.

mod failure;
mod metrics;
mod stop;

pub use failure::FailurePolicy;
pub use metrics::{Counters, Primary};
pub use stop::{Goal, Stop};
