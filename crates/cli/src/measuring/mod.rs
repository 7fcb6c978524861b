//! What `run` and `compare` share: from flags to a finished record.

mod flags;
mod harness;
mod journal;
mod metrics;
mod progress;
mod quiet;
mod resume;
mod revisions;
mod same;
mod session;
mod setup;
mod subjects;
mod tracing;

pub(crate) use flags::{Affinity, LayoutFlag, MeasureFlags, Switch, affinity};
pub(crate) use resume::{read_resumed, with_more};
pub(crate) use revisions::Revisions;
pub(crate) use session::{Finished, Wanted, as_texts, conclude_log, conduct, disturbed_runs, stop};
pub(crate) use setup::{Machine, machine_facts};
pub(crate) use subjects::{CommandLine, name, subjects};
pub(crate) use tracing::{Tracing, refused};
