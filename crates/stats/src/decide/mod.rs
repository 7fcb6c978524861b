//! Deciding: from paired log ratios to an interval, after as few rounds as possible.

pub mod family;
mod flips;
mod level;
pub mod looks;
pub mod margin;
pub mod needed;
pub mod pace;
pub mod paired;
pub mod redo;
pub mod spending;
mod steps;
pub mod unpaired;
