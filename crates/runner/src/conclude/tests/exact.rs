//! Values that are the same in every run, unless the program is another one.

use super::*;

fn exact(name: &str) -> Metric {
    Metric { exact: true, ..Metric::lower(name, Unit::Byte) }
}

#[test]
fn exact_metrics_are_compared_exactly_and_take_no_error_from_others() {
    let record = with_metric(record(2, 3, |_, _, _| {}), exact("alloc"), |_, subject| {
        Some([1000.0, 1020.0][subject])
    });
    let found = conclude(&record, &["alloc", "wall_time"]);
    let ratio = found[0].ratio.unwrap();
    assert_eq!((found[0].verdict, found[0].confidence), (Verdict::Slower, 1.0));
    assert_eq!((ratio.low, ratio.estimate, ratio.high), (1.02, 1.02, 1.02));
    assert!((found[1].confidence - 0.95).abs() < 1e-9, "{:?}", found[1]);
}

#[test]
fn equal_exact_values_are_equivalent_even_when_zero() {
    for value in [0.0, 7.0] {
        let base = record(2, 3, |_, _, _| {});
        let record = with_metric(base, exact("alloc"), |_, _| Some(value));
        let found = &conclude(&record, &["alloc"])[0];
        assert_eq!((found.verdict, found.ratio.unwrap().estimate), (Verdict::Equivalent, 1.0));
        assert_eq!((found.rounds, found.discarded_rounds), (3, 0));
        assert_eq!(found.notes, []);
    }
}

#[test]
fn values_that_never_differ_hide_a_unit_of_their_last_digit() {
    let found = |values: [f64; 2]| {
        let coarse = Metric::lower("printed", Unit::Second);
        let record = with_metric(record(2, 12, |_, _, _| {}), coarse, |_, one| Some(values[one]));
        conclude(&record, &["printed"]).remove(0)
    };
    // Two decimals: both may take 0.105.
    for values in [[0.10, 0.11], [0.1, 0.1]] {
        let found = found(values);
        assert_eq!((found.verdict, found.rounds_needed), (Verdict::Inconclusive, None));
        assert_eq!(*first(&found), ComparisonNote::Steps);
    }
    assert_eq!(found([1000.0, 1100.0]).verdict, Verdict::Slower);
    assert_eq!(found([1000.0, 1000.0]).verdict, Verdict::Equivalent);
}

#[test]
fn lower_bounds_are_never_equivalent() {
    let record = record(2, 30, |round, subject, run| {
        run.values[0] = Some(if subject == 0 { 0.999 * wobble(round, 0) } else { 1.0 });
        if subject == 1 && round % 6 == 0 {
            run.outcome = Outcome::TimedOut;
        }
    });
    let found = &conclude(&record, &["wall_time"])[0];
    assert!(found.ratio.unwrap().high < 1.01, "it would fit: {found:?}");
    assert_eq!((found.verdict, found.rounds_needed), (Verdict::Inconclusive, None));
    assert!(!is_settled(found, 0.01));
}

#[test]
fn rounds_of_one_layout_count_once_for_exact_values_too() {
    let base = record(2, 6, |_, _, run| run.layout = Some(run.round % 3));
    let record = with_metric(base, exact("size"), |_, subject| Some([0.0, 7.0][subject]));
    let found = conclude(&record, &["size", "wall_time"]);
    assert_eq!((found[0].rounds, found[1].rounds), (3, 3));
}

#[test]
fn exact_values_below_zero_have_no_ratio_and_those_from_zero_a_verdict() {
    let found = |values: [f64; 2]| {
        let record = with_metric(record(2, 3, |_, _, _| {}), exact("balance"), |_, subject| {
            Some(values[subject])
        });
        conclude(&record, &["balance"]).remove(0)
    };
    for values in [[-2.0, -1.0], [-1.0, 5.0]] {
        let found = found(values);
        assert_eq!((found.verdict, found.ratio), (Verdict::Inconclusive, None), "{values:?}");
        let metric = || "balance".to_owned();
        let without = ComparisonNote::RoundsWithoutRatio { rounds: 3, metric: metric() };
        assert_eq!(*first(&found), without);
        assert!(!found.notes.contains(&ComparisonNote::NotExact { metric: metric() }.into()));
    }
    let from_zero = found([0.0, 5.0]);
    assert_eq!(from_zero.verdict, Verdict::Slower);
    assert!(from_zero.ratio.unwrap().low.is_infinite());
}

#[test]
fn a_metric_that_is_not_as_exact_as_said_is_treated_as_measured() {
    let record = with_metric(record(2, 12, |_, _, _| {}), exact("alloc"), |round, subject| {
        Some(1000.0 * wobble(round, subject))
    });
    let found = &conclude(&record, &["alloc"])[0];
    assert_eq!(found.verdict, Verdict::Equivalent);
    assert_eq!(*first(found), ComparisonNote::NotExact { metric: "alloc".to_owned() });
}
