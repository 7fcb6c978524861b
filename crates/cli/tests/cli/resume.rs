//! `--resume`: a session that was broken off goes on as if it had not been.

use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Measures, T, env, prints, said, schedule, wait_for_lines, with};

#[test]
fn a_killed_session_goes_on_where_it_was_and_ends_like_an_unbroken_one() {
    let env = env();
    // The ninth run waits until the session has been killed.
    let waits =
        "echo >> turns; [ $(wc -l < turns) != 9 ] || until [ -e over ]; do sleep 0.01; done";
    env.script("a", &format!("{waits}; echo t: 4"));
    env.script("b", &format!("{waits}; echo t: 5"));
    let (a, b) = ("./a", "./b");
    let arguments = |file: &'static str| {
        ["--seed", "7", "--rounds", "12", "--metric", T, "--export-json", file, a, b]
    };
    let mut command = env.command(with("compare", &arguments("broken.json")));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let log = env.work().join("broken.json.partial");
    wait_for_lines(&log, 1 + 2 + 2 * 3);
    child.kill().unwrap();
    child.wait().unwrap();
    env.write("over", "");
    let finished = env.read("broken.json.partial").lines().count() - 1;

    let output = env.run(["compare", "--resume", "broken.json"]).exits_with(4);
    let hint = "hint: the log of a session that was killed exists: --resume broken.json.partial";
    assert!(output.stderr.contains(hint), "{}", output.stderr);
    let _ = env.run(["compare", "--resume", "broken.json.partial"]).exits_with(0);
    assert!(!log.exists(), "the log has served its purpose");
    assert!(!env.work().join("broken.json.partial.1").exists(), "it is nobody else's");
    let _ = env.compare(&arguments("whole.json")).exits_with(0);
    let (broken, whole) = (env.record("broken.json"), env.record("whole.json"));
    assert_eq!(schedule(&broken), schedule(&whole));
    assert_eq!(broken["comparisons"][0], whole["comparisons"][0]);
    assert_eq!(broken["seed"], 7);
    // The runs from before are the same runs, in front of the new ones.
    let started = |record: &Value| {
        let subjects = record["subjects"].as_array().unwrap();
        let runs = subjects.iter().flat_map(|subject| subject["runs"].as_array().unwrap());
        let mut all: Vec<f64> = runs.map(|run| run["started"].as_f64().unwrap()).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let all = started(&broken);
    assert_eq!(all.len(), 2 + 24);
    assert!(all[finished / 2 * 2] > all[finished / 2 * 2 - 1], "the clock goes on: {all:?}");
}

#[test]
fn the_log_of_a_killed_session_is_not_replaced_by_the_next() {
    let env = env();
    let arguments = ["--rounds", "500", "--export-json", "r.json", "--", "sleep", "0.02"];
    let mut command = env.command(with("run", &arguments));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_lines(&env.work().join("r.json.partial"), 1 + 3);
    child.kill().unwrap();
    child.wait().unwrap();
    let before = env.read("r.json.partial");
    // A file that is newer has nothing of it all the same.
    let _ = env.measure(&["-r", "1", "--export-json", "other.json", "--", "true"]).exits_with(0);
    std::fs::copy(env.work().join("other.json"), env.work().join("r.json")).unwrap();
    let again = ["--rounds", "2", "--export-json", "r.json", "--", "true"];
    let output = env.measure(&again).exits_with(0);
    assert!(said(&output).contains("is kept in r.json.partial.1"), "{}", output.stderr);
    assert_eq!(env.read("r.json.partial.1"), before);
    let output = env.measure(&again).exits_with(0);
    assert!(!said(&output).contains("is kept"), "{}", output.stderr);
    let more = ["run", "--resume", "r.json.partial.1", "--rounds", "5", "--export-json", "r2.json"];
    let _ = env.run(more).exits_with(0);
}

#[test]
fn what_was_spent_before_is_told_of_logs_and_of_other_plans_too() {
    let env = env();
    // Each goes up and down against the other, so that no look ever decides.
    let turns = "echo >> $0.turns; [ $(($(wc -l < $0.turns) % 2)) = 0 ]";
    env.script("a", &format!("{turns} && echo t: 900 || echo t: 1100"));
    env.script("b", &format!("{turns} && echo t: 1100 || echo t: 900"));
    let plan = ["--max-rounds", "9", "--metric", r"t[ns]=t: (\S+)"];
    let _ = env
        .compare(&[&plan[..], &["--export-json", "r.json", "./a", "./b"]].concat())
        .exits_with(3);
    let notes = |file: &str| env.record(file)["notes"].to_string();
    // The log of a session that was over.
    let log = env.work().join("over.json.partial");
    let _ = env.compare(&[&plan[..], &["./a", "./b"]].concat()).exits_with(3);
    let folder = env.path().join("state/becalm/sessions");
    let kept = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    std::fs::copy(kept, &log).unwrap();
    let more = ["compare", "--resume", "over.json.partial", "--max-rounds", "12"];
    let _ = env.run([&more[..], &["--export-json", "more.json"]].concat()).exits_with(3);
    assert!(
        notes("more.json").contains("continued after its planned end"),
        "{}",
        notes("more.json")
    );
    // One that was broken off after looks, and goes on by another plan.
    let broken = env.read("r.json").replacen('{', "{\"interrupted\": \"stopped by signal 2\",", 1);
    env.write("broken.json", broken);
    for (rounds, is_told) in [("9", false), ("14", true)] {
        let more = ["compare", "--resume", "broken.json", "--max-rounds", rounds];
        let _ = env.run([&more[..], &["--export-json", "other.json"]].concat()).exits_with(3);
        let told = notes("other.json").contains("continued with another plan");
        assert_eq!(told, is_told, "{}", notes("other.json"));
    }
}

#[test]
fn runs_of_a_session_that_goes_on_are_made_as_before() {
    let env = env();
    let _ = env.measure(&["--rounds", "3", "--export-json", "r.json", "--", "true"]).exits_with(0);
    let more = ["run", "--resume", "r.json", "--rounds", "5", "--nice", "5"];
    let output = env.run(more).exits_with(2);
    assert!(said(&output).contains("--nice cannot be combined with --resume"), "{output:?}");
    // It was asked for otherwise than it was had.
    let mut other = env.record("r.json");
    other["conditions"]["aslr"] = "off".into();
    env.write("other.json", other.to_string());
    let _ = env.run(["run", "--resume", "other.json", "--rounds", "5"]).exits_with(0);
    let notes = env.record("other.json")["notes"].to_string();
    assert!(
        notes.contains("the first 3 rounds were measured with ASLR off instead of on"),
        "{notes}"
    );
}

#[test]
fn a_finished_session_can_be_given_more_rounds() {
    let env = env();
    let (a, b) = (prints("4"), prints("5"));
    let _ = env
        .compare(&["--max-time", "1us", "--metric", T, "--export-json", "r.json", &a, &b])
        .exits_with(3);
    assert_eq!(schedule(&env.record("r.json")).len(), 2);
    let _ = env.run(["compare", "--resume", "r.json", "--rounds", "7"]).exits_with(0);
    let record = env.record("r.json");
    assert_eq!(schedule(&record).len(), 14);
    assert_eq!(record["comparisons"][0]["rounds"], 7);
    let arguments = record["arguments"].to_string();
    assert!(!arguments.contains("max-time") && arguments.contains("--rounds"), "{arguments}");
    let notes = || env.record("r.json")["notes"].to_string();
    assert_eq!(notes().matches("continued after its planned end at round 1").count(), 1);
    // Nothing is measured, so nothing is to be said.
    let _ = env.run(["compare", "--resume", "r.json"]).exits_with(0);
    assert_eq!(notes().matches("continued after its planned end").count(), 1, "{}", notes());
}

#[test]
fn a_run_can_be_resumed_too() {
    let env = env();
    let _ = env.measure(&["--rounds", "3", "--export-json", "r.json", "--", "true"]).exits_with(0);
    let _ = env.run(["run", "--resume", "r.json", "--rounds", "5"]).exits_with(0);
    assert_eq!(schedule(&env.record("r.json")).len(), 5);
    let output = env.run(["compare", "--resume", "r.json"]).exits_with(2);
    assert_snapshot!(said(&output), @"error: the file to resume was not written by `becalm compare`");
}

#[test]
fn what_does_not_belong_together_is_not_mixed() {
    let env = env();
    let _ = env.measure(&["--rounds", "3", "--export-json", "r.json", "--", "true"]).exits_with(0);
    let more = ["--metric", "t=(.)"];
    let output = env.run([&["run", "--resume", "r.json"], &more[..]].concat()).exits_with(2);
    assert_snapshot!(said(&output), @"error: this session records other metrics than the saved one");
    let text = env.read("r.json").replace("\"kernel_release\": \"", "\"kernel_release\": \"9-");
    env.write("other.json", text);
    let output = env.run(["run", "--resume", "other.json", "--rounds", "5"]).exits_with(2);
    assert!(
        said(&output)
            .contains("from another machine or another state of it: kernel_release was 9-"),
        "{output:?}"
    );
    let output = env.run(["run", "--resume", "absent.json"]).exits_with(4);
    assert_snapshot!(said(&output), @"error: cannot read absent.json: No such file or directory (os error 2)");
}

#[test]
fn a_session_that_failed_goes_on_once_the_subject_is_repaired() {
    let env = env();
    env.script("flaky", "printf x >> marks; [ $(wc -c < marks) -lt 5 ]");
    let arguments = ["--rounds", "8", "--export-json", "r.json", "true", "./flaky"];
    let _ = env.compare(&arguments).exits_with(4);
    assert_eq!(schedule(&env.record("r.json")).len(), 2 * 3);
    env.script("flaky", "exit 0");
    let output = env.run(["compare", "--resume", "r.json"]);
    assert_snapshot!(said(&output), @"note: ./flaky was changed after the saved session began: unless only its timestamp changed, the earlier runs are of another program");
    let record = env.record("r.json");
    assert_eq!((schedule(&record).len(), &record["interrupted"]), (2 * 8, &Value::Null));
}

#[test]
fn what_goes_on_is_the_file_that_is_named_and_nothing_else_in_silence() {
    let env = env();
    let (a, b) = (prints("4"), prints("5"));
    let words =
        ["--rounds", "3", "--metric", T, "--export-json", "r.json", "--export-markdown", "r.md"];
    let _ = env.compare(&[&words[..], &[&a, &b]].concat()).exits_with(0);
    std::fs::rename(env.work().join("r.json"), env.work().join("kept.json")).unwrap();
    let output = env.run(["compare", "--resume", "kept.json", "--rounds", "5"]).exits_with(0);
    assert!(said(&output).contains("r.md is written again"), "{}", output.stderr);
    assert_eq!(schedule(&env.record("kept.json")).len(), 10);
    assert!(!env.work().join("r.json").exists());
}

#[test]
fn limits_that_are_used_up_take_no_answer_away() {
    let env = env();
    let a = "sh -c 'echo t: $(($$ % 89 + 900))'";
    // Never equal, and so far apart that the second look decides; the first has too little of the error to spend.
    let line = ["--max-rounds", "200", "--metric", T, "--export-json", "r.json"];
    let _ = env.compare(&[&line[..], &[a, "sh -c 'echo t: $(($$ % 97 + 1900))'"]].concat());
    let before = env.record("r.json");
    let output = env.run(["compare", "--resume", "r.json", "--max-time", "1ms"]);
    assert!(said(&output).contains("no round was added"), "{}", output.stderr);
    let after = env.record("r.json");
    assert_eq!(before["comparisons"], after["comparisons"]);
    assert_eq!(before["notes"], after["notes"]);
}

#[test]
fn a_session_to_which_nothing_is_added_keeps_its_stop_rule_and_its_conditions() {
    let env = env();
    // Each goes up and down against the other, so that no look ever decides.
    let turns = "echo >> $0.turns; [ $(($(wc -l < $0.turns) % 2)) = 0 ]";
    env.script("a", &format!("{turns} && echo t: 1000 || echo t: 1001"));
    env.script("b", &format!("{turns} && echo t: 1001 || echo t: 1000"));
    let plan = ["--max-rounds", "20", "--margin", "0", "--metric", r"t[ns]=t: (\S+)"];
    let _ = env
        .compare(&[&plan[..], &["--export-json", "r.json", "./a", "./b"]].concat())
        .exits_with(3);
    let before = env.record("r.json");
    for fewer in [["--rounds", "1"], ["--max-rounds", "9"], ["--max-time", "1ms"]] {
        let output = env.run([&["compare", "--resume", "r.json"][..], &fewer].concat());
        let said = said(&output);
        assert!(said.contains("no round was added") && !said.contains("cannot give"), "{said}");
        let after = env.record("r.json");
        assert_eq!(before["comparisons"], after["comparisons"], "{fewer:?}");
        assert_eq!(before["terms"]["stop"], after["terms"]["stop"], "{fewer:?}");
        assert_eq!(before["notes"], after["notes"], "{fewer:?}");
    }
    // How it is judged may change all the same.
    let wider = ["compare", "--resume", "r.json", "--max-time", "1ms", "--margin", "20%"];
    let _ = env.run(wider).exits_with(0);
    let after = env.record("r.json");
    assert_eq!(after["comparisons"][0]["verdict"], "equivalent");
    assert_eq!(after["comparisons"][0]["ratio_low"], before["comparisons"][0]["ratio_low"]);
    // Nor are the conditions those of whoever looks at it.
    let mut other = env.record("r.json");
    other["conditions"]["nice"] = (-3).into();
    env.write("other.json", other.to_string());
    let _ = env.run(["compare", "--resume", "other.json"]).exits_with(0);
    assert_eq!(env.record("other.json")["conditions"]["nice"], -3);
}

#[test]
fn what_is_said_before_the_command_does_not_keep_a_session_from_going_on() {
    let env = env();
    let line = ["--quiet", "run", "--rounds", "3", "--export-json", "r.json", "--", "true"];
    let _ = env.run(line).exits_with(0);
    let _ = env.run(["run", "--resume", "r.json", "--rounds", "5"]).exits_with(0);
    assert_eq!(schedule(&env.record("r.json")).len(), 5);
}

#[test]
fn what_another_tool_wrote_cannot_go_on() {
    let env = env();
    env.write("h.json", r#"{"results": [{"command": "a", "times": [1, 2, 3]}]}"#);
    let output = env.run(["compare", "--resume", "h.json"]).exits_with(2);
    assert_snapshot!(said(&output), @"error: the file to resume was not written by `becalm compare`");
}
