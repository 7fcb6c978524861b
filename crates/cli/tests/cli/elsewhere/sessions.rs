//! Sessions and other commands on a host are as if they were here.

use std::os::unix::ffi::OsStrExt as _;

use super::Reach;
use crate::load::Server;
use crate::support::{Measures, T, env, git, has_git, json, prints};

/// What a comparison of exact numbers prints of them: the verdict, the row of the table and the picture.
fn of_exact_numbers(text: &str) -> Vec<&str> {
    let is_of_them =
        |line: &&str| line.contains("exact") || line.contains('●') || line.contains(" ns");
    text.lines().filter(is_of_them).map(str::trim_end).collect()
}

#[test]
fn a_comparison_prints_what_it_prints_here() {
    let Some(reach) = Reach::with_becalm("a_comparison_on_a_host") else { return };
    let env = &reach.env;
    for (name, number) in [("old", "1000"), ("new", "1030")] {
        env.script(name, &prints(number));
    }
    let common = ["--rounds", "6", "--metric", T, "./old", "./new"];
    let here = env.compare(&common).exits_with(0);
    let there = env.compare(&[&["--on", "bench"], &common[..]].concat()).exits_with(0);
    let exact = of_exact_numbers(&there.stdout);
    assert_eq!(exact.len(), 5, "{}", there.stdout);
    // How wide the columns are depends on the other rows.
    let words = |lines: Vec<&str>| lines.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(exact), words(of_exact_numbers(&here.stdout)));
    assert!(there.stdout.contains("measured on bench"), "{}", there.stdout);
    assert_eq!(there.stderr, here.stderr);
    // `show` knows it as the last session, of this side.
    let shown = env.run(["show"]).exits_with(0);
    assert!(shown.stdout.contains("measured on bench"), "{}", shown.stdout);
    assert!(reach.stored("work").is_empty(), "the folder of the job is removed");
}

#[test]
fn files_that_are_asked_for_are_written_here() {
    let Some(reach) = Reach::with_becalm("files_of_a_session_on_a_host") else { return };
    let env = &reach.env;
    env.script("old", &prints("1000"));
    env.script("new", &prints("1000"));
    let arguments = [
        "--on",
        "bench",
        "--rounds",
        "6",
        "--metric",
        T,
        "--json",
        "--export-json",
        "r.json",
        "--export-html",
        "r.html",
        "--export-markdown",
        "r.md",
        "./old",
        "./new",
    ];
    let output = env.compare(&arguments).exits_with(0);
    let (printed, saved) = (json(&output.stdout), env.record("r.json"));
    assert_eq!(printed, saved);
    assert_eq!(saved["terms"]["elsewhere"]["host"], "bench");
    assert_eq!(saved["notes"][0]["kind"], "elsewhere");
    assert!(env.read("r.html").contains("measured on bench"));
    assert!(env.read("r.md").contains("equivalent"));
    assert!(!env.work().join("r.json.partial").exists());
}

#[test]
fn programs_files_and_folders_arrive_whole_and_once() {
    let Some(reach) = Reach::with_becalm("files_of_subjects_on_a_host") else { return };
    let env = &reach.env;
    // The script checks everything that it was given, and fails otherwise.
    env.script(
        "bin/it's a test",
        "set -e\n[ \"$(cat)\" = input ]\n[ \"$1\" = 'two  words \"quoted\"' ]\n[ \"$VARIABLE\" = 'a b' ]\n\
         [ \"$(cat data/named.txt)\" = named ]\n[ \"$(cat more/deep/file)\" = deep ]\n[ \"$(cat more/link)\" = deep ]\n\
         [ -f \"$(printf 'more/odd\\377name')\" ]\n[ ! -e unsent ]",
    );
    env.write("in.txt", "input\n");
    env.write("data/named.txt", "named\n");
    env.write("unsent", "");
    env.write("more/deep/file", "deep\n");
    std::os::unix::fs::symlink("deep/file", env.work().join("more/link")).unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"more/odd\xffname");
    env.write(odd, "");
    let command = "\"./bin/it's a test\" 'two  words \"quoted\"' data/named.txt";
    let arguments = [
        "--on",
        "bench",
        "--rounds",
        "2",
        "--warmup",
        "0",
        "--input",
        "in.txt",
        "--env",
        "VARIABLE=a b",
        "--send",
        "more",
        "--",
        command,
    ];
    let _ = env.measure(&arguments).exits_with(0);
    let mut stored = reach.stored("files");
    let _ = env.measure(&arguments).exits_with(0);
    let mut again = reach.stored("files");
    stored.sort();
    again.sort();
    assert_eq!(stored, again);
    assert_eq!(stored.len(), 5, "each content once: {stored:?}");
}

#[test]
fn failures_are_told_as_here() {
    let Some(reach) = Reach::with_becalm("failures_on_a_host") else { return };
    let env = &reach.env;
    env.script("fails", "echo oh no >&2\nexit 3");
    let here = env.measure(&["--", "./fails"]).exits_with(4);
    let there = env.measure(&["--on", "bench", "--", "./fails"]).exits_with(4);
    assert!(here.stderr.contains("oh no") && here.stderr.contains("exited with code 3"));
    let in_folder = |text: &str| text.replace(&env.work().display().to_string(), "");
    assert_eq!(in_folder(&there.stderr), in_folder(&here.stderr));
    let missing = env.measure(&["--on", "bench", "--", "./missing"]).exits_with(2);
    assert!(missing.stderr.contains("./missing does not exist here"), "{}", missing.stderr);
    let missing =
        env.measure(&["--on", "bench", "--send", "absent", "--", "./fails"]).exits_with(4);
    assert!(missing.stderr.contains("work/absent"), "{}", missing.stderr);
}

#[test]
fn output_of_subjects_arrives_on_standard_error() {
    let Some(reach) = Reach::with_becalm("output_of_subjects_on_a_host") else { return };
    let env = &reach.env;
    env.script("says", "echo out; echo err >&2; cat");
    let arguments = ["--on", "bench", "--rounds", "2", "--output", "inherit", "--", "./says"];
    let output = env.measure(&arguments).exits_with(0);
    assert!(
        output.stderr.contains("out\n") && output.stderr.contains("err\n"),
        "{}",
        output.stderr
    );
    assert!(!output.stdout.contains("out\n"), "{}", output.stdout);
}

#[test]
fn a_suite_runs_there() {
    let Some(reach) = Reach::with_becalm("a_suite_on_a_host") else { return };
    let env = &reach.env;
    env.script("inner/bench", "cat data > /dev/null");
    env.write("inner/data", "x");
    env.write(
        "becalm.toml",
        "version = 1\n[benchmark.one]\ncommand = './bench data'\nfolder = 'inner'\n[benchmark.two]\ncommand = 'true'\n",
    );
    let arguments =
        ["--on", "bench", "--suite", "--rounds", "3", "--warmup", "0", "--export-json", "r.json"];
    let _ = env.measure(&arguments).exits_with(0);
    let record = env.record("r.json");
    assert_eq!(record["subjects"].as_array().unwrap().len(), 2);
    assert_eq!(record["subjects"][0]["runs"].as_array().unwrap().len(), 3);
}

#[test]
fn other_commands_run_there_and_write_here() {
    let Some(reach) = Reach::with_becalm("other_commands_on_a_host") else { return };
    let env = &reach.env;
    let here = json(&env.run(["topology", "--json"]).exits_with(0).stdout);
    let there = env.run(["topology", "--json", "--on", "bench"]).exits_with(0);
    assert_eq!(json(&there.stdout), here);
    let picture = env.work().join("deep/t.svg");
    std::fs::create_dir(picture.parent().unwrap()).unwrap();
    let picture = picture.display().to_string();
    let _ = env.run(["topology", "--on", "bench", "--svg", &picture]).exits_with(0);
    assert!(env.read("deep/t.svg").starts_with("<svg"));
    let line = [
        "timeit",
        "--on",
        "bench",
        "--processes",
        "2",
        "--min-time",
        "1ms",
        "--export-json",
        "t.json",
        "1+1",
    ];
    let _ = env.run(line).exits_with(0);
    assert_eq!(env.record("t.json")["notes"][0]["kind"], "elsewhere");
}

#[test]
fn a_load_comes_from_the_host() {
    let Some(reach) = Reach::with_becalm("a_load_from_a_host") else { return };
    let env = &reach.env;
    let server = Server::start(env, &[]);
    let line = ["load", &server.url, "--rate", "100", "--duration", "1s", "--on", "bench"];
    let files = ["--export-json", "l.json", "--export-hdr", "l.hlog", "--export-csv", "l.csv"];
    let output = env.run([&line[..], &files].concat());
    // Whether it is valid depends on how busy this machine is.
    assert!(matches!(output.status.code(), Some(0 | 4)), "{}", output.stderr);
    assert!(output.stdout.contains("p99"), "{}", output.stdout);
    let counts = &json(&env.read("l.json"))["counts"];
    assert_eq!(counts["answered"], counts["scheduled"]);
    assert!(env.read("l.hlog").contains("Tag=service,"));
    assert_eq!(env.read("l.csv").lines().count(), 2);
    // The files that a file of requests names go with it.
    env.write("mix/requests", "{\"path\": \"/\", \"method\": \"POST\", \"body-file\": \"body\"}\n");
    env.write("mix/body", "hello");
    let output = env.run([&line[..], &["--requests", "mix/requests"]].concat());
    assert!(matches!(output.status.code(), Some(0 | 4)), "{}", output.stderr);
    // And becalm.toml, with those that a load in it names.
    let url = &server.url;
    env.write(
        "becalm.toml",
        format!(
            "version = 1\n[load.shop]\nurl = '{url}'\nrate = 100\nduration = '1s'\nrequests-file = 'mix/requests'\n\
             values = 'ids.csv'\nbearer = 'token'\nheaders = {{ X-Id = '{{id}}' }}\n"
        ),
    );
    env.write("ids.csv", "id\n1\n");
    env.write("token", "secret");
    let output = env.run(["load", "--scenario", "shop", "--on", "bench"]);
    assert!(matches!(output.status.code(), Some(0 | 4)), "{}", output.stderr);
}

#[test]
fn becalm_copies_itself_once() {
    let Some(reach) = Reach::without_becalm("becalm_copies_itself") else { return };
    let env = &reach.env;
    for _ in 0..2 {
        let _ = env.measure(&["--on", "bench", "--rounds", "2", "--", "true"]).exits_with(0);
        let copies = reach.stored("bin");
        assert!(copies.len() == 1 && copies[0].starts_with("becalm-"), "{copies:?}");
    }
    // A damaged copy is replaced.
    let copy = reach.store().join("bin").join(&reach.stored("bin")[0]);
    std::fs::write(&copy, "#!/bin/sh\necho not becalm\n").unwrap();
    let _ = env.measure(&["--on", "bench", "--rounds", "2", "--", "true"]).exits_with(0);
}

#[test]
fn what_stays_here_is_refused() {
    let env = env();
    env.script("old", "");
    let refused = |arguments: &[&str], what: &str| {
        let output = env.measure(&[&["--on", "nowhere.invalid"], arguments].concat()).exits_with(2);
        assert!(output.stderr.contains(what), "{}", output.stderr);
    };
    refused(&["--build", "make", "--", "./old"], "--build builds here");
    refused(&["--output", "out.txt", "--", "./old"], "--output out.txt would be written");
}

#[test]
fn hosts_are_listed_and_checked() {
    let Some(reach) = Reach::with_becalm("hosts_are_listed") else { return };
    let env = &reach.env;
    env.script("old", "");
    env.script("new", ":");
    let _ = env.compare(&["--on", "bench", "--rounds", "8", "./old", "./new"]);
    let listed = json(&env.run(["hosts", "--json"]).exits_with(0).stdout);
    assert_eq!(listed["hosts"][0]["name"], "bench");
    assert!(listed["hosts"][0]["noise_floor"]["change"].is_f64(), "{listed}");
    assert!(listed["hosts"][0]["status"].is_null());
    let checked = env.run(["hosts", "--check"]).exits_with(0);
    assert!(
        checked.stdout.contains("free") && checked.stdout.contains("bench"),
        "{}",
        checked.stdout
    );
    reach.host.refuse();
    let refused = env.run(["hosts", "bench", "--check"]).exits_with(1);
    assert!(refused.stdout.contains("refuses the login"), "{}", refused.stdout);
}

#[test]
fn revisions_are_built_here_and_measured_there() {
    let Some(reach) = Reach::with_becalm("revisions_on_a_host") else { return };
    let env = &reach.env;
    if !has_git("revisions_on_a_host") {
        return;
    }
    git(env, &["init", "-q"]);
    for (number, title) in [("1000", "first"), ("1030", "slower")] {
        env.script("program", &format!("cat data; {}", prints(number)));
        env.write("data", title);
        env.write(".gitignore", "*.json\n");
        git(env, &["add", "program", "data", ".gitignore"]);
        git(env, &["commit", "-q", "-m", title]);
    }
    let common = ["--on", "bench", "--rounds", "6", "--metric", T, "--export-json", "r.json"];
    let build =
        ["--build", "cp program app", "--rev", "HEAD~1", "--rev", "HEAD", "--", "./app", "data"];
    let output = env.compare(&[&common[..], &build[..]].concat()).exits_with(0);
    assert!(output.stdout.contains("3.00 % slower than A on t (exact)"), "{}", output.stdout);
    let record = env.record("r.json");
    assert!(record["subjects"][1]["revision"]["built"].is_string());
    assert!(reach.stored("work").is_empty());
    let search = [
        "bisect",
        "--on",
        "bench",
        "--metric",
        T,
        "--build",
        "cp program app",
        "--good",
        "HEAD~1",
        "--bad",
        "HEAD",
        "--",
        "./app",
        "data",
    ];
    let found = env.run(search).exits_with(0);
    assert!(found.stdout.contains("slower"), "{}", found.stdout);
}
