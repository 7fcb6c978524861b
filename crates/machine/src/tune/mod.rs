//! Changing the machine, and putting everything back.

mod same;

pub use same::same;
