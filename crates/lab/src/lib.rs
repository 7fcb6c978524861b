//! Workloads that becalm brings along: deterministic programs of a known amount of work, to try a
//! machine with and to test becalm itself on.

mod spin;
mod workloads;

pub use spin::{Spin, spin};
pub use workloads::Workload;
