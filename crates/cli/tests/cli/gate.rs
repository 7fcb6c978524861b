//! `becalm gate`: comparisons, single sides and change points against the rules of `becalm.toml`.

use std::fmt::Write as _;

use becalm_testkit::TestEnv;
use serde_json::Value;

use crate::support::{Measures, T, changed_tree, env, git, has_git, json, prints};

/// Noise of about 1 %, the same every time.
fn noise(i: usize) -> f64 {
    ((i * 7919 + 13) % 101) as f64 / 30.0
}

/// Puts these values into the history, each of a commit.
fn add(env: &TestEnv, runs: std::ops::Range<usize>, level: impl Fn(usize) -> f64) {
    let mut table = "time,commit,latency\n".to_owned();
    for i in runs {
        let _ = writeln!(table, "{},c{i:03},{}", 1_700_000_000 + 3600 * i, level(i) + noise(i));
    }
    env.write("add.csv", table);
    let _ = env.run(["history", "add", "add.csv"]).exits_with(0);
}

/// A file of one new value.
fn new(env: &TestEnv, value: f64) {
    env.write("new.csv", format!("time,commit,latency\n1800000000,new,{value}\n"));
}

fn gate(env: &TestEnv, arguments: &[&str], code: i32) -> Value {
    let all = [&["gate", "--json"], arguments].concat();
    json(&env.run(all).exits_with(code).stdout)
}

fn toml(env: &TestEnv, text: &str) {
    env.write("becalm.toml", format!("version = 1\n{text}"));
}

#[test]
fn a_record_comes_from_standard_input_once() {
    let env = env();
    let file = env.write("r.json", r#"{"results": [{"command": "a", "times": [1, 2, 3]}]}"#);
    let gate = |arguments: &[&str]| {
        let mut command = env.command([&["gate", "--json"], arguments].concat());
        command.stdin(std::fs::File::open(&file).unwrap()).output().unwrap()
    };
    let output = gate(&["-"]);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let found = json(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(
        (&found["results"][0]["benchmark"], &found["results"][0]["value"]),
        (&"a".into(), &2.0.into())
    );
    assert_eq!(gate(&["-", "-"]).status.code(), Some(4), "there is nothing left for the second");
}

#[test]
fn one_side_is_judged_by_what_its_history_resolves() {
    let env = env();
    new(&env, 102.0);
    // Without a history nothing is known, which is said and not an error.
    let found = gate(&env, &["new.csv"], 3);
    assert_eq!(found["schema"], "becalm/gate/1");
    assert_eq!(found["results"][0]["missing"], 10);
    add(&env, 0..7, |_| 100.0);
    let found = gate(&env, &["new.csv"], 3);
    assert_eq!(found["results"][0]["missing"], 3, "{found}");
    let warned = env.run(["gate", "--allow-inconclusive", "new.csv"]).exits_with(0);
    assert!(warned.stderr.contains("--allow-inconclusive"), "{}", warned.stderr);

    add(&env, 7..60, |_| 100.0);
    // The margin is finer than the noise, so nobody knows, and the gate says what would tell.
    let found = gate(&env, &["new.csv"], 3);
    let result = &found["results"][0];
    assert_eq!((&result["by"], &result["earlier"]), (&"history".into(), &60.into()), "{found}");
    assert_eq!(result["reason"]["kind"], "unresolved", "{found}");
    let (low, high) =
        (result["ratio_low"].as_f64().unwrap(), result["ratio_high"].as_f64().unwrap());
    assert!(low - 1.0 < 0.01 && high - 1.0 > 0.01, "{found}");
    let found = gate(&env, &["--margin", "5%", "new.csv"], 0);
    let result = &found["results"][0];
    assert!(result["resolves"].as_f64().unwrap() > 0.005, "{found}");
    let text = env.run(["gate", "--margin", "5%", "new.csv"]).exits_with(0).stdout;
    assert!(text.contains("this series resolves "), "{text}");
    new(&env, 115.0);
    let found = gate(&env, &["new.csv"], 1);
    assert_eq!(found["verdict"], "fail");
    assert!(
        found["next"]["text"].as_str().unwrap().contains("becalm compare --rev c059 --rev new")
    );
    toml(&env, "[gate.rules.latency]\nmargin = '20%'\n");
    let _ = gate(&env, &["new.csv"], 0);
    let _ = gate(&env, &["--margin", "5%", "new.csv"], 1);
    // A value that was added before is no evidence for itself.
    let _ = env.run(["history", "add", "new.csv"]).exits_with(0);
    let found = gate(&env, &["--margin", "5%", "new.csv"], 1);
    assert_eq!(found["results"][0]["earlier"], 60, "{found}");
    // Nor is another of its commit: what fails does not pass because it is measured again.
    new(&env, 114.0);
    let found = gate(&env, &["--margin", "5%", "new.csv"], 1);
    assert_eq!(found["results"][0]["earlier"], 60, "{found}");
    assert!(found["next"]["text"].as_str().unwrap().contains("--rev c059 --rev new"), "{found}");
}

#[test]
fn the_level_begins_at_the_last_confirmed_change() {
    let env = env();
    add(&env, 0..80, |i| if i < 60 { 100.0 } else { 140.0 });
    new(&env, 142.0);
    let found = gate(&env, &["--margin", "5%", "new.csv"], 1);
    assert_eq!(found["results"][0]["earlier"], 60, "nobody accepted it: {found}");
    let id = found["results"][0]["change"].as_str().unwrap();
    let _ = env.run(["changes", "acknowledge", id, "--reason", "more is checked"]).exits_with(0);
    let found = gate(&env, &["--margin", "5%", "new.csv"], 0);
    assert_eq!(found["results"][0]["earlier"], 20, "{found}");
    // What got better is the level by itself.
    add(&env, 80..110, |_| 120.0);
    let found = gate(&env, &["--margin", "5%", "new.csv"], 1);
    assert_eq!(found["results"][0]["earlier"], 30, "{found}");
}

#[test]
fn one_regression_has_one_answer_until_it_is_accepted_or_fixed() {
    let env = env();
    let margin = ["--margin", "2%", "new.csv"];
    let commit = |i: usize, level: f64| {
        let value = level + noise(i);
        let time = 1_700_000_000 + 3600 * i;
        env.write("new.csv", format!("time,commit,latency\n{time},c{i:03},{value}\n"));
    };
    add(&env, 0..40, |_| 100.0);
    let mut codes = Vec::new();
    for i in 40..60 {
        commit(i, 110.0);
        codes.push(env.run([&["gate"][..], &margin].concat()).status.code().unwrap());
        let _ = env.run(["history", "add", "new.csv"]).exits_with(0);
    }
    assert_eq!(codes, [1; 20]);
    let found = gate(&env, &margin, 1);
    let reason = found["results"][0]["reason"]["text"].as_str().unwrap();
    assert!(reason.contains("since c040 (20 values)"), "{found}");
    // Fixed: soon it is as it was, and the next regression fails again.
    for i in 60..63 {
        commit(i, 100.0);
        let _ = env.run(["history", "add", "new.csv"]).exits_with(0);
    }
    commit(63, 100.0);
    let _ = gate(&env, &["--margin", "5%", "new.csv"], 0);
    let _ = env.run(["history", "add", "new.csv"]).exits_with(0);
    commit(64, 120.0);
    let _ = gate(&env, &["--margin", "5%", "new.csv"], 1);
    let _ = env.run(["history", "add", "new.csv"]).exits_with(0);
    // Accepted before any change is found there, with a reason that stays.
    let found = gate(&env, &["--margin", "5%", "new.csv"], 1);
    let id = found["results"][0]["change"].as_str().unwrap().to_owned();
    assert!(id.ends_with("@65"), "{found}");
    let words = ["changes", "acknowledge", &id, "--reason", "checks more", "--by", "ada"];
    let _ = env.run(words).exits_with(0);
    for i in 65..80 {
        commit(i, 120.0);
        let code = env.run(["gate", "--margin", "10%", "new.csv"]).status.code();
        assert_eq!(code, Some(0), "{i}");
        let _ = env.run(["history", "add", "new.csv"]).exits_with(0);
    }
    let changes = json(&env.run(["changes", "--json"]).exits_with(0).stdout);
    let all = changes["changes"].as_array().unwrap();
    let known = all.iter().find(|one| one["history"]["reason"] == "checks more");
    let history = &known.unwrap_or_else(|| panic!("{changes}"))["history"];
    assert_eq!((&history["review"], &history["by"]), (&"acknowledged".into(), &"ada".into()));
    let refused = env.run(["changes", "acknowledge", "1@999"]).exits_with(2).stderr;
    assert!(refused.contains("no change 1@999"), "{refused}");
    let _ = env.run(["changes", "acknowledge"]).exits_with(2);
    let said = env.run(["changes", "acknowledge", "--all", "--reason", "x"]).exits_with(0).stdout;
    assert!(said.ends_with("acknowledged\n"), "{said}");
    let _ = gate(&env, &[], 0);
}

#[test]
fn the_main_branch_is_the_one_that_git_names_or_that_has_the_history() {
    let env = env();
    let mut table = "time,commit,branch,latency\n".to_owned();
    for i in 0..60 {
        let _ = writeln!(table, "{},c{i:03},master,{}", 1_700_000_000 + 3600 * i, 100.0 + noise(i));
    }
    env.write("add.csv", table);
    let _ = env.run(["history", "add", "add.csv"]).exits_with(0);
    new(&env, 101.5);
    let found = gate(&env, &["--margin", "5%", "new.csv"], 0);
    assert_eq!(found["notes"][0]["kind"], "branch_with_history", "{found}");
    // A branch that was named stays, and what is of another one is counted.
    let found = gate(&env, &["--margin", "5%", "--branch", "main", "new.csv"], 3);
    assert_eq!(found["notes"][0]["kind"], "of_other_branch", "{found}");
    assert_eq!(found["notes"][0]["values"], 60, "{found}");
    let text = found["notes"][0]["text"].as_str().unwrap();
    assert!(text.contains("`--branch master` counts them"), "{found}");
    if !has_git("the_main_branch_is_the_one_that_git_names") {
        return;
    }
    git(&env, &["init", "-q", "-b", "master"]);
    git(&env, &["commit", "-q", "--allow-empty", "-m", "one"]);
    let found = gate(&env, &["--margin", "5%", "new.csv"], 0);
    assert_eq!(found["notes"], Value::Array(Vec::new()), "{found}");
    git(&env, &["checkout", "-q", "-b", "topic"]);
    let _ = gate(&env, &["--margin", "5%", "new.csv"], 0);
    git(&env, &["config", "init.defaultBranch", "topic"]);
    let found = gate(&env, &["--margin", "5%", "new.csv"], 0);
    assert_eq!(found["notes"][0]["instead_of"], "topic", "{found}");
}

#[test]
fn limits_hold_whatever_the_history() {
    let env = env();
    env.write("h.json", r#"{"results": [{"command": "sort", "times": [0.2, 0.3, 0.25]}]}"#);
    toml(&env, "[gate.rules.sort]\nmax = '260ms'\n");
    let found = gate(&env, &["h.json"], 0);
    assert_eq!(found["results"][0]["by"], "limit", "{found}");
    toml(&env, "[gate.rules.sort]\nmax = '240ms'\n");
    let found = gate(&env, &["h.json"], 1);
    assert_eq!(found["results"][0]["reference"], 0.24, "{found}");
    toml(&env, "[gate.rules.sort]\nmax = 240\n");
    let refused = env.run(["gate", "h.json"]).exits_with(2).stderr;
    assert!(refused.contains("becalm.toml:3: `240` is not a duration"), "{refused}");
    toml(&env, "[gate.rules.sort]\nmaximum = '1s'\n");
    let refused = env.run(["gate", "h.json"]).exits_with(2).stderr;
    assert!(refused.contains("unknown key `maximum`"), "{refused}");
    toml(&env, "[gate.rules.sort]\nmin = '100ms'\n[gate.rules.srot]\nmargin = '2%'\n");
    let warned = env.run(["gate", "h.json"]).exits_with(0).stderr;
    assert!(warned.contains("[gate.rules] srot matched nothing"), "{warned}");
}

#[test]
fn a_limit_that_suits_only_what_is_not_judged_is_an_error() {
    let env = env();
    let line = ["--runs", "3", "--name", "p", "--export-json", "r.json", "--", "true"];
    let _ = env.measure(&line).exits_with(0);
    // Page faults are counted, too, but what is judged is the time.
    toml(&env, "[gate.rules.p]\nmax = 250\n");
    let refused = env.run(["gate", "r.json"]).exits_with(2).stderr;
    assert!(refused.contains("`250` is not a duration"), "{refused}");
    assert!(refused.contains("[gate.rules.\"p/METRIC\"]"), "{refused}");
    toml(&env, "[gate.rules.\"p/page_faults\"]\nmax = 25000000\n[gate.rules.p]\nmax = '1h'\n");
    let found = gate(&env, &["r.json"], 0);
    let limits = found["results"].as_array().unwrap().iter().filter(|one| one["by"] == "limit");
    assert_eq!(limits.count(), 2, "{found}");
}

#[test]
fn open_changes_of_the_history_fail_until_they_are_decided_about() {
    let env = env();
    add(&env, 0..62, |i| if i < 60 { 100.0 } else { 120.0 });
    // Two runs at the new level are a suspicion, which is said.
    let found = gate(&env, &[], 0);
    assert_eq!(found["notes"][0]["kind"], "pending_pass", "{found}");
    toml(&env, "[gate]\nchanges = 'pending'\n");
    let found = gate(&env, &[], 1);
    assert!(found["results"][0]["reason"]["text"].as_str().unwrap().contains("pending"), "{found}");
    toml(&env, "[gate]\nmargin = '2%'\n");
    add(&env, 62..75, |_| 120.0);
    let found = gate(&env, &[], 1);
    let result = &found["results"][0];
    assert_eq!((&result["by"], &result["verdict"]), (&"change".into(), &"fail".into()), "{found}");
    let id = result["change"].as_str().unwrap();
    let advice = found["next"]["text"].as_str().unwrap();
    assert!(advice.contains(&format!("becalm changes acknowledge {id}")), "{advice}");
    assert!(advice.contains("--good c059 --bad c060"), "{advice}");
    let _ = gate(&env, &["--last", "10"], 0);
    let _ = gate(&env, &["--margin", "50%"], 0);
    let _ = env.run(["changes", "acknowledge", id]).exits_with(0);
    let found = gate(&env, &[], 0);
    assert_eq!(found["results"], Value::Array(Vec::new()));
    let _ = env.run(["changes", "reopen", id]).exits_with(0);
    toml(&env, "[gate.rules.latency]\nchanges = 'none'\n");
    let _ = gate(&env, &[], 0);
}

#[test]
fn a_comparison_is_judged_by_its_interval() {
    let env = env();
    let (old, new) = (prints("1000"), prints("1030"));
    let _ = env
        .compare(&["--rounds", "6", "--metric", T, "--export-json", "r.json", &old, &new])
        .exits_with(0);
    let found = gate(&env, &["r.json"], 1);
    let result = &found["results"][0];
    assert_eq!((&result["by"], &result["ratio"]), (&"comparison".into(), &1.03.into()), "{found}");
    assert!(found["next"]["text"].as_str().unwrap().contains("becalm bisect"), "{found}");
    toml(&env, "[gate]\nmargin = '5%'\n");
    let _ = gate(&env, &["r.json"], 0);
    toml(&env, "[gate]\nmargin = '5%'\n[gate.rules.t]\nmargin = '2%'\nmax = '2000 ns'\n");
    let text = env.run(["gate", "r.json"]).exits_with(1).stdout;
    assert!(text.contains("The gate fails: 1 of 2 results beyond the rules."), "{text}");
    // The other way round it is an improvement.
    let _ = env
        .compare(&["--rounds", "6", "--metric", T, "--export-json", "b.json", &new, &old])
        .exits_with(0);
    let _ = gate(&env, &["b.json"], 0);
}

#[test]
fn what_was_broken_off_is_no_reason_to_say_yes() {
    let env = env();
    // The candidate fails after a while, as one that crashes.
    let fails = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; echo t: 1000; [ $n -lt 9 ]";
    env.script("old", &prints("1000"));
    env.script("new", fails);
    let line = ["--rounds", "20", "--metric", T, "--export-json", "r.json", "./old", "./new"];
    let _ = env.compare(&line).exits_with(4);
    let output = env.run(["gate", "r.json"]).exits_with(3).stdout;
    assert!(output.contains("but the measurement was interrupted"), "{output}");
    assert!(output.contains("failed in round"), "{output}");
    env.write("n", "0");
    let line = ["--rounds", "20", "--metric", T, "--export-json", "s.json", "--", "./new"];
    let _ = env.measure(&line).exits_with(4);
    let said = env.run(["history", "add", "s.json"]).exits_with(0).stderr;
    assert!(said.contains("Interrupted: s.json: "), "{said}");
    toml(&env, "[gate.rules.t]\nmax = '2000 ns'\n");
    let found = gate(&env, &["s.json"], 3);
    assert_eq!(found["verdict"], "inconclusive", "{found}");
}

#[test]
fn a_suite_is_judged_benchmark_by_benchmark_and_what_crashed_is_no_yes() {
    let env = env();
    let run = ["run", "--suite", "--counters", "none", "--export-json", "r.json"];
    let other =
        "[gate.rules.other]\nmax = '10 s'\n[benchmark.other]\ncommand = 'true'\nrounds = 3\n";
    // Without the metric that the suite names it is shown by its time, and judged by it.
    let plain = "[gate.rules.plain]\nmax = '1 ns'\n\
                 [benchmark.plain]\ncommand = 'true'\nmetrics = ['instructions']\nrounds = 3\n";
    env.write("becalm.toml", format!("version = 1\n{plain}{other}"));
    let _ = env.run(run).exits_with(0);
    let found = gate(&env, &["r.json"], 1);
    let results = found["results"].as_array().unwrap();
    let fails = |one: &Value| one["benchmark"] == "plain" && one["verdict"] == "fail";
    assert!(results.iter().any(fails), "{found}");
    let crashes = "[benchmark.crashes]\ncommand = 'false'\nrounds = 3\n";
    env.write("becalm.toml", format!("version = 1\n{crashes}{other}"));
    let _ = env.run(run).exits_with(4);
    let output = env.run(["gate", "r.json"]).exits_with(3).stdout.replace('\n', " ");
    assert!(output.contains("but the measurement was interrupted"), "{output}");
    assert!(output.contains("the suite continued without it"), "{output}");
}

#[test]
fn an_exact_metric_is_compared_with_its_accepted_level() {
    let env = env();
    let measure = |number: &str| {
        env.script("p", &prints(number));
        let line = ["--runs", "3", "--metric", T, "--export-json", "r.json", "--", "./p"];
        let _ = env.measure(&line).exits_with(0);
    };
    toml(&env, "[gate]\nmargin = 0\n[gate.rules.wall_time]\nmargin = '99%'\n");
    measure("1000");
    let _ = env.run(["history", "add", "r.json"]).exits_with(0);
    measure("1001");
    let found = gate(&env, &["r.json"], 1);
    let result = &found["results"][0];
    assert_eq!((&result["metric"], &result["ratio"]), (&"t".into(), &1.001.into()), "{found}");
    measure("1000");
    let found = gate(&env, &["--allow-inconclusive", "r.json"], 0);
    let all = found["results"].as_array().unwrap();
    assert_eq!(all.iter().find(|one| one["metric"] == "t").unwrap()["verdict"], "pass", "{found}");
}

#[test]
fn a_record_is_no_evidence_for_itself_whatever_commit_it_was_added_under() {
    let env = env();
    if !has_git("a_record_is_no_evidence_for_itself") {
        return;
    }
    let commit = |title: &str| git(&env, &["commit", "-q", "--allow-empty", "-m", title]);
    git(&env, &["init", "-q"]);
    toml(&env, "[gate]\nmargin = 0\n[gate.rules.wall_time]\nmargin = '99%'\n");
    let measure = |number: &str| {
        env.script("p", &prints(number));
        let line = ["--runs", "3", "--metric", T, "--export-json", "r.json", "--", "./p"];
        let _ = env.measure(&line).exits_with(0);
    };
    commit("base");
    measure("1000");
    let _ = env.run(["history", "add", "r.json"]).exits_with(0);
    commit("of the pull request");
    commit("merge");
    measure("1001");
    let _ = env.run(["history", "add", "r.json", "--commit", "HEAD~1"]).exits_with(0);
    let _ = gate(&env, &["r.json"], 1);
    commit("later");
    let _ = env.run(["history", "prune", "--keep-documents", "0"]).exits_with(0);
    let found = gate(&env, &["r.json"], 1);
    let head = git(&env, &["rev-parse", "HEAD~2"]);
    assert!(found["next"]["text"].as_str().unwrap().contains(&head[..10]), "{found}");
    // Files of other tools are told apart by the commit, because two may well give the same numbers.
    env.write("h.json", r#"{"results": [{"command": "sort", "times": [0.2, 0.3, 0.25]}]}"#);
    let _ = env.run(["history", "add", "h.json", "--commit", "HEAD~1"]).exits_with(0);
    let found = gate(&env, &["h.json"], 3);
    assert_eq!(found["results"][0]["missing"], 9, "{found}");
    let found = gate(&env, &["h.json", "--commit", "HEAD~1"], 3);
    assert_eq!(found["results"][0]["missing"], 10, "{found}");
    let _ = env.run(["gate", "--commit", "HEAD"]).exits_with(2);
}

#[test]
fn what_cannot_be_judged_is_told() {
    let env = env();
    let refused = env.run(["gate"]).exits_with(4).stderr;
    assert!(refused.contains("becalm history add"), "{refused}");
    let _ = env.run(["gate", "absent.json"]).exits_with(4);
    env.write("many.csv", "time,commit,latency\n1,a,1\n2,b,2\n");
    let refused = env.run(["gate", "many.csv"]).exits_with(2).stderr;
    assert!(refused.contains("results of 2 commits"), "{refused}");
}

#[test]
fn what_is_cut_off_at_its_timeout_is_no_yes_and_may_be_beyond_its_limit() {
    let env = env();
    let suite = |limit: &str| {
        format!(
            "[benchmark.a]\ncommand = 'sleep 10'\ntimeout = '100ms'\n[benchmark.b]\ncommand = 'true'\n\
             [defaults]\nrounds = 2\nwarmup = 0\n[gate.rules.a]\nmax = '{limit}'\n\
             [gate.rules.b]\nmax = '1h'\n"
        )
    };
    toml(&env, &suite("50ms"));
    let _ = env.run(["run", "--suite", "--export-json", "a.json"]).exits_with(0);
    let found = gate(&env, &["a.json"], 1);
    let worst = &found["results"][0];
    assert_eq!((&worst["benchmark"], &worst["by"]), (&"a".into(), &"limit".into()), "{found}");
    // The limit is larger than the timeout: it may be kept or not.
    toml(&env, &suite("1h"));
    let found = gate(&env, &["a.json"], 3);
    let told = found["results"].as_array().unwrap().iter().any(|one| {
        one["benchmark"] == "a"
            && one["reason"]["text"] == "2 of 2 runs were cut off at the timeout"
    });
    assert!(told, "{found}");
    let stderr = env.run(["history", "add", "a.json"]).exits_with(0).stderr;
    assert!(stderr.contains("a.json: a: 2 of 2 runs were cut off at the timeout"), "{stderr}");
    // The history has no value of it, which is no yes either, and beyond its limit as soon as that is smaller.
    let found = gate(&env, &[], 3);
    assert_eq!(found["results"][0]["benchmark"], "a", "{found}");
    toml(&env, &suite("50ms"));
    let _ = gate(&env, &[], 1);
    // Alone it is an entry without values.
    toml(&env, &suite("1h"));
    let only = |name: &str, file: &str| {
        let run = ["run", "--suite", "--only", name, "--export-json", file];
        let _ = env.run(run).exits_with(0);
        env.run(["history", "add", file]).exits_with(0).stdout
    };
    let added = only("a", "b.json");
    assert!(added.contains(", 0 values"), "{added}");
    let _ = gate(&env, &[], 3);
    // What is not measured any more is no alarm for ever.
    let _ = only("b", "c.json");
    let _ = gate(&env, &[], 0);
}

#[test]
fn a_candidate_that_hangs_now_and_then_is_no_yes() {
    let env = env();
    env.script(
        "hangs",
        "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; [ $((n % 8)) = 5 ] && exec sleep 60; exit 0",
    );
    let words = ["compare", "--timeout", "3s", "--rounds", "12", "--export-json", "c.json"];
    let _ = env.run([&words[..], &["sleep 0.1", "./hangs"]].concat()).exits_with(3);
    let found = gate(&env, &["c.json"], 3);
    let reason = found["results"][0]["reason"]["text"].as_str().unwrap();
    assert!(reason.starts_with("runs were cut off at the timeout"), "{found}");
}

#[test]
fn margins_of_a_suite_hold_and_parameters_can_be_named() {
    let env = env();
    toml(
        &env,
        "[benchmark.a]\ncommand = 'sleep {time}'\nparameters = { time = ['0.01', '0.02'] }\nmargin = '50%'\n\
         [defaults]\nrounds = 2\n[gate.rules.'a time=0.02']\nmax = '15ms'\n",
    );
    let _ = env.run(["run", "--suite", "--export-json", "a.json"]).exits_with(0);
    let found = gate(&env, &["a.json"], 1);
    let results = found["results"].as_array().unwrap();
    let limits: Vec<_> = results.iter().filter(|one| one["by"] == "limit").collect();
    assert_eq!(limits.len(), 1, "{found}");
    assert_eq!(limits[0]["parameters"]["time"], "0.02", "{found}");
    let missing = results.iter().find(|one| one["by"] == "history").unwrap();
    assert_eq!(missing["margin"], 0.5, "{found}");
    assert!(found["next"]["text"].as_str().unwrap().starts_with("Make a time=0.02 fit"), "{found}");
}

#[test]
fn a_branch_without_results_is_an_error_and_no_yes() {
    let env = env();
    add(&env, 0..12, |_| 100.0);
    let output = env.run(["gate", "--branch", "mian"]).exits_with(4);
    assert!(output.stderr.contains("no series of the branch mian"), "{}", output.stderr);
    assert!(output.stderr.contains("it has main"), "{}", output.stderr);
    // More runs of the branch that was meant would never help.
    new(&env, 100.0);
    let found = gate(&env, &["--branch", "mian", "new.csv"], 3);
    assert_eq!(found["notes"][0]["kind"], "of_other_branch", "{found}");
    assert_eq!(
        (&found["notes"][0]["branch"], &found["notes"][0]["values"]),
        (&"main".into(), &12.into())
    );
}

#[test]
fn a_gate_that_judged_nothing_does_not_pass() {
    let env = env();
    // A session without runs has no value, whatever else the gate has to say and judges.
    let line = ["--runs", "1", "--warmup", "0", "--export-json", "none.json", "--", "true"];
    let _ = env.measure(&line).exits_with(0);
    let mut record = json(&env.read("none.json"));
    record["subjects"][0]["runs"] = Value::Array(Vec::new());
    env.write("none.json", record.to_string());
    env.write("runs.json", r#"{"results": [{"command": "a", "times": [1, 2, 3]}]}"#);
    let refused = env.run(["gate", "none.json"]).exits_with(4).stderr;
    assert!(refused.contains("none.json has no value that could be judged"), "{refused}");
    let _ = env.run(["history", "add", "runs.json", "--branch", "other"]).exits_with(0);
    let _ = env.run(["gate", "none.json"]).exits_with(4);
    let _ = env.run(["gate", "runs.json", "none.json"]).exits_with(4);
    if !has_git("a_gate_that_judged_nothing_does_not_pass") {
        return;
    }
    // Without a file: all that there is was measured in a working tree with changes.
    changed_tree(&env);
    env.write("more.json", r#"{"results": [{"command": "a", "times": [4, 5, 6]}]}"#);
    let _ = env.run(["history", "add", "more.json"]).exits_with(0);
    let found = gate(&env, &[], 3);
    let notes = found["notes"].as_array().unwrap();
    let kinds: Vec<&Value> = notes.iter().map(|note| &note["kind"]).collect();
    assert_eq!(kinds, ["off_branch", "nothing_counts"], "{found}");
    let text = env.run(["gate"]).exits_with(3).stdout.replace('\n', " ");
    assert!(text.contains("there was nothing to judge"), "{text}");
    assert!(text.contains("`--changed-trees` counts them"), "{text}");
    let _ = gate(&env, &["--allow-inconclusive"], 0);
    let _ = gate(&env, &["--changed-trees"], 0);
}

#[test]
fn a_change_that_was_dismissed_begins_no_level() {
    let env = env();
    add(&env, 0..66, |i| if i < 60 { 100.0 } else { 103.0 });
    new(&env, 104.0);
    let found = gate(&env, &["--margin", "10%", "new.csv"], 0);
    assert_eq!(found["results"][0]["earlier"], 60, "{found}");
    let changes = json(&env.run(["changes", "--json"]).exits_with(0).stdout);
    let id = changes["changes"][0]["history"]["id"].as_str().unwrap();
    let dismiss = ["changes", "dismiss", id, "--reason", "another disk"];
    let _ = env.run(dismiss).exits_with(0);
    let found = gate(&env, &["--margin", "10%", "new.csv"], 0);
    assert_eq!(found["results"][0]["earlier"], 66, "{found}");
    // Whatever the margin, no gate fails because of it.
    new(&env, 103.0);
    for file in [&["new.csv"][..], &[]] {
        let output = env.run([&["gate", "--margin", "1%"], file].concat());
        assert!(matches!(output.status.code(), Some(0 | 3)), "{}", output.stdout);
    }
    new(&env, 115.0);
    let _ = gate(&env, &["--margin", "1%", "new.csv"], 1);
}

#[test]
fn a_gate_cannot_decide_about_an_unstable_series_and_says_so() {
    let env = env();
    add(&env, 0..130, |i| if i >= 60 && (i - 60) / 20 % 2 == 0 { 115.0 } else { 100.0 });
    let found = gate(&env, &["--margin", "5%"], 3);
    let result = &found["results"][0];
    assert_eq!((&result["verdict"], &result["by"]), (&"inconclusive".into(), &"change".into()));
    assert_eq!(
        (&result["reason"]["kind"], &result["reason"]["since"]),
        (&"unstable".into(), &"c060".into()),
        "{found}"
    );
    let text = env.run(["gate", "--margin", "5%"]).exits_with(3).stdout.replace('\n', " ");
    assert!(text.contains("the series is unstable since c060"), "{text}");
    assert!(text.contains("Look for the reason with `becalm check`"), "{text}");
    // All of it is within a wider margin.
    let _ = gate(&env, &["--margin", "30%"], 0);
    // Nor about a value between its levels, but about one that is beyond both.
    new(&env, 101.0);
    let found = gate(&env, &["--margin", "5%", "new.csv"], 3);
    let text = found["results"][0]["reason"]["text"].as_str().unwrap();
    assert!(text.contains("the series is unstable since c060"), "{found}");
    new(&env, 190.0);
    let _ = gate(&env, &["--margin", "5%", "new.csv"], 1);
}
