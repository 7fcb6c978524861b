//! `JUnit` XML of comparisons.

use becalm_model::load::{ObjectiveResult, RunLoad};
use becalm_model::{Comparison, Interruption, RatioInterval, Record, Verdict};
use insta::assert_snapshot;

use crate::support::{choose, compared, export, text};

fn comparison(metric: usize, verdict: Verdict, primary: bool, ratio: Option<f64>) -> Comparison {
    let interval =
        |estimate: f64| RatioInterval { estimate, low: estimate * 0.95, high: estimate * 1.05 };
    Comparison {
        baseline: 0,
        candidate: 1,
        metric,
        primary,
        ratio: ratio.map(interval),
        verdict,
        confidence: 0.975,
        rounds: 4,
        discarded_rounds: 0,
        noise_floor: None,
        rounds_needed: None,
        notes: Vec::new(),
    }
}

fn judged() -> Record {
    let mut record = compared();
    record.comparisons = vec![
        comparison(0, Verdict::Slower, true, Some(1.3)),
        comparison(1, Verdict::Inconclusive, true, None),
        comparison(2, Verdict::Slower, false, Some(1.2)),
        comparison(4, Verdict::Equivalent, false, Some(1.0)),
    ];
    record
}

#[test]
fn comparisons_are_test_cases() {
    assert_snapshot!(text(&judged(), "junit", &[]));
    let notes = export(&judged(), "junit", &[]).unwrap().notes;
    assert_eq!(notes.len(), 1, "{notes:?}");
}

#[test]
fn metrics_that_are_named_decide() {
    let xml = text(&judged(), "junit", &["user_time"]);
    assert!(xml.contains(r#"tests="1" failures="1""#), "{xml}");
}

#[test]
fn objectives_of_a_load_are_test_cases() {
    let mut record = compared();
    record.comparisons.clear();
    record.subjects.truncate(1);
    record.runs.truncate(1);
    let result = |text: &str, found, is_kept| {
        let objective = text.parse().unwrap();
        ObjectiveResult { objective, found, is_kept }
    };
    let load = |objectives| Some(Box::new(RunLoad { objectives, ..RunLoad::default() }));
    record.runs[0].load = load(vec![
        result("p99 < 20ms", Some(0.003), true),
        result("p99<1ms", Some(0.003), false),
        result("p99.9 < 1s", None, false),
        result("errors < 1%", Some(0.005), true),
        result("errors < 1%", Some(0.005), true),
    ]);
    assert_snapshot!(text(&record, "junit", &[]));
    // A load of which only a part was sent says nothing about the whole.
    record.interrupted = Some(Interruption::Signal { signal: 15 });
    assert!(text(&record, "junit", &[]).contains(r#"skipped="5""#));
    record.runs[0].load.as_mut().unwrap().invalid = true;
    let xml = text(&record, "junit", &[]);
    assert!(xml.contains(r#"tests="5" failures="0" errors="5""#), "{xml}");
    record.runs[0].load = load(Vec::new());
    let error = export(&record, "junit", &[]).unwrap_err().to_string();
    assert!(error.contains("--objective"), "{error}");
}

#[test]
fn what_was_not_compared_is_no_gate() {
    let mut record = judged();
    let write = becalm_formats::writer("junit").unwrap().write;
    let error = write(&record, &choose(&record, &["max_rss"], &["A"])).unwrap_err().to_string();
    assert!(error.contains("none of the comparisons"), "{error}");
    record.comparisons.clear();
    record.subjects.truncate(1);
    let error = export(&record, "junit", &[]).unwrap_err().to_string();
    assert!(error.contains("one subject cannot"), "{error}");
}
