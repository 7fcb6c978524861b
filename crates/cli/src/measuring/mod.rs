//! What every command shares that makes runs: from flags to a finished record.

mod build;
mod conditions;
mod environment;
mod exports;
mod flags;
mod harness;
mod layouts;
mod log;
mod metrics;
mod progress;
mod quiet;
mod resume;
mod revisions;
mod same;
mod session;
mod setup;
mod subjects;
mod suite;
mod tracing;

pub(crate) use build::BuildError;
pub(crate) use conditions::{ConditionFlags, LayoutFlag, OnDisturbanceFlag, PaceFlag, Switch};
pub(crate) use environment::{environment, policy};
pub(crate) use exports::ExportFlags;
pub(crate) use flags::{MeasureFlags, confidence, harness_name};
pub(crate) use harness::Asked;
pub(crate) use metrics::{decide_exactly, simulated};
pub(crate) use resume::{go_on, read_resumed, with_more};
pub(crate) use revisions::{
    Builds, Commit, Making, Repository, Revisions, Signed, is_documentation,
};
pub(crate) use session::{
    Finished, Spent, Wanted, as_texts, check_exports, conclude_log, conduct, disturbed_runs,
    export, stop,
};
pub(crate) use setup::{Machine, Statement, Surroundings, machine_facts, surroundings};
pub(crate) use subjects::{CommandLine, MOST_SUBJECTS, combinations, fill, name, subjects};
pub(crate) use suite::{Each, SuitePlan};
pub(crate) use tracing::{Tracing, refused, text as traced_text, with_notes as with_traced_notes};
