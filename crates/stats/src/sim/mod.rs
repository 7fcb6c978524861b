//! How often the decision is wrong: the real rule on simulated noise.
//!
//! [`noise`] draws what a machine adds to its runs, [`trial`] makes a session of them with the code
//! that real sessions use, [`redo`] discards disturbed rounds of it as they do, [`pace`] samples the pace of
//! the core beside it, [`rule`] sets other rules
//! beside it, [`calibration`] counts and makes the tables of `docs/METHODOLOGY.md`, and [`mod@replay`]
//! applies the rule to runs that were really made, [`bisection`] searches made-up histories.
//! `tests/calibration.rs` holds the rule to its stated error.

pub mod bisection;
pub mod calibration;
pub mod noise;
pub mod pace;
pub mod redo;
pub mod replay;
pub mod rule;
pub mod trial;

pub use calibration::{Tally, calibration_markdown};
pub use noise::Noise;
pub use redo::{Disturber, OnDisturbance};
pub use replay::{Pair, replay, replay_all};
pub use rule::Rule;
pub use trial::{Order, Outcome, Plan};
