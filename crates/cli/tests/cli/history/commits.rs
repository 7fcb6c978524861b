//! Which commit an entry is of, and when it was.

use becalm_testkit::TestEnv;
use serde_json::Value;

use super::{list, times};
use crate::support::{Measures as _, env, git, has_git};

/// Writes a folder of ASV results: of each commit, when it was made by ASV's account, in milliseconds, and a time.
pub(super) fn write_asv(env: &TestEnv, commits: &[(&str, u64, f64)]) {
    env.write("asv/benchmarks.json", r#"{"f.time_x": {"type": "time", "unit": "seconds"}}"#);
    env.write("asv/m/machine.json", r#"{"machine": "m", "cpu": "A CPU"}"#);
    for (commit, date, value) in commits {
        env.write(
            format!("asv/m/{commit}-env.json"),
            format!(
                r#"{{"commit_hash": "{commit}", "date": {date}, "env_name": "env", "params": {{}},
                "result_columns": ["result", "params"], "results": {{"f.time_x": [[{value}], []]}}}}"#
            ),
        );
    }
}

#[test]
fn files_of_other_tools_have_their_commits() {
    let env = env();
    env.write(
        "data.js",
        r#"window.BENCHMARK_DATA = {"repoUrl": "", "entries": {"Go": [
        {"commit": {"id": "aaa", "message": "Hash faster\n\nWhy.", "author": {"name": "Ada", "username": "ada"}, "timestamp": "2024-01-02T00:00:00Z"}, "date": 1704153600000,
         "tool": "go", "benches": [{"name": "Fib", "value": 100, "unit": "ns/op"}]},
        {"commit": {"id": "bbb", "message": "m", "author": {"username": "bob"}, "timestamp": "2024-01-01T00:00:00Z"}, "date": 1704067200000,
         "tool": "go", "benches": [{"name": "Fib", "value": 90, "unit": "ns/op"}]}]}}"#,
    );
    env.write(
        "b.csv",
        "time;commit;branch;m\n2024.01.01 3:00:00 +0100;c0;main;10\n2024.01.02;c1;dev;11\n",
    );
    write_asv(&env, &[("d0", 1_704_067_200_000, 0.5), ("d1", 1_704_153_600_000, 0.6)]);
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
    let listed = list(&env, &[]);
    let written = |commit: &str| {
        let mut entries = listed["entries"].as_array().unwrap().iter();
        let entry = entries.find(|entry| entry["commit"] == commit).unwrap();
        ["commit_author", "commit_title"].map(|name| entry[name].as_str().map(str::to_owned))
    };
    assert_eq!(written("aaa"), [Some("Ada".to_owned()), Some("Hash faster".to_owned())]);
    assert_eq!(written("bbb"), [Some("bob".to_owned()), Some("m".to_owned())]);
    assert_eq!(written("c0"), [None, None]);
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
fn the_main_branch_of_a_clone_is_the_one_of_its_remote() {
    let env = env();
    if !has_git("the_main_branch_of_a_clone_is_the_one_of_its_remote") {
        return;
    }
    let mut rows = 0;
    let mut branch = || {
        rows += 1;
        env.write("a.csv", format!("time,m\n{rows},{rows}\n"));
        let added = env.run(["history", "add", "a.csv"]).exits_with(0).stdout;
        let (_, rest) = added.split_once("branch ").unwrap_or_else(|| panic!("{added}"));
        rest.split_once(',').unwrap().0.to_owned()
    };
    git(&env, &["init", "-q", "-b", "topic"]);
    git(&env, &["commit", "-qm", "one", "--allow-empty"]);
    // Of a repository without remotes the only branch is the main one.
    assert_eq!(branch(), "topic");
    git(&env, &["remote", "add", "origin", "/nowhere"]);
    git(&env, &["update-ref", "refs/remotes/origin/topic", "HEAD"]);
    assert_eq!(branch(), "topic", "nothing better is known");
    env.write("new.csv", "time,commit,m\n9,new,1\n");
    let said = env.run(["gate", "new.csv"]).exits_with(3).stdout.replace('\n', " ");
    assert!(said.contains("git names no main branch here"), "{said}");
    // A branch for a change is not the main one because a clone has no other.
    git(&env, &["update-ref", "refs/remotes/origin/master", "HEAD"]);
    assert_eq!(branch(), "master");
    let said = env.run(["gate", "new.csv"]).exits_with(3).stdout.replace('\n', " ");
    assert!(!said.contains("git names no main branch here"), "{said}");
    let head = "refs/remotes/origin/HEAD";
    git(&env, &["symbolic-ref", head, "refs/remotes/origin/gone"]);
    assert_eq!(branch(), "master", "it has another name by now");
    git(&env, &["update-ref", "refs/remotes/origin/trunk", "HEAD"]);
    git(&env, &["symbolic-ref", head, "refs/remotes/origin/trunk"]);
    assert_eq!(branch(), "trunk");
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
    assert_eq!(entry["commit_title"], "signed");
    let shown = env.run(["history", "show", "1"]).exits_with(0).stdout;
    assert!(shown.contains("title         signed"), "{shown}");
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
fn what_git_says_of_a_commit_goes_before_what_a_file_says_of_it() {
    let env = env();
    if !has_git("what_git_says_of_a_commit_goes_before_what_a_file_says_of_it") {
        return;
    }
    git(&env, &["init", "-q", "-b", "main"]);
    git(&env, &["commit", "-qm", "Hash faster", "--allow-empty"]);
    let head = git(&env, &["rev-parse", "HEAD"]);
    let elsewhere = "0123456789abcdef0123456789abcdef01234567";
    write_asv(&env, &[(&head, 1_600_000_000_000, 0.5), (elsewhere, 1_600_000_000_000, 0.5)]);
    let _ = env.run(["history", "add", "asv"]).exits_with(0);
    let listed = list(&env, &[]);
    let entries = listed["entries"].as_array().unwrap();
    let of = |commit: &str| entries.iter().find(|entry| entry["commit"] == commit).unwrap();
    assert_eq!(
        (&of(&head)["commit_time"], &of(&head)["commit_title"]),
        (&1.7e9.into(), &"Hash faster".into())
    );
    assert_eq!(of(elsewhere)["commit_time"], 1.6e9);
}
