//! Programs that time themselves: how each harness is told to be brief, to measure what is wanted and to
//! write its results to a file, and what is read from that file.
//!
//! becalm starts a harness as it starts any program, once per run. What its benchmarks give in one
//! process becomes one value each: the process is the unit of inference, and repeating it is becalm's
//! part. So the harness is asked for little in each process.

mod criterion;
mod detect;
mod readings;
mod results;
mod table;
mod vitest;
mod words;

pub use detect::detect;
pub use readings::{HarnessError, readings};
pub use results::ResultFolder;
pub use table::{HARNESSES, Harness, ResultsPlace, Terms, harness};
pub use words::Invocation;
