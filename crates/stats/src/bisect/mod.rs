//! Bisection under noise: which commit of a range is the first that is slower (or faster)?
//!
//! Commits are numbered `0..=n`. Commit 0 is the good end, commit `n` the bad one, and the answer is the first
//! commit `k` in `1..=n` of the new level. Every commit that is measured is measured in rounds against commit 0,
//! which gives a log ratio with a standard error ([`Level`]). [`posterior`] turns these into a probability for
//! every `k`, [`next_commit`] says which commit to measure next, and [`found`] whether one commit, or the
//! smallest group that cannot be told apart, has become probable enough.
//!
//! This is probabilistic bisection (Horstein 1963, *Sequential transmission using noiseless feedback*, IEEE
//! Transactions on Information Theory 9; Waeber, Frazier and Henderson 2013, *Bisection search with noisy
//! responses*, SIAM Journal on Control and Optimization 51) with the whole likelihood of each measurement in
//! place of answers that are right with a known probability. A wrong turn is not final: the next measurement
//! that contradicts it takes it back. For what a search must cost at least see Karp and Kleinberg 2007, *Noisy
//! binary search and its applications*, SODA.

mod marginal;
mod posterior;
mod reading;
mod size;
mod step;

pub(crate) use marginal::marginal;
pub use posterior::{Posterior, posterior};
pub use reading::BuildReading;
pub use step::{
    Group, ROUNDS_OF_ENDS, State, found, groups, most_rounds_of_commit, next_commit, rounds_of_step,
};

pub use crate::decide::paired::Level;
