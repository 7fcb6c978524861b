//! Workloads that becalm brings along: deterministic programs of a known amount of work, to try a
//! machine with and to test becalm itself on.

mod array_sum;
mod compute;
mod mixed;
mod spin;
mod workload;

pub use spin::{Spin, spin};
pub use workload::Workload;
