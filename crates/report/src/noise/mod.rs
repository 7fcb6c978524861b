//! Experiments about the noise of a machine.

mod probe;
mod reproduce;
mod side_by_side;

pub use probe::probe_text;
pub use reproduce::reproduce_text;
