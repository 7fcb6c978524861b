//! The connection ends in the middle of a session: no finished round is lost, and none is doubled.

use std::process::{Child, Stdio};

use becalm_testkit::TestEnv;

use super::Reach;
use crate::support::{
    Measures, numbered_processes_that_name, processes_that_name, schedule, send, wait_for_lines,
    wait_until, with,
};

/// Rounds of the whole session.
pub(super) const ROUNDS: usize = 40;

/// Starts a session of two scripts, and waits until some of its rounds have arrived.
fn start(reach: &Reach) -> Child {
    let env = &reach.env;
    env.script("old", "sleep 0.02");
    env.script("new", "sleep 0.03");
    let rounds = ROUNDS.to_string();
    let arguments =
        ["--on", "bench", "--rounds", &rounds, "--export-json", "r.json", "./old", "./new"];
    let mut command = env.command(with("compare", &arguments));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_lines(&env.work().join("r.json.partial"), 1 + 2 + 2 * 3);
    child
}

/// Continues the session; its record has to have every round once, and those before with the values that they had.
#[track_caller]
pub(super) fn continues(env: &TestEnv, file: &str) {
    let before = becalm_log(&env.read(file));
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

/// Returns the wall times in a log, as text.
fn becalm_log(text: &str) -> Vec<String> {
    let mut values = Vec::new();
    for line in text.lines().skip(1) {
        let Ok(run) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        if run["run"]["warmup"] != true
            && let Some(wall) = run["run"]["metrics"]["wall_time"].as_f64()
        {
            values.push(wall.to_string());
        }
    }
    values
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
