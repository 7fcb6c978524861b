//! Every estimator and test against values from SciPy, NumPy, pymannkendall and mpmath; see
//! `reference/generate.py`.

#![expect(clippy::float_cmp, reason = "some results must be equal to the last bit")]

use becalm_stats::{
    Drift, Histogram, Sample, SequenceCheck, Step, Summary, center, holm, normal, quantile, spread,
    student, yuen,
};
use serde_json::Value;

/// One reference file: its cases and the relative tolerance that it states.
struct Reference {
    cases: Vec<Value>,
    tolerance: f64,
}

impl Reference {
    fn parse(text: &str) -> Self {
        let file: Value = serde_json::from_str(text).unwrap();
        assert!(
            file["by"].is_string() && file["why"].is_string(),
            "a reference states its origin and its tolerance"
        );
        let cases = file["cases"].as_array().unwrap().clone();
        assert!(!cases.is_empty());
        Self { cases, tolerance: file["tolerance"].as_f64().unwrap() }
    }

    #[track_caller]
    fn close(&self, what: &str, actual: f64, expected: &Value) {
        close(what, actual, number(expected), self.tolerance, 0.0);
    }
}

macro_rules! reference {
    ($name:literal) => {
        Reference::parse(include_str!(concat!("reference/", $name, ".json")))
    };
}

/// Asserts a relative error of at most `tolerance`, or an absolute one of at most `floor`.
#[track_caller]
fn close(what: &str, actual: f64, expected: f64, tolerance: f64, floor: f64) {
    let error = (actual - expected).abs();
    assert!(
        error <= tolerance * expected.abs() || error <= floor,
        "{what}: {actual:e} instead of {expected:e}, relative error {:e}",
        error / expected.abs()
    );
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number, not {value}"))
}

fn sample(values: &Value) -> Sample {
    Sample::new(numbers(values)).unwrap()
}

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().unwrap().iter().map(number).collect()
}

/// Rounding that a result near 0 keeps from values that are not: a few units in the last place of
/// the largest value.
fn rounding(sample: &Sample) -> f64 {
    4.0 * f64::EPSILON * sample.maximum().abs().max(sample.minimum().abs())
}

#[test]
fn estimators_agree_with_numpy_and_scipy() {
    let reference = reference!("estimators");
    for case in &reference.cases {
        let x = sample(&case["x"]);
        let check = |name: &str, actual: f64| {
            close(name, actual, number(&case[name]), reference.tolerance, rounding(&x));
        };
        check("mean", center::mean(&x));
        check("median", center::median(&x));
        check("trimmed_10", center::trimmed_mean(&x, 0.1));
        check("trimmed_20", center::trimmed_mean(&x, 0.2));
        check("deviation", spread::standard_deviation(&x).unwrap());
        check("mad", spread::mad(&x));
        check("iqr", spread::interquartile_range(&x));
        check("winsorised_20", spread::winsorised_deviation(&x, 0.2).unwrap());
        let summary = Summary::of(&x, 0.95);
        for at in [1, 5, 25, 75, 95, 99] {
            let expected = number(&case["quantiles"][at.to_string()]);
            close(
                "quantile",
                quantile::quantile(&x, f64::from(at) / 100.0),
                expected,
                reference.tolerance,
                rounding(&x),
            );
            assert_eq!(summary.percentile(at), Some(quantile::quantile(&x, f64::from(at) / 100.0)));
        }
    }
}

#[test]
fn intervals_agree_with_scipy() {
    let reference = reference!("intervals");
    for case in &reference.cases {
        let x = sample(&case["x"]);
        let summary = Summary::of(&x, number(&case["confidence"]));
        let half = summary.mean_interval.unwrap().width() / 2.0;
        close("mean", half, number(&case["mean_half_width"]), reference.tolerance, rounding(&x));
        let ends = summary.median_interval.map(|i| vec![i.low, i.high]);
        let expected = (!case["median"].is_null()).then(|| numbers(&case["median"]));
        assert_eq!(ends, expected, "{case}");
    }
}

#[test]
fn distributions_agree_with_fifty_digits() {
    let reference = reference!("normal_tail");
    for case in &reference.cases {
        let z = number(&case["z"]);
        reference.close("upper", normal::upper_tail(z), &case["upper"]);
        reference.close("lower", normal::cdf(-z), &case["upper"]);
    }
    let reference = reference!("normal_quantile");
    for case in &reference.cases {
        reference.close("quantile", normal::quantile(number(&case["p"])), &case["quantile"]);
    }
    let reference = reference!("student_tail");
    for case in &reference.cases {
        let (t, df) = (number(&case["t"]), number(&case["df"]));
        reference.close(&format!("t {t} df {df}"), student::two_sided_p(t, df), &case["two_sided"]);
    }
    let reference = reference!("student_quantile");
    for case in &reference.cases {
        let (p, df) = (number(&case["p"]), number(&case["df"]));
        let expected = number(&case["quantile"]);
        close(
            &format!("p {p} df {df}"),
            student::quantile(p, df),
            expected,
            reference.tolerance,
            1e-12,
        );
    }
}

#[test]
fn the_trimmed_t_test_agrees_with_scipy() {
    let reference = reference!("yuen");
    for case in &reference.cases {
        let result = yuen(&sample(&case["d"]), number(&case["share"]), 0.95).unwrap();
        close("mean", result.trimmed_mean.estimate, number(&case["mean"]), 1e-12, 1e-15);
        close("t", result.t, number(&case["t"]), 1e-12, 1e-14);
        assert_eq!(result.df, number(&case["df"]));
        reference.close("p", result.p, &case["p"]);
        reference.close("half", result.trimmed_mean.width() / 2.0, &case["half"]);
    }
}

#[test]
fn holm_agrees_with_its_definition() {
    let reference = reference!("holm");
    for case in &reference.cases {
        for (result, expected) in
            holm(&numbers(&case["p"]), 0.95).iter().zip(numbers(&case["adjusted"]))
        {
            close("p", result.adjusted_p, expected, reference.tolerance, 0.0);
            assert_eq!(result.rejected, expected <= 1.0 - 0.95);
        }
    }
}

#[test]
fn sequence_checks_agree_with_pymannkendall_and_scipy() {
    let reference = reference!("sequences");
    for case in &reference.cases {
        let x = sample(&case["x"]);
        let drift = Drift::of(&x).unwrap();
        let step = Step::of(&x).unwrap();
        assert_eq!(drift.s, number(&case["s"]));
        close("trend", drift.p, number(&case["trend_p"]), reference.tolerance, 1e-12);
        close("slope", drift.slope, number(&case["slope"]), reference.tolerance, rounding(&x));
        assert_eq!((step.k, step.index as f64), (number(&case["k"]), number(&case["step_index"])));
        reference.close("step", step.p, &case["step_p"]);
        close("shift", step.shift, number(&case["step_shift"]), reference.tolerance, rounding(&x));
        close(
            "lag1",
            SequenceCheck::of(&x).unwrap().lag1,
            number(&case["lag1"]),
            reference.tolerance,
            1e-14,
        );
    }
}

#[test]
fn histograms_have_as_many_bins_as_numpys() {
    for case in &reference!("histograms").cases {
        let x = sample(&case["x"]);
        let histogram = Histogram::of(&x, 1000);
        assert_eq!(histogram.counts.len() as f64, number(&case["n_bins"]), "{case}");
        assert_eq!(histogram.counts.iter().sum::<usize>(), x.len());
    }
}
