//! `--backend callgrind`: instructions that are counted by simulation.

use std::process::Command;

use becalm_testkit::skipped;
use insta::assert_snapshot;

use crate::support::{Measures, can_fix_addresses, env, headline, json, said};

/// Says whether valgrind is installed; a test that needs it is otherwise skipped.
fn valgrind(test: &str) -> bool {
    let is_there = Command::new("valgrind").arg("--version").output().is_ok();
    if !is_there {
        skipped(&format!("{test}: valgrind is not installed"));
    }
    is_there && can_fix_addresses(test)
}

#[test]
fn a_program_has_the_same_count_in_every_run() {
    if !valgrind("a_program_has_the_same_count_in_every_run") {
        return;
    }
    let env = env();
    let output = env
        .compare(&["--backend", "callgrind", "--export-json", "r.json", "true a", "true b"])
        .exits_with(0);
    assert!(headline(&output).contains("on instructions"), "{}", output.stdout);
    let record = env.record("r.json");
    assert_eq!(record["conditions"]["backend"], "callgrind");
    let first = &record["comparisons"][0];
    assert_eq!((&first["metric"], &first["confidence"]), (&"instructions".into(), &1.0.into()));
    let of =
        |index: usize, name: &str| record["subjects"][0]["runs"][index]["metrics"][name].clone();
    assert!(of(1, "instructions").as_f64().unwrap() > 1000.0);
    assert_eq!(of(1, "instructions"), of(2, "instructions"), "exact");
    assert!(of(1, "simulated_l1_data_misses").is_f64());
    let limits = record["conditions"]["limits"].as_array().unwrap();
    assert!(
        limits.iter().any(|one| one["text"].as_str().unwrap().contains("counted by callgrind"))
    );
    assert!(
        record["comparisons"].as_array().unwrap().iter().all(|one| one["metric"] != "wall_time"),
        "times of a simulation are not compared"
    );
}

#[test]
fn processes_that_the_subject_starts_are_counted_too() {
    if !valgrind("processes_that_the_subject_starts_are_counted_too") {
        return;
    }
    let env = env();
    let count = |script: &str| -> f64 {
        let arguments =
            ["--backend", "callgrind", "--export-json", "r.json", "--", "sh", "-c", script];
        let _ = env.measure(&arguments).exits_with(0);
        let run = env.record("r.json")["subjects"][0]["runs"][1].clone();
        run["metrics"]["instructions"].as_f64().unwrap()
    };
    assert!(count("/bin/true; /bin/true; :") > 1.3 * count("/bin/true; :"));
}

/// A record of `--backend callgrind` in which the program executes so many instructions in so many seconds.
fn counted(instructions: f64, seconds: f64) -> String {
    let runs: Vec<String> = (0..2)
        .map(|round| {
            let seconds = seconds * (1.0 + 0.01 * f64::from(round));
            format!(
                r#"{{"round": {round}, "wall_time": {seconds}, "exit_code": 0,
                "metrics": {{"instructions": {instructions}}}}}"#
            )
        })
        .collect();
    format!(
        r#"{{"schema": "becalm/run/1", "confidence": 0.95, "settings": {{"backend": "callgrind"}},
        "metrics": [{{"name": "wall_time", "unit": "s"}},
            {{"name": "instructions", "unit": "", "exact": true}}],
        "subjects": [{{"name": "A", "command": ["./a"], "runs": [{}]}}]}}"#,
        runs.join(",")
    )
}

#[test]
fn a_saved_count_is_judged_and_never_the_time_of_the_simulation() {
    let env = env();
    env.write("old.json", counted(1e6, 0.5));
    env.write("new.json", counted(1.1e6, 0.5));
    let document = json(&env.run(["diff", "old.json", "new.json", "--json"]).exits_with(0).stdout);
    let one = &document["comparisons"][0];
    assert_eq!((&one["metric"], &one["verdict"]), (&"instructions".into(), &"slower".into()));
    let output = env.run(["diff", "--metric", "wall_time", "old.json", "new.json"]).exits_with(2);
    assert_snapshot!(said(&output), @r"
    error: with --backend callgrind, wall_time is that of the simulation and not of the program
    hint: the counted metrics are instructions and simulated_...
    ");
    let plan = json(&env.run(["plan", "--json", "old.json"]).exits_with(0).stdout);
    assert_eq!(plan["metric"], "instructions");
    let output = env.run(["plan", "--metric", "wall_time", "old.json"]).exits_with(2);
    assert!(said(&output).contains("is that of the simulation"), "{}", output.stderr);
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let without = env().variable("PATH", "/nonexistent");
    let output = without.measure(&["--backend", "callgrind", "--", "/bin/true"]).exits_with(2);
    assert!(said(&output).contains("needs valgrind, which is not installed"), "{}", output.stderr);
    let output = env()
        .measure(&["--backend", "callgrind", "--harness", "custom", "--", "true"])
        .exits_with(2);
    assert!(said(&output).contains("counts whole programs"), "{}", output.stderr);
}
