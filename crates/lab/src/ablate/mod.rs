//! Which mitigation helps here: mitigations tried singly and on top of each other in randomised
//! blocks, their spreads compared with the untuned machine's, and the smallest set recommended that
//! is nearly as good as the best.
//!
//! Everything here is a pure function. Whoever runs the subject is told what to run next
//! ([`design`]) and under which mitigations ([`mitigation`], [`advice`]), and gives the runs to
//! an [`Experiment`].

pub mod advice;
pub mod analysis;
pub mod design;
mod document;
mod effects;
mod experiment;
pub mod here;
pub mod mitigation;
mod recommend;

pub use document::{Names, document};
pub use effects::effects;
pub use experiment::{Chosen, Experiment, Outcome, Recommended, StageRuns};

#[cfg(test)]
mod tests;
