//! `compare --rev`: revisions that are built in worktrees of their own.

use becalm_testkit::TestEnv;

use crate::support::{Measures, T, env, git, has_git, headline, json, said};

/// A repository with three commits: a program, the same 3 % slower, and a change of documentation.
fn repository(test: &str) -> Option<TestEnv> {
    if !has_git(test) {
        return None;
    }
    let env = env();
    git(&env, &["init", "-q"]);
    for (number, title) in [("1000", "first"), ("1030", "slower")] {
        env.write("program", format!("#!/bin/sh\necho t: {number}\n"));
        env.write(".gitignore", "app\n*.json\n.*\n");
        git(&env, &["add", "program", "-f", ".gitignore"]);
        git(&env, &["commit", "-q", "-m", title]);
    }
    env.write("README", "text\n");
    git(&env, &["add", "README"]);
    git(&env, &["commit", "-q", "-m", "documentation"]);
    Some(env)
}

const BUILD: &str = "cp program app && chmod +x app";

fn compare(env: &TestEnv, revisions: &[&str], more: &[&str]) -> becalm_testkit::CommandOutput {
    let mut arguments = vec!["--rounds", "6", "--metric", T, "--build", BUILD];
    arguments.extend(revisions.iter().flat_map(|revision| ["--rev", revision]));
    arguments.extend(more);
    arguments.extend(["--", "./app"]);
    env.compare(&arguments)
}

#[test]
fn a_slowdown_between_two_commits_is_found() {
    let Some(env) = repository("a_slowdown_between_two_commits_is_found") else { return };
    let output = compare(&env, &["HEAD~2", "main"], &["--export-json", "r.json"]).exits_with(0);
    assert!(headline(&output).ends_with("slower than A on t (exact)."), "{}", output.stdout);
    assert!(said(&output).contains("building: cp program app"), "{}", output.stderr);
    let record = env.record("r.json");
    assert_eq!(record["comparisons"][0]["ratio"], 1.03);
    let commit = git(&env, &["rev-parse", "HEAD~2"]);
    assert_eq!(record["subjects"][0]["revision"]["built"], commit.as_str());
    assert_eq!(record["subjects"][0]["name"], format!("HEAD~2 ({})", &commit[..10]));
    assert_eq!(git(&env, &["worktree", "list"]).lines().count(), 1, "worktrees are removed");
    assert_eq!(git(&env, &["status", "--porcelain"]), "", "nothing is left in the repository");
}

#[test]
fn a_script_is_measured_where_what_it_starts_may_have_changed() {
    let Some(env) = repository("a_script_is_measured_where") else { return };
    env.write("helper", "1\n");
    git(&env, &["add", "helper"]);
    git(&env, &["commit", "-q", "-m", "helper"]);
    let output = compare(&env, &["HEAD~1", "HEAD"], &[]).exits_with(0);
    assert!(headline(&output).contains("equivalent"), "{}", output.stdout);
}

#[test]
fn a_worktree_of_the_user_that_is_away_is_not_forgotten() {
    let Some(env) = repository("a_worktree_of_the_user_that_is_away") else { return };
    git(&env, &["worktree", "add", "--detach", "away"]);
    std::fs::rename(env.work().join("away"), env.work().join("elsewhere")).unwrap();
    let _ = compare(&env, &["HEAD~2", "main"], &[]).exits_with(0);
    let listed = git(&env, &["worktree", "list"]);
    assert_eq!(listed.lines().count(), 2, "{listed}");
}

#[test]
fn a_change_of_documentation_gives_identical_binaries() {
    let Some(env) = repository("a_change_of_documentation_gives_identical_binaries") else {
        return;
    };
    let exports =
        ["--export-json", "r.json", "--export-html", "r.html", "--export-markdown", "r.md"];
    let output = compare(&env, &["HEAD~1", "HEAD"], &exports).exits_with(0);
    assert!(env.read("r.html").contains("identical binaries") && !env.read("r.md").is_empty());
    assert!(
        output.stdout.starts_with("identical binaries: ./app is the same"),
        "{}",
        output.stdout
    );
    let said = output.stdout.replace('\n', " ");
    assert!(said.contains("the revisions differ in README"), "{said}");
    assert!(
        env.record("r.json")["notes"][0]["text"]
            .as_str()
            .unwrap()
            .starts_with("identical binaries")
    );
    // What was saved is read as any other record.
    for command in ["show", "stats", "hist", "plot"] {
        let text = env.run([command, "r.json"]).exits_with(0).stdout;
        assert!(text.starts_with("Nothing was measured"), "{command}: {text}");
    }
    let gate = env.run(["gate", "r.json"]).exits_with(0).stdout;
    assert!(gate.contains("The gate passes") && gate.contains("identical binaries"), "{gate}");
    for wants_values in [&["diff", "r.json", "r.json"][..], &["export", "--to", "csv", "r.json"]] {
        let output = env.run(wants_values).exits_with(4);
        assert!(output.stderr.contains("all sides are the same program"), "{}", output.stderr);
    }
    let refused = env.run(["compare", "--resume", "r.json"]).exits_with(4);
    assert!(refused.stderr.contains("start a new session"), "{}", refused.stderr);
    assert!(env.read("r.md").contains("identical binaries"), "{}", env.read("r.md"));
    // Others say nothing for what was not measured.
    env.write("cut.json", env.read("r.json").replacen('{', r#"{"interrupted": "killed","#, 1));
    let both = env.run(["gate", "r.json", "cut.json"]).exits_with(4);
    assert!(both.stderr.contains("cut.json"), "{}", both.stderr);
}

#[test]
fn a_session_whose_revisions_have_become_one_program_is_kept() {
    let Some(env) = repository("a_session_whose_revisions_have_become_one") else { return };
    git(&env, &["tag", "old", "HEAD~2"]);
    let _ = compare(&env, &["old", "main"], &["--export-json", "r.json"]).exits_with(0);
    let before = env.read("r.json");
    git(&env, &["tag", "-f", "old", "main"]);
    let refused = env.run(["compare", "--resume", "r.json", "--rounds", "9"]).exits_with(2);
    assert!(refused.stderr.contains("now have the same program"), "{}", refused.stderr);
    assert_eq!(env.read("r.json"), before);
}

#[test]
fn the_working_tree_is_a_revision_and_otherwise_said_to_be_left_out() {
    let Some(env) = repository("the_working_tree_is_a_revision") else { return };
    env.write("program", "#!/bin/sh\necho t: 2060\n");
    env.write("new file", "");
    let output = compare(&env, &["HEAD", "."], &["--export-json", "r.json"]).exits_with(0);
    assert!(headline(&output).contains("slower than A"), "{}", output.stdout);
    let record = env.record("r.json");
    let commit = record["subjects"][1]["revision"]["built"].as_str().unwrap();
    let time = git(&env, &["show", "-s", "--format=%ct", commit]);
    assert_eq!(time, "1", "the same tree is the same commit, also later");
    // In the history it is what is checked out, with changes.
    let _ = env.run(["history", "add", "r.json"]).exits_with(0);
    let listed = json(&env.run(["history", "list", "--json"]).exits_with(0).stdout);
    let head = git(&env, &["rev-parse", "HEAD"]);
    for (entry, dirty) in listed["entries"].as_array().unwrap().iter().zip([false, true]) {
        assert_eq!((&entry["commit"], &entry["dirty"]), (&head.as_str().into(), &dirty.into()));
        assert_eq!(entry["commit_time"], 1.7e9, "{entry}");
    }
    assert!(said(&output).contains("1 file not tracked by git is not part"), "{}", output.stderr);
    let output = compare(&env, &["HEAD~2", "HEAD"], &[]).exits_with(0);
    assert!(said(&output).contains("uncommitted changes (program)"), "{}", output.stderr);
    assert_eq!(env.read("program"), "#!/bin/sh\necho t: 2060\n");
}

#[test]
fn a_working_tree_with_a_changed_submodule_is_refused() {
    let Some(env) = repository("a_working_tree_with_a_changed_submodule") else { return };
    let within = |arguments: &[&str]| git(&env, &[&["-C", "the part"], arguments].concat());
    git(&env, &["init", "-q", "other"]);
    env.write("other/file", "1");
    git(&env, &["-C", "other", "add", "file"]);
    git(&env, &["-C", "other", "commit", "-q", "-m", "first"]);
    git(&env, &["submodule", "--quiet", "add", "./other", "the part"]);
    git(&env, &["commit", "-q", "-m", "with a part"]);
    let refused = || {
        let output = compare(&env, &["HEAD", "."], &[]).exits_with(2);
        let text = said(&output);
        assert!(text.contains("the submodule the part has changes"), "{text}");
    };
    env.write("the part/file", "2");
    refused();
    within(&["commit", "-q", "-a", "-m", "second"]);
    refused();
    git(&env, &["add", "the part"]);
    refused();
}

#[test]
fn submodules_are_built_and_leave_nothing_in_the_configuration() {
    let Some(env) = repository("submodules_are_built_and_leave_nothing") else { return };
    let commit = |folder: &str| {
        git(&env, &["-C", folder, "add", "-A"]);
        git(&env, &["-C", folder, "commit", "-q", "-m", "first"]);
    };
    for folder in [".deep", ".other"] {
        git(&env, &["init", "-q", folder]);
        env.write(format!("{folder}/file"), "1000");
    }
    commit(".deep");
    git(&env, &["-C", ".other", "submodule", "--quiet", "add", "../.deep", "deep"]);
    commit(".other");
    let from = env.work().join(".other").display().to_string();
    git(&env, &["submodule", "--quiet", "add", "-f", &from, "the part"]);
    env.write("program", "#!/bin/sh\necho t: $(cat 'the part/deep/file')\n");
    git(&env, &["commit", "-q", "-a", "-m", "with parts"]);
    env.write("program", "#!/bin/sh\necho t: $(cat 'the part/deep/file')0\n");
    git(&env, &["commit", "-q", "-a", "-m", "slower"]);
    // As after a clone without them.
    git(&env, &["submodule", "deinit", "-q", "-f", "the part"]);
    let before = env.read(".git/config");
    let env = env.variable("GIT_ALLOW_PROTOCOL", "file");
    let output = compare(&env, &["HEAD~1", "HEAD"], &["--export-json", "r.json"]).exits_with(0);
    assert!(headline(&output).contains("slower than A"), "{}", output.stdout);
    assert_eq!(env.record("r.json")["comparisons"][0]["ratio"], 10.0);
    assert_eq!(env.read(".git/config"), before);
}

#[test]
fn a_build_that_fails_is_told_with_its_end() {
    let Some(env) = repository("a_build_that_fails_is_told_with_its_end") else { return };
    let output = env
        .compare(&[
            "--rev",
            "HEAD~1",
            "--rev",
            "HEAD",
            "--build",
            "echo no such luck; exit 7",
            "./app",
        ])
        .exits_with(4);
    assert!(said(&output).contains("HEAD~1 ("), "{}", output.stderr);
    assert!(
        said(&output).contains("failed (exit status: 7); its output ends with:\n  no such luck")
    );
    assert_eq!(git(&env, &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn the_newest_file_that_fits_stands_for_a_star() {
    let Some(env) = repository("the_newest_file_that_fits_stands_for_a_star") else { return };
    git(&env, &["checkout", "-q", "-b", "topic"]);
    let output = env
        .compare(&[
            "--rounds", "6", "--metric", T, "--export-json", "r.json", "--rev", "HEAD~2", "--rev", "HEAD", "--build",
            "mkdir out && cp program out/app-$(git rev-parse --short HEAD) && touch out/app-x.d && chmod +x out/*",
            "./out/app-*",
        ])
        .exits_with(0);
    assert!(headline(&output).ends_with("slower than A on t (exact)."), "{}", output.stdout);
    // The history has them under the name that was asked for, and each under its branch.
    let _ = env.run(["history", "add", "r.json"]).exits_with(0);
    let list = ["history", "list", "--series", "--metric", "t", "--json"];
    let listed = json(&env.run(list).exits_with(0).stdout);
    let series = listed["series"].as_array().unwrap().iter();
    let told: Vec<_> =
        series.map(|one| (&one["benchmark"], &one["branch"], &one["parameters"])).collect();
    let (name, none) = ("'./out/app-*'".into(), serde_json::json!({}));
    assert_eq!(told, [(&name, &"main".into(), &none), (&name, &"topic".into(), &none)]);
}

#[test]
fn what_is_no_revision_is_refused() {
    let Some(env) = repository("what_is_no_revision_is_refused") else { return };
    let output = compare(&env, &["HEAD", "nope"], &[]).exits_with(2);
    assert!(said(&output).contains("--rev nope: no such revision"), "{}", output.stderr);
    let output = compare(&env, &["HEAD"], &[]).exits_with(2);
    assert!(
        said(&output)
            .contains("only one revision was given, so there is nothing to compare it with"),
        "{}",
        output.stderr
    );
    let nowhere = crate::support::env();
    let output = compare(&nowhere, &["HEAD", "HEAD~1"], &[]).exits_with(2);
    assert!(said(&output).contains("--rev needs a git repository"), "{}", output.stderr);
}
