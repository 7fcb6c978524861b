//! No record, however odd, makes a view panic or overflow the width by accident.

#[expect(dead_code, reason = "only the bare record is used here")]
mod fixture;

use std::time::Duration;

use becalm_model::{
    Comparison, Direction, Disturbance, DisturbanceSource, DisturbedRun, Metric, Note, Outcome,
    RatioInterval, Record, RecordKind, Run, Subject, Unit, Verdict,
};
use becalm_report::{
    Beside, Detail, Goal, PictureKind, Progress, SharedAxes, Sides, Style, comparison_text,
    diff_text, facts_text, hist_text, html, markdown, metadata_text, plot_text, progress_line,
    run_text, show_text, stats_text,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        2 => Just(0.0),
        2 => Just(0.032),
        8 => 1e-9..1e3_f64,
        1 => Just(5e-324),
        1 => Just(1e300),
        1 => Just(-2.5),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("速い🚀e\u{301}".to_owned()),
        Just("x".repeat(300)),
        Just("a\tb\nc\u{202e}|`<".to_owned()),
        "[a-z]{1,8}",
    ]
}

fn ratio() -> impl Strategy<Value = Option<RatioInterval>> {
    let odd = prop_oneof![
        Just(RatioInterval { estimate: 1.0, low: 0.0, high: f64::INFINITY }),
        Just(RatioInterval { estimate: 0.0, low: 0.0, high: 0.0 }),
        Just(RatioInterval { estimate: 1.0, low: 1.0, high: 1.0 }),
        Just(RatioInterval { estimate: f64::INFINITY, low: 2.0, high: f64::INFINITY }),
        (1e-6..1e6_f64, 0.1..1.0_f64, 1.0..10.0_f64).prop_map(|(estimate, down, up)| {
            RatioInterval { estimate, low: estimate * down, high: estimate * up }
        }),
    ];
    option::of(odd)
}

fn comparison() -> impl Strategy<Value = Comparison> {
    (
        (0..4_usize, 0..4_usize, 0..6_usize, any::<bool>()),
        ratio(),
        proptest::sample::select(Verdict::ALL.to_vec()),
        (prop_oneof![Just(0.95), Just(1.0), 0.0..1.0_f64], option::of(value())),
        (any::<u32>(), option::of(any::<u64>())),
    )
        .prop_map(|(indices, ratio, verdict, (confidence, noise_floor), counts)| Comparison {
            baseline: indices.0,
            candidate: indices.1,
            metric: indices.2,
            primary: indices.3,
            ratio,
            verdict,
            confidence,
            rounds: counts.0,
            discarded_rounds: counts.0 / 3,
            noise_floor,
            rounds_needed: counts.1,
            notes: vec![Note::text("a note")],
        })
}

fn run() -> impl Strategy<Value = Run> {
    let outcome = prop_oneof![
        6 => Just(Outcome::Exited(0)),
        1 => Just(Outcome::Exited(3)),
        1 => Just(Outcome::Signalled(9)),
        1 => Just(Outcome::TimedOut),
        1 => Just(Outcome::Unknown),
    ];
    (0..4_usize, 0..9_u32, any::<bool>(), outcome, vec(option::of(value()), 0..7), value())
        .prop_map(|(subject, round, warmup, outcome, values, started)| Run {
            subject,
            round,
            order: 0,
            warmup,
            discarded: !warmup && round % 5 == 3,
            started,
            outcome,
            values,
            parts: vec![],
            iterations: vec![],
            evidence: None,
            padding: 0,
            layout: None,
            load: None,
        })
}

fn metric() -> impl Strategy<Value = Metric> {
    let unit = prop_oneof![
        Just(Unit::Second),
        Just(Unit::Byte),
        Just(Unit::Count),
        name().prop_map(Unit::Named)
    ];
    (name(), unit, any::<bool>(), any::<bool>()).prop_map(|(name, unit, higher, exact)| Metric {
        name,
        unit,
        direction: if higher { Direction::Higher } else { Direction::Lower },
        exact,
        benchmark: None,
        statistic: None,
    })
}

fn record() -> impl Strategy<Value = Record> {
    let subject = (name(), vec(name(), 0..3)).prop_map(|(name, command)| Subject {
        parameters: vec![("n".into(), "1".into())],
        ..Subject::new(name, command)
    });
    (
        vec(subject, 0..4),
        prop_oneof![Just(Metric::always()), vec(metric(), 0..4)],
        vec(run(), 0..40),
        vec(comparison(), 0..5),
        (any::<bool>(), any::<bool>(), value()),
    )
        .prop_map(|(subjects, metrics, runs, comparisons, (is_run, aa, number))| {
            let kind = if is_run { RecordKind::Run } else { RecordKind::Comparison };
            let mut record = fixture::bare(&[]);
            record.kind = kind;
            record.aa = aa;
            record.margin = number.abs();
            record.confidence = number;
            record.started_at = number;
            record.subjects = subjects;
            record.metrics = metrics;
            record.runs = runs.into();
            record.comparisons = comparisons;
            record
        })
}

proptest! {
    #[test]
    fn no_record_makes_a_view_panic(
        record in record(),
        other in record(),
        width in 0..130_usize,
        colour in any::<bool>(),
        unicode in any::<bool>(),
        bins in 0..30_usize,
        hit in vec(0..60_usize, 0..5),
    ) {
        let style = &Style { width, colour, unicode };
        let disturbed: Vec<DisturbedRun> = hit
            .into_iter()
            .map(|run| DisturbedRun {
                run,
                causes: vec![Disturbance {
                    source: DisturbanceSource::Steal,
                    value: 0.1,
                    limit: 0.0,
                }],
            })
            .collect();
        comparison_text(&record, &disturbed, Detail::Full, style);
        comparison_text(&record, &disturbed, Detail::Short, style);
        run_text(&record, &disturbed, Detail::Full, style);
        run_text(&record, &disturbed, Detail::Short, style);
        stats_text(&record, style);
        hist_text(&record, None, bins, &SharedAxes::default(), style);
        plot_text(
            &record,
            &disturbed,
            None,
            &SharedAxes::default(), &PictureKind::USUAL,
            &[Beside::Box, Beside::Violin],
            style,
        );
        show_text(&record, &disturbed, style);
        metadata_text(&record, style);
        facts_text(&record.machine, style);
        for (new, sides) in [(&other, Sides::Apart), (&record, Sides::InTurns)] {
            diff_text((&record, new), sides, &record.comparisons, (0.01, 0.95), &[], style);
        }
        markdown(&record, &disturbed);
        let page = html(&record, &disturbed);
        prop_assert!(!page.contains("NaN") && !page.contains("inf\""), "{}", page);
    }

    #[test]
    fn a_progress_line_is_one_line_that_fits(
        subject in name(),
        width in 0..130_usize,
        ratio in ratio(),
        round in any::<u32>(),
        seconds in 0..u64::MAX,
    ) {
        let progress = Progress {
            subject: &subject,
            warmup: false,
            round,
            goal: Goal::Either(round, Duration::from_secs(seconds)),
            elapsed: Duration::from_secs(seconds / 2),
            remaining: Some(Duration::from_secs(seconds)),
            estimate: ratio,
        };
        let line = progress_line(&progress, &Style { width, colour: false, unicode: true });
        prop_assert!(!line.contains('\n') && line.chars().count() <= width + 2, "{}", line);
    }
}

#[test]
fn twenty_columns_are_enough_for_everything_but_long_words() {
    let record = fixture::bare(&["A", "B"]);
    let style = &Style { width: 20, ..Style::PLAIN };
    for detail in [Detail::Short, Detail::Full] {
        for line in comparison_text(&record, &[], detail, style).lines() {
            assert!(line.chars().count() <= 34, "{line}");
        }
    }
}
