//! `--build` with `{link_seed}`: a program that is linked in several orders.

use serde_json::Value;

use crate::support::{Measures, T, env, json, said};

/// A build that puts the seed into two programs; what they print is the same in every layout but for it.
const BUILD: &str = "for p in a b; do printf '#!/bin/sh\\necho t: %s\\n' \
                     $((1000 + 10 * {link_seed})) > $p; chmod +x $p; done; \
                     printf '#!/bin/sh\\necho t: %s\\n' $((1050 + 10 * {link_seed})) > b";

#[test]
fn every_round_runs_another_layout_of_all_programs() {
    let env = env();
    let output = env
        .compare(&[
            "--build",
            BUILD,
            "--layouts",
            "7",
            "--rounds",
            "14",
            "--metric",
            r"t[ns]=t: (\d+)",
            "--export-json",
            "r.json",
            "./a",
            "./b",
        ])
        .exits_with(0);
    assert!(output.stdout.contains("slower"), "{}", output.stdout);
    let record = env.record("r.json");
    let mut layouts = Vec::new();
    for subject in 0..2 {
        for run in record["subjects"][subject]["runs"].as_array().unwrap() {
            let layout = run["layout"].as_f64().unwrap();
            let base = [1000.0, 1050.0][subject];
            assert_eq!(run["metrics"]["t"], base + 10.0 * layout, "its own program ran");
            if run["warmup"] != true && subject == 0 {
                layouts.push(layout);
            }
        }
    }
    layouts.sort_by(f64::total_cmp);
    let twice: Vec<f64> = (1..=7).flat_map(|layout| [f64::from(layout); 2]).collect();
    assert_eq!(layouts, twice);
    let one = &record["comparisons"][0];
    assert_eq!(one["rounds"], 7, "rounds of the same layout are one observation");
    let notes: Vec<&str> = record["notes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| note["text"].as_str().unwrap())
        .collect();
    assert!(
        notes.iter().any(|note| note.starts_with("7 layouts were built, and the 7 different ones"))
    );
}

#[test]
fn a_plan_tells_how_much_layouts_differ() {
    let env = env();
    let build = "printf '#!/bin/sh\\necho t: %s\\n' $((1000 + 10 * {link_seed})) > a; chmod +x a";
    let output = env
        .run(crate::support::with(
            "plan",
            &[
                "--build",
                build,
                "--layouts",
                "6",
                "--metric",
                r"t[ns]=t: (\d+)",
                "--json",
                "--",
                "./a",
            ],
        ))
        .exits_with(0);
    let plan = json(&output.stdout);
    assert_eq!(plan["levels"][0]["level"], Value::from("layout"), "{plan}");
    assert_eq!(plan["levels"][1]["level"], Value::from("run"));
}

#[test]
fn a_build_without_a_seed_is_made_once_before_measuring() {
    let env = env();
    let build = "printf '#!/bin/sh\\necho t: 5\\n' > a; chmod +x a; echo x >> built";
    let arguments = ["--build", build, "--rounds", "3", "--metric", T, "--", "./a"];
    let output = env.measure(&arguments).exits_with(0);
    assert!(said(&output).contains("building: printf"), "{}", output.stderr);
    assert_eq!(env.read("built"), "x\n");
    let output = env.measure(&["--build", "exit 3", "--", "./a"]).exits_with(4);
    assert!(said(&output).contains("the build `exit 3` failed (exit status: 3)"));
}

#[test]
fn a_seed_that_changes_nothing_is_told() {
    let env = env();
    let build = "printf '#!/bin/sh\\necho t: 5\\n' > a; chmod +x a # {link_seed}";
    let arguments =
        ["--build", build, "--layouts", "2", "--rounds", "2", "--metric", T, "--", "./a"];
    let output = env.measure(&arguments).exits_with(0);
    assert!(said(&output).contains("all 2 builds are the same program"), "{}", output.stderr);
}

#[test]
fn what_is_not_built_here_has_no_layouts() {
    let env = env();
    let output =
        env.measure(&["--build", "true {link_seed}", "--", "sh", "-c", "true"]).exits_with(2);
    assert!(
        said(&output).contains("`sh` is not a program that is built here"),
        "{}",
        output.stderr
    );
}

#[test]
fn seeds_that_give_the_same_programs_are_one_layout() {
    let env = env();
    let build =
        "printf '#!/bin/sh\\necho t: %s\\n' $((1000 + 10 * ({link_seed} % 3))) > a; chmod +x a";
    let output = env
        .measure(&[
            "--build",
            build,
            "--layouts",
            "9",
            "--rounds",
            "6",
            "--metric",
            r"t[ns]=t: (\d+)",
            "--export-json",
            "r.json",
            "--",
            "./a",
        ])
        .exits_with(0);
    assert!(
        said(&output).contains("9 layouts were built, and the 3 different ones"),
        "{}",
        output.stderr
    );
    let mut layouts: Vec<u64> = env.record("r.json")["subjects"][0]["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["layout"].as_u64().unwrap())
        .collect();
    layouts.sort_unstable();
    layouts.dedup();
    assert_eq!(layouts, [1, 2, 3]);
}

#[test]
fn layouts_without_a_seed_are_refused() {
    let env = env();
    let arguments = ["--build", "true", "--layouts", "3", "--", "true"];
    let output = env.measure(&arguments).exits_with(2);
    assert!(said(&output).contains("--layouts does nothing"), "{}", output.stderr);
}
