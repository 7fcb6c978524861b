//! What `becalm noise trace --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TRACE_SCHEMA;
use super::worded::{Worded, Words, worded};
use crate::Record;
use crate::note::Limit;
use crate::trace::{
    Culprit, Explanation, Lane, LongerRun, Timeline, Trace, TraceCost, TracedRun, WatchedCpu, Worst,
};

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
    /// Who ran when on which CPU: during the longest measured run and then a typical one, or while CPUs were watched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timelines: Vec<TimelineDocument>,
    /// What tracing itself costs; absent if it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<TraceCost>,
    /// How well it was traced.
    #[serde(flatten)]
    pub note: TraceNoteDocument,
}

/// Who ran when on which CPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct TimelineDocument {
    /// Place of the run among the measured runs of its subject, from 1; absent if CPUs were watched, as are subject and round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<usize>,
    /// Name of the subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Its round, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// Seconds from its beginning to its end.
    pub seconds: f64,
    /// Seconds of a slot: shares are those of whole slots.
    pub slot: f64,
    /// Who ran on which CPU, in the order of the CPUs.
    pub lanes: Vec<LaneDocument>,
}

/// When one of those that ran on a CPU had it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LaneDocument {
    /// The number of the CPU.
    pub cpu: u32,
    /// Who; absent for the subject itself.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub who: Option<Culprit>,
    /// Seconds altogether.
    pub seconds: f64,
    /// When, in rising order; slots with the same share are one span.
    pub spans: Vec<LaneSpan>,
}

/// Slots that follow each other with the same share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct LaneSpan {
    /// Seconds from the beginning.
    pub from: f64,
    /// Seconds from the beginning.
    pub until: f64,
    /// Share of each slot.
    pub share: f64,
}

impl TimelineDocument {
    fn of(timeline: &Timeline) -> Self {
        let Timeline { seconds, slot, lanes, .. } = timeline;
        let lanes = lanes.iter().map(|lane| LaneDocument::of(lane, *slot)).collect();
        Self { seconds: *seconds, slot: *slot, lanes, ..Self::default() }
    }
}

impl LaneDocument {
    fn of(lane: &Lane, slot: f64) -> Self {
        let mut spans: Vec<LaneSpan> = Vec::new();
        let mut next = None;
        for &(number, share) in &lane.shares {
            let until = f64::from(number + 1) * slot;
            match spans.last_mut() {
                Some(last) if next == Some(number) && (last.share - share).abs() < SAME => {
                    last.until = until;
                }
                _ => spans.push(LaneSpan { from: f64::from(number) * slot, until, share }),
            }
            next = Some(number + 1);
        }
        Self { cpu: lane.cpu, who: lane.who.clone(), seconds: lane.total() * slot, spans }
    }
}

/// Shares that differ by less are the same.
const SAME: f64 = 1e-6;

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
        let is_of_run = |one: &&Timeline| one.run.is_some();
        let timelines: Vec<Timeline> = trace.timelines.iter().filter(is_of_run).cloned().collect();
        let timelines = RunNamed::all(record, &timelines, |one| one.run.unwrap_or(usize::MAX));
        let timelines = timelines.into_iter().map(|RunNamed { run, subject, round, said }| {
            let (run, subject, round) = (Some(run), Some(subject), Some(round));
            TimelineDocument { run, subject, round, ..TimelineDocument::of(&said) }
        });
        Self {
            schema: TRACE_SCHEMA.to_owned(),
            command: record.subjects.first().map(|one| one.command.clone()).unwrap_or_default(),
            runs: RunNamed::all(record, &trace.runs, |traced| traced.run),
            longer: RunNamed::all(record, &explanation.longer, |longer| longer.run),
            worst: explanation.worst.clone(),
            cpus: Vec::new(),
            timelines: timelines.collect(),
            cost,
            note: TraceNoteDocument::of(trace, words),
        }
    }

    /// Returns the document of CPUs that were watched.
    pub fn of_watch(
        cpus: Vec<WatchedCpu>,
        worst: Vec<Worst>,
        trace: &Trace,
        words: &Words,
    ) -> Self {
        let timelines = trace.timelines.iter().map(TimelineDocument::of).collect();
        let note = TraceNoteDocument::of(trace, words);
        Self { schema: TRACE_SCHEMA.to_owned(), cpus, worst, timelines, note, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_with_the_same_share_are_one_span() {
        let lane = Lane { cpu: 2, who: None, shares: vec![(1, 1.0), (2, 1.0), (3, 0.5), (9, 0.5)] };
        let document = LaneDocument::of(&lane, 0.5);
        let spans: Vec<(f64, f64, f64)> =
            document.spans.iter().map(|span| (span.from, span.until, span.share)).collect();
        assert_eq!(spans, [(0.5, 1.5, 1.0), (1.5, 2.0, 0.5), (4.5, 5.0, 0.5)]);
        assert!((document.seconds - 1.5).abs() < 1e-12);
        let text = serde_json::to_string(&document).unwrap();
        assert!(text.starts_with("{\"cpu\":2,\"seconds\""), "{text}");
        let who = Some(Culprit::NonMaskable);
        let text = serde_json::to_string(&LaneDocument { who, ..document }).unwrap();
        assert!(text.starts_with("{\"cpu\":2,\"kind\":\"non_maskable\""), "{text}");
    }
}
