//! Suites: the benchmarks of `becalm.toml`, measured in one session.
//!
//! `file` finds and reads the file and says where it is wrong, `resolve` makes subjects of its benchmarks,
//! `metrics` reads what they are about, `load` reads loads, `choose` takes some of them, `start` makes them ready to be started,
//! `estimate` says how long it will take.

mod choose;
mod error;
mod estimate;
mod file;
mod load;
mod metrics;
mod resolve;
mod start;

pub use choose::choose;
pub use error::SuiteError;
pub use estimate::{after_the_warm_up, outlook};
pub use file::SuiteFile;
pub use load::{LoadTextError, ReadLoad, load_of_text, load_of_this_folder};
pub use resolve::{Benchmark, resolve};
pub use start::{Start, SuitePlan};

/// Name of the file.
pub const FILE: &str = "becalm.toml";
