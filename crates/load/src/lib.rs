//! Load on servers: requests that are sent when they are due, whether or not the server answers, and the proof that
//! they were.
//!
//! A request has four times: when it was due, when the generator took it up, when its first byte was written, and when
//! the last byte of its answer was read. Response is last - due, service is last - written, and lag is written - due.
//! The lag is the generator's, or that of too few connections; so it can be seen who is at fault ([`judge`]).
//!
//! It may use `kernel`, `model`, `stats` and `tls`. The pure core comes first: [`Schedule`] says when requests are due,
//! [`Pool`] which connection gets one, [`Tally`] counts what became of them. `engine/` does the same with real
//! connections, and `serve/` is a server whose service times are known.

mod document;
mod engine;
mod fidelity;
mod files;
mod find;
mod here;
mod log;
mod measure;
mod of_run;
mod pool;
mod schedule;
mod seconds;
pub mod serve;
#[cfg(test)]
mod simulated;
mod tally;
mod values;

pub use document::{About, document};
pub use engine::{
    Bodies, Contents, Live, LoadError, Loaded, Pause, Plan, Protocol, RequestError, Requests,
    Target, TargetError, Template, TlsError, Trusted, Unanswered, Wanted, Way, ask,
    basic_authorization, bearer_authorization, load, load_while, port_of_url, threads_here,
};
pub use fidelity::{Observed, judge};
pub use find::{
    Capacity, FindError, Search, Sought, Tried, Wish, capacity, try_rate, wait_until_idle,
};
pub use log::{seconds_csv, write_log};
pub use measure::{Measure, QUANTILES};
pub use of_run::{run_load, value_of_run};
pub use pool::{Arrived, Pool, Taken};
pub use schedule::{Schedule, TimesError, times_of_text};
pub use seconds::ClosedSecond;
pub use tally::{Done, Fate, Tally};
pub use values::{Values, ValuesError};
