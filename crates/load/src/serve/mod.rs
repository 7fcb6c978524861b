//! A server of which it is known when it has to answer.
//!
//! [`Queue`] says when, without a clock; [`Server`] does it, for clients of HTTP.

mod alarm;
mod server;
mod truth;
mod workers;

pub use server::{Busy, Listening, Options, Server};
pub use truth::{Queue, ServiceTime, ServiceTimeError, Stalls};
