//! Deciding: from paired log ratios to one of four answers, after as few rounds as possible.

pub mod looks;
pub mod spending;
