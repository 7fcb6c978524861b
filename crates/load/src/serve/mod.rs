//! A server of which it is known when it has to answer.

mod truth;

pub use truth::{Queue, ServiceTime, Stalls};
