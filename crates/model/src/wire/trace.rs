//! What `becalm noise trace --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TRACE_SCHEMA;
use super::worded::{Worded, Words, worded};
use crate::Record;
use crate::note::Limit;
use crate::trace::{Explanation, LongerRun, Trace, TraceCost, TracedRun, WatchedCpu, Worst};

/// How well a session was traced.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TraceNoteDocument {
    /// Events that were recorded.
    pub events: u64,
    /// Events that were lost.
    pub lost: u64,
    /// What could not be traced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Worded<Limit>>,
}

impl TraceNoteDocument {
    /// Returns what is said of a trace as a whole.
    pub fn of(trace: &Trace, words: &Words) -> Self {
        let limits = worded(&trace.limits, words.limit);
        Self { events: trace.events, lost: trace.lost, limits }
    }
}

/// What `becalm noise trace --json` prints. Times are in seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct TraceDocument {
    /// `becalm/noise-trace/1`.
    pub schema: String,
    /// The command that was traced; empty where CPUs were watched.
    pub command: Vec<String>,
    /// Measured runs that were traced, in time order.
    pub runs: Vec<RunNamed<TracedRun>>,
    /// Runs that something held up, in time order.
    pub longer: Vec<RunNamed<LongerRun>>,
    /// Who took most from all runs, or from all CPUs, worst first.
    pub worst: Vec<Worst>,
    /// The CPUs that were watched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<WatchedCpu>,
    /// What tracing itself costs; absent if it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<TraceCost>,
    /// How well it was traced.
    #[serde(flatten)]
    pub note: TraceNoteDocument,
}

/// What is said of one run, with the run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunNamed<T> {
    /// Place of the run among the measured runs of its subject, from 1.
    pub run: usize,
    /// Name of the subject.
    pub subject: String,
    /// Its round, from 0.
    pub round: u32,
    /// What is said of it.
    #[serde(flatten)]
    pub said: T,
}

impl<T: Clone> RunNamed<T> {
    /// Names each run by its place, subject and round; a warm-up run is left out.
    fn all(record: &Record, said: &[T], index: fn(&T) -> usize) -> Vec<Self> {
        let named = |one: &T| {
            let index = index(one);
            let run = record.runs.get(index).filter(|run| !run.warmup)?;
            let before =
                record.runs[..=index].iter().filter(|o| !o.warmup && o.subject == run.subject);
            Some(Self {
                run: before.count(),
                subject: record.subjects.get(run.subject)?.name.clone(),
                round: run.round,
                said: one.clone(),
            })
        };
        said.iter().filter_map(named).collect()
    }
}

impl TraceDocument {
    /// Returns the document of a traced session.
    pub fn of_session(
        record: &Record,
        trace: &Trace,
        explanation: &Explanation,
        cost: Option<TraceCost>,
        words: &Words,
    ) -> Self {
        Self {
            schema: TRACE_SCHEMA.to_owned(),
            command: record.subjects.first().map(|one| one.command.clone()).unwrap_or_default(),
            runs: RunNamed::all(record, &trace.runs, |traced| traced.run),
            longer: RunNamed::all(record, &explanation.longer, |longer| longer.run),
            worst: explanation.worst.clone(),
            cpus: Vec::new(),
            cost,
            note: TraceNoteDocument::of(trace, words),
        }
    }

    /// Returns the document of CPUs that were watched.
    pub fn of_watch(cpus: Vec<WatchedCpu>, worst: Vec<Worst>, note: TraceNoteDocument) -> Self {
        Self { schema: TRACE_SCHEMA.to_owned(), cpus, worst, note, ..Self::default() }
    }
}
