//! Change points of real and made histories, and those that other programs find in them.

#![expect(clippy::unwrap_used, reason = "a test ends where its data cannot be read")]

use std::path::Path;

use becalm_stats::changes::engines::{Otava, edpelt, otava};
use becalm_stats::changes::{Rules, detect};
use serde_json::Value;

#[expect(clippy::disallowed_methods, reason = "tests read their data")]
fn data(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/change_points").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|one| one.as_f64().unwrap()).collect()
}

fn indices(value: &Value) -> Vec<usize> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|one| usize::try_from(one.as_u64().unwrap()).unwrap())
        .collect()
}

fn rules(params: &Value) -> Otava {
    let usual = Otava::default();
    let window =
        params["window_len"].as_u64().map_or(usual.window, |w| usize::try_from(w).unwrap());
    let number = |name: &str, usual| params[name].as_f64().unwrap_or(usual);
    Otava {
        window,
        p: number("max_pvalue", usual.p),
        magnitude: number("min_magnitude", usual.magnitude),
    }
}

#[test]
fn otava_finds_what_otava_finds_in_the_history_of_tigerbeetle() {
    let data = data("tigerbeetle.json");
    let values = numbers(&data["values"]);
    let sets = data["expected_by_params"].as_array().unwrap();
    assert_eq!(sets.len(), 10);
    for set in sets {
        assert_eq!(otava(&values, rules(set)), indices(&set["expected"]), "{set}");
    }
}

#[test]
fn otava_finds_what_otava_finds_in_small_series() {
    let data = data("small_fixtures.json");
    let single = &data["single_series"];
    assert_eq!(
        otava(&numbers(&single["values"]), rules(&single["params"])),
        indices(&single["expected"])
    );
    let two = &data["two_metrics"];
    for name in ["series1", "series2"] {
        let found = otava(&numbers(&two[name]), rules(&two["params"]));
        assert_eq!(found, indices(&two["expected"][name]), "{name}");
    }
    let zeros = &data["div_by_zero"];
    let found = otava(&numbers(&zeros["values"]), Otava::default());
    assert_eq!((found.len(), found[0]), (2, 3));
}

#[test]
fn other_engines_find_nothing_in_a_constant() {
    for n in [0, 1, 2, 3, 10, 120] {
        let values = vec![7.0; n];
        assert!(otava(&values, Otava::default()).is_empty(), "{n} values");
        assert!(edpelt(&values, 3).is_empty(), "{n} values");
    }
}

#[test]
fn edpelt_finds_what_perfolizer_finds() {
    for case in data("edpelt_cases.json").as_array().unwrap() {
        let distance = usize::try_from(case["min_distance"].as_u64().unwrap()).unwrap();
        let expected: Vec<usize> =
            indices(&case["expected_end_of_segment_0based"]).iter().map(|last| last + 1).collect();
        let values = match case["values"].as_str() {
            Some(_) => (1..=10_000).map(f64::from).collect(),
            None => numbers(&case["values"]),
        };
        assert_eq!(edpelt(&values, distance), expected, "{}", case["name"]);
    }
}

#[test]
fn steps_of_made_histories_are_found_within_three_runs() {
    for (noise, n) in
        ["gauss", "spiky", "bimodal", "ar1"].iter().flat_map(|one| [(one, 100), (one, 500)])
    {
        let data = data(&format!("steps_{noise}_{n}.json"));
        let truth = indices(&data["truth"]);
        let found = detect(numbers(&data["y"]), Rules::default());
        let near =
            |truth: &usize| found.confirmed.iter().any(|one| one.index.abs_diff(*truth) <= 3);
        let missed: Vec<&usize> = truth.iter().filter(|one| !near(one)).collect();
        // A hundred correlated values are too few to be sure of the last step of 3 %.
        let allowed = usize::from(n == 100);
        assert!(missed.len() <= allowed, "{noise} {n}: {missed:?} not found in {found:?}");
        // Correlated noise may wander far enough to be taken for a level of its own, there and back.
        let wandering = if *noise == "ar1" { 3 } else { 0 };
        assert!(found.confirmed.len() <= truth.len() + wandering, "{noise} {n}: {found:?}");
    }
}
