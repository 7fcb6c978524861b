//! From documents to the domain values.

use super::checked::{RunCheck, check_numbers};
use super::document::{ComparisonDocument, ConditionsDocument, Document, RunDocument};
use super::earlier;
use super::load::record_of_load;
use super::read_error::ReadError;
use super::version::check_readable;
use super::worded::Worded;
use super::{COMPARISON_SCHEMA, IMPORT_SCHEMA, LOAD_SCHEMA, RUN_SCHEMA};
use crate::metric::{CPU_TIME, MAX_RSS, SYSTEM_TIME, USER_TIME, WALL_TIME};
use crate::trace::{Trace, TracedRun};
use crate::{
    Comparison, Conditions, Evidence, Metric, Outcome, Part, RatioInterval, Record, RecordKind,
    Run, Subject, Summary, Unit, Verdict,
};
use std::collections::HashMap;

#[derive(serde::Deserialize)]
pub(super) struct OnlySchema {
    pub(super) schema: String,
}

/// Reads what `becalm run`, `becalm compare` or `becalm import` wrote, and what `becalm load` did as a record of one run.
pub fn read_document(text: &str) -> Result<Record, ReadError> {
    // The version is checked first: a newer document may not have this shape at all.
    let OnlySchema { schema } = serde_json::from_str(text)?;
    match check_readable(&schema, &[COMPARISON_SCHEMA, RUN_SCHEMA, IMPORT_SCHEMA, LOAD_SCHEMA])? {
        LOAD_SCHEMA => Ok(record_of_load(serde_json::from_str(text)?)),
        _ => record(serde_json::from_str(text)?),
    }
}

pub(super) fn record(document: Document) -> Result<Record, ReadError> {
    let kind =
        match check_readable(&document.schema, &[COMPARISON_SCHEMA, RUN_SCHEMA, IMPORT_SCHEMA])? {
            RUN_SCHEMA => RecordKind::Run,
            IMPORT_SCHEMA => RecordKind::Import,
            _ => RecordKind::Comparison,
        };
    // Of sides that are one program nothing is measured.
    let may_be_of_one_program = kind == RecordKind::Comparison && document.interrupted.is_none();
    if document.subjects.is_empty() && !may_be_of_one_program {
        return Err(ReadError::NoSubject);
    }
    check_numbers(&document)?;
    let mut check = RunCheck::of(kind);
    let metrics = metrics(&document);
    let names = Names::of(&metrics);
    let mut subjects = Vec::new();
    let is_suite = document.subjects.iter().any(|subject| subject.suite.is_some());
    let mut suite = Vec::new();
    let mut runs = Vec::new();
    let has_terms = document.terms.is_some();
    for (index, mut subject) in document.subjects.into_iter().enumerate() {
        subject.runs.iter().try_for_each(|run| check.check(index, &subject.name, run))?;
        let traced = |mut one: RunDocument| {
            let trace = one.trace.take();
            (run(&names, index, one), trace)
        };
        runs.extend(subject.runs.into_iter().map(traced));
        if is_suite {
            suite.push(subject.suite.unwrap_or_default());
        }
        if !has_terms && kind != RecordKind::Import {
            subject.revision = earlier::revision(&mut subject.parameters);
        }
        subjects.push(Subject {
            name: subject.name,
            command: subject.command,
            parameters: subject.parameters,
            revision: subject.revision,
        });
    }
    runs.sort_by(|(a, _), (b, _)| a.started.total_cmp(&b.started));
    let (runs, traces): (Vec<_>, Vec<_>) = runs.into_iter().unzip();
    let trace = document.trace.map(|note| Trace {
        runs: traces
            .into_iter()
            .enumerate()
            .filter_map(|(run, one)| Some(TracedRun { run, ..one? }))
            .collect(),
        events: note.events,
        lost: note.lost,
        limits: note.limits.into_iter().map(Worded::value).collect(),
        timelines: Vec::new(),
    });
    let places: HashMap<&str, usize> =
        subjects.iter().enumerate().rev().map(|(at, one)| (one.name.as_str(), at)).collect();
    let comparisons = document
        .comparisons
        .into_iter()
        .enumerate()
        .map(|(index, one)| comparison(&places, &names, index, one))
        .collect::<Result<_, _>>()?;
    let summaries = document
        .summaries
        .into_iter()
        .filter_map(|one| {
            Some(Summary {
                subject: *places.get(one.subject.as_str())?,
                metric: names.index(&one.metric)?,
                figures: one.figures.into_iter().collect(),
            })
        })
        .collect();
    Ok(Record {
        kind,
        version: document.becalm,
        arguments: document.arguments,
        started_at: document.started_at,
        seed: document.seed,
        confidence: document.confidence,
        margin: document.margin,
        aa: document.aa,
        machine: document.machine,
        conditions: document
            .settings
            .map_or_else(|| conditions(document.conditions), Conditions::from),
        metrics,
        subjects,
        suite,
        terms: document.terms,
        runs: runs.into(),
        comparisons,
        interrupted: document.interrupted.map(Worded::value),
        notes: document.notes.into_iter().map(Worded::value).collect(),
        trace,
        source: document.source,
        summaries,
    })
}

fn metrics(document: &Document) -> Vec<Metric> {
    if !document.metrics.is_empty() {
        return document.metrics.clone();
    }
    let runs = || document.subjects.iter().flat_map(|subject| &subject.runs);
    let mut metrics: Vec<Metric> = Metric::always()
        .into_iter()
        .filter(|metric| runs().any(|run| builtin(run, &metric.name).is_some()))
        .collect();
    let named: std::collections::BTreeSet<&String> =
        runs().flat_map(|run| run.metrics.keys()).collect();
    metrics.extend(named.into_iter().map(|name| Metric::lower(name, Unit::Count)));
    metrics
}

fn builtin(run: &RunDocument, name: &str) -> Option<f64> {
    match name {
        WALL_TIME => run.wall_time,
        CPU_TIME => run.cpu_time,
        USER_TIME => run.user_time,
        SYSTEM_TIME => run.system_time,
        MAX_RSS => run.max_rss,
        _ => None,
    }
}

/// Where the metrics of a record stand, by name.
pub(super) struct Names {
    indices: HashMap<String, usize>,
    /// Names of the metrics of the whole process, which stand in front.
    of_process: Vec<String>,
    all: usize,
}

impl Names {
    pub(super) fn of(metrics: &[Metric]) -> Self {
        let of_process = metrics.iter().take_while(|metric| metric.benchmark.is_none());
        Self {
            indices: metrics
                .iter()
                .enumerate()
                .map(|(index, metric)| (metric.name.clone(), index))
                .collect(),
            of_process: of_process.map(|metric| metric.name.clone()).collect(),
            all: metrics.len(),
        }
    }

    /// Adds a metric of a benchmark.
    pub(super) fn add(&mut self, name: &str) {
        self.indices.insert(name.to_owned(), self.all);
        self.all += 1;
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.indices.get(name).copied()
    }
}

pub(super) fn run(names: &Names, subject: usize, mut document: RunDocument) -> Run {
    let evidence = (!document.evidence.is_empty()).then(|| {
        let mut evidence = Box::<Evidence>::default();
        for (name, &value) in &document.evidence {
            // Evidence of a newer writer that this version does not know is left out.
            evidence.set(name, value);
        }
        evidence
    });
    let values = names
        .of_process
        .iter()
        .map(|name| builtin(&document, name).or_else(|| document.metrics.remove(name)))
        .collect();
    let mut parts: Vec<Part> = document
        .metrics
        .iter()
        .filter_map(|(name, &value)| {
            let metric = names.index(name).filter(|&index| index >= names.of_process.len())?;
            let iterations = document.samples.remove(name).unwrap_or_default();
            Some(Part { metric, value, iterations })
        })
        .collect();
    parts.sort_unstable_by_key(|part| part.metric);
    Run {
        subject,
        round: document.round,
        order: document.order,
        warmup: document.warmup,
        discarded: document.discarded,
        started: document.started,
        outcome: match (document.timed_out, document.exit_code, document.signal) {
            (true, ..) => Outcome::TimedOut,
            (_, _, Some(signal)) => Outcome::Signalled(signal),
            (_, Some(code), None) => Outcome::Exited(code),
            (_, None, None) => Outcome::Unknown,
        },
        values,
        parts,
        iterations: document.iterations,
        evidence,
        padding: document.padding,
        layout: document.layout,
        load: document.load,
    }
}

/// JSON has no infinity: from zero there is no ratio, but a verdict.
const FROM_ZERO: RatioInterval =
    RatioInterval { estimate: f64::INFINITY, low: f64::INFINITY, high: f64::INFINITY };

fn comparison(
    subjects: &HashMap<&str, usize>,
    metrics: &Names,
    index: usize,
    document: ComparisonDocument,
) -> Result<Comparison, ReadError> {
    let subject = |name: &str| {
        subjects.get(name).copied().ok_or_else(|| ReadError::Unknown {
            index,
            what: "subject",
            name: name.to_owned(),
        })
    };
    let is_decided = matches!(document.verdict, Verdict::Faster | Verdict::Slower);
    let ratio = Option::from(document.ratio).or_else(|| is_decided.then_some(FROM_ZERO));
    Ok(Comparison {
        baseline: subject(&document.baseline)?,
        candidate: subject(&document.candidate)?,
        metric: metrics.index(&document.metric).ok_or_else(|| ReadError::Unknown {
            index,
            what: "metric",
            name: document.metric.clone(),
        })?,
        primary: document.primary,
        ratio,
        verdict: document.verdict,
        confidence: document.confidence,
        rounds: document.rounds,
        discarded_rounds: document.discarded_rounds,
        noise_floor: document.noise_floor,
        rounds_needed: document.rounds_needed,
        notes: document.notes.into_iter().map(Worded::value).collect(),
    })
}

fn conditions(ConditionsDocument { known, limits }: ConditionsDocument) -> Conditions {
    Conditions { limits: limits.into_iter().map(Worded::value).collect(), ..known }
}

#[cfg(test)]
mod tests {
    use super::super::{Words, document, json_schema};
    use super::*;
    use crate::note::{ComparisonNote, CutOffWorth, Interruption, Note, SessionNote};

    const WORDS: Words = Words {
        note: |_| "a note".to_owned(),
        interruption: |_| "an interruption".to_owned(),
        limit: |_| "a limit".to_owned(),
        ..Words::NONE
    };

    /// The smallest comparison that another program may write: the fields that the design promises.
    const MINIMAL: &str = r#"{"schema": "becalm/comparison/1", "confidence": 0.95, "margin": 0.01,
      "comparisons": [{"baseline": "A", "candidate": "B", "metric": "wall_time", "unit": "s",
        "ratio": 1.021, "ratio_low": 1.016, "ratio_high": 1.026, "verdict": "slower",
        "rounds": 34, "discarded_rounds": 1, "noise_floor": 0.004}],
      "machine": {}, "subjects": [
        {"name": "A", "command": ["./a"], "runs": [{"round": 0, "order": 1, "wall_time": 0.0321}]},
        {"name": "B", "command": ["./b"], "runs": [{"round": 0, "order": 0, "wall_time": 0.0331}]}]}"#;

    #[test]
    fn a_document_with_only_the_promised_fields_reads() {
        let record = read_document(MINIMAL).unwrap();
        assert_eq!(record.subjects.len(), 2);
        assert_eq!(record.values(0, record.metric_index("wall_time").unwrap()), [0.0321]);
        assert_eq!(record.comparisons[0].verdict, Verdict::Slower);
    }

    #[test]
    fn a_record_survives_being_written_and_read() {
        let record = read_document(MINIMAL).unwrap();
        let text = serde_json::to_string(&document(&record, Vec::new(), &WORDS)).unwrap();
        assert_eq!(read_document(&text).unwrap(), record);
    }

    #[test]
    fn notes_have_kinds_and_fields_beside_their_sentences() {
        let mut record = read_document(MINIMAL).unwrap();
        let (subject, worth) = ("B".to_owned(), CutOffWorth::Nothing(Verdict::Faster));
        record.comparisons[0].notes = vec![
            ComparisonNote::CutOff { subject, rounds: 2, worth }.into(),
            ComparisonNote::Steps.into(),
        ];
        record.notes = vec![
            SessionNote::SameCommand { subjects: ["A".to_owned(), "B".to_owned()] }.into(),
            Note::text("a note"),
        ];
        record.interrupted = Some(Interruption::Signal { signal: 2 });
        let written = serde_json::to_value(document(&record, Vec::new(), &WORDS)).unwrap();
        assert_eq!(
            written["comparisons"][0]["notes"][0].to_string(),
            r#"{"kind":"cut_off","rounds":2,"subject":"B","text":"a note","worth":{"nothing":"faster"}}"#
        );
        assert_eq!(written["notes"][1].to_string(), r#"{"kind":"text","text":"a note"}"#);
        assert_eq!(written["interrupted"]["signal"], 2);
        assert_eq!(read_document(&written.to_string()).unwrap(), record);
    }

    #[test]
    fn notes_of_earlier_versions_are_sentences() {
        let notes =
            r#""notes": ["A was slow", "B failed; the suite went on without it"], "machine""#;
        let record = read_document(&MINIMAL.replace(r#""machine""#, notes)).unwrap();
        let left_out = SessionNote::LeftOut { failure: "B failed".to_owned() };
        assert_eq!(record.notes, [Note::text("A was slow"), left_out.into()]);
    }

    #[test]
    fn a_verdict_about_a_baseline_of_zero_survives_too() {
        let mut record = read_document(MINIMAL).unwrap();
        let infinite = f64::INFINITY;
        record.comparisons[0].ratio =
            Some(RatioInterval { estimate: infinite, low: infinite, high: infinite });
        let text = serde_json::to_string(&document(&record, Vec::new(), &WORDS)).unwrap();
        assert_eq!(read_document(&text).unwrap(), record);
    }

    #[test]
    fn a_newer_document_is_refused_even_if_its_shape_is_unknown() {
        let error = read_document(r#"{"schema": "becalm/comparison/9", "shape": "new"}"#);
        assert!(error.unwrap_err().to_string().contains("version 9 was written by a newer becalm"));
    }

    #[test]
    fn an_unknown_subject_or_verdict_is_named() {
        let error = read_document(&MINIMAL.replace(r#""candidate": "B""#, r#""candidate": "C""#));
        assert!(error.unwrap_err().to_string().contains("subject `C`"));
        let error = read_document(&MINIMAL.replace("slower", "odd"));
        assert!(error.unwrap_err().to_string().contains("unknown variant `odd`"));
    }

    #[test]
    fn a_confidence_in_percent_is_refused() {
        for confidence in ["95", "1", "0", "-1"] {
            let text =
                MINIMAL.replace(r#""confidence": 0.95"#, &format!(r#""confidence": {confidence}"#));
            let error = read_document(&text).unwrap_err().to_string();
            assert_eq!(error, format!("the confidence {confidence} is not between 0 and 1"));
        }
    }

    #[test]
    fn numbers_that_no_session_has_written_are_refused() {
        let terms = |terms: &str| {
            MINIMAL.replace(r#""machine""#, &format!(r#""terms": {terms}, "machine""#))
        };
        for (text, what) in [
            (MINIMAL.replace(r#""margin": 0.01"#, r#""margin": -3"#), "the margin is -3"),
            (
                terms(r#"{"confidence": 7}"#),
                "the terms.confidence is 7; it must be between 0 and 1",
            ),
            (terms(r#"{"margin": -1}"#), "the terms.margin is -1"),
            (
                terms(r#"{"stop": {"rounds": 0}}"#),
                "the terms.stop is 0; it must be at least 1 round",
            ),
            (
                MINIMAL.replace(r#""ratio": 1.021"#, r#""ratio": -5"#),
                "the ratio of a comparison is -5",
            ),
            (MINIMAL.replace("0.0321", "-1"), "the wall_time of a run of `A` is -1"),
        ] {
            let error = read_document(&text).unwrap_err().to_string();
            assert!(error.starts_with(what), "{error}");
        }
    }

    #[test]
    fn a_round_that_no_session_reaches_is_refused() {
        let error = read_document(&MINIMAL.replace(r#""round": 0"#, r#""round": 4294967295"#));
        assert!(error.unwrap_err().to_string().contains("round 4294967295"));
    }

    proptest::proptest! {
        #[test]
        fn a_damaged_document_is_refused_or_read_but_never_panics(
            at in 0..MINIMAL.len(), length in 0_usize..40, patch in "[-0-9a-z{}\\[\\]\":,. ]{0,12}",
        ) {
            let (start, end) = (at, (at + length).min(MINIMAL.len()));
            let text = format!("{}{patch}{}", &MINIMAL[..start], &MINIMAL[end..]);
            let _ = read_document(&text);
            let _ = super::super::read_log(&text);
        }
    }

    #[test]
    fn the_schema_requires_only_the_promised_fields() {
        let schema = json_schema("record").unwrap();
        let mut required: Vec<&str> =
            schema["required"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
        required.sort_unstable();
        assert_eq!(required, ["confidence", "schema", "subjects"]);
    }
}
