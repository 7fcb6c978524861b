//! Deciding: from paired log ratios to an interval, after as few rounds as possible.

mod level;
pub mod looks;
pub mod paired;
pub mod spending;
pub mod unpaired;
