//! `becalm history`: what is added comes back, on both databases, whatever happens to the writer.

mod commits;
mod writers;

use becalm_testkit::TestEnv;
use serde_json::Value;

use self::commits::write_asv;
use crate::support::{Measures, changed_tree, env, git, has_git, json};

/// A file of hyperfine with these times of one command.
fn times(command: &str, times: &[f64]) -> String {
    format!(r#"{{"results": [{{"command": "{command}", "times": {times:?}}}]}}"#)
}

fn list(env: &TestEnv, arguments: &[&str]) -> Value {
    let all = [&["history", "list", "--json"], arguments].concat();
    json(&env.run(all).exits_with(0).stdout)
}

#[test]
fn what_is_added_comes_back_as_it_was() {
    let env = env();
    if !has_git("what_is_added_comes_back_as_it_was") {
        return;
    }
    git(&env, &["init", "-q"]);
    env.write("tracked", "1");
    git(&env, &["add", "tracked"]);
    git(&env, &["commit", "-qm", "one"]);
    let head = git(&env, &["rev-parse", "HEAD"]);
    let _ = env
        .measure(&["--runs", "3", "--warmup", "0", "--export-json", "r.json", "--", "true"])
        .exits_with(0);
    let added = env.run(["history", "add", "r.json", "--tag", "nightly"]).exits_with(0).stdout;
    assert!(added.starts_with(&format!("added entry 1: {} on main, ", &head[..10])), "{added}");
    // The folder is no business of git.
    assert_eq!(git(&env, &["status", "--porcelain", "--", ".becalm"]), "");
    let shown = env.run(["history", "show", "1", "--json"]).exits_with(0).stdout;
    assert!(shown == env.read("r.json"), "not byte for byte");
    let _ = env.run(["history", "export", "--folder", "out"]).exits_with(0);
    let name = format!("out/000001-{}.json", &head[..10]);
    assert!(env.read(&name) == env.read("r.json"));
    let stats = |file: &str| env.run(["stats", file]).exits_with(0).stdout;
    assert_eq!(stats(&name), stats("r.json"));
    let _ = env.run(["show", &name]).exits_with(0);
    let lines = env.run(["history", "export"]).exits_with(0).stdout;
    assert_eq!(json(&lines)["record"], json(&env.read("r.json")));

    let listed = list(&env, &[]);
    let one = &listed["entries"][0];
    assert_eq!((&one["commit"], &one["branch"]), (&head.as_str().into(), &"main".into()));
    assert_eq!((&one["commit_time"], &one["dirty"]), (&1.7e9.into(), &false.into()));
    assert_eq!(one["tags"], serde_json::json!(["nightly"]));
    let series = list(&env, &["--series", "--metric", "wall_time"]);
    let one = &series["series"][0];
    assert_eq!(
        (&one["points"], &one["main"], &one["unit"]),
        (&1.into(), &true.into(), &"s".into())
    );
    for document in [&listed, &series] {
        let schema = becalm_schema(&env);
        let errors: Vec<String> =
            schema.iter_errors(document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
    let text = env.run(["history", "show", &head[..8]]).exits_with(0).stdout;
    assert!(text.contains("facts that split series") && text.contains("cpu_model"), "{text}");
    let _ = env.run(["history", "list"]).exits_with(0);
    let _ = env.run(["history", "list", "--series"]).exits_with(0);

    // The same file again, at another commit and with changes.
    env.write("tracked", "2");
    git(&env, &["commit", "-qam", "two"]);
    env.write("tracked", "3");
    let again = env.run(["history", "add", "r.json"]).exits_with(0);
    let known = format!("already in the history as entry 1, {} on main", &head[..10]);
    assert!(again.stdout.is_empty() && again.stderr.contains(&known), "{}", again.stderr);
    assert!(!again.stderr.contains("the flags about it"), "{}", again.stderr);
    let other = ["history", "add", "r.json", "--commit", "HEAD", "--tag", "more"];
    let again = env.run(other).exits_with(0).stderr;
    assert!(again.contains(&known) && again.contains("were ignored"), "{again}");
    assert!(again.contains("becalm history prune --entry 1"), "{again}");
    let _ = env
        .measure(&["--runs", "2", "--warmup", "0", "--export-json", "s.json", "--", "true"])
        .exits_with(0);
    let added = env.run(["history", "add", "s.json"]).exits_with(0).stdout;
    assert!(added.contains(" with changes on main"), "{added}");
}

fn becalm_schema(env: &TestEnv) -> jsonschema::Validator {
    let schema = json(&env.run(["schema", "history"]).exits_with(0).stdout);
    jsonschema::validator_for(&schema).expect("the schema is one")
}

#[test]
fn a_history_that_is_not_there_says_how_to_make_one() {
    let env = env();
    for command in [&["list"][..], &["show", "1"], &["prune", "--before", "1d"], &["export"]] {
        let output = env.run([&["history"], command].concat()).exits_with(4);
        assert!(output.stderr.contains("there is no history at"), "{}", output.stderr);
        assert!(output.stderr.contains("becalm history add FILE"), "{}", output.stderr);
    }
    assert!(!env.work().join(".becalm").exists());
    let folder = env.run(["history", "list", "--store", "."]).exits_with(4).stderr;
    assert!(folder.contains("it is a folder; name a file"), "{folder}");
}

#[test]
fn the_suite_file_says_where_the_history_is_and_what_splits_it() {
    let env = env();
    env.write("a.json", times("sort", &[1.0, 1.1, 1.2]));
    env.write("becalm.toml", "version = 1\n[history]\nstore = 'kept.db'\nbranch = 'trunk'\n");
    let _ = env.run(["history", "add", "a.json"]).exits_with(0);
    assert!(env.work().join("kept.db").exists());
    let one = |env: &TestEnv| list(env, &[])["entries"][0].clone();
    let before = one(&env);
    assert_eq!(before["branch"], "trunk");
    env.write(
        "becalm.toml",
        "version = 1\n[history]\nstore = 'kept.db'\nsplit = ['becalm', 'cpu_model']\n",
    );
    env.write("b.json", times("sort", &[2.0]));
    let output = env.run(["history", "add", "b.json"]).exits_with(0);
    assert!(output.stderr.contains("1 entry moved to other series"), "{}", output.stderr);
    assert_ne!(one(&env)["fingerprint"], before["fingerprint"]);
    // A fact that does not exist would merge what was to be split.
    env.write(
        "becalm.toml",
        "version = 1\n[history]\nstore = 'kept.db'\nsplit = ['knob.thp', 'cores', 'cpu_modl']\n",
    );
    let error = env.run(["history", "add", "b.json"]).exits_with(2).stderr;
    assert!(
        error.contains("there is no fact called `cpu_modl`; did you mean `cpu_model`?"),
        "{error}"
    );
    env.write("becalm.toml", "version = 1\n[history]\nstor = 'x'\n");
    let error = env.run(["history", "list"]).exits_with(2).stderr;
    assert!(error.contains("becalm.toml:3: unknown key `stor`"), "{error}");
}

#[test]
fn a_password_is_never_shown() {
    let env = env().variable("BECALM_STORE", "postgresql://me:secret@127.0.0.1:1/perf");
    for arguments in [&["history", "list"][..], &["history", "list", "--help"]] {
        let output = env.run(arguments);
        let all = format!("{}{}", output.stdout, output.stderr);
        assert!(!all.contains("secret"), "{all}");
    }
}

#[test]
fn a_history_comes_from_standard_input_too_and_fakes_nothing() {
    let env = env();
    let file = env.write(
        "b.csv",
        "time;commit;branch;m\n2024.01.01;c0;main\u{1b}[2J;10\n2024.01.02;c1;dev;11\n",
    );
    let mut command = env.command(["history", "add", "-"]);
    let output = command.stdin(std::fs::File::open(&file).unwrap()).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{stdout}");
    assert!(lines[0].contains("c0 on main?[2J, 1 value"), "{stdout}");
    let mut gate = env.command(["gate", "-"]);
    let output = gate.stdin(std::fs::File::open(&file).unwrap()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("results of 2 commits"), "{stderr}");
}

/// A summary of gungraun of one benchmark: its instructions, and those of the program before.
fn gungraun(new: u32, old: Option<u32>) -> String {
    let metrics = match old {
        Some(old) => format!(r#"{{"Both": [{{"Int": {new}}}, {{"Int": {old}}}]}}"#),
        None => format!(r#"{{"Left": {{"Int": {new}}}}}"#),
    };
    format!(
        r#"{{"benchmark_exe": "/x", "module_path": "m::f", "version": "6", "profiles": [{{"tool": "Callgrind",
        "summaries": {{"total": {{"summary": {{"Callgrind": {{"Ir": {{"metrics": {metrics}}}}}}}}}}}}}]}}"#
    )
}

#[test]
fn what_a_tool_compared_with_is_no_measurement_of_this_commit() {
    let env = env();
    // The second run of gungraun, and of criterion, has the first beside it.
    for (commit, text) in [("c0", gungraun(100, None)), ("c1", gungraun(150, Some(100)))] {
        let file = env.write(format!("{commit}.json"), text);
        let file = file.to_str().unwrap();
        let _ = env.run(["history", "add", file, "--commit", commit, "--time", "2024-01-01"]);
    }
    let sample =
        |time: &str| format!(r#"{{"sampling_mode":"Flat","iters":[1.0],"times":[{time}]}}"#);
    env.write("criterion/fib/new/sample.json", sample("30.0"));
    env.write("criterion/fib/main/sample.json", sample("40.0"));
    let _ = env.run(["history", "add", "criterion", "--commit", "c1", "--time", "2024-01-01"]);
    let csv = env.run(["history", "export", "--csv"]).exits_with(0).stdout;
    let mut rows: Vec<(String, f64)> = csv
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|cells| (format!("{} {}", cells[1], cells[2]), cells[11].parse().unwrap()))
        .collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    assert_eq!(
        rows,
        [
            ("fib time".to_owned(), 30.0 * 1e-9),
            ("m::f Ir".to_owned(), 100.0),
            ("m::f Ir".to_owned(), 150.0)
        ]
    );
}

#[test]
fn benchmarks_that_only_have_named_measures_are_followed() {
    let env = env();
    for (at, count) in [100, 100, 200].into_iter().enumerate() {
        let file = env.write("g.json", gungraun(count, None));
        let (commit, time) = (format!("c{at}"), format!("2024-01-{:02}", at + 1));
        let words =
            ["history", "add", file.to_str().unwrap(), "--commit", &commit, "--time", &time];
        let _ = env.run(words).exits_with(0);
    }
    let found = json(&env.run(["changes", "--json"]).exits_with(0).stdout);
    assert_eq!(found["series"], 1, "{found}");
}

#[test]
fn what_a_rewritten_branch_lost_and_what_was_merged_leave_the_series() {
    let env = env();
    if !has_git("what_a_rewritten_branch_lost_and_what_was_merged_leave_the_series") {
        return;
    }
    git(&env, &["init", "-q", "-b", "main"]);
    let commit = |title: &str| {
        git(&env, &["commit", "-q", "--allow-empty", "-m", title]);
        git(&env, &["rev-parse", "HEAD"])
    };
    let add = |id: &str, value: f64, tag: &str| {
        env.write("one.csv", format!("commit,time,latency\n{id},1700000000,{value}\n"));
        let line = ["history", "add", "one.csv", "--branch", "main", "--tag", tag];
        let _ = env.run(line).exits_with(0);
    };
    add(&commit("one"), 100.0, "first");
    git(&env, &["checkout", "-q", "-b", "topic"]);
    add(&commit("on the side"), 500.0, "side");
    git(&env, &["checkout", "-q", "main"]);
    let lost = commit("will be lost");
    add(&lost, 900.0, "gone");
    git(&env, &["reset", "-q", "--hard", "HEAD~1"]);
    let _ = commit("two");
    git(&env, &["merge", "-q", "--no-ff", "-m", "merge", "topic"]);
    let listed = env.run(["history", "list"]).exits_with(0).stdout;
    assert!(listed.contains("not on main any more"), "{listed}");
    assert!(listed.contains("merged into main"), "{listed}");
    let said = env.run(["changes"]).exits_with(0).stderr.replace('\n', " ");
    assert!(said.contains("1 entry is of commits that main lost when it was rewritten"), "{said}");
    assert!(said.contains("1 entry is of branches that were merged into main"), "{said}");
    let said = env.run(["changes", "--side-branches"]).exits_with(0).stderr.replace('\n', " ");
    assert!(!said.contains("merged into main"), "{said}");
    // All are kept, and have tags.
    let shown = env.run(["history", "show", "gone"]).exits_with(0).stdout;
    assert!(shown.contains(&lost[..10]), "{shown}");
    let listed =
        json(&env.run(["history", "list", "--tag", "side", "--json"]).exits_with(0).stdout);
    assert_eq!(listed["entries"].as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn results_of_a_changed_working_tree_do_not_count_unless_they_are_asked_for() {
    let env = env();
    if !has_git("results_of_a_changed_working_tree_do_not_count_unless_they_are_asked_for") {
        return;
    }
    changed_tree(&env);
    env.write("r.json", r#"{"results": [{"command": "a", "times": [1, 2, 3]}]}"#);
    let added = env.run(["history", "add", "r.json"]).exits_with(0).stdout;
    assert!(added.contains("with changes"), "{added}");
    let changed = "1 entry is of a working tree with changes that no commit has";
    for command in [&["changes"][..], &["gate"]] {
        let said = env.run(command);
        let said = format!("{}{}", said.stdout, said.stderr).replace('\n', " ");
        assert!(said.contains(changed) && said.contains("--changed-trees"), "{command:?}: {said}");
        let said = env.run([command, &["--changed-trees"]].concat());
        let said = format!("{}{}", said.stdout, said.stderr).replace('\n', " ");
        assert!(!said.contains("of a working tree"), "{command:?}: {said}");
    }
}

#[test]
fn a_folder_of_asv_is_read_file_by_file_and_its_records_can_be_dropped() {
    let env = env();
    env.write(
        "results/benchmarks.json",
        r#"{"time_a": {"type": "time", "unit": "seconds"}, "version": 2}"#,
    );
    env.write("results/m/machine.json", r#"{"machine": "m", "cpu": "a", "version": 1}"#);
    for i in 0..5 {
        let text = format!(
            "\u{feff}{{\"commit_hash\": \"c{i}\", \"date\": {}, \"env_name\": \"e\", \"params\": {{}}, \
             \"result_columns\": [\"result\", \"params\"], \"results\": {{\"time_a\": [[{}, NaN, Infinity], \
             [[\"1\", \"2\", \"3\"]]]}}, \"version\": 2}}",
            1_700_000_000_000_u64 + i,
            1.0 + i as f64
        );
        env.write(format!("results/m/c{i}-e.json"), text);
    }
    let added = env.run(["history", "add", "results", "--records", "drop"]).exits_with(0);
    assert_eq!(added.stdout.matches(", 1 value").count(), 5, "{}", added.stdout);
    let said = "results: skipped: 10 results without a value, which failed or which ASV skipped";
    assert!(added.stderr.contains(said), "{}", added.stderr);
    let again = env.run(["history", "add", "results"]).exits_with(0);
    let known = "5 results are already in the history, as entries 1 to 5; nothing was changed";
    assert_eq!(again.stderr.matches("already in").count(), 1, "{}", again.stderr);
    assert!(again.stderr.contains(known), "{}", again.stderr);
    let shown = env.run(["history", "show", "3"]).exits_with(0).stdout;
    assert!(shown.contains("does not have its record"), "{shown}");
    env.write("results/m/c7-e.json", "{\"commit_hash\": \"c7\", \"results\": [], \"params\": 1}");
    let refused = env.run(["history", "add", "results"]).exits_with(4).stderr;
    assert!(refused.contains("c7-e.json"), "{refused}");
    let refused = env.run(["history", "add", "results", "--commit", "x"]).exits_with(2).stderr;
    assert!(refused.contains("results of 6"), "{refused}");
}

#[test]
fn what_was_read_before_a_file_that_cannot_be_read_is_in_the_history() {
    let env = env();
    write_asv(
        &env,
        &[("c0", 1_700_000_000_000, 1.0), ("c1", 1_700_000_001_000, 2.0), ("c3", 1, 3.0)],
    );
    env.write("asv/m/c2-env.json", "{\"commit_hash\": \"c2\", \"results\": [], \"params\": 1}");
    let refused = env.run(["history", "add", "asv"]).exits_with(4);
    assert!(refused.stderr.contains("c2-env.json"), "{}", refused.stderr);
    assert!(refused.stderr.contains("before this file are in the history"), "{}", refused.stderr);
    assert_eq!(refused.stdout.lines().count(), 2, "{}", refused.stdout);
    let listed = list(&env, &[]);
    let commits: Vec<&Value> =
        listed["entries"].as_array().unwrap().iter().map(|entry| &entry["commit"]).collect();
    assert_eq!(commits, ["c0", "c1"]);
}

#[test]
fn a_folder_of_asv_gives_the_same_values_whether_records_are_kept_or_dropped() {
    let env = env();
    env.write(
        "results/benchmarks.json",
        r#"{"time_a": {"type": "time", "unit": "seconds", "param_names": ["n", "kind"]},
            "time_b": {"type": "time", "unit": "seconds"},
            "track_c": {"type": "track", "unit": "objects"}, "version": 2}"#,
    );
    env.write("results/m/machine.json", r#"{"machine": "m", "cpu": "a", "version": 1}"#);
    for i in 0..4_u32 {
        let level = 1.0 + 0.1 * f64::from(i);
        // Figures that ASV computed, samples of some results, a result without any, and failed ones.
        let text = format!(
            r#"{{"commit_hash": "c{i}", "date": {}, "env_name": "e", "params": {{"cpu": "a"}},
                "result_columns": ["result", "params", "version", "started_at", "duration", "stats_ci_99_a",
                    "stats_ci_99_b", "stats_q_25", "stats_q_75", "stats_number", "stats_repeat", "samples", "profile"],
                "results": {{
                    "time_a": [[{level}, 2.5, null, NaN], [["1", "2"], ["'x'", "'y'"]], "v", 1, 2,
                        [0.9, 2.4, null, null], [1.5, 2.6, null, null], [0.95, 2.45, null, null],
                        [1.4, 2.55, null, null], [1, 10, null, null], [3, 5, null, null],
                        [[0.9, {level}, 1.5], null, null, null]],
                    "time_b": [[{level}], [], "v", 1, 2, [0.5], [1.5], [0.8], [1.2], [1], [3]],
                    "track_c": [[{i}], []]}},
                "version": 2}}"#,
            1_700_000_000_000 + u64::from(i),
        );
        env.write(format!("results/m/c{i}-e.json"), text);
    }
    let exported = |records: &str| {
        let store = format!("{records}.db");
        let added = ["history", "add", "results", "--records", records, "--store", &store];
        let _ = env.run(added).exits_with(0);
        let list = env.run(["history", "list", "--series", "--json", "--store", &store]);
        let csv = env.run(["history", "export", "--csv", "--store", &store]);
        (list.exits_with(0).stdout, csv.exits_with(0).stdout)
    };
    let (kept, dropped) = (exported("keep"), exported("drop"));
    assert!(kept.1.lines().count() > 4 * 4, "{}", kept.1);
    assert_eq!(kept, dropped);
}
