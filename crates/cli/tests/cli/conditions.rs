//! CPUs, scheduling class, niceness, page cache and rest.

use becalm_testkit::{TestEnv, skipped};
use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{
    Measures, can_fix_addresses, env, has_capability, is_root, json, limits, said,
};

/// The right to real-time classes, as `linux/capability.h` numbers it.
const CAP_SYS_NICE: u32 = 23;

fn conditions(arguments: &[&str]) -> Value {
    let rest = ["--rounds", "2", "--json", "--", "true"];
    let output = env().run([&["run"], arguments, &rest].concat()).exits_with(0);
    json(&output.stdout)["conditions"].clone()
}

#[test]
fn by_default_a_computing_program_gets_one_cpu_and_limits_of_that_cpu_only() {
    let output = env().run(["run", "--rounds", "2", "--json", "--", "true"]).exits_with(0);
    let record = json(&output.stdout);
    let affinity = record["conditions"]["affinity"].as_str().unwrap();
    assert!(affinity.parse::<u32>().is_ok(), "{affinity}");
    let limits = limits(&record);
    assert!(!limits.contains("shares CPUs"), "a limit of the first placement: {limits}");
}

#[test]
fn the_cpus_are_the_ones_asked_for() {
    let first = conditions(&["--affinity", "auto"])["affinity"].as_str().unwrap().to_owned();
    assert_eq!(conditions(&["--affinity", &first])["affinity_reason"]["kind"], "chosen_by_user");
    assert_eq!(conditions(&["--affinity", "none"])["affinity"], Value::Null);
    let output = env().run(["run", "--affinity", "4000", "--", "true"]).exits_with(4);
    assert!(
        said(&output).contains("`true`: cannot start `true`: moving to its CPUs"),
        "{output:?}"
    );
    let _ = env().run(["run", "--affinity", "1-x", "--", "true"]).exits_with(2);
}

#[test]
fn niceness_class_randomisation_and_rest_are_recorded_as_they_were_had() {
    if !can_fix_addresses("niceness_class_randomisation_and_rest") {
        return;
    }
    let calm = ["--affinity", "none", "--scheduler", "other"];
    let conditions =
        conditions(&[&calm[..], &["--nice", "5", "--aslr", "off", "--rest", "50%"]].concat());
    assert_eq!(conditions["nice"], 5);
    assert_eq!((&conditions["scheduler"], &conditions["aslr"]), (&"other".into(), &"off".into()));
    assert_eq!(conditions["rest"], 0.5);
}

#[test]
fn huge_pages_and_nodes_are_recorded_as_they_were_had() {
    let plain = conditions(&[]);
    assert_eq!((&plain["thp"], &plain["memory_nodes"]), (&Value::Null, &Value::Null));
    assert_eq!(conditions(&["--thp", "off"])["thp"], "off");
    assert_eq!(conditions(&["--thp", "on", "--membind", "off"])["thp"], "on");
    // One node has all memory, so that there is nothing to be bound; or it is recorded where it is.
    let _ = conditions(&["--membind", "auto"]);
    let output = env().run(["run", "--membind", "1000", "--", "true"]).exits_with(4);
    let whole = said(&output);
    assert!(whole.contains("binding its memory to its NUMA nodes"), "{output:?}");
    let _ = env().run(["run", "--membind", "near", "--", "true"]).exits_with(2);
}

#[test]
fn what_becalm_was_started_with_is_recorded_too() {
    let conditions = |starter: &str, arguments: &[&str]| {
        let run = [env!("CARGO_BIN_EXE_becalm"), "run", "--rounds", "1", "--json", "--", "true"];
        let output = TestEnv::new(starter).run([arguments, &run].concat());
        let is_there = output.status.success();
        if !is_there {
            skipped(&format!("what_becalm_was_started_with: {starter}: {}", output.stderr));
        }
        is_there.then(|| json(&output.stdout)["conditions"].clone())
    };
    if let Some(conditions) = conditions("nice", &["-n", "7"]) {
        // The tests themselves may have been started with a niceness, which counts from there.
        let own: i32 =
            TestEnv::new("nice").run([""; 0]).exits_with(0).stdout.trim().parse().unwrap();
        assert_eq!(conditions["nice"], (own + 7).min(19));
    }
    if let Some(conditions) = conditions("setarch", &["-R"]) {
        assert_eq!(conditions["aslr"], "off");
    }
    if let Some(conditions) = conditions("chrt", &["-b", "0"]) {
        assert_eq!(conditions["scheduler"], "batch");
    }
    if let Some(conditions) = conditions("chrt", &["-f", "10"]) {
        assert_eq!(
            (&conditions["scheduler"], &conditions["rest"]),
            (&"fifo:10".into(), &0.07.into())
        );
    }
}

#[test]
fn cpus_that_are_not_there_are_told_and_not_recorded() {
    let output =
        env().run(["run", "--affinity", "0-4000", "--rounds", "1", "--json", "--", "true"]);
    let record = json(&output.exits_with(0).stdout);
    let affinity = record["conditions"]["affinity"].as_str().unwrap().to_owned();
    assert!(!affinity.contains("4000"), "{affinity}");
    let expected = format!("are offline or not allowed here: the subjects have only {affinity}");
    assert!(limits(&record).contains(&expected), "{}", limits(&record));
}

#[test]
fn who_starts_becalm_may_have_ignored_the_end_of_children() {
    let env = TestEnv::new("sh");
    let script = "trap '' CHLD; exec \"$0\" run --rounds 2 --setup true -- true";
    let output = env.run(["-c", script, env!("CARGO_BIN_EXE_becalm")]).exits_with(0);
    assert!(output.stdout.contains("true, wall_time"), "{}", output.stdout);
}

#[test]
fn the_pace_of_the_core_is_sampled_and_allowed_for_where_asked() {
    let env = env();
    let busy = format!("{} workload compute --amount 5000", env!("CARGO_BIN_EXE_becalm"));
    let compared = |more: &[&str]| {
        let rest = ["--rounds", "14", "--metric", "cpu_time", "--margin", "0", "--json"];
        let output = env.run([&["compare", &busy, &busy], &rest[..], more].concat());
        json(&output.stdout)
    };
    let paces = |record: &Value| -> Vec<bool> {
        let subjects = record["subjects"].as_array().unwrap().iter();
        let runs = subjects.flat_map(|subject| subject["runs"].as_array().unwrap());
        let measured = runs.filter(|run| run["warmup"] != true);
        measured
            .map(|run| run["evidence"]["pace"].as_f64().is_some_and(|pace| pace > 0.0))
            .collect()
    };
    let notes = |record: &Value| record["comparisons"][0]["notes"].to_string();
    let sampled = compared(&["--pace", "on"]);
    let conditions = &sampled["conditions"];
    if conditions["affinity"].as_str().is_some_and(|cpus| cpus.parse::<u32>().is_ok()) {
        assert_eq!(conditions["pace"]["every_us"], 250);
        let paces = paces(&sampled);
        if paces.iter().all(|&is_there| is_there) {
            assert!(!notes(&sampled).contains("is unknown during"), "{}", notes(&sampled));
        } else {
            // An ordinary thread may come too late for a run of some milliseconds.
            assert!(!has_capability(CAP_SYS_NICE) && notes(&sampled).contains("is unknown during"));
        }
    } else {
        skipped("the_pace_of_the_core_is_sampled: the subjects got more than one CPU");
    }
    let plain = compared(&["--pace", "off"]);
    assert_eq!(plain["conditions"]["pace"], Value::Null);
    assert!(paces(&plain).iter().all(|&is_there| !is_there));
    assert!(!notes(&plain).contains("the pace of the core"));
    let cold = compared(&["--pace", "on", "--warmup", "0"]);
    assert!(limits(&cold).contains("the pace is not sampled"), "{}", limits(&cold));
    let wide = compared(&["--pace", "on", "--affinity", "none"]);
    assert!(limits(&wide).contains("the pace is not sampled"), "{}", limits(&wide));
}

#[test]
fn the_page_cache_can_be_warmed_by_an_extra_run() {
    let env = env();
    env.script("count", "echo x >> runs");
    let arguments = ["--cache", "warm", "--warmup", "0", "--rounds", "3", "--", "./count"];
    let _ = env.measure(&arguments).exits_with(0);
    assert_eq!(env.read("runs").lines().count(), 6);
    // Both runs are prepared: what the extra one used up is made anew.
    env.script("use", "rm input");
    let hooks = ["--prepare", "touch input", "--conclude", "echo x >> concluded"];
    let arguments = ["--cache", "warm", "--warmup", "0", "--rounds", "3", "--", "./use"];
    let _ = env.measure(&[&hooks[..], &arguments].concat()).exits_with(0);
    assert_eq!(env.read("concluded").lines().count(), 6);
}

#[test]
fn a_real_time_class_is_had_by_root() {
    if !is_root() {
        return skipped("a_real_time_class_is_had_by_root: not root");
    }
    // Root of a container has it less often than not.
    if !has_capability(CAP_SYS_NICE) {
        return skipped("a_real_time_class_is_had_by_root: root here has no CAP_SYS_NICE");
    }
    let conditions = conditions(&["--scheduler", "fifo:1"]);
    assert_eq!((&conditions["scheduler"], &conditions["rest"]), (&"fifo:1".into(), &0.07.into()));
}

#[test]
fn conditions_that_make_no_sense_are_usage_errors() {
    let check = |arguments: &[&str]| {
        let output = env().run([&["run"], arguments, &["--", "true"]].concat()).exits_with(2);
        said(&output).lines().next().unwrap().to_owned()
    };
    assert_snapshot!(check(&["--scheduler", "fifo:100"]), @"error: --scheduler fifo:100: expected other or fifo:N with N from 1 to 99, or auto");
    assert_snapshot!(check(&["--nice", "20"]), @"error: --nice takes a whole number from -20 to 19, not `20`");
    assert_snapshot!(check(&["--rest", "2000%"]), @"error: --rest [SHARE]: a rest of more than ten times the run is surely a mistake");
    assert_snapshot!(check(&["--timeout", "0s"]), @"error: --timeout [TIME]: a timeout must be above zero");
    assert_snapshot!(check(&["--seed", "9007199254740992"]), @"error: --seed takes a whole number from 0 to 9007199254740991, not `9007199254740992`");
}
