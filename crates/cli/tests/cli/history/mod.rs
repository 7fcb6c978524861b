//! `becalm history`: what is added comes back, on both databases, whatever happens to the writer.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use becalm_testkit::{TestEnv, postgres, skipped};
use serde_json::Value;

use crate::support::{Measures, env, git, has_git, json};

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
fn files_of_other_tools_have_their_commits() {
    let env = env();
    env.write(
        "data.js",
        r#"window.BENCHMARK_DATA = {"repoUrl": "", "entries": {"Go": [
        {"commit": {"id": "aaa", "message": "m", "timestamp": "2024-01-02T00:00:00Z"}, "date": 1704153600000,
         "tool": "go", "benches": [{"name": "Fib", "value": 100, "unit": "ns/op"}]},
        {"commit": {"id": "bbb", "message": "m", "timestamp": "2024-01-01T00:00:00Z"}, "date": 1704067200000,
         "tool": "go", "benches": [{"name": "Fib", "value": 90, "unit": "ns/op"}]}]}}"#,
    );
    env.write(
        "b.csv",
        "time;commit;branch;m\n2024.01.01 3:00:00 +0100;c0;main;10\n2024.01.02;c1;dev;11\n",
    );
    env.write("asv/benchmarks.json", r#"{"f.time_x": {"type": "time", "unit": "seconds"}}"#);
    env.write("asv/m/machine.json", r#"{"machine": "m", "cpu": "A CPU"}"#);
    for (commit, date, value) in
        [("d0", 1_704_067_200_000_u64, 0.5), ("d1", 1_704_153_600_000, 0.6)]
    {
        env.write(
            format!("asv/m/{commit}-env.json"),
            format!(
                r#"{{"commit_hash": "{commit}", "date": {date}, "env_name": "env", "params": {{}},
                "result_columns": ["result", "params"], "results": {{"f.time_x": [[{value}], []]}}}}"#
            ),
        );
    }
    let stdout = env.run(["history", "add", "data.js", "b.csv", "asv"]).exits_with(0).stdout;
    assert_eq!(stdout.lines().count(), 6, "{stdout}");
    let csv = env.run(["history", "export", "--csv"]).exits_with(0).stdout;
    let mut rows: Vec<Vec<String>> = csv
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            [1, 2, 5, 6, 9, 10, 11].map(|at| cells[at].to_owned()).to_vec()
        })
        .collect();
    rows.sort();
    let rows: Vec<String> = rows.iter().map(|row| row.join(" ")).collect();
    assert_eq!(
        rows,
        [
            "Fib time  main 1704067200 bbb 0.00000009000000000000001",
            "Fib time  main 1704153600 aaa 0.00000010000000000000001",
            "f.time_x time environment=env main 1704067200 d0 0.5",
            "f.time_x time environment=env main 1704153600 d1 0.6",
            "m value  dev 1704153600 c1 11",
            "m value  main 1704074400 c0 10",
        ]
    );
    let again = env.run(["history", "add", "data.js", "b.csv", "asv"]).exits_with(0);
    assert_eq!(again.stdout, "");
    // What a file has got since counts, and what was there before does not count twice.
    env.write(
        "b.csv",
        "time;commit;branch;m;n\n2024.01.01 3:00:00 +0100;c0;main;10;7\n2024.01.02;c1;dev;11;\n",
    );
    let more = env.run(["history", "add", "b.csv"]).exits_with(0).stdout;
    assert_eq!(
        more,
        "added entry 7: c0 on main, 1 value; its other values were already in the history\n"
    );
    let csv = env.run(["history", "export", "--csv"]).exits_with(0).stdout;
    assert_eq!(csv.lines().filter(|line| line.contains(",c0,")).count(), 2, "{csv}");
    // One commit for many is a mistake.
    let _ = env.run(["history", "add", "data.js", "--commit", "x"]).exits_with(2);
}

#[test]
fn rows_without_a_commit_are_not_of_what_is_checked_out() {
    let env = env();
    if !has_git("rows_without_a_commit_are_not_of_what_is_checked_out") {
        return;
    }
    git(&env, &["init", "-q", "-b", "topic"]);
    git(&env, &["commit", "-qm", "one", "--allow-empty"]);
    git(&env, &["branch", "main"]);
    env.write("a.csv", "time,m\n2024-01-01,1\n2024-01-02,2\n");
    let _ = env.run(["history", "add", "a.csv"]).exits_with(0);
    let listed = list(&env, &[]);
    let entries = listed["entries"].as_array().unwrap();
    let shown: Vec<_> =
        entries.iter().map(|one| (&one["commit"], &one["branch"], &one["measured"])).collect();
    let (none, main) = (&Value::Null, &"main".into());
    assert_eq!(
        shown,
        [(none, main, &1_704_067_200.0.into()), (none, main, &1_704_153_600.0.into())]
    );
    let refused = env.run(["history", "add", "a.csv", "--time", "2024-01-01"]).exits_with(2).stderr;
    assert!(refused.contains("--time sets the time of one commit"), "{refused}");
}

#[test]
fn what_is_checked_out_is_of_its_branch_by_whatever_name() {
    let env = env();
    if !has_git("what_is_checked_out_is_of_its_branch") {
        return;
    }
    git(&env, &["init", "-q", "-b", "trunk"]);
    git(&env, &["commit", "-qm", "one", "--allow-empty"]);
    git(&env, &["checkout", "-q", "-b", "topic"]);
    git(&env, &["commit", "-qm", "two", "--allow-empty"]);
    let head = git(&env, &["rev-parse", "HEAD"]);
    let add = |name: &str, more: &[&str]| {
        env.write(name, times("sort", &[1.0, 1.1, name.len() as f64]));
        let all = [&["history", "add", name], more].concat();
        let printed = env.run(all).exits_with(0).stdout;
        let branch = printed.split_once(" on ").and_then(|(_, rest)| rest.split_once(','));
        branch.unwrap().0.to_owned()
    };
    let branches = [
        add("a.json", &[]),
        add("bb.json", &["--commit", "HEAD"]),
        add("ccc.json", &["--commit", &head[..8]]),
        // Which branch another commit was measured on, nobody knows.
        add("dddd.json", &["--commit", "trunk"]),
        add("eeeee.json", &["--commit", "trunk", "--branch", "trunk"]),
    ];
    assert_eq!(branches, ["topic", "topic", "topic", "main", "trunk"]);
}

#[test]
fn a_time_that_is_given_goes_before_that_of_git() {
    let env = env();
    if !has_git("a_time_that_is_given_goes_before_that_of_git") {
        return;
    }
    env.write("a.json", times("sort", &[1.0, 1.1, 1.2]));
    let add = |time: &str| env.run(["history", "add", "a.json", "--time", time]);
    // Without a commit it is when it was measured.
    let _ = add("2024-01-01").exits_with(0);
    // What another tool does not tell is not made up.
    let shown = env.run(["history", "show", "1"]).exits_with(0).stdout;
    assert!(shown.contains("started         unknown"), "{shown}");
    assert!(shown.contains("measured by     hyperfine") && !shown.contains("1970"), "{shown}");
    git(&env, &["init", "-q"]);
    git(&env, &["commit", "-qm", "one", "--allow-empty"]);
    let _ = add("2024-01-02").exits_with(0);
    let listed = list(&env, &[]);
    let entries = listed["entries"].as_array().unwrap();
    assert_eq!(entries[0]["measured"], 1_704_067_200.0);
    assert_eq!(entries[1]["commit_time"], 1_704_153_600.0);
    for wrong in ["1e30", "1700000000000"] {
        let refused = add(wrong).exits_with(2).stderr;
        assert!(refused.contains("year must be between 1970 and 9999"), "{refused}");
    }
}

#[test]
fn what_git_does_not_know_is_told() {
    let env = env();
    env.write("a.json", times("sort", &[1.0, 1.1, 1.2]));
    env.write("b.json", times("sort", &[1.0, 1.1, 1.3]));
    let told = env.run(["history", "add", "a.json", "--commit", "v9"]).exits_with(0).stderr;
    assert!(told.contains("warning: --commit v9: git "), "{told}");
    let given = ["history", "add", "b.json", "--commit", "v9", "--time", "2024-01-01"];
    assert!(!env.run(given).exits_with(0).stderr.contains("warning"));
    let without_git = env.variable("PATH", "/nowhere");
    let told = without_git.run(["history", "add", "a.json"]).exits_with(0).stderr;
    assert!(told.contains("git cannot be started"), "{told}");
    for empty in [
        &["add", "a.json", "--commit", ""][..],
        &["add", "a.json", "--branch", ""],
        &["show", ""],
        &["list", "--branch", ""],
    ] {
        let _ = without_git.run([&["history"], empty].concat()).exits_with(2);
    }
}

#[test]
fn signatures_that_the_user_wants_to_see_are_not_taken_for_commits() {
    let env = env();
    if !has_git("signatures_that_the_user_wants_to_see") {
        return;
    }
    git(&env, &["init", "-q"]);
    // Signs everything, and finds every signature good, which git shows in its log.
    let signed = "printf '\\n[GNUPG:] SIG_CREATED \\n[GNUPG:] GOODSIG x y\\ngpg: good\\n' >&2";
    env.script("gpg", &format!("cat > /dev/null\n{signed}\necho -----BEGIN PGP SIGNATURE-----"));
    let program = env.work().join("gpg").display().to_string();
    git(&env, &["config", "gpg.program", &program]);
    git(&env, &["config", "log.showSignature", "true"]);
    git(&env, &["commit", "-q", "-S", "--allow-empty", "-m", "signed"]);
    let shown = git(&env, &["log", "-1", "--format=%H"]);
    assert!(shown.lines().count() > 1, "{shown}");
    let head = git(&env, &["rev-parse", "HEAD"]);
    env.write("a.json", times("sort", &[1.0, 1.1, 1.2]));
    let added = env.run(["history", "add", "a.json"]).exits_with(0).stdout;
    assert!(added.starts_with(&format!("added entry 1: {} on main, ", &head[..10])), "{added}");
    let entry = &list(&env, &[])["entries"][0];
    assert_eq!((&entry["commit"], &entry["commit_time"]), (&head.as_str().into(), &1.7e9.into()));
}

#[test]
fn what_pytest_did_not_find_is_not_told_by_it() {
    let env = env();
    let file = |id: &str, branch: &str| {
        format!(
            r#"{{"machine_info": {{}}, "commit_info": {{"id": "{id}", "branch": "{branch}", "project": "p"}},
            "benchmarks": [{{"fullname": "a.py::t", "stats": {{"data": [{}, 2]}}}}]}}"#,
            id.len()
        )
    };
    env.write("a.json", file("unversioned", "(unknown)"));
    env.write("b.json", file("0123456789abcdef", "(detached head)"));
    let _ = env.run(["history", "add", "a.json", "b.json"]).exits_with(0);
    let listed = list(&env, &[]);
    let entries = listed["entries"].as_array().unwrap();
    let told: Vec<_> =
        entries.iter().map(|one| (one["commit"].as_str(), one["branch"].as_str())).collect();
    assert!(told.contains(&(None, Some("main"))), "{told:?}");
    assert!(told.contains(&(Some("0123456789abcdef"), Some("main"))), "{told:?}");
}

#[test]
fn a_commit_of_any_name_and_time_can_be_given() {
    let env = env();
    env.write("a.json", times("sort", &[1.0, 1.1, 1.2]));
    let add = |commit: &str, time: &str| {
        let given = ["--commit", commit, "--time", time, "--branch", "topic"];
        let _ = env.run([&["history", "add", "a.json"], &given[..]].concat()).exits_with(0);
    };
    // The same numbers of two versions are two measurements.
    add("v2", "2024-02-01");
    add("v1", "2024-01-01");
    add("v1", "2024-01-01");
    let listed = list(&env, &["--branch", "topic"]);
    let commits: Vec<&Value> =
        listed["entries"].as_array().unwrap().iter().map(|one| &one["commit"]).collect();
    assert_eq!(commits, ["v1", "v2"]);
    let csv = env.run(["history", "export", "--csv"]).exits_with(0).stdout;
    assert!(csv.contains("sort,wall_time,s,lower,,topic,"), "{csv}");
    assert!(csv.contains(",1704067200,v1,1.1,"), "{csv}");
    for command in [&["show", "99"][..], &["prune", "--entry", "99"]] {
        let error = env.run([&["history"], command].concat()).exits_with(2);
        assert!(error.stderr.contains("`becalm history list` lists"), "{}", error.stderr);
    }
    let _ = env.run(["history", "prune", "--keep-documents", "1", "--dry-run"]).exits_with(0);
    let pruned = env.run(["history", "prune", "--keep-documents", "1"]).exits_with(0).stdout;
    assert!(pruned.starts_with("removed: 0 entries with 0 values, 1 record ("), "{pruned}");
    let error = env.run(["history", "show", "v1", "--json"]).exits_with(4);
    assert!(error.stderr.contains("has no record of entry"), "{}", error.stderr);
    assert_eq!(env.run(["history", "export", "--csv"]).exits_with(0).stdout, csv);
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
fn a_killed_writer_loses_nothing_that_it_said_was_added_in_sqlite() {
    let env = env();
    let path = env.work().join("history.db");
    kill_writers(&env, path.to_str().unwrap());
    let raw = rusqlite::Connection::open(&path).unwrap();
    let check: String = raw.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}

#[test]
fn a_killed_writer_loses_nothing_that_it_said_was_added_in_postgresql() {
    match postgres() {
        Ok(server) => kill_writers(&env(), &server.database()),
        Err(why) => skipped(why),
    }
}

/// Adds 200 files again and again by a process that is killed after some of them, until all are there.
fn kill_writers(env: &TestEnv, store: &str) {
    let mut files = Vec::new();
    for at in 0..200 {
        let name = format!("{at}.json");
        env.write(&name, times("sort", &[f64::from(at) + 1.0, 2.0, 3.0]));
        files.push(name);
    }
    let mut acknowledged: Vec<String> = Vec::new();
    for kill_after in [0, 1, 7, 30, 50, 1000] {
        let mut command = env.command(["history", "add", "--store", store]);
        command.args(&files).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut writer = command.spawn().unwrap();
        let lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        for (n, line) in lines.enumerate() {
            if n == kill_after {
                writer.kill().unwrap();
            }
            acknowledged.push(line.unwrap());
        }
        writer.wait().unwrap();
    }
    let listed = list(env, &["--store", store]);
    let entries = listed["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 200);
    let numbers: std::collections::BTreeSet<i64> =
        entries.iter().map(|one| one["entry"].as_i64().unwrap()).collect();
    for line in &acknowledged {
        let number = line.strip_prefix("added entry ").and_then(|rest| rest.split(':').next());
        let number: i64 = number.unwrap().parse().unwrap();
        assert!(numbers.contains(&number), "{line}");
    }
    let csv = env.run(["history", "export", "--csv", "--store", store]).exits_with(0).stdout;
    assert_eq!(csv.lines().filter(|line| line.contains(",wall_time,")).count(), 200);
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    // Again and again from the beginning, for who makes the folder and the tables.
    for _ in 0..5 {
        let env = env();
        let mut writers = Vec::new();
        for writer in 0..4 {
            let mut command = env.command(["history", "add"]);
            for at in 0..5 {
                let name = format!("{writer}-{at}.json");
                env.write(&name, times("sort", &[f64::from(writer), f64::from(at)]));
                command.arg(name);
            }
            writers.push(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
        }
        for writer in writers {
            let ended = writer.wait_with_output().unwrap();
            assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        }
        assert_eq!(list(&env, &[])["entries"].as_array().unwrap().len(), 20);
    }
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
    git(&env, &["init", "-q", "-b", "main"]);
    env.write("code", "one");
    git(&env, &["add", "code"]);
    git(&env, &["commit", "-q", "-m", "one"]);
    env.write("code", "two");
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
    let again = env.run(["history", "add", "results"]).exits_with(0);
    assert_eq!(again.stderr.matches("already in the history").count(), 5, "{}", again.stderr);
    let shown = env.run(["history", "show", "3"]).exits_with(0).stdout;
    assert!(shown.contains("does not have its record"), "{shown}");
    env.write("results/m/c7-e.json", "{\"commit_hash\": \"c7\", \"results\": [], \"params\": 1}");
    let refused = env.run(["history", "add", "results"]).exits_with(4).stderr;
    assert!(refused.contains("c7-e.json"), "{refused}");
    let refused = env.run(["history", "add", "results", "--commit", "x"]).exits_with(2).stderr;
    assert!(refused.contains("results of 6"), "{refused}");
}
