//! `becalm fleet`, with a real cluster of two nodes.

use std::collections::BTreeMap;
use std::process::Stdio;

use becalm_testkit::{CommandOutput, SlurmCluster, TestEnv};
use serde_json::Value;

use super::slurm::cluster;
use crate::support::{
    Measures, T, json, numbered_processes_that_name, prints, send, wait_until, with,
};

/// A block of two scripts whose values are the same in each run.
const BLOCK: [&str; 6] = ["--rounds", "6", "--metric", T, "./old", "./new"];

/// Flags without a canary.
const QUICK: &str = "--no-canary";

/// Writes the scripts of [`BLOCK`].
fn scripts(env: &TestEnv) {
    env.script("old", &prints("1000"));
    env.script("new", &prints("1030"));
}

/// Returns the words that start a fleet of so many machines, with these flags and those of a block.
fn words<'a>(machines: &'a str, flags: &[&'a str]) -> Vec<&'a str> {
    // Without real-time class and pinning, like every session of these tests.
    let of_block = [flags, &["--on", "slurm", "--machines", machines], &BLOCK].concat();
    ["fleet"].into_iter().chain(with("run", &of_block)).collect()
}

/// Starts a fleet of two machines.
fn run(env: &TestEnv, flags: &[&str]) -> CommandOutput {
    env.run(words("2", flags))
}

fn status(env: &TestEnv) -> Value {
    let output = env.run(["fleet", "status", "--json"]).exits_with(0);
    serde_json::from_str(&output.stdout).unwrap()
}

/// Holds each block of a finished fleet against what was asked for: measured once, whole, and on a machine of its own.
#[track_caller]
fn has_each_block_once(env: &TestEnv, blocks: usize) {
    let document = status(env);
    let mut measured: BTreeMap<(String, u64), usize> = BTreeMap::new();
    for machine in document["machines"].as_array().unwrap() {
        for one in machine["tries"].as_array().unwrap() {
            if one["state"] == "measured" {
                let name = machine["name"].as_str().unwrap().to_owned();
                *measured.entry((name, one["block"].as_u64().unwrap())).or_default() += 1;
            }
        }
    }
    assert_eq!(measured.len(), blocks, "{document:#}");
    assert!(measured.values().all(|times| *times == 1), "{document:#}");
    assert_eq!(document["state"], "complete", "{document:#}");
    let machines = document["comparisons"][0]["machines"].as_array().unwrap();
    let joined: u64 = machines.iter().map(|one| one["blocks"].as_u64().unwrap()).sum();
    assert_eq!(joined, blocks as u64, "{document:#}");
}

/// Keeps a node busy, and returns the number of the job that does.
fn occupy(cluster: &SlurmCluster, node: &str) -> String {
    let on = format!("--nodelist={node}");
    let number = cluster.says(
        "sbatch",
        &["--parsable", "--exclusive", "--output=/dev/null", &on, "--wrap=exec tail -f /dev/null"],
    );
    number.trim().to_owned()
}

#[test]
fn blocks_on_two_machines_are_one_answer() {
    let Some((env, _cluster)) = cluster("blocks_on_two_machines") else { return };
    scripts(&env);
    let output =
        run(&env, &[QUICK, "--blocks", "2", "--history", "--export-json", "f.json"]).exits_with(0);
    assert!(
        output.stdout.contains("./new is 3.00 % slower than ./old on t (exact)"),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("Both machines, each alone, say slower"), "{}", output.stdout);
    has_each_block_once(&env, 4);
    let machine = &status(&env)["machines"][0];
    assert!(machine["processor"].is_string() && machine["kernel"].is_string(), "{machine:#}");
    let saved: Value = serde_json::from_str(&env.read("f.json")).unwrap();
    assert_eq!(
        (saved["schema"].as_str(), saved["name"].as_str()),
        (Some("becalm/fleet/1"), Some("1"))
    );
    let kept = env.run(["history", "list", "--json"]).exits_with(0);
    let kept: Value = serde_json::from_str(&kept.stdout).unwrap();
    assert_eq!(kept["entries"].as_array().unwrap().len(), 4);
    // It is over, so that to attend to it is to look at it.
    let again = env.run(["fleet", "attach", "1", "--history"]).exits_with(0);
    assert_eq!(again.stdout, output.stdout);
    let entries = |flags: &[&str]| {
        let kept = env.run([&["history", "list", "--json"], flags].concat()).exits_with(0);
        json(&kept.stdout)["entries"].as_array().unwrap().len()
    };
    assert_eq!(entries(&[]), 4);
    // What was collected without a history is added afterwards.
    let _ = env.run(["fleet", "attach", "1", "--history", "--store", "late.db"]).exits_with(0);
    assert_eq!(entries(&["--store", "late.db"]), 4);
}

#[test]
fn a_program_beside_itself_is_the_same_on_all_machines() {
    let Some((env, _cluster)) = cluster("an_aa_on_a_fleet") else { return };
    scripts(&env);
    let flags = ["--on", "slurm", QUICK, "--blocks", "1", "--rounds", "6", "--metric", T];
    let words = [&["fleet"], &with("run", &[&flags[..], &["--aa", "./old"]].concat())[..]].concat();
    let output = env.run(words).exits_with(0);
    assert!(
        output.stdout.contains("no difference between two identical programs"),
        "{}",
        output.stdout
    );
}

#[test]
fn a_suite_has_a_level_over_machines() {
    let Some((env, _cluster)) = cluster("a_suite_on_a_fleet") else { return };
    scripts(&env);
    let suite = "version = 1\n[benchmark.old]\ncommand = \"./old\"\nrounds = 3\n";
    std::fs::write(env.work().join("becalm.toml"), suite).unwrap();
    let words =
        [&["fleet"], &with("run", &["--on", "slurm", QUICK, "--blocks", "1", "becalm.toml"])[..]];
    let output = env.run(words.concat()).exits_with(0);
    assert!(output.stdout.contains("Levels over machines"), "{}", output.stdout);
    let document = status(&env);
    assert_eq!(document["levels"][0]["benchmark"], "old");
    assert_eq!(document["levels"][0]["machines"].as_array().unwrap().len(), 2);
}

#[test]
fn a_machine_whose_canary_is_slower_than_ever_is_set_aside() {
    let Some((env, _cluster)) = cluster("a_slow_canary") else { return };
    scripts(&env);
    let canary = ["--canary", "./canary", "--canary-metric", T, "--blocks"];
    let run = |blocks: &str| run(&env, &[&canary[..], &[blocks]].concat());
    env.script("canary", &prints("1000"));
    let _ = run("3").exits_with(0);
    let on_n2 = |n2: &str, other: &str| {
        format!("if test \"$SLURMD_NODENAME\" = n2; then {n2}; else {other}; fi")
    };
    env.script("canary", &on_n2(&prints("1050"), &prints("1000")));
    let output = run("1").exits_with(3);
    let said = "n2 is set aside, and none of its blocks counts: its canary is 5\u{a0}% above its own level (limit \
                3\u{a0}%)";
    assert!(output.stderr.contains(said), "{}{}", output.stdout, output.stderr);
    assert!(output.stdout.contains("has too few machines: 1 of 2 blocks"), "{}", output.stdout);
    // One machine says nothing about others.
    assert!(
        output.stdout.starts_with("Inconclusive for machines of this type"),
        "{}",
        output.stdout
    );
    let canaries = env.run(["fleet", "canaries"]).exits_with(0);
    assert!(canaries.stdout.contains("1050"), "{}", canaries.stdout);
    // It was changed on purpose.
    let forgotten = env.run(["fleet", "canaries", "--forget", "n2"]).exits_with(0);
    assert!(forgotten.stderr.contains("4 canaries of n2 forgotten"), "{}", forgotten.stderr);
    let _ = run("1").exits_with(0);
}

#[test]
fn the_client_may_die_and_another_one_goes_on() {
    let Some((env, cluster)) = cluster("a_client_that_dies") else { return };
    scripts(&env);
    // One block waits, so that the fleet cannot be over before the client dies.
    let job = occupy(&cluster, "n2");
    let mut command = env.command(words("2", &[QUICK, "--blocks", "2"]));
    let mut client = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let plan = env.work().join(".becalm/slurm/fleets/1/state.json");
    wait_until("all blocks in the queue", || {
        let text = std::fs::read_to_string(&plan).unwrap_or_default();
        let state: Value = serde_json::from_str(&text).unwrap_or_default();
        let tries = state["tries"]
            .as_array()
            .map_or(0, |tries| tries.iter().filter(|one| one["job"].is_string()).count());
        tries == 4
    });
    let busy = env.run(["fleet", "attach"]).exits_with(4);
    assert!(busy.stderr.contains("another becalm attends to fleet 1"), "{}", busy.stderr);
    send("KILL", client.id());
    client.wait().unwrap();
    assert_eq!(status(&env)["state"], "unfinished");
    let _ = cluster.says("scancel", &[&job]);
    let _ = env.run(["fleet", "attach", "1"]).exits_with(0);
    has_each_block_once(&env, 4);
}

#[test]
fn a_block_whose_job_dies_is_measured_again_as_a_whole() {
    let Some((env, _cluster)) = cluster("a_block_that_dies") else { return };
    scripts(&env);
    // The first run of all takes its far end with it.
    let mark = env.work().join("mark").display().to_string();
    let dies = format!("mkdir '{mark}' 2>/dev/null && kill -KILL $PPID; {}", prints("1030"));
    env.script("new", &dies);
    let output = run(&env, &[QUICK, "--blocks", "1"]).exits_with(0);
    assert!(output.stderr.contains("block 1 was lost"), "{}", output.stderr);
    has_each_block_once(&env, 2);
}

#[test]
fn blocks_of_a_drained_machine_move_to_another() {
    let Some((env, cluster)) = cluster("a_drained_machine") else { return };
    scripts(&env);
    let jobs = [occupy(&cluster, "n1"), occupy(&cluster, "n2")];
    let output = env.run(words("1", &[QUICK, "--blocks", "1", "--detach"])).exits_with(0);
    assert!(output.stderr.contains("`becalm fleet attach 1` waits for it"), "{}", output.stderr);
    assert_eq!(status(&env)["machines"][0]["name"], "n1");
    let _ = cluster.says("scontrol", &["update", "nodename=n1", "state=drain", "reason=test"]);
    let _ = cluster.says("scancel", &[&jobs[1]]);
    // One machine is no answer about a type.
    let output = env.run(["fleet", "attach"]).exits_with(3);
    assert!(output.stderr.contains("n1 takes no jobs (drain"), "{}", output.stderr);
    assert!(output.stdout.contains("1 of 1 block"), "{}", output.stdout);
    let document = status(&env);
    assert_eq!(document["machines"][1]["name"], "n2");
    assert_eq!(document["comparisons"][0]["machines"][0]["verdict"], "slower");
    let _ = cluster.says("scancel", &[&jobs[0]]);
    let _ = cluster.says("scontrol", &["update", "nodename=n1", "state=resume"]);
}

#[test]
fn a_full_queue_takes_the_other_blocks_later() {
    let Some((env, _cluster)) = cluster("a_full_queue") else { return };
    scripts(&env);
    std::fs::create_dir(env.work().join("full")).unwrap();
    let full = "test \"$(squeue --noheader | wc -l)\" -lt 1 || { echo 'sbatch: error: job submit limit' >&2; exit 1; }; \
                exec /usr/bin/sbatch \"$@\"";
    env.script("full/sbatch", full);
    let path = format!("{}:/usr/bin:/bin", env.work().join("full").display());
    let env = env.variable("PATH", &path);
    let output = run(&env, &[QUICK, "--blocks", "2"]).exits_with(0);
    assert!(output.stderr.contains("becalm tries again as jobs end"), "{}", output.stderr);
    has_each_block_once(&env, 4);
}

#[test]
fn a_cancelled_fleet_leaves_no_job() {
    let Some((env, cluster)) = cluster("a_cancelled_fleet") else { return };
    scripts(&env);
    let job = occupy(&cluster, "n1");
    let _ = run(&env, &[QUICK, "--detach", "--as", "mine"]).exits_with(0);
    let output = env.run(["fleet", "cancel", "mine"]).exits_with(0);
    assert!(output.stderr.contains("fleet mine was cancelled"), "{}", output.stderr);
    let names = || cluster.says("squeue", &["--noheader", "--format=%j"]);
    wait_until("the end of its jobs", || !names().contains("becalm"));
    assert_eq!(status(&env)["state"], "cancelled");
    let _ = cluster.says("scancel", &[&job]);
}

#[test]
fn ctrl_c_leaves_the_jobs_in_the_queue() {
    let Some((env, cluster)) = cluster("ctrl_c_on_a_fleet") else { return };
    scripts(&env);
    let job = occupy(&cluster, "n2");
    let mut command = env.command(words("2", &[QUICK, "--blocks", "1"]));
    let client = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let frames = env.work().join(".becalm/slurm/fleets/1/tries/0/record.json");
    wait_until("the block on the free machine", || frames.exists());
    send("TERM", client.id());
    let output = client.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the jobs of fleet 1 continue"), "{said}");
    assert!(cluster.says("squeue", &["--noheader", "--format=%j"]).contains("becalm-1-"));
    let _ = cluster.says("scancel", &[&job]);
    let _ = env.run(["fleet", "attach"]).exits_with(0);
    has_each_block_once(&env, 2);
}

#[test]
fn a_session_that_fails_says_why() {
    let Some((env, _cluster)) = cluster("a_failing_session") else { return };
    scripts(&env);
    env.script("new", "exit 7");
    let output = run(&env, &[QUICK, "--blocks", "2"]).exits_with(4);
    assert!(output.stderr.contains("exited with code 7"), "{}", output.stderr);
    assert!(
        output.stderr.contains("fleet 1 has measured nothing that counts"),
        "{}",
        output.stderr
    );
}

#[test]
fn what_cannot_be_a_fleet_is_refused() {
    let Some((env, _cluster)) = cluster("refused_fleets") else { return };
    scripts(&env);
    let refused = |words: &[&str], code: i32, message: &str| {
        let output = env.run([&["fleet"], words].concat()).exits_with(code);
        assert!(output.stderr.contains(message), "{words:?}: {}", output.stderr);
    };
    refused(&["run", "./old", "./new"], 2, "`becalm fleet run` needs a cluster");
    refused(&["run", "--on", "bench", "./old", "./new"], 2, "bench is a host");
    refused(&["run", "--on", "slurm", "-v", "./old", "./new"], 2, "--verbose is about one session");
    refused(&["run", "--on", "slurm:node=n1", "./old", "./new"], 2, "node= names one machine");
    refused(
        &["run", "--on", "slurm:constraint=[a*2]", "./old", "./new"],
        2,
        "a fleet takes features joined by & or by |",
    );
    refused(
        &["run", "--on", "slurm", "--as", "../x", "./old", "./new"],
        2,
        "is not a name for a fleet",
    );
    refused(&["run", "--on", "slurm:constraint=none", "./old", "./new"], 4, "has measured nothing");
    refused(&["status", "nightly"], 2, "there is no fleet nightly");
    refused(&["canaries", "--forget", "n9"], 2, "no canary of n9 is known");
    let becalm = numbered_processes_that_name(".becalm/slurm/fleets");
    assert!(becalm.iter().all(|(_, line)| !line.contains(&*env.path().to_string_lossy())));
}
