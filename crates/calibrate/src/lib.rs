//! How often decisions are wrong: development only, nothing of the product depends on it.
//!
//! Sessions are simulated and decided by the code that real sessions use. [`noise`] draws what a machine
//! adds to its runs, [`trial`] makes a session of them, [`redo`] discards disturbed rounds of it, [`pace`]
//! samples the pace of the core beside it, and [`rule`] sets other rules beside ours, those of [`peers`]; [`Tally`] counts the
//! answers, [`rate`] gives their intervals, and [`tables`] writes them into `docs/methodology/calibration.md`. [`bisection`] searches made-up
//! histories, [`levels`] reads made-up series for changes of level. [`fleets`] has blocks on several machines, [`servers`] windows of queues. [`decisions`] counts
//! what real tools said of real programs, for `cargo xtask bench decide`.
//!
//! It may use `stats`, and its tests also `model` and `runner`. `tests/calibration` holds every estimator
//! and rule to its stated error; start reading in `trial.rs`, then `tests/calibration/decision.rs`.

pub mod bisection;
pub mod decisions;
pub mod fleets;
pub mod levels;
pub mod noise;
pub mod pace;
pub mod peers;
pub mod rate;
pub mod redo;
pub mod rule;
pub mod servers;
pub mod steady;
mod table;
pub mod tables;
pub mod tally;
pub mod trial;

pub use levels::levels_markdown;
pub use noise::Noise;
pub use redo::{Disturber, OnDisturbance};
pub use rule::Rule;
pub use table::Table;
pub use tables::calibration_markdown;
pub use tally::Tally;
pub use trial::{Looks, Order, Outcome};
