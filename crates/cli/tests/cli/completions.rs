//! Completions, asked for as bash does: it reads the script, and calls its function with the words typed so far.

use std::process::Command;

use becalm_testkit::TestEnv;

use crate::support::{env, git};

/// Returns what bash would offer for the last of these words.
#[track_caller]
fn offered(env: &TestEnv, words: &[&str]) -> Vec<String> {
    let script = env.run(["completions", "bash"]).exits_with(0).stdout;
    let asking = format!(
        "{script}\nCOMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9\n\
         _clap_complete_becalm becalm \"${{!#}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", &asking, "bash"]).args(words).current_dir(env.work());
    bash.env("HOME", env.path()).env_remove("BECALM_STORE");
    let output = bash.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn commands_flags_and_choices_complete() {
    let env = env();
    assert_eq!(offered(&env, &["becalm", "comp"]), ["compare", "completions"]);
    assert_eq!(offered(&env, &["becalm", "compare", "--margi"]), ["--margin"]);
    assert_eq!(offered(&env, &["becalm", "tune", "--profile", "s"]), ["safe", "strict"]);
    assert_eq!(offered(&env, &["becalm", "tune", "--only", "governor,tur"]), ["governor,turbo"]);
    assert_eq!(offered(&env, &["becalm", "run", "--harness", "crit"]), ["criterion"]);
    assert_eq!(offered(&env, &["becalm", "run", "--metric", "wall"]), ["wall_time"]);
    assert_eq!(offered(&env, &["becalm", "noise", "abl"]), ["ablate"]);
}

#[test]
fn names_of_the_folder_complete() {
    let env = env();
    let _ = env.write("one.json", "{}");
    assert_eq!(offered(&env, &["becalm", "show", "on"]), ["one.json"]);
    assert_eq!(offered(&env, &["becalm", "compare", "./on"]), ["./one.json"]);
    assert_eq!(offered(&env, &["becalm", "compare", "--rev", "HE"]), ["HEAD"]);
    let _ = git(&env, &["init", "-q"]);
    let _ = git(&env, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let _ = git(&env, &["tag", "v1;2"]);
    let _ = git(&env, &["branch", "main-next"]);
    assert_eq!(offered(&env, &["becalm", "compare", "--rev", "main-"]), ["main-next"]);
    // What would end the command is quoted.
    assert_eq!(offered(&env, &["becalm", "bisect", "--good", "v1"]), ["v1\\;2"]);
    let suite = "version = 1\n[benchmark.sort]\ncommand = \"true\"\ntags = [\"quick\"]\n\
                 [benchmark.\"read all\"]\ncommand = \"true\"\n";
    let _ = env.write("becalm.toml", suite);
    assert_eq!(offered(&env, &["becalm", "run", "--suite", "--only", "so"]), ["sort"]);
    assert_eq!(offered(&env, &["becalm", "run", "--suite", "--only", "re"]), ["read\\ all"]);
    assert_eq!(offered(&env, &["becalm", "run", "--suite", "--tag", ""]), ["quick"]);
    let bench = r#"[{"name": "parse", "unit": "ns", "value": 3}]"#;
    let _ = env.write("points.json", bench);
    let _ = env.run(["history", "add", "points.json", "--branch", "main"]).exits_with(0);
    assert_eq!(offered(&env, &["becalm", "changes", "--benchmark", "pa"]), ["parse"]);
    assert_eq!(offered(&env, &["becalm", "history", "list", "--branch", "m"]), ["main"]);
}

#[test]
fn what_cannot_be_read_completes_to_nothing_and_says_nothing() {
    let env = env();
    let _ = env.write("becalm.toml", "this is = no = toml");
    let asked = ["becalm", "run", "--suite", "--only", "so"];
    assert_eq!(offered(&env, &asked), [""]);
}
