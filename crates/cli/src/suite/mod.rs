//! Suites: the benchmarks of `becalm.toml`, measured in one session.
//!
//! `file` finds and reads the file and says where it is wrong, `resolve` makes subjects of its benchmarks,
//! `metrics` reads what they are about, `choose` takes some of them, `estimate` says how long it will take,
//! `measure` is the command.

mod choose;
mod estimate;
mod file;
mod measure;
mod metrics;
mod nearest;
mod resolve;

pub(crate) use estimate::after_the_warm_up;
pub(crate) use file::{FILE, SuiteFile};
pub(crate) use measure::{SuiteFlags, check, run};
pub(crate) use nearest::did_you_mean;
