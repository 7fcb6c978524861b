//! The decision rule against an independent implementation; see `reference/generate_decide.py`.

use becalm_stats::decide::paired::{self, Estimate, Observation};
use becalm_stats::decide::unpaired;
use serde_json::Value;

fn reference() -> Value {
    serde_json::from_str(include_str!("reference/decide.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[track_caller]
fn check(case: &Value, estimate: &Estimate, tolerance: f64) {
    for (name, actual) in
        [("centre", estimate.centre), ("low", estimate.low), ("high", estimate.high)]
    {
        let expected = case[name].as_f64().unwrap();
        assert!((actual - expected).abs() <= tolerance, "{name}: {actual} instead of {expected}");
    }
}

#[test]
fn the_paired_estimate_agrees_with_dense_matrices() {
    let reference = reference();
    for case in reference["paired"].as_array().unwrap() {
        let (baseline, candidate) = (numbers(&case["baseline"]), numbers(&case["candidate"]));
        let first = case["candidate_first"].as_array().unwrap();
        let rounds: Vec<Observation> = (0..baseline.len())
            .map(|i| Observation {
                baseline: baseline[i],
                candidate: candidate[i],
                candidate_first: first[i].as_bool().unwrap(),
                pace: [0, 1].map(|side| case["pace"][i][side].as_f64().unwrap_or(0.0)),
            })
            .collect();
        let estimate = paired::estimate(&rounds, 0.05).unwrap();
        check(case, &estimate, reference["tolerance"].as_f64().unwrap());
    }
}

#[test]
fn the_unpaired_estimate_agrees_with_scipy() {
    let reference = reference();
    for case in reference["unpaired"].as_array().unwrap() {
        let estimate =
            unpaired::estimate(&numbers(&case["a"]), &numbers(&case["b"]), 0.05).unwrap();
        check(case, &estimate, 1e-12);
        let p = case["p"].as_f64().unwrap();
        assert!((estimate.p - p).abs() <= 1e-10 * p, "{} instead of {p}", estimate.p);
    }
}
