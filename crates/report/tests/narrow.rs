//! Text reports on a terminal of 40 columns, without colour and without UTF-8: the verdict, both ends of the
//! interval and names that can be told apart are there, and no line is wider, but for words that cannot be broken.

#[expect(dead_code, reason = "not every record is drawn here")]
mod fixture;

use std::collections::BTreeSet;

use becalm_model::gate::{GateBy, GateOutcome, GateReport, GateResult, GateSeries};
use becalm_model::wire::{ChangeInHistoryDocument, ChangePointDocument, ChangesDocument};
use becalm_model::{GateReason, RatioInterval, Record, RecordKind, Unit};
use becalm_report::{
    Beside, Detail, PictureKind, SharedAxes, Sides, Style, Timed, changes_text, comparison_text,
    diff_text, gate_text, hist_text, import_text, metadata_text, plot_text, run_text, show_text,
    stats_text, suite_text, timeit_text, verdict_text,
};

const NARROW: Style = Style { width: 40, colour: false, unicode: false };

/// Names as benchmarks have them: they begin and end alike, and differ in the middle.
const NAMES: [&str; 3] = [
    "tests/unit/test_parser.py::TestParser::test_small[utf8-strict]",
    "tests/unit/test_parser.py::TestParser::test_large[utf8-strict]",
    "tests/unit/test_writer.py::TestWriter::test_large[utf8-strict]",
];

fn named(mut record: Record) -> Record {
    for (subject, name) in record.subjects.iter_mut().zip(NAMES) {
        subject.name = String::from(name);
        subject.command = vec!["pytest".to_owned(), name.to_owned()];
    }
    record
}

fn run() -> Record {
    Record { kind: RecordKind::Run, ..named(fixture::bare(&["A", "B", "C"])) }
}

/// Every view of a comparison.
fn comparisons(record: &Record) -> Vec<(&'static str, String)> {
    let disturbed = fixture::disturbed();
    vec![
        ("compare", comparison_text(record, &disturbed, Detail::Short, &NARROW)),
        ("compare --verbose", comparison_text(record, &disturbed, Detail::Full, &NARROW)),
        ("show", show_text(record, &disturbed, &NARROW)),
        ("demo", verdict_text(record, &NARROW)),
        ("diff", diff(record)),
    ]
}

/// What `diff` says of two records with the comparisons of this one.
fn diff(record: &Record) -> String {
    let comparisons = &record.comparisons;
    diff_text((record, record), Sides::Apart, comparisons, (0.01, 0.95), &[], &NARROW)
}

/// Every view that gives no verdict.
fn others(record: &Record) -> Vec<(&'static str, String)> {
    let disturbed = fixture::disturbed();
    let axes = SharedAxes::of([record], None);
    let beside = [Beside::Box, Beside::Violin];
    let mut suite = record.clone();
    suite.suite = vec![becalm_model::SubjectTerms::default(); record.subjects.len()];
    vec![
        ("run", run_text(record, &disturbed, Detail::Short, &NARROW)),
        ("run --verbose", run_text(record, &disturbed, Detail::Full, &NARROW)),
        ("show", show_text(record, &disturbed, &NARROW)),
        ("stats", stats_text(record, &NARROW)),
        ("hist", hist_text(record, None, 12, &axes, &NARROW)),
        ("plot", plot_text(record, &disturbed, None, &axes, &PictureKind::USUAL, &beside, &NARROW)),
        ("import", import_text(record, &NARROW)),
        ("run --suite", suite_text(&suite, &disturbed, &NARROW)),
        ("show --metadata", metadata_text(record, &NARROW)),
    ]
}

#[track_caller]
fn fits(view: &str, text: &str) {
    assert!(text.is_ascii(), "{view}: {text}");
    for line in text.lines() {
        // Of a word that is wider than the terminal nothing is lost.
        let is_one_word = line.split_whitespace().count() <= 2
            && line.split_whitespace().any(|word| word.len() > 24);
        assert!(line.len() <= 40 || is_one_word, "{view}: {line:?}");
    }
}

#[test]
fn verdict_and_interval_are_whole() {
    let cases = [
        (fixture::comparison(), "slower", "+1.6 % .. +2.6 %"),
        (fixture::undecided(), "inconclusive", "-0.6 % .. +1.8 %"),
        (fixture::same_program(), "equivalent", "-0.29 % .. +0.45 %"),
    ];
    for (record, verdict, interval) in cases {
        for (view, text) in comparisons(&named(record)) {
            fits(view, &text);
            let is_there =
                |words: &str| text.lines().any(|line| line.to_lowercase().contains(words));
            assert!(is_there(interval), "{view}: {interval} is torn or missing:\n{text}");
            let has_word =
                is_there(verdict) || (view == "demo" && text.contains("no difference between"));
            assert!(has_word, "{view}: {verdict} is missing:\n{text}");
        }
    }
}

#[test]
fn several_verdicts_stand_beside_their_subjects() {
    let record = fixture::ranking();
    let text = comparison_text(&record, &[], Detail::Short, &NARROW);
    fits("compare", &text);
    for (subject, interval, verdict) in [
        ("huge", "-69.9 % .. -67.6 %", "faster"),
        ("same", "-0.50 % .. +0.30 %", "equivalent"),
        ("small", "+1.6 % .. +2.6 %", "slower"),
    ] {
        let from = text.find(&format!("subject: {subject}")).expect(subject);
        let rest = &text[from + 1..];
        let row = &rest[..rest.find("subject: ").unwrap_or(rest.len())];
        assert!(row.contains(interval) && row.contains(verdict), "{subject}: {text}");
    }
}

#[test]
fn names_can_be_told_apart() {
    let record = run();
    for (view, text) in others(&record) {
        fits(view, &text);
        // Names are broken over lines, or cut, or replaced by labels that a legend explains.
        let text = text.split_whitespace().collect::<String>();
        for name in NAMES {
            assert!(text.contains(name), "{view}: {name} is missing: {text}");
        }
    }
}

#[test]
fn without_room_for_a_legend_names_are_cut_and_stay_apart() {
    let mut table = becalm_report::Table::of_numbers("benchmark", ["median"]);
    for name in NAMES {
        table.push([name.into(), "1.00 ms".into()]);
    }
    let text = table.text(&NARROW);
    let names: BTreeSet<&str> =
        text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names.len(), NAMES.len(), "{text}");
    fits("table", &text);
}

#[test]
fn the_verdict_comes_before_everything_else() {
    for (view, text) in comparisons(&fixture::comparison()) {
        // Whoever listens to a report hears the answer first; of separate sessions the warning is part of it.
        let first = text.split("\n\n").take(2).collect::<Vec<_>>().join(" ");
        assert!(first.contains("slower"), "{view}: {text}");
    }
}

/// Returns the part of a table of lines that is about this name.
fn row<'a>(text: &'a str, name: &str) -> &'a str {
    let (_, rest) = text.split_once(name).unwrap_or_else(|| panic!("{name}: {text}"));
    rest.split("benchmark:").next().unwrap()
}

#[test]
fn changes_have_their_kind_and_interval_beside_their_benchmark() {
    let change = |name: &str| ChangePointDocument {
        before: 0.010,
        after: 0.012,
        ratio: Some(1.2),
        ratio_low: Some(1.15),
        ratio_high: Some(1.25),
        state: "confirmed".to_owned(),
        kind: "regression".to_owned(),
        history: Some(ChangeInHistoryDocument {
            id: "7.12".to_owned(),
            benchmark: name.to_owned(),
            metric: "wall_time".to_owned(),
            unit: "s".to_owned(),
            after_commit: Some("0123456789abcdef".to_owned()),
            review: "open".to_owned(),
            ..ChangeInHistoryDocument::default()
        }),
        ..ChangePointDocument::default()
    };
    let changes = NAMES.map(change).to_vec();
    let document = ChangesDocument { series: 3, changes, ..ChangesDocument::default() };
    let text = changes_text(&document, None, &NARROW, NARROW.width);
    fits("changes", &text);
    for name in NAMES {
        let row = row(&text, name);
        assert!(row.contains("regression") && row.contains("+15.0 % .. +25.0 %"), "{name}: {text}");
    }
}

#[test]
fn a_gate_has_its_answer_and_intervals() {
    let result = |name: &str| {
        let of = GateSeries {
            benchmark: name.to_owned(),
            metric: "wall_time".to_owned(),
            unit: Unit::Second,
            parameters: std::collections::BTreeMap::new(),
        };
        let by = GateBy::Comparison;
        GateResult {
            ratio: Some(RatioInterval { estimate: 1.2, low: 1.15, high: 1.25 }),
            ..GateResult::new(of, by, GateOutcome::Fail, GateReason::Slower)
        }
    };
    let report =
        GateReport { confidence: 0.95, results: NAMES.map(result).to_vec(), notes: Vec::new() };
    let text = gate_text(&report, &NARROW, NARROW.width);
    fits("gate", &text);
    assert!(text.contains("The gate fails: 3 of 3"), "{text}");
    for name in NAMES {
        let row = row(&text, name);
        assert!(row.contains(GateOutcome::Fail.word()), "{name}: {text}");
        assert!(row.contains("+15.0 % .. +25.0 %"), "{name}: {text}");
    }
}

#[test]
fn a_timed_statement_fits() {
    let mut record = run();
    record.subjects.truncate(1);
    record.runs.retain(|run| run.subject == 0);
    let name = "sorted(range(100000), key=lambda number: -number)";
    record.metrics[0].name = String::from(name);
    record.metrics[0].benchmark = Some(String::from(name));
    let timed = Timed { loops: vec!["131072".to_owned()], values: 3, is_compiled: true };
    fits("timeit", &timeit_text(&record, &[], &timed, &NARROW));
}
