//! Up to where is an objective kept? A search under noise on a continuous scale.
//!
//! On a scale, such as the logarithm of the rate of a load, the share of misses rises. Searched is the place where it is
//! the permitted one. At a place that is tried, a stretch of time gives a number of misses ([`Reading`]).
//! [`Posterior::of`] turns all of them into a probability of every place, and its quantiles say where to try next and
//! between which places the answer lies.
//!
//! This is probabilistic bisection, as in [`crate::bisect`]: the next place is one at which both answers are about
//! equally likely, and a wrong turn is taken back by what contradicts it. Answers there are `old` or `new`; here the number
//! of misses says also how far off the place is.

mod clusters;
mod posterior;
mod reading;
mod share;

pub use posterior::Posterior;
pub use reading::Reading;
pub use share::Share;
