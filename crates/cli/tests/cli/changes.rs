//! `becalm changes`: one series from a file, and the series of a history.

use std::fmt::Write as _;

use becalm_testkit::TestEnv;
use serde_json::Value;

use crate::support::{env, git, has_git, json};

/// Noise of about 1 %, the same every time.
fn noise(i: usize) -> f64 {
    ((i * 7919 + 13) % 101) as f64 / 30.0
}

fn level(i: usize) -> f64 {
    noise(i) + if i < 60 { 100.0 } else { 110.0 }
}

fn series(values: impl IntoIterator<Item = f64>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join("\n")
}

/// A history of Otava's kind: a value for each commit, which comes an hour after the one before.
fn table(runs: std::ops::Range<usize>) -> String {
    let mut table = "time,commit,latency\n".to_owned();
    for i in runs {
        let _ = writeln!(table, "{},c{i:03},{}", 1_700_000_000 + 3600 * i, level(i));
    }
    table
}

fn changes(env: &TestEnv, arguments: &[&str]) -> Value {
    let all = [&["changes", "--json"], arguments].concat();
    json(&env.run(all).exits_with(0).stdout)
}

#[test]
fn a_step_in_a_file_is_found_by_every_engine() {
    let env = env();
    env.write("s.txt", series((0..100).map(level)));
    env.write("s.json", serde_json::to_string(&(0..100).map(level).collect::<Vec<_>>()).unwrap());
    for file in ["s.txt", "s.json"] {
        for engine in ["becalm", "otava", "edpelt"] {
            let found = changes(&env, &["--series", file, "--engine", engine]);
            assert_eq!(found["schema"], "becalm/changes/1");
            let change = &found["changes"][0];
            assert_eq!(change["index"], 60, "{engine}: {found}");
            assert_eq!(change["state"], "confirmed");
            let ratio = change["ratio"].as_f64().unwrap();
            assert!((1.08..1.12).contains(&ratio), "{engine}: {ratio}");
        }
    }
    let text = env.run(["changes", "--series", "s.txt"]).exits_with(0).stdout;
    assert!(text.contains("1 series: 1 change confirmed, 0 pending."), "{text}");
}

#[test]
fn too_few_values_are_an_answer_of_their_own() {
    let env = env();
    env.write("s.txt", series((0..8).map(|i| noise(i) + if i < 4 { 100.0 } else { 200.0 })));
    let finished = env.run(["changes", "--series", "s.txt", "--json"]).exits_with(3);
    let few = &json(&finished.stdout)["too_few"];
    assert_eq!((&few["series"], &few["most"]), (&1.into(), &8.into()), "{few}");
    let needed = few["needed"].as_u64().unwrap();
    let text = env.run(["changes", "--series", "s.txt"]).exits_with(3).stdout;
    let expected =
        format!("It has too few values (8): a change can be confirmed from {needed} values on.");
    assert!(text.contains(&expected), "{text}");
    // Another engine has rules of its own.
    changes(&env, &["--series", "s.txt", "--engine", "otava"]);
    // One value fewer than needed, and as many.
    let n = usize::try_from(needed).unwrap();
    env.write("s.txt", series((0..n).map(level)));
    assert_eq!(changes(&env, &["--series", "s.txt"])["too_few"], Value::Null);
    env.write("a.csv", table(0..n - 1));
    let _ = env.run(["history", "add", "a.csv"]).exits_with(0);
    let text = env.run(["changes"]).exits_with(0).stdout;
    assert!(text.contains(&format!("from {needed} values on")), "{text}");
    env.write("b.csv", table(n - 1..n));
    let _ = env.run(["history", "add", "b.csv"]).exits_with(0);
    assert_eq!(changes(&env, &[])["too_few"], Value::Null);
}

#[test]
fn an_option_of_another_engine_is_refused() {
    let env = env();
    env.write("s.txt", series((0..100).map(level)));
    for (flag, value, engine) in [
        ("--window", "30", "becalm"),
        ("--distance", "5", "otava"),
        ("--false-alarms", "1%", "otava"),
        ("--margin", "1%", "edpelt"),
    ] {
        let all = ["changes", "--series", "s.txt", "--engine", engine, flag, value];
        let refused = env.run(all).exits_with(2).stderr;
        assert!(refused.contains(&format!("{flag} is for --engine ")), "{refused}");
    }
    let fits = ["--series", "s.txt", "--engine", "otava", "--window", "30", "--p-value", "0.01"];
    assert_eq!(changes(&env, &fits)["changes"][0]["index"], 60);
}

#[test]
fn a_value_that_is_missing_keeps_its_place() {
    let env = env();
    let mut values: Vec<Option<f64>> = (0..100).map(|i| Some(level(i))).collect();
    values.insert(10, None);
    env.write("s.json", serde_json::to_string(&values).unwrap());
    assert_eq!(changes(&env, &["--series", "s.json"])["changes"][0]["index"], 61);
}

#[test]
fn what_is_no_series_is_refused_with_the_line() {
    let env = env();
    env.write("s.txt", "1\n2\nthree\n");
    let refused = env.run(["changes", "--series", "s.txt"]).exits_with(2).stderr;
    assert!(refused.contains("s.txt: line 3: `three` is not a number"), "{refused}");
    env.write("s.txt", "");
    let refused = env.run(["changes", "--series", "s.txt"]).exits_with(2).stderr;
    assert!(refused.contains("it contains no number"), "{refused}");
    let refused = env.run(["changes"]).exits_with(4).stderr;
    assert!(refused.contains("becalm history add"), "{refused}");
}

#[test]
fn a_change_in_a_history_is_first_seen_once_and_can_be_decided_about() {
    let env = env();
    // Two runs at the new level are a suspicion, ten are a change.
    env.write("a.csv", table(0..62));
    let _ = env.run(["history", "add", "a.csv"]).exits_with(0);
    let found = changes(&env, &[]);
    assert_eq!(found["changes"][0]["state"], "pending", "{found}");
    env.write("b.csv", table(62..70));
    let _ = env.run(["history", "add", "b.csv"]).exits_with(0);
    let first = changes(&env, &[]);
    let change = &first["changes"][0];
    assert_eq!((&change["state"], &change["index"]), (&"confirmed".into(), &60.into()), "{first}");
    let place = &change["history"];
    // By the clock, and not when the runs were: these are of 2023.
    assert!(place["first_seen"].as_f64().unwrap() > 1.76e9, "{first}");
    assert_eq!(changes(&env, &["--since", "1h"])["changes"].as_array().unwrap().len(), 1);
    assert_eq!((&place["after_commit"], &place["until_commit"]), (&"c059".into(), &"c060".into()));
    env.write("c.csv", table(70..90));
    let _ = env.run(["history", "add", "c.csv"]).exits_with(0);
    let again = changes(&env, &[]);
    assert_eq!(again["changes"][0]["history"]["first_seen"], place["first_seen"]);
    assert_eq!(again["changes"].as_array().unwrap().len(), 1);

    let id = place["id"].as_str().unwrap();
    let _ =
        env.run(["changes", "dismiss", id, "--reason", "other data", "--by", "me"]).exits_with(0);
    assert_eq!(changes(&env, &[])["changes"], Value::Array(Vec::new()));
    let all = changes(&env, &["--dismissed"]);
    let place = &all["changes"][0]["history"];
    assert_eq!(
        (&place["review"], &place["reason"], &place["by"]),
        (&"dismissed".into(), &"other data".into(), &"me".into())
    );
    let _ = env.run(["changes", "reopen", id]).exits_with(0);
    assert_eq!(changes(&env, &[])["changes"][0]["history"]["review"], "open");
    let _ = env.run(["changes", "acknowledge", id, "--by", "me"]).exits_with(0);
    assert_eq!(changes(&env, &[])["changes"][0]["history"]["review"], "acknowledged");
    // Nobody overrules a decision that they have not seen, and everybody may change their own.
    let other = ["changes", "dismiss", id, "--reason", "noise", "--by", "eve"];
    let refused = env.run(other).exits_with(2).stderr;
    assert!(refused.contains(&format!("me has already acknowledged {id}")), "{refused}");
    assert!(refused.contains(&format!("becalm changes reopen {id}")), "{refused}");
    let same = ["changes", "dismiss", id, "--reason", "noise", "--by", "me"];
    let _ = env.run(same).exits_with(0);
    // A decision does not go in silence with the entry that it is about.
    let prune = ["history", "prune", "--entry", "61"];
    let would = env.run([&prune[..], &["--dry-run"]].concat()).exits_with(0).stdout;
    assert!(would.contains("with them would be removed: 1 decision about changes"), "{would}");
    let gone = json(&env.run([&prune[..], &["--json"]].concat()).exits_with(0).stdout);
    let pruned = &gone["pruned"];
    assert_eq!((&pruned["entries"], &pruned["decisions"]), (&1.into(), &1.into()), "{gone}");
    assert_eq!(gone["schema"], "becalm/history/1");
    let refused = env.run(["changes", "acknowledge", "7@1"]).exits_with(2).stderr;
    assert!(refused.contains("the history has no change 7@1"), "{refused}");
}

#[test]
fn records_beside_a_change_stay_also_where_nobody_has_looked_for_it() {
    let env = env();
    env.write("a.csv", table(0..90));
    let _ = env.run(["history", "add", "a.csv"]).exits_with(0);
    let prune = ["history", "prune", "--keep-documents", "5", "--json"];
    let pruned = |more: &[&str]| {
        let output = env.run([&prune[..], more].concat()).exits_with(0);
        json(&output.stdout)["pruned"].clone()
    };
    let would = pruned(&["--dry-run"]);
    assert_eq!((&would["records"], &would["records_kept"]), (&83.into(), &2.into()), "{would}");
    assert_eq!(pruned(&[])["records_kept"], 2);
    for (entry, code) in [("59", 4), ("60", 0), ("61", 0), ("62", 4)] {
        let _ = env.run(["history", "show", entry, "--json"]).exits_with(code);
    }
}

#[test]
fn what_is_kept_and_acknowledged_are_the_changes_that_are_shown() {
    let env = env();
    if !has_git("what_is_kept_and_acknowledged_are_the_changes_that_are_shown") {
        return;
    }
    git(&env, &["init", "-q", "-b", "main"]);
    let mut table = "time,commit,latency\n".to_owned();
    for i in 0..25 {
        git(&env, &["commit", "-q", "--allow-empty", "-m", &i.to_string()]);
        let id = git(&env, &["rev-parse", "HEAD"]);
        let value = noise(i) / 10.0 + if i < 12 { 100.0 } else { 120.0 };
        let _ = writeln!(table, "1700000000,{id},{value}");
        // The first on the new level is lost.
        if i == 12 {
            git(&env, &["reset", "-q", "--hard", "HEAD~1"]);
        }
    }
    env.write("a.csv", table);
    let _ = env.run(["history", "add", "a.csv"]).exits_with(0);
    let shown = |field: &str| changes(&env, &[])["changes"][0]["history"][field].clone();
    let id = shown("id");
    assert!(id.as_str().unwrap().ends_with("@14"), "{id}");
    let _ = env.run(["history", "prune", "--keep-documents", "2"]).exits_with(0);
    for (entry, code) in [("11", 4), ("12", 0), ("13", 4), ("14", 0), ("15", 4)] {
        let _ = env.run(["history", "show", entry, "--json"]).exits_with(code);
    }
    assert_eq!(shown("id"), id);
    let known = ["changes", "acknowledge", "--all", "--reason", "known", "--by", "ada"];
    let _ = env.run(known).exits_with(0);
    assert_eq!((shown("id"), shown("review")), (id, "acknowledged".into()));
}

#[test]
fn what_only_a_view_of_the_history_shows_is_not_kept() {
    let env = env();
    if !has_git("what_only_a_view_of_the_history_shows_is_not_kept") {
        return;
    }
    git(&env, &["init", "-q", "-b", "main"]);
    let mut table = "time,commit,latency\n".to_owned();
    let mut commit = |i: usize, level: f64| {
        git(&env, &["commit", "-q", "--allow-empty", "-m", &i.to_string()]);
        let id = git(&env, &["rev-parse", "HEAD"]);
        let _ = writeln!(table, "1700000000,{id},{}", level + noise(i) / 10.0);
    };
    (0..15).for_each(|i| commit(i, 100.0));
    git(&env, &["checkout", "-q", "-b", "topic"]);
    (15..25).for_each(|i| commit(i, 120.0));
    git(&env, &["checkout", "-q", "main"]);
    (25..40).for_each(|i| commit(i, if i < 30 { 100.0 } else { 120.0 }));
    git(&env, &["merge", "-q", "--no-ff", "-m", "merge", "topic"]);
    env.write("a.csv", table);
    let _ = env.run(["history", "add", "a.csv", "--branch", "main"]).exits_with(0);
    let usual = changes(&env, &[]);
    assert_eq!(usual["changes"][0]["history"]["entry"], 31, "{usual}");
    let view = changes(&env, &["--side-branches"]);
    assert_eq!(view["changes"][0]["history"]["entry"], 16, "{view}");
    let _ = env.run(["gate", "--side-branches", "--margin", "5%"]);
    assert_eq!(changes(&env, &[]), usual, "it is still what was first seen then");
    // A clone that lacks commits gives a view as well: one that was not fetched, and a shallow one.
    let new = "f".repeat(40);
    env.write("b.csv", format!("time,commit,latency\n1700000100,{new},121\n"));
    let _ = env.run(["history", "add", "b.csv"]).exits_with(0);
    let found = env.run(["changes"]).exits_with(0);
    let said = found.stderr.replace('\n', " ");
    assert!(said.contains("1 entry is of commits that are newer than main here"), "{said}");
    assert!(said.contains("`git fetch`") && !said.contains("rewritten"), "{said}");
    let listed = env.run(["history", "list"]).exits_with(0).stdout;
    assert!(listed.contains("newer than main here"), "{listed}");
    let prune = ["history", "prune", "--keep-documents", "1"];
    let refused = env.run(prune).exits_with(4).stderr;
    assert!(refused.contains("git fetch"), "{refused}");
    env.write(".git/shallow", git(&env, &["rev-parse", "HEAD"]));
    let said = env.run(["changes"]).exits_with(0).stderr.replace('\n', " ");
    assert!(said.contains("This clone is shallow"), "{said}");
    let shown = changes(&env, &[]);
    let id = shown["changes"][0]["history"]["id"].as_str().unwrap();
    let _ = env.run(["changes", "dismiss", id, "--reason", "seen here"]).exits_with(0);
    std::fs::remove_file(env.work().join(".git/shallow")).unwrap();
    let _ = env.run(["history", "prune", "--entry", "41"]).exits_with(0);
    let again = changes(&env, &[]);
    assert_eq!(again["changes"][0]["history"]["entry"], 31, "{again}");
}

#[test]
fn a_margin_of_a_metric_hides_smaller_changes() {
    let env = env();
    env.write("becalm.toml", "version = 1\n[changes]\nmargins = { latency = \"20%\" }\n");
    env.write("a.csv", table(0..90));
    let _ = env.run(["history", "add", "a.csv"]).exits_with(0);
    assert_eq!(changes(&env, &[])["changes"], Value::Array(Vec::new()));
    assert_eq!(changes(&env, &["--margin", "5%"])["changes"][0]["index"], 60);
}

#[test]
fn terms_that_cannot_hold_are_told() {
    let env = env();
    env.write("a.csv", table(0..20));
    let _ = env.run(["history", "add", "a.csv"]).exits_with(0);
    let toml = |text: &str| env.write("becalm.toml", format!("version = 1\n[changes]\n{text}\n"));
    toml("margins = { latency = '2%', latncy = '20%' }");
    let told = env.run(["changes"]).exits_with(0).stderr;
    assert!(told.contains("no benchmark or metric of the history is called latncy"), "{told}");
    assert!(!told.contains("called latency"), "{told}");
    for share in ["0.01%", "50%"] {
        toml(&format!("false-alarms = '{share}'"));
        let refused = env.run(["changes"]).exits_with(2).stderr;
        assert!(refused.contains("becalm.toml:3: false-alarms is "), "{refused}");
        assert!(refused.contains("it must be from 0.1% to 10%"), "{refused}");
    }
}

#[test]
fn a_series_of_a_file_is_read_where_the_environment_names_a_history() {
    let env = env().variable("BECALM_STORE", "elsewhere.db");
    env.write("series.txt", "1\n2\n1\n2\n");
    let _ = env.run(["changes", "--series", "series.txt"]).exits_with(3);
    let env = crate::support::env().variable("BECALM_STORE", "");
    let none = env.run(["changes"]).exits_with(4);
    assert!(none.stderr.contains("history.db"), "an empty variable is none: {}", none.stderr);
}

/// Two levels, between which a series goes back and forth from value 60 on.
fn restless(i: usize) -> f64 {
    noise(i) + if i >= 60 && ((i - 60) / 20).is_multiple_of(2) { 115.0 } else { 100.0 }
}

#[test]
fn a_series_that_goes_back_and_forth_is_unstable_and_keeps_its_changes() {
    let env = env();
    env.write("s.txt", series((0..130).map(restless)));
    let found = changes(&env, &["--series", "s.txt"]);
    let state = &found["states"][0];
    assert_eq!((&state["state"], &state["start"]), (&"unstable".into(), &60.into()), "{found}");
    assert_eq!((&state["current"], &state["history"]), (&true.into(), &Value::Null), "{found}");
    let parts = state["changes"].as_array().unwrap().len();
    assert!(parts >= 3, "{found}");
    assert_eq!(found["changes"].as_array().unwrap().len(), parts, "{found}");
    assert!(found["changes"].as_array().unwrap().iter().all(|one| one["part_of"] == "unstable"));
    let text = env.run(["changes", "--series", "s.txt"]).exits_with(0).stdout;
    assert!(text.contains("1 series: 0 changes confirmed, 0 pending."), "{text}");
    assert!(text.contains("The level of 1 series does not stay; "), "{text}");
    assert!(text.replace('\n', " ").contains("Look at the machine with `becalm check`"), "{text}");
}

#[test]
fn what_was_confirmed_stays_when_its_series_turns_unstable() {
    let env = env();
    let table = |runs: std::ops::Range<usize>| {
        let mut table = "time,commit,latency\n".to_owned();
        for i in runs {
            let _ = writeln!(table, "{},c{i:03},{}", 1_700_000_000 + 3600 * i, restless(i));
        }
        table
    };
    env.write("a.csv", table(0..75));
    let _ = env.run(["history", "add", "a.csv"]).exits_with(0);
    let before = changes(&env, &[]);
    let first = &before["changes"][0];
    let id = first["history"]["id"].as_str().unwrap();
    assert_eq!((&first["state"], &first["part_of"]), (&"confirmed".into(), &Value::Null));
    let acknowledge = ["changes", "acknowledge", id, "--reason", "known", "--by", "ada"];
    let _ = env.run(acknowledge).exits_with(0);
    env.write("b.csv", table(75..130));
    let _ = env.run(["history", "add", "b.csv"]).exits_with(0);
    let after = changes(&env, &[]);
    let same = &after["changes"][0];
    assert_eq!(same["part_of"], "unstable", "{after}");
    for field in ["id", "entry", "first_seen", "commit", "after_commit"] {
        assert_eq!(same["history"][field], first["history"][field], "{field}: {after}");
    }
    assert_eq!(same["history"]["reason"], "known");
    let state = &after["states"][0]["history"];
    assert_eq!((&state["commit"], &state["changes"][0]), (&"c060".into(), &id.into()), "{after}");
    let text = env.run(["changes"]).exits_with(0).stdout;
    assert!(text.contains("unstable  c060") && !text.contains("regression"), "{text}");
    // It goes on, whenever it was first reported.
    let since = changes(&env, &["--since", "2100-01-01"]);
    assert_eq!(since["changes"], Value::Array(Vec::new()), "{since}");
    assert_eq!(since["states"][0]["state"], "unstable", "{since}");
    let listed = env.run(["history", "list", "--series"]).exits_with(0).stdout;
    assert!(listed.contains("unstable"), "{listed}");
    let listed = json(&env.run(["history", "list", "--series", "--json"]).exits_with(0).stdout);
    assert_eq!(listed["series"][0]["state"], "unstable", "{listed}");
}

#[test]
fn a_new_slow_mode_is_told_by_its_share_and_seen_by_a_margin_of_the_mean() {
    let env = env();
    // From value 150 on two of five runs take 10 % more.
    let value = |i: usize| {
        let is_slow = i >= 150 && (i * i * 45 + 13 * i) % 89 < 35;
        100.0 + noise(i) / 10.0 + if is_slow { 10.0 } else { 0.0 }
    };
    env.write("s.txt", series((0..300).map(value)));
    let found = changes(&env, &["--series", "s.txt"]);
    let change = &found["changes"][0];
    assert_eq!(found["size"], "median", "{found}");
    assert!(change["ratio"].as_f64().unwrap() < 1.01, "{found}");
    let number = |name: &str| change[name].as_f64().unwrap();
    assert!((number("mean_after") / number("mean_before") - 1.04).abs() < 0.005, "{found}");
    let modes = &change["modes"];
    assert_eq!(modes["upper_share_before"], 0.0, "{found}");
    assert!((modes["upper_share_after"].as_f64().unwrap() - 0.4).abs() < 0.05, "{found}");
    let text = env.run(["changes", "--series", "s.txt"]).exits_with(0).stdout.replace('\n', " ");
    assert!(text.contains("the mean by +"), "{text}");
    assert!(text.contains("of those after are in a second mode around 110"), "{text}");
    // A margin of 2 % hides it or not.
    let with_margin = |size: &str| {
        let all = ["--series", "s.txt", "--margin", "2%", "--size", size];
        let confirmed = changes(&env, &all);
        let all = confirmed["changes"].as_array().unwrap();
        all.iter().filter(|one| one["state"] == "confirmed").count()
    };
    assert_eq!((with_margin("median"), with_margin("mean")), (0, 1));
    let found = changes(&env, &["--series", "s.txt", "--size", "mean"]);
    assert_eq!(found["size"], "mean");
    assert!((found["changes"][0]["ratio"].as_f64().unwrap() - 1.04).abs() < 0.01, "{found}");
}
