//! What took time from runs, in records and in what `becalm noise trace --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TRACE_SCHEMA;
use super::worded::{Worded, Words, worded};
use crate::Record;
use crate::note::Limit;
use crate::trace::{
    Culprit, Explanation, FaultKind, Taken, Trace, TraceCost, TracedRun, WatchedCpu, Worst,
};

/// Who took time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CulpritDocument {
    /// `process`, `kernel_thread`, `interrupt`, `local_interrupt`, `softirq`, `non_maskable`,
    /// `minor_fault`, `major_fault`, `own_threads`, `wake_up`, `held_back`, `stopped`, `blocked`,
    /// `asleep`, `steal`, `gap`, `becalm` (its own tracing) or `unknown`.
    pub kind: String,
    /// Name of the task, the device, the interrupt or the softirq.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Function of the kernel that a worker worked on or that a timer called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Process number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Unit of systemd that the process belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Number of the interrupt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// What one culprit took from one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TakenDocument {
    /// Who.
    #[serde(flatten)]
    pub culprit: CulpritDocument,
    /// Seconds, summed over the threads that it kept waiting.
    pub seconds: f64,
    /// How many times.
    pub times: u64,
    /// Seconds of the longest time.
    pub longest: f64,
}

/// Where the time of one run went.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunTraceDocument {
    /// Seconds from execution to end.
    pub wall: f64,
    /// Threads and children, itself included.
    pub threads: u32,
    /// Seconds of its own instructions and system calls.
    pub own: f64,
    /// The rest, most first.
    pub taken: Vec<TakenDocument>,
}

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

/// What `becalm noise trace --json` prints. Times are in seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TraceDocument {
    /// `becalm/noise-trace/1`.
    pub schema: String,
    /// The command that was traced; empty where CPUs were watched.
    pub command: Vec<String>,
    /// Measured runs that were traced, in time order.
    pub runs: Vec<TracedRunDocument>,
    /// Runs that something held up, in time order.
    pub longer: Vec<LongerRunDocument>,
    /// Who took most from all runs, or from all CPUs, worst first.
    pub worst: Vec<WorstDocument>,
    /// The CPUs that were watched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<WatchedCpuDocument>,
    /// What tracing itself costs; absent where it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<TraceCostDocument>,
    /// How well it was traced.
    #[serde(flatten)]
    pub note: TraceNoteDocument,
}

/// One run and where its time went.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TracedRunDocument {
    /// Place of the run among the measured runs of its subject, from 1.
    pub run: usize,
    /// Name of the subject.
    pub subject: String,
    /// Its round, from 0.
    pub round: u32,
    /// Where its time went.
    #[serde(flatten)]
    pub trace: RunTraceDocument,
}

/// A run that took longer than the median run, and why.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LongerRunDocument {
    /// Place of the run among the measured runs of its subject, from 1.
    pub run: usize,
    /// Name of the subject.
    pub subject: String,
    /// Its round, from 0.
    pub round: u32,
    /// Seconds more than the median run of the same subject.
    pub longer: f64,
    /// Who took more than in the median run, most first.
    pub causes: Vec<CauseDocument>,
}

/// One reason why a run took longer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CauseDocument {
    /// Who.
    #[serde(flatten)]
    pub culprit: CulpritDocument,
    /// Seconds more than in the median run.
    pub seconds: f64,
}

/// What one culprit took altogether.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WorstDocument {
    /// Who.
    #[serde(flatten)]
    pub culprit: CulpritDocument,
    /// Seconds altogether.
    pub seconds: f64,
    /// Share of the time of all runs, or of all CPUs.
    pub share: f64,
    /// Runs in which it took any.
    pub runs: usize,
    /// Seconds of the longest single time.
    pub longest: f64,
    /// What to do about it; empty where there is nothing to do.
    pub advice: String,
}

/// What one CPU did while it was watched.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WatchedCpuDocument {
    /// Its number.
    pub cpu: u32,
    /// Seconds for which it was watched.
    pub window: f64,
    /// What would have kept a subject from it, most first.
    pub taken: Vec<TakenDocument>,
}

/// Traced runs against runs of the same command without a trace, in the same rounds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TraceCostDocument {
    /// Which metric was compared.
    pub metric: String,
    /// Traced / untraced.
    pub ratio: f64,
    /// Lower end of its confidence interval.
    pub ratio_low: f64,
    /// Upper end; `null` when unbounded.
    pub ratio_high: Option<f64>,
    /// Rounds that were compared.
    pub rounds: u32,
}

/// Returns the document of a traced session.
pub fn trace_document(
    record: &Record,
    trace: &Trace,
    explanation: &Explanation,
    cost: Option<&TraceCost>,
    words: &Words,
) -> TraceDocument {
    let named = |index: usize| {
        let run = record.runs.get(index).filter(|run| !run.warmup)?;
        let before = record.runs[..=index].iter().filter(|o| !o.warmup && o.subject == run.subject);
        Some((before.count(), record.subjects.get(run.subject)?.name.clone(), run.round))
    };
    TraceDocument {
        schema: TRACE_SCHEMA.to_owned(),
        command: record.subjects.first().map(|one| one.command.clone()).unwrap_or_default(),
        runs: trace
            .runs
            .iter()
            .filter_map(|traced| {
                let (run, subject, round) = named(traced.run)?;
                Some(TracedRunDocument { run, subject, round, trace: run_trace(traced) })
            })
            .collect(),
        longer: explanation
            .longer
            .iter()
            .filter_map(|one| {
                let (run, subject, round) = named(one.run)?;
                let causes = one.causes.iter().map(|(culprit, seconds)| CauseDocument {
                    culprit: culprit_document(culprit),
                    seconds: *seconds,
                });
                let causes = causes.collect();
                Some(LongerRunDocument { run, subject, round, longer: one.longer, causes })
            })
            .collect(),
        worst: explanation.worst.iter().map(worst).collect(),
        cpus: Vec::new(),
        cost: cost.map(|cost| TraceCostDocument {
            metric: cost.metric.clone(),
            ratio: cost.ratio.estimate,
            ratio_low: cost.ratio.low,
            ratio_high: Some(cost.ratio.high).filter(|high| high.is_finite()),
            rounds: cost.rounds,
        }),
        note: note(trace, words),
    }
}

/// Returns the document of CPUs that were watched.
pub fn watch_document(
    cpus: &[WatchedCpu],
    all: &[Worst],
    note: TraceNoteDocument,
) -> TraceDocument {
    TraceDocument {
        schema: TRACE_SCHEMA.to_owned(),
        cpus: cpus
            .iter()
            .map(|one| WatchedCpuDocument {
                cpu: one.cpu,
                window: one.window,
                taken: one.taken.iter().map(taken).collect(),
            })
            .collect(),
        worst: all.iter().map(worst).collect(),
        note,
        ..TraceDocument::default()
    }
}

fn worst(worst: &Worst) -> WorstDocument {
    WorstDocument {
        culprit: culprit_document(&worst.culprit),
        seconds: worst.seconds,
        share: worst.share,
        runs: worst.runs,
        longest: worst.longest,
        advice: worst.advice.clone(),
    }
}

pub(super) fn note(trace: &Trace, words: &Words) -> TraceNoteDocument {
    let limits = worded(&trace.limits, words.limit);
    TraceNoteDocument { events: trace.events, lost: trace.lost, limits }
}

pub(super) fn run_trace(traced: &TracedRun) -> RunTraceDocument {
    RunTraceDocument {
        wall: traced.wall,
        threads: traced.threads,
        own: traced.own,
        taken: traced.taken.iter().map(taken).collect(),
    }
}

fn taken(taken: &Taken) -> TakenDocument {
    TakenDocument {
        culprit: culprit_document(&taken.culprit),
        seconds: taken.seconds,
        times: taken.times,
        longest: taken.longest,
    }
}

fn culprit_document(culprit: &Culprit) -> CulpritDocument {
    let mut document = CulpritDocument { kind: culprit.kind().to_owned(), ..Default::default() };
    match culprit {
        Culprit::Process { name, pid, unit } => {
            document.name.clone_from(name);
            document.pid = *pid;
            document.unit.clone_from(unit);
        }
        Culprit::KernelThread { name, work: function }
        | Culprit::LocalInterrupt { kind: name, function }
        | Culprit::Softirq { kind: name, function } => {
            document.name.clone_from(name);
            document.function.clone_from(function);
        }
        Culprit::Interrupt { line, device } => {
            document.name.clone_from(device);
            document.line = Some(*line);
        }
        _ => {}
    }
    document
}

/// Reads a run's trace again; culprits of a kind that this version does not know are unknown.
pub(super) fn read_run_trace(document: RunTraceDocument, run: usize) -> TracedRun {
    TracedRun {
        run,
        wall: document.wall,
        threads: document.threads,
        own: document.own,
        taken: document.taken.into_iter().map(read_taken).collect(),
    }
}

fn read_taken(document: TakenDocument) -> Taken {
    Taken {
        culprit: read_culprit(document.culprit),
        seconds: document.seconds,
        times: document.times,
        longest: document.longest,
    }
}

fn read_culprit(document: CulpritDocument) -> Culprit {
    let CulpritDocument { kind, name, function, pid, unit, line } = document;
    match kind.as_str() {
        "process" => Culprit::Process { name, pid, unit },
        "kernel_thread" => Culprit::KernelThread { name, work: function },
        "interrupt" => Culprit::Interrupt { line: line.unwrap_or(0), device: name },
        "local_interrupt" => Culprit::LocalInterrupt { kind: name, function },
        "softirq" => Culprit::Softirq { kind: name, function },
        _ => PLAIN.iter().find(|one| one.kind() == kind).cloned().unwrap_or(Culprit::Unknown),
    }
}

/// The culprits that their kind alone tells.
const PLAIN: [Culprit; 12] = [
    Culprit::NonMaskable,
    Culprit::PageFault(FaultKind::Minor),
    Culprit::PageFault(FaultKind::Major),
    Culprit::OwnThreads,
    Culprit::WakeUp,
    Culprit::HeldBack,
    Culprit::Stopped,
    Culprit::Blocked,
    Culprit::Asleep,
    Culprit::Steal,
    Culprit::Gap,
    Culprit::Becalm,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_culprit_is_read_as_it_was_written() {
        let text = String::from;
        let named = [
            Culprit::Process { name: text("a"), pid: Some(7), unit: Some(text("a.service")) },
            Culprit::KernelThread { name: text("kworker/1:1"), work: Some(text("wb_workfn")) },
            Culprit::Interrupt { line: 36, device: text("virtio1-req.0") },
            Culprit::LocalInterrupt { kind: text("local_timer"), function: Some(text("f")) },
            Culprit::Softirq { kind: text("RCU"), function: None },
            Culprit::Unknown,
        ];
        for culprit in named.iter().chain(&PLAIN) {
            let one = Taken { culprit: culprit.clone(), seconds: 0.5, times: 2, longest: 0.25 };
            let json = serde_json::to_string(&taken(&one)).unwrap();
            assert_eq!(read_taken(serde_json::from_str(&json).unwrap()), one, "{json}");
        }
    }
}
