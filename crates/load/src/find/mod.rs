//! The highest rate that keeps an objective: at which rates to load next, for how long, and what is known then.
//!
//! A rate is tried in a window of some seconds. A window begins with an idle server, so its first requests are left out
//! until the queue is about as long as it will be; the requests after that miss the limit or do not
//! ([`becalm_stats::threshold`]). First the rate rises in large steps until
//! the objective is missed; then each rate is drawn from where the answer probably lies, in random order, so that a drift
//! of the machine is not taken for an effect of the rate.
//!
//! Nothing here sends: `search` decides, `window` is one load with the engine.

mod capacity;
mod search;
#[cfg(test)]
mod simulated;
mod window;

pub use capacity::{Capacity, capacity};
pub use search::{FindError, Search, Sought, Tried, Wish};
pub use window::{try_rate, wait_until_idle};
