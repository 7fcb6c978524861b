//! Variance components and plans against NumPy and SciPy; see `reference/generate_levels.py`.

use becalm_stats::levels::{Analysis, Level, Precision, cheapest};
use serde_json::Value;

fn cases(text: &str) -> (Vec<Value>, f64) {
    let file: Value = serde_json::from_str(text).unwrap();
    let cases = file["cases"].as_array().unwrap().clone();
    assert!(!cases.is_empty() && file["by"].is_string() && file["why"].is_string());
    (cases, file["tolerance"].as_f64().unwrap())
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|one| one.as_f64().unwrap()).collect()
}

#[test]
fn components_agree_with_projection_matrices() {
    let (cases, tolerance) = cases(include_str!("reference/components.json"));
    for case in cases {
        let groups: Vec<Vec<usize>> = case["groups"]
            .as_array()
            .unwrap()
            .iter()
            .map(|group| {
                let labels = group.as_array().unwrap().iter();
                labels.map(|one| usize::try_from(one.as_u64().unwrap()).unwrap()).collect()
            })
            .collect();
        let found = Analysis::of(&numbers(&case["values"]), &groups).unwrap().components();
        let expected = numbers(&case["variances"]);
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            let error = (found.variance - expected).abs();
            assert!(error <= tolerance * expected.abs().max(0.1), "{found:?}, {expected}");
        }
    }
}

#[test]
fn plans_take_as_long_as_the_best_of_all_whole_numbers() {
    let (cases, tolerance) = cases(include_str!("reference/plans.json"));
    for case in cases {
        let levels: Vec<Level> = case["levels"]
            .as_array()
            .unwrap()
            .iter()
            .map(|level| {
                let level = numbers(level);
                Level { variance: level[0], cost: level[1] }
            })
            .collect();
        let confidence = 0.95;
        let share = case["goal"]["precision"].as_f64().unwrap();
        let goal = Precision { share, confidence };
        let plan = cheapest(&levels, goal).unwrap();
        let expected = case["seconds"].as_f64().unwrap();
        let one_more = plan.seconds / f64::from(plan.counts[0]);
        let error = (plan.seconds - expected).abs();
        assert!(error <= (tolerance * expected).max(1.01 * one_more), "{plan:?}, {case}");
    }
}
