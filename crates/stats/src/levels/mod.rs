//! How much of the variance arises at each level of an experiment, and how many repetitions of each
//! level are worth their time.
//!
//! An experiment has levels, one inside the other: rounds (with a layout of memory, an environment
//! and the weather of the machine) hold runs, runs hold iterations. Repeating the lowest level is
//! cheap and does not help against variance that arises above it. [`Analysis`] tells the variances
//! apart, [`cheapest`] finds the numbers that reach a goal in the least time.
//!
//! Kalibera and Jones, "Rigorous Benchmarking in Reasonable Time", ISMM (2013).

mod components;
mod pilot;
mod plan;

pub use components::{Analysis, Component};
pub use pilot::{Kind, Pilot, PilotLevel, PilotRun, pilot};
pub use plan::{FEWEST, Level, MOST, MOST_INSIDE, Precision, Repetitions, cheapest, repetitions};
