//! What becomes of disturbed rounds, and waiting for the machine before one.

use becalm_testkit::TestEnv;
use serde_json::Value;

use crate::support::{Measures, env, json, limits};

/// A subject that faults in 20 MB more than usual in its eighth run, the seventh that counts.
const RESTLESS: &str = "echo x >>runs
if [ $(wc -l <runs) = 8 ]; then
  head -c 20000000 /dev/zero | tail -c 20000000 >/dev/null
fi";

/// The round of that run.
const DISTURBED: u64 = 6;

const ROUNDS: usize = 10;

fn restless() -> TestEnv {
    let env = env();
    env.script("calm", "true");
    env.script("restless", RESTLESS);
    env
}

fn compared(env: &TestEnv, arguments: &[&str]) -> Value {
    let fixed = ["--warmup", "1", "--rounds", "10", "--json", "./calm", "./restless"];
    let output = env.compare(&[arguments, &fixed].concat());
    assert!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
    json(&output.stdout)
}

/// Returns the measured rounds of each subject that were kept, and those that were discarded.
fn rounds(record: &Value) -> Vec<(Vec<u64>, Vec<u64>)> {
    let of = |subject: &Value| {
        let runs = subject["runs"].as_array().unwrap().iter();
        let (discarded, kept): (Vec<&Value>, Vec<&Value>) =
            runs.filter(|run| run["warmup"] != true).partition(|run| run["discarded"] == true);
        let numbers = |runs: Vec<&Value>| {
            runs.into_iter().map(|run| run["round"].as_u64().unwrap()).collect::<Vec<_>>()
        };
        (numbers(kept), numbers(discarded))
    };
    record["subjects"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn a_disturbed_round_is_made_again_for_all_subjects_and_stays_in_the_record() {
    let env = restless();
    let record = compared(&env, &["--on-disturbance", "redo"]);
    let rounds = rounds(&record);
    let (kept, discarded) = &rounds[0];
    assert_eq!(kept.len(), ROUNDS);
    assert!(discarded.contains(&DISTURBED), "{discarded:?}");
    assert!(discarded.len() <= ROUNDS / 3, "{discarded:?}");
    assert_eq!(rounds[0], rounds[1]);
    let primary =
        record["comparisons"].as_array().unwrap().iter().find(|one| one["primary"] == true);
    assert_eq!(primary.unwrap()["rounds"], ROUNDS);
}

#[test]
fn by_default_a_disturbed_round_is_labelled_and_kept() {
    let env = restless();
    let record = compared(&env, &["--export-json", "kept.json"]);
    for (kept, discarded) in rounds(&record) {
        assert_eq!((kept.len(), discarded.len()), (ROUNDS, 0));
    }
    let shown = env.run(["show", "kept.json"]).exits_with(0).stdout;
    assert!(shown.contains("disturbed"), "{shown}");
}

#[test]
fn what_was_made_again_is_told() {
    let env = restless();
    let fixed = ["--warmup", "1", "--rounds", "10", "--on-disturbance", "redo"];
    let output = env.compare(&[&fixed[..], &["./calm", "./restless"]].concat());
    // Sentences are broken where the line ends.
    assert!(output.stdout.replace('\n', " ").contains("repeated"), "{}", output.stdout);
}

#[test]
fn waiting_for_the_machine_is_bounded_and_told() {
    let env = env();
    let record = |arguments: &[&str]| {
        let fixed = ["--warmup", "0", "--rounds", "3", "--json", "--", "true"];
        json(&env.measure(&[arguments, &fixed].concat()).exits_with(0).stdout)
    };
    let settled = record(&["--settle", "100ms"]);
    let waits: Vec<f64> = settled["subjects"][0]["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["evidence"]["settle_wait"].as_f64().unwrap())
        .collect();
    assert_eq!(waits.len(), 3, "{settled}");
    let notes = settled["notes"].to_string();
    assert!(notes.contains("--settle "), "{notes} {}", limits(&settled));
    let usual = record(&[]);
    assert!(usual["subjects"][0]["runs"][0]["evidence"].get("settle_wait").is_none());
    let _ = env.measure(&["--settle", "soon", "--", "true"]).exits_with(2);
}

#[test]
fn evidence_of_short_runs_is_their_own_also_between_hooks() {
    let env = env();
    let becalm = env!("CARGO_BIN_EXE_becalm");
    // The one touches 4 MB, the other next to nothing.
    let touches = format!("{becalm} workload array-sum --amount 1");
    let arguments = ["--prepare", "true", "-r", "6", "--export-json", "r.json", &touches, "true"];
    let output = env.compare(&arguments);
    assert!([0, 3].contains(&output.status.code().unwrap()), "{output:?}");
    for (subject, is_large) in [(0, true), (1, false)] {
        let record = env.record("r.json");
        let runs = record["subjects"][subject]["runs"].as_array().unwrap();
        for run in runs {
            let faults = run["evidence"]["minor_faults"].as_f64().unwrap();
            assert_eq!(faults > 700.0, is_large, "{subject}: {run}");
        }
    }
}
