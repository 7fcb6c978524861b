//! From the domain values to documents.

use super::document::{
    ComparisonDocument, ConditionsDocument, Document, EstimateDocument, RunDocument,
    SubjectDocument, SummaryDocument,
};
use serde::{Serialize, Serializer};

use super::log::{LogHeader, LogMetric, LogRun};
use super::trace::TraceNoteDocument;
use super::worded::{Worded, Words, worded};
use super::{COMPARISON_SCHEMA, IMPORT_SCHEMA, LOG_SCHEMA, RUN_SCHEMA};
use crate::metric::{CPU_TIME, MAX_RSS, SYSTEM_TIME, USER_TIME, WALL_TIME};
use crate::trace::TracedRun;
use crate::{Comparison, Metric, Outcome, Record, RecordKind, Run};

/// The runs of one subject of a record, written one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Runs<'a> {
    record: &'a Record,
    subject: usize,
}

impl Serialize for Runs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let runs = self.record.runs.of_subject(self.subject);
        serializer.collect_seq(runs.map(|(place, one)| RunDocument {
            trace: traced(self.record, place),
            ..run(&self.record.metrics, one)
        }))
    }
}

/// Returns the whole record as a document, with the `estimates` and the sentences that go into it.
pub fn document<'a>(
    record: &'a Record,
    estimates: Vec<EstimateDocument>,
    words: &Words,
) -> Document<Runs<'a>> {
    with_runs(record, estimates, words, |subject| Runs { record, subject })
}

fn with_runs<R>(
    record: &Record,
    estimates: Vec<EstimateDocument>,
    words: &Words,
    runs: impl Fn(usize) -> R,
) -> Document<R> {
    Document {
        schema: schema(record.kind).to_owned(),
        becalm: record.version.clone(),
        started_at: record.started_at,
        arguments: record.arguments.clone(),
        seed: record.seed,
        confidence: record.confidence,
        margin: record.margin,
        aa: record.aa,
        interrupted: record.interrupted.as_ref().map(|why| Worded::of(why, words.interruption)),
        notes: worded(&record.notes, words.note),
        comparisons: record
            .comparisons
            .iter()
            .map(|c| comparison_of(record, record, c, words))
            .collect(),
        estimates,
        metrics: record.metrics.clone(),
        machine: record.machine.clone(),
        terms: record.terms.clone(),
        conditions: ConditionsDocument {
            known: record.conditions.clone(),
            limits: worded(&record.conditions.limits, words.limit),
        },
        settings: None,
        trace: record.trace.as_ref().map(|trace| TraceNoteDocument::of(trace, words)),
        source: record.source.clone(),
        summaries: record
            .summaries
            .iter()
            .map(|one| SummaryDocument {
                subject: record.subjects[one.subject].name.clone(),
                metric: record.metrics[one.metric].name.clone(),
                figures: one.figures.iter().cloned().collect(),
            })
            .collect(),
        subjects: record
            .subjects
            .iter()
            .enumerate()
            .map(|(index, subject)| SubjectDocument {
                name: subject.name.clone(),
                command: subject.command.clone(),
                parameters: subject.parameters.clone(),
                revision: subject.revision.clone(),
                suite: record.suite.get(index).cloned(),
                runs: runs(index),
            })
            .collect(),
    }
}

fn traced(record: &Record, place: usize) -> Option<TracedRun> {
    let runs = &record.trace.as_ref()?.runs;
    runs.iter().find(|traced| traced.run == place).cloned()
}

/// Returns a record as JSON for another becalm of this version: without estimates and sentences, which follow from it.
pub fn unworded(record: &Record) -> String {
    let document = document(record, Vec::new(), &Words::NONE);
    serde_json::to_string(&document).expect("a document can be written")
}

/// Returns the first line of a session's log: the record as far as it is known before the first
/// run.
pub fn log_header(record: &Record) -> LogHeader {
    let document = with_runs(record, Vec::new(), &Words::NONE, |_| Vec::new());
    LogHeader { log: LOG_SCHEMA.to_owned(), document }
}

/// Returns a metric that the runs have shown as a line of a session's log.
pub fn log_metric(one: &Metric) -> LogMetric {
    LogMetric { metric: one.clone() }
}

/// Returns one run as a line of a session's log.
pub fn log_run(metrics: &[Metric], one: &Run) -> LogRun {
    LogRun { subject: one.subject, run: run(metrics, one) }
}

fn schema(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Run => RUN_SCHEMA,
        RecordKind::Comparison => COMPARISON_SCHEMA,
        RecordKind::Import => IMPORT_SCHEMA,
    }
}

/// Returns a comparison of two records: the baseline and the metric are of `old`, the candidate of `new`.
pub(super) fn comparison_of(
    old: &Record,
    new: &Record,
    comparison: &Comparison,
    words: &Words,
) -> ComparisonDocument {
    let metric = &old.metrics[comparison.metric];
    ComparisonDocument {
        baseline: old.subjects[comparison.baseline].name.clone(),
        candidate: new.subjects[comparison.candidate].name.clone(),
        metric: metric.name.clone(),
        benchmark: metric.benchmark.clone(),
        unit: metric.unit.clone(),
        ratio: comparison.ratio.into(),
        verdict: comparison.verdict,
        rounds: comparison.rounds,
        discarded_rounds: comparison.discarded_rounds,
        noise_floor: comparison.noise_floor,
        primary: comparison.primary,
        confidence: comparison.confidence,
        rounds_needed: comparison.rounds_needed,
        notes: worded(&comparison.notes, words.note),
    }
}

fn run(metrics: &[Metric], run: &Run) -> RunDocument {
    let mut document = RunDocument {
        round: run.round,
        order: run.order,
        warmup: run.warmup,
        discarded: run.discarded,
        started: run.started,
        padding: run.padding,
        layout: run.layout,
        load: run.load.clone(),
        iterations: run.iterations.clone(),
        evidence: run
            .evidence
            .iter()
            .flat_map(|evidence| evidence.entries())
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        ..RunDocument::default()
    };
    match run.outcome {
        Outcome::Unknown => {}
        Outcome::Exited(code) => document.exit_code = Some(code),
        Outcome::Signalled(signal) => document.signal = Some(signal),
        Outcome::TimedOut => document.timed_out = true,
    }
    for (metric, value) in metrics.iter().zip(&run.values) {
        let Some(value) = *value else { continue };
        match metric.name.as_str() {
            WALL_TIME => document.wall_time = Some(value),
            CPU_TIME => document.cpu_time = Some(value),
            USER_TIME => document.user_time = Some(value),
            SYSTEM_TIME => document.system_time = Some(value),
            MAX_RSS => document.max_rss = Some(value),
            other => {
                document.metrics.insert(other.to_owned(), value);
            }
        }
    }
    for part in &run.parts {
        let name = &metrics[part.metric].name;
        document.metrics.insert(name.clone(), part.value);
        if !part.iterations.is_empty() {
            document.samples.insert(name.clone(), part.iterations.clone());
        }
    }
    document
}
