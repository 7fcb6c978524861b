//! Experiments about the noise of a machine.

mod probe;

pub use probe::probe_text;
