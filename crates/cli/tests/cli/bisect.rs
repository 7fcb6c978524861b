//! `becalm bisect`: the first slow commit of a history.

use std::process::Stdio;

use becalm_testkit::{CommandOutput, TestEnv};
use serde_json::Value;

use crate::support::{Measures, T, env, git, has_git, json, said, send, wait_until, with};

/// What one commit does.
#[derive(Clone, Copy)]
enum Change {
    /// The program prints this number.
    Prints(u32),
    /// It prints it and cannot be built.
    Breaks(u32),
    /// It prints it and the program fails.
    Fails(u32),
    /// The documentation says something else.
    Documentation,
}

/// A repository with the tag `good` on a first commit that prints 1000, and a commit for each change.
fn repository(test: &str, changes: &[Change]) -> Option<TestEnv> {
    if !has_git(test) {
        return None;
    }
    let env = env();
    git(&env, &["init", "-q"]);
    env.write(".gitignore", "app\n.*\n*.json\n*.d/\n*.tmp\n!.gitignore\n");
    env.write("broken", "");
    let all = [&[Change::Prints(1000)], changes].concat();
    for (number, change) in all.iter().enumerate() {
        // A comment makes each program another one.
        let program = |value: u32, end: &str| {
            env.write("program", format!("#!/bin/sh\n# {number}\necho t: {value}\n{end}"));
        };
        env.write("broken", if let Change::Breaks(_) = change { "yes" } else { "" });
        match *change {
            Change::Prints(value) | Change::Breaks(value) => program(value, ""),
            Change::Fails(value) => program(value, "exit 3\n"),
            Change::Documentation => drop(env.write("README", format!("{number}\n"))),
        }
        git(&env, &["add", "-A"]);
        git(&env, &["commit", "-q", "-m", &format!("change {number}")]);
    }
    git(&env, &["tag", "good", &format!("HEAD~{}", changes.len())]);
    Some(env)
}

const BUILD: &str =
    "test ! -s broken || { echo no such luck; exit 7; }; cp program app && chmod +x app";

fn bisect(env: &TestEnv, more: &[&str]) -> CommandOutput {
    let start = ["--good", "good", "--metric", T, "--build", BUILD];
    let rest = [&start, more, &["--", "./app"]].concat();
    env.run(with("bisect", &rest))
}

/// The numbers of the commits that were found.
fn found(document: &Value) -> (u64, u64) {
    let found = &document["found"];
    (found["from"].as_u64().unwrap(), found["to"].as_u64().unwrap())
}

/// Nothing of a search stays in the repository but its state.
#[track_caller]
fn is_clean(env: &TestEnv, branch: &str) {
    assert_eq!(git(env, &["worktree", "list"]).lines().count(), 1, "worktrees are removed");
    assert_eq!(git(env, &["status", "--porcelain"]), "");
    assert_eq!(git(env, &["rev-parse", "--abbrev-ref", "HEAD"]), branch);
}

#[test]
fn the_first_slow_commit_of_many_is_found() {
    let mut changes = vec![Change::Prints(1000); 40];
    changes[22..].fill(Change::Prints(1030));
    let Some(env) = repository("the_first_slow_commit_of_many", &changes) else { return };
    let output = bisect(&env, &["--export-json", "found.json"]).exits_with(0);
    let commit = git(&env, &["rev-parse", "HEAD~17"]);
    let text = &output.stdout;
    assert!(text.starts_with(&format!("{} is the first slower commit", &commit[..10])), "{text}");
    assert!(text.contains("change 23") && text.contains("Ann Other"), "{text}");
    assert!(text.contains("becalm compare --rev"), "{text}");
    let document = env.record("found.json");
    assert_eq!(document["schema"], "becalm/bisect/1");
    assert_eq!((found(&document), &document["state"]), ((23, 23), &Value::from("found")));
    assert!(document["found"]["probability"].as_f64().unwrap() > 0.95);
    assert!(document["built"].as_array().unwrap().len() < 12, "it is no linear search");
    let step = env.record(&format!(
        ".becalm/bisect-{}-{}.json.d/step-001.json",
        &git(&env, &["rev-parse", "good"])[..10],
        &git(&env, &["rev-parse", "main"])[..10]
    ));
    assert_eq!(step["schema"], "becalm/comparison/2");
    assert!(said(&output).contains("the likeliest first commit is"), "{}", output.stderr);
    assert_eq!(env.read(".becalm/.gitignore"), "*\n", "git is told to leave the folder alone");
    is_clean(&env, "main");
}

#[test]
fn the_command_that_checks_it_measures_as_the_search_did() {
    let mut changes = vec![Change::Prints(1000); 9];
    changes[4..].fill(Change::Prints(950));
    let Some(env) = repository("the_command_that_checks_it", &changes) else { return };
    let given =
        ["--input", "/dev/null", "--ignore-failure=3,4", "--env-clear", "--max-rounds", "500"];
    let output = bisect(&env, &given).exits_with(0);
    let check = output.stdout.lines().find(|line| line.trim().starts_with("becalm compare"));
    let words = shell_words::split(check.unwrap()).unwrap();
    let has = |wanted: &[&str]| words.windows(wanted.len()).any(|some| some == wanted);
    for wanted in [
        &["--metric", T][..],
        &["--build", BUILD],
        &["--input", "/dev/null"],
        &["--ignore-failure=3,4"],
        &["--env-clear"],
        &["--", "./app"],
    ] {
        assert!(has(wanted), "{wanted:?} in {words:?}");
    }
    assert!(!has(&["--max-rounds"]) && !has(&["--good"]), "{words:?}");
    let output = env.run(&words[1..]).exits_with(0);
    assert!(output.stdout.contains("faster"), "{}", output.stdout);
}

#[test]
fn an_improvement_is_found_too() {
    let mut changes = vec![Change::Prints(1000); 9];
    changes[4..].fill(Change::Prints(950));
    let Some(env) = repository("an_improvement_is_found_too", &changes) else { return };
    let output = bisect(&env, &["--json"]).exits_with(0);
    let document = json(&output.stdout);
    assert_eq!((found(&document), &document["verdict"]), ((5, 5), &Value::from("faster")));
}

#[test]
fn exact_values_need_two_rounds_and_no_ratio() {
    let mut changes = vec![Change::Prints(1000); 9];
    changes[6..].fill(Change::Prints(0));
    let Some(env) = repository("exact_values_need_two_rounds", &changes) else { return };
    let more = ["--metric", "t[exact]=t: ([0-9]+)", "--export-json", "found.json"];
    let start = ["--good", "good", "--build", BUILD];
    let output = env.run(with("bisect", &[&start[..], &more, &["--", "./app"]].concat()));
    let output = output.exits_with(0);
    assert!(output.stdout.contains("t goes from 1000 to 0, exactly"), "{}", output.stdout);
    let document = env.record("found.json");
    assert_eq!((found(&document), &document["verdict"]), ((7, 7), &Value::from("faster")));
    assert_eq!(document["exact"], serde_json::json!([1000.0, 0.0]));
    assert_eq!(document["found"]["ratio"], Value::Null);
    for step in document["steps"].as_array().unwrap() {
        assert_eq!(step["rounds"].as_array().unwrap().len(), 2);
    }
    // The other way round there is nothing to divide by, and one in ten million is a difference.
    for (from, to) in [(0, 7), (10_000_000, 10_000_001)] {
        let mut changes = vec![Change::Prints(from); 5];
        changes[3..].fill(Change::Prints(to));
        let Some(env) = repository("exact_values_need_two_rounds", &changes) else { return };
        let start = ["--good", "good~0", "--build", BUILD, "--json"];
        git(&env, &["tag", "-f", "good", "HEAD~4"]);
        let output = env.run(with("bisect", &[&start[..], &more[..2], &["--", "./app"]].concat()));
        let document = json(&output.exits_with(0).stdout);
        assert_eq!(found(&document), (3, 3), "{from} to {to}");
    }
}

#[test]
fn commits_around_the_change_that_cannot_be_measured_make_a_group() {
    let mut changes = vec![Change::Prints(1000); 16];
    changes[9..].fill(Change::Prints(1100));
    (changes[8], changes[9], changes[10]) =
        (Change::Breaks(1000), Change::Breaks(1100), Change::Fails(1100));
    let Some(env) = repository("commits_around_the_change", &changes) else { return };
    let output = bisect(&env, &["--export-json", "found.json"]).exits_with(0);
    assert!(output.stdout.contains("is one of 4"), "{}", output.stdout);
    assert!(output.stdout.contains("no such luck"), "{}", output.stdout);
    let document = env.record("found.json");
    assert_eq!(found(&document), (9, 12));
    let skipped = document["skipped"].as_array().unwrap();
    let mut numbers: Vec<u64> = skipped.iter().map(|one| one["commit"].as_u64().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [9, 10, 11]);
    is_clean(&env, "main");
}

/// A metric that is not exact, so that the commits at the edge are built once more.
const ROUGH: &str = r"t[ns]=t: (\S+)";

#[test]
fn what_the_machine_refuses_says_nothing_of_a_commit() {
    let mut changes = vec![Change::Prints(1000); 12];
    changes[6..].fill(Change::Prints(1100));
    let Some(env) = repository("what_the_machine_refuses", &changes) else { return };
    // The disk is full after the third build.
    let here = env.work().display().to_string();
    env.script(
        ".bin/git",
        &format!(
            "case \"$*\" in *'worktree add'*) test ! -e '{here}/.full' || {{ echo 'fatal: no space left' >&2; exit 128; }};; esac\n\
             PATH=${{PATH#*:}}\nexport PATH\nexec git \"$@\""
        ),
    );
    let path = format!("{here}/.bin:{}", std::env::var("PATH").unwrap());
    let env = env.variable("PATH", &path);
    let build = format!(
        "echo >> '{here}/.builds'; test $(wc -l < '{here}/.builds') != 3 || touch '{here}/.full'; {BUILD}"
    );
    let start = ["--good", "good", "--metric", T, "--state", "s.json", "--build", &build];
    let output = env.run(with("bisect", &[&start[..], &["--", "./app"]].concat())).exits_with(4);
    assert!(
        said(&output).contains("git worktree failed: fatal: no space left"),
        "{}",
        output.stderr
    );
    assert!(
        said(&output).contains("`becalm bisect --resume s.json` continues the search"),
        "{}",
        output.stderr
    );
    assert_eq!(env.record("s.json")["skipped"], Value::Array(Vec::new()));
    std::fs::remove_file(env.work().join(".full")).unwrap();
    let _ = env.run(["bisect", "--resume", "s.json"]).exits_with(0);
    assert_eq!(found(&env.record("s.json")), (7, 7));
    is_clean(&env, "main");
}

#[test]
fn what_was_built_before_is_not_skipped_because_it_cannot_be_built_again() {
    let mut changes = vec![Change::Prints(1000); 6];
    changes[3..].fill(Change::Prints(1100));
    let Some(env) = repository("what_was_built_before", &changes) else { return };
    env.write(".once/on", "");
    let once = env.work().join(".once").display().to_string();
    let build = format!(
        "is='{once}'/$(git rev-parse HEAD); test ! -e '{once}/on' || test ! -e $is || exit 7; touch $is; {BUILD}"
    );
    let start = ["--good", "good", "--metric", ROUGH, "--state", "s.json", "--build", &build];
    let output = env.run(with("bisect", &[&start[..], &["--", "./app"]].concat())).exits_with(4);
    assert!(
        said(&output).contains("this commit was built before in this search"),
        "{}",
        output.stderr
    );
    assert_eq!(env.record("s.json")["skipped"], Value::Array(Vec::new()));
    std::fs::remove_file(env.work().join(".once/on")).unwrap();
    let _ = env.run(["bisect", "--resume", "s.json"]).exits_with(0);
    assert_eq!(found(&env.record("s.json")), (4, 4));
}

#[test]
fn a_commit_that_makes_no_program_is_skipped() {
    let mut changes = vec![Change::Prints(1000); 6];
    changes[2..].fill(Change::Prints(1100));
    let Some(env) = repository("a_commit_that_makes_no_program", &changes) else { return };
    let without = git(&env, &["rev-parse", "HEAD~3"]);
    let build = format!("test $(git rev-parse HEAD) = {without} || {{ {BUILD}; }}");
    let start = ["--good", "good", "--metric", T, "--build", &build, "--json", "--", "./app"];
    let document = json(&env.run(with("bisect", &start)).exits_with(0).stdout);
    assert_eq!(found(&document), (3, 4));
    let reason = document["skipped"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("cannot find the program `./app`"), "{reason}");
}

#[test]
fn commits_that_change_no_program_are_not_measured_and_not_blamed() {
    let mut changes = vec![Change::Documentation; 24];
    changes[7] = Change::Prints(1030);
    let Some(env) = repository("commits_that_change_no_program", &changes) else { return };
    let output = bisect(&env, &["--json"]).exits_with(0);
    let document = json(&output.stdout);
    assert_eq!(found(&document), (8, 8));
    // The bad end alone: everything else has one of the two programs.
    assert_eq!(document["steps"].as_array().unwrap().len(), 1);
}

#[test]
fn rounds_of_a_step_and_limits_of_the_search_go_together() {
    let Some(env) = repository("rounds_and_limits", &[Change::Prints(1030); 2]) else { return };
    let output = bisect(&env, &["--rounds", "3", "--max-rounds", "100", "--max-time", "1m"]);
    assert!(output.exits_with(0).stdout.contains("change 1"));
}

#[test]
fn a_range_without_a_difference_is_not_searched() {
    let Some(env) = repository("a_range_without_a_difference", &[Change::Prints(1000); 4]) else {
        return;
    };
    let output = bisect(&env, &[]).exits_with(3);
    assert!(output.stdout.starts_with("Nothing to find"), "{}", output.stdout);
    git(&env, &["commit", "-q", "--allow-empty", "-m", "empty"]);
    git(&env, &["tag", "-f", "good", "HEAD~1"]);
    let output = bisect(&env, &[]).exits_with(3);
    assert!(output.stdout.contains("identical binaries"), "{}", output.stdout);
}

#[test]
fn several_changes_are_told() {
    let mut changes = vec![Change::Prints(1000); 16];
    changes[4..].fill(Change::Prints(1030));
    changes[11..].fill(Change::Prints(1100));
    let Some(env) = repository("several_changes_are_told", &changes) else { return };
    let output = bisect(&env, &["--export-json", "found.json"]).exits_with(0);
    assert_eq!(found(&env.record("found.json")), (12, 12), "where the half is crossed");
    assert!(output.stdout.contains("more than one change"), "{}", output.stdout);
}

#[test]
fn a_budget_ends_the_search_without_an_answer_and_it_goes_on_from_there() {
    let mut changes = vec![Change::Prints(1000); 30];
    changes[20..].fill(Change::Prints(1100));
    let Some(env) = repository("a_budget_ends_the_search", &changes) else { return };
    let output = bisect(&env, &["--max-rounds", "4", "--state", "s.json"]).exits_with(3);
    assert!(output.stdout.contains("Undecided"), "{}", output.stdout);
    let before = env.record("s.json")["steps"].as_array().unwrap().len();
    let output = env.run(["bisect", "--resume", "s.json", "--max-rounds", "1000"]).exits_with(0);
    assert!(output.stdout.contains("change 21"), "{}", output.stdout);
    let document = env.record("s.json");
    assert!(document["steps"].as_array().unwrap().len() > before);
    // Branches move, the ends of the search stay; other ends are another search.
    git(&env, &["commit", "-q", "--allow-empty", "-m", "later"]);
    let output = env.run(["bisect", "--resume", "s.json"]).exits_with(0);
    assert!(output.stdout.contains("change 21"), "{}", output.stdout);
    let output = env.run(["bisect", "--resume", "s.json", "--bad", "HEAD"]).exits_with(2);
    assert!(said(&output).contains("the bad end differs from"), "{}", output.stderr);
}

#[test]
fn an_interrupted_search_leaves_nothing_but_its_state_and_goes_on() {
    for (signal, code) in [("INT", Some(130)), ("KILL", None)] {
        let mut changes = vec![Change::Prints(1000); 30];
        changes[12..].fill(Change::Prints(1100));
        let Some(env) = repository("an_interrupted_search", &changes) else { return };
        let arguments = [
            "--good",
            "good",
            "--metric",
            T,
            "--build",
            BUILD,
            "--state",
            "s.json",
            "--prepare",
            "sleep 0.05",
            "--",
            "./app",
        ];
        let mut command = env.command(with("bisect", &arguments));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let steps = || {
            let text = std::fs::read_to_string(env.work().join("s.json")).unwrap_or_default();
            serde_json::from_str::<Value>(&text)
                .ok()
                .map_or(0, |state| state["steps"].as_array().map_or(0, Vec::len))
        };
        wait_until("the ends to be compared", || steps() >= 2);
        send(signal, child.id());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), code, "{output:?}");
        let before = steps();
        if code.is_some() {
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(
                told.contains("`becalm bisect --resume s.json` continues the search"),
                "{told}"
            );
            is_clean(&env, "main");
        }
        let output = bisect(&env, &["--state", "s.json"]).exits_with(2);
        assert!(said(&output).contains("an unfinished search"), "{}", output.stderr);
        let output = env.run(["bisect", "--resume", "s.json"]).exits_with(0);
        assert!(output.stdout.contains("change 13"), "{}", output.stdout);
        assert!(steps() > before);
        is_clean(&env, "main");
    }
}

#[test]
fn ends_that_make_no_range_are_refused() {
    let Some(env) = repository("ends_that_make_no_range", &[Change::Prints(1); 3]) else { return };
    let refused = |arguments: &[&str]| {
        let output = env.run(with("bisect", arguments)).exits_with(2);
        said(&output)
    };
    let text = refused(&["--good", "nope", "--", "./app"]);
    assert!(text.contains("--good nope: no such revision"), "{text}");
    let text = refused(&["--good", "HEAD", "--", "./app"]);
    assert!(text.contains("are the same commit"), "{text}");
    let text = refused(&["--good", "HEAD", "--bad", "good", "--", "./app"]);
    assert!(text.contains("HEAD is not in the history of good"), "{text}");
    let text = refused(&["--good", "good", "--pace", "on", "--", "./app"]);
    assert!(text.contains("--pace on"), "{text}");
    let text = refused(&["--good", "good", "--rounds", "0", "--", "./app"]);
    assert!(text.contains("--rounds"), "{text}");
}

#[test]
fn a_shallow_clone_is_told_what_to_do() {
    let Some(env) = repository("a_shallow_clone", &[Change::Prints(1); 3]) else { return };
    let good = git(&env, &["rev-parse", "good"]);
    let from = format!("file://{}", env.work().display());
    let clone = crate::support::env();
    git(&clone, &["clone", "-q", "--depth", "1", "--branch", "main", &from, "."]);
    let output = clone.run(with("bisect", &["--good", &good, "--", "./app"])).exits_with(2);
    assert!(said(&output).contains("git fetch --unshallow"), "{}", output.stderr);
}

#[test]
fn a_broken_end_ends_it() {
    let changes = [Change::Prints(1000), Change::Breaks(1100)];
    let Some(env) = repository("a_broken_end_ends_it", &changes) else { return };
    let output = bisect(&env, &[]).exits_with(4);
    assert!(said(&output).contains("an end cannot be built"), "{}", output.stderr);
    assert!(said(&output).contains("no such luck"), "{}", output.stderr);
    is_clean(&env, "main");
}
