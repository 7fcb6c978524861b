//! `becalm workload`: the built-in programs, and their timing of themselves.

use becalm_model::wire::{WorkloadDocument, json_schema, read_workload};
use becalm_testkit::skipped;

use crate::support::{env, json};

/// Iterates a workload with JSON output and reads it.
fn iterated(arguments: &[&str]) -> WorkloadDocument {
    let output = env().run([&["workload"], arguments, &["--json"]].concat()).exits_with(0);
    let schema = json_schema("workload").unwrap();
    jsonschema::validate(&schema, &json(&output.stdout)).unwrap_or_else(|error| panic!("{error}"));
    read_workload(output.stdout.as_bytes()).unwrap()
}

#[test]
fn iterations_are_printed_line_by_line_with_a_column_per_task() {
    let output = env()
        .run(["workload", "compute", "--iterations", "7", "--tasks", "2", "--amount", "3"])
        .exits_with(0);
    let rows: Vec<Vec<f64>> = output
        .stdout
        .lines()
        .map(|line| line.split('\t').map(|value| value.parse().unwrap()).collect())
        .collect();
    assert_eq!(rows.len(), 7, "{}", output.stdout);
    assert!(rows.iter().all(|row| row.len() == 2 && row.iter().all(|value| *value > 0.0)));
}

#[test]
fn json_has_the_values_and_a_checksum_that_does_not_depend_on_the_timer() {
    let arguments = ["array-sum", "--iterations", "5", "--warmup", "2"];
    let first = iterated(&[&arguments[..], &["--timer", "clock"]].concat());
    let second = iterated(&arguments);
    assert_eq!((first.values.len(), first.timer.as_str(), first.warmup), (5, "clock", 2));
    assert_eq!((first.unit.as_str(), first.amount), ("s", 1));
    assert_eq!(first.tasks.len(), 1);
    assert_eq!(first.checksum, second.checksum);
}

#[test]
fn every_workload_times_itself_or_says_what_the_machine_lacks() {
    for name in [
        "compute",
        "array-sum",
        "mixed",
        "burst-sum",
        "pointer-chase",
        "bandwidth",
        "branchy",
        "page-faults",
        "syscalls",
        "file-warm",
        "file-cold",
        "siblings",
        "cores",
        "oversubscribed",
        "jit",
    ] {
        let output = env().run(["workload", name, "--iterations", "2", "--amount", "1"]);
        let (lines, said) = (output.stdout.lines().count(), &output.stderr);
        match output.status.code() {
            Some(0) => assert_eq!(lines, 2, "{name}: {}", output.stdout),
            Some(4) if name == "siblings" && said.contains("no core here runs two threads") => {
                skipped("siblings: no core of this machine runs two threads");
            }
            Some(4) if name == "file-cold" && said.contains("is in memory") => {
                skipped("file-cold: temporary files lie in memory here");
            }
            code => panic!("{name}: {code:?}\n{said}"),
        }
    }
}

#[test]
fn what_cannot_be_done_is_told() {
    let check = |arguments: &[&str], code: i32, message: &str| {
        let output = env().run([&["workload"], arguments].concat()).exits_with(code);
        assert!(output.stderr.contains(message), "{}", output.stderr);
    };
    check(&["nothing"], 2, "burst-sum");
    check(&["compute", "--json"], 2, "--iterations");
    check(&["compute", "--iterations", "0"], 2, "--iterations");
    check(&["compute", "--iterations", "1", "--tasks", "100000"], 2, "the limit is 4096");
    check(&["compute", "--iterations", "4000000000"], 2, "the limit is 10000000");
    check(&["compute", "--iterations", "1", "--pin", "8191"], 2, "cannot run on 8191");
    check(&["cores", "--iterations", "1", "--tasks", "9999"], 2, "9999 tasks do not fit");
    check(&["file-warm", "--iterations", "1", "--amount", "9999"], 4, "MiB is too large");
}

#[test]
fn workloads_of_several_threads_have_them_without_iterations_too() {
    for name in ["siblings", "cores", "oversubscribed"] {
        let output = env().run(["workload", name, "--amount", "1"]);
        match output.status.code() {
            Some(0) => assert_eq!(output.stdout.trim().len(), 16, "{name}: {}", output.stdout),
            Some(4) if name == "siblings" && output.stderr.contains("no core here runs two") => {
                skipped("siblings: no core of this machine runs two threads");
            }
            code => panic!("{name}: {code:?}\n{}", output.stderr),
        }
    }
}
