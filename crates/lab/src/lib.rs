//! Workloads that becalm brings along: deterministic programs of a known amount of work, to try a
//! machine with and to test becalm itself on.

mod array_sum;
mod compute;
mod mixed;
mod workload;

pub use workload::Workload;
