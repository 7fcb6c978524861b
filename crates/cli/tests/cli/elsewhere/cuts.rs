//! The connection ends in the middle of a session: no finished round is lost, and none is doubled.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};

use becalm_testkit::TestEnv;
use serde_json::Value;

use super::Reach;
use crate::support::{
    Measures, numbered_processes_that_name, processes_that_name, schedule, send, wait_for_lines,
    wait_until, with,
};

/// Rounds of the whole session.
const ROUNDS: usize = 40;

/// Starts a session of two scripts on the host, and waits until some of its rounds have arrived.
fn start(reach: &Reach) -> Child {
    start_on("bench", &reach.env)
}

/// The same elsewhere.
pub(super) fn start_on(host: &str, env: &TestEnv) -> Child {
    env.script("old", "sleep 0.02");
    env.script("new", "sleep 0.03");
    let rounds = ROUNDS.to_string();
    let arguments =
        ["--on", host, "--rounds", &rounds, "--export-json", "r.json", "./old", "./new"];
    let mut command = env.command(with("compare", &arguments));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_lines(&env.work().join("r.json.partial"), 1 + 2 + 2 * 3);
    child
}

/// Continues the session; its record has to have every round once, and those before with the values that they had.
#[track_caller]
pub(super) fn continues(env: &TestEnv, file: &str) {
    let before = finished(&env.read(file));
    assert!(!before.is_empty(), "no round was finished before");
    let rounds = ROUNDS.to_string();
    let output = env.run(["compare", "--resume", file, "--rounds", &rounds]);
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 3)), "{code:?}: {}", output.stderr);
    let record = env.record("r.json");
    let mut runs = schedule(&record);
    runs.sort_unstable();
    assert_eq!(runs.len(), 2 * ROUNDS, "{}", output.stderr);
    runs.dedup();
    assert_eq!(runs.len(), 2 * ROUNDS, "a round is there twice");
    let saved = env.read("r.json");
    for value in before {
        assert!(saved.contains(&value), "the run that took {value} s is lost");
    }
}

/// Returns the wall times in the finished rounds of a log or record, as text.
fn finished(text: &str) -> Vec<String> {
    let mut rounds: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let mut add = |run: &Value| {
        if let (true, Some(wall)) = (run["warmup"] != true, run["wall_time"].as_f64()) {
            rounds.entry(run["round"].as_u64().unwrap()).or_default().push(wall.to_string());
        }
    };
    if let Ok(record) = serde_json::from_str::<Value>(text) {
        let subjects = record["subjects"].as_array().unwrap();
        subjects.iter().flat_map(|one| one["runs"].as_array().unwrap()).for_each(add);
    } else {
        // The last line may be cut off.
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.for_each(|line| add(&line["run"]));
    }
    rounds.into_values().filter(|runs| runs.len() == 2).flatten().collect()
}

/// Returns the numbers of the processes of `ssh`: the one of the session, and the one that keeps the connection. Both name its
/// socket.
fn clients(reach: &Reach) -> Vec<u32> {
    let sockets = reach.env.path().join("runtime/.becalm-").display().to_string();
    let clients = numbered_processes_that_name(&sockets);
    assert!(!clients.is_empty());
    clients.into_iter().map(|(process, _)| process).collect()
}

/// Returns the numbers of the processes of the server: they have its log open.
fn servers(reach: &Reach) -> Vec<u32> {
    let log = reach.host.programs().parent().unwrap().join("log");
    let has_log = |process: &u32| {
        let files =
            std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        files.filter_map(|file| file.path().read_link().ok()).any(|target| target == log)
    };
    let all = numbered_processes_that_name("sshd").into_iter().map(|(process, _)| process);
    all.filter(has_log).collect()
}

fn kill(process: u32) {
    // One may have ended with another.
    let _ = std::process::Command::new("kill").args(["-s", "KILL", &process.to_string()]).status();
}

/// Waits until nothing of the session is left on the host.
fn wait_for_the_end(reach: &Reach) {
    let store = reach.store().display().to_string();
    wait_until("the end of the session on the host", || {
        processes_that_name(&store).is_empty() && reach.stored("work").is_empty()
    });
}

#[test]
fn the_user_stops_it() {
    let Some(reach) = Reach::with_becalm("a_session_on_a_host_is_stopped") else { return };
    let child = start(&reach);
    send("TERM", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("`becalm compare --resume r.json` continues"), "{said}");
    wait_for_the_end(&reach);
    continues(&reach.env, "r.json");
}

#[test]
fn the_near_end_is_killed() {
    let Some(reach) = Reach::with_becalm("the_near_end_is_killed") else { return };
    let mut child = start(&reach);
    send("KILL", child.id());
    let _ = child.wait().unwrap();
    wait_for_the_end(&reach);
    continues(&reach.env, "r.json.partial");
}

#[test]
fn ssh_is_killed() {
    let Some(reach) = Reach::with_becalm("ssh_is_killed") else { return };
    let child = start(&reach);
    clients(&reach).into_iter().for_each(kill);
    lost(&reach, child);
}

#[test]
fn the_server_of_ssh_is_killed() {
    let Some(reach) = Reach::with_becalm("the_server_of_ssh_is_killed") else { return };
    let child = start(&reach);
    let servers = servers(&reach);
    assert!(!servers.is_empty());
    servers.into_iter().for_each(kill);
    lost(&reach, child);
}

/// The near end says what became of the session and how it continues.
fn lost(reach: &Reach, child: Child) {
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the connection to bench was lost"), "{said}");
    assert!(said.contains("`becalm compare --resume r.json.partial` continues"), "{said}");
    wait_for_the_end(reach);
    continues(&reach.env, "r.json.partial");
}

#[test]
fn a_far_end_that_has_not_noticed_is_waited_for() {
    let test = "a_far_end_that_has_not_noticed_is_waited_for";
    let Some(reach) = Reach::with_becalm(test) else { return };
    let mut child = start(&reach);
    send("KILL", child.id());
    let _ = child.wait().unwrap();
    wait_for_the_end(&reach);
    // The log on the host, as one that is still written to.
    let sessions = std::fs::read_dir(reach.host.state().join("becalm/sessions")).unwrap();
    let logs = sessions.map(|entry| entry.unwrap().path());
    let log =
        logs.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).last().unwrap();
    let mut written = File::options().append(true).open(&log).unwrap();
    written.lock().unwrap();
    let rounds = ROUNDS.to_string();
    let resume = ["--resume", "r.json.partial", "--rounds", &rounds];
    let mut command = reach.env.command(with("compare", &resume));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let waits = "waiting for the becalm whose connection was lost";
    assert!(said.any(|line| line.starts_with(waits)));
    for run in further_round(&std::fs::read_to_string(&log).unwrap()) {
        written.write_all(run.as_bytes()).unwrap();
    }
    drop(written);
    said.for_each(drop);
    assert!(matches!(child.wait().unwrap().code(), Some(0 | 3)));
    let record = reach.env.record("r.json");
    assert_eq!(schedule(&record).len(), 2 * ROUNDS);
    assert!(reach.env.read("r.json").contains("0.0123456"), "what was finished late is lost");
}

/// Returns the lines that a log lacks up to the end of one more round.
fn further_round(log: &str) -> Vec<String> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is_run = |line: &Value| line["run"].is_object() && line["run"]["warmup"] != true;
    let runs: Vec<Value> = lines.filter(is_run).collect();
    let number = |line: &Value| line["run"]["round"].as_u64().unwrap();
    let of = |round| runs.iter().filter(move |line| number(line) == round);
    let last = runs.iter().map(number).max().unwrap();
    let (whole, next) = if of(last).count() == 2 { (last, last + 1) } else { (last - 1, last) };
    let begun: Vec<&Value> = of(next).map(|line| &line["subject"]).collect();
    let missing = of(whole).filter(|line| !begun.contains(&&line["subject"])).cloned();
    missing
        .enumerate()
        .map(|(index, mut line)| {
            line["run"]["round"] = next.into();
            line["run"]["order"] = (begun.len() + index).into();
            line["run"]["wall_time"] = 0.012_345_6.into();
            line.to_string() + "\n"
        })
        .collect()
}
