//! Who took time from a subject: the kernel's own account of switches, interrupts, softirqs, page
//! faults and the work of its threads, event by event.
//!
//! `tracer` opens the events that `catalogue` finds described in `tracefs`, and reads them by a thread
//! of its own: `sys/trace.rs` has the buffers, `decode` turns bytes into events, `merge` puts those of all CPUs
//! in order. `ledger` is the state machine that tells from them who took what, `names` has the names,
//! `timeline` has who ran when on which CPU, `join` puts the accounts to the runs of a session, and `explain` says what
//! they mean.

mod account;
mod advice;
mod catalogue;
mod decode;
mod error;
mod event;
mod explain;
mod format;
mod join;
mod ledger;
mod merge;
mod names;
mod opening;
mod timeline;
mod tracer;

pub use error::TraceError;
pub use explain::{explain, worst_of_cpus};
pub use join::{TracedChild, joined, watched, watched_timeline};
pub use ledger::Mode;
pub use tracer::{Recording, Tracer};
