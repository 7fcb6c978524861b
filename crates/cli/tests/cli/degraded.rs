//! Less than a whole machine: no root, no counters, one CPU, no /sys. Each says what it could not
//! do, and still measures.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use becalm_testkit::{Call, CommandOutput, TestEnv, refuse_call, skipped};
use serde_json::Value;

use crate::support::{env, is_root, json, limits, said};

const MEASURE: [&str; 6] = ["run", "--rounds", "3", "--json", "--", "true"];

const EPERM: i32 = 1;
const ENOSYS: i32 = 38;

/// Runs becalm behind another program, such as `taskset -c 0`.
fn behind(program: &[&str], arguments: &[&str]) -> CommandOutput {
    let env = TestEnv::new(program[0]);
    env.run([&program[1..], &[env!("CARGO_BIN_EXE_becalm")], arguments].concat())
}

#[track_caller]
fn measured(output: &CommandOutput) -> Value {
    let record = json(&output.clone().exits_with(0).stdout);
    assert_eq!(record["subjects"][0]["runs"].as_array().unwrap().len(), 4);
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    record
}

/// Measures with a system call refused.
fn sandboxed(call: Call, errno: i32) -> Value {
    let env = env();
    let mut command = env.command(MEASURE);
    refuse_call(&mut command, call, errno);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    json(&String::from_utf8_lossy(&output.stdout))
}

#[test]
fn without_counters_the_reason_is_told() {
    let limits = |errno| limits(&sandboxed(Call::PerfEventOpen, errno));
    // Root, and others where the level allows it, learn that it is not the level.
    let refused = limits(EPERM);
    let by_level = refused.contains("not counted, because kernel.perf_event_paranoid is");
    let by_sandbox = refused.contains("not counted, because a sandbox blocks perf_event_open");
    assert!(if is_root() { by_sandbox } else { by_level || by_sandbox }, "{refused}");
    assert!(limits(ENOSYS).contains("this kernel or sandbox has no perf_event_open"));
}

#[test]
fn without_a_real_time_class_the_normal_one_serves() {
    let record = sandboxed(Call::SetScheduler, EPERM);
    assert_eq!(record["conditions"]["scheduler"], "other");
}

#[test]
fn without_pinning_the_subjects_run_anywhere() {
    let record = sandboxed(Call::SetAffinity, EPERM);
    assert_eq!(record["conditions"]["affinity"], Value::Null);
    assert!(limits(&record).contains("the subjects are not pinned"), "{}", limits(&record));
}

#[test]
fn with_one_cpu_becalm_says_that_it_shares_it() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let cpu = list.trim().split([',', '-']).next_back().unwrap();
    let record = measured(&behind(&["taskset", "-c", cpu], &MEASURE));
    assert!(limits(&record).contains("share CPU"), "{}", limits(&record));
    assert_eq!(record["conditions"]["affinity"], cpu);
    assert_eq!(record["conditions"]["scheduler"], "other", "a real-time subject would own becalm");
}

/// Runs a script in a mount namespace of its own; `None`, visibly, where that is not possible.
fn with_mounts(test: &str, mounts: &str) -> Option<CommandOutput> {
    if !is_root() {
        skipped(&format!("{test}: mounting needs root"));
        return None;
    }
    let script = format!("{{ {mounts}; }} || exit 77; exec \"$0\" \"$@\"");
    let output = behind(&["unshare", "-m", "sh", "-c", &script], &MEASURE);
    if output.status.code() == Some(77) || output.stderr.starts_with("unshare:") {
        skipped(&format!("{test}: this sandbox does not allow a mount"));
        return None;
    }
    Some(output)
}

#[test]
fn without_sys_the_cpus_are_known_from_proc() {
    let Some(output) = with_mounts("without_sys", "mount -t tmpfs none /sys") else { return };
    let record = measured(&output);
    assert!(record["conditions"]["affinity"].is_string());
    assert!(limits(&record).contains("is not visible"), "{}", limits(&record));
}

#[test]
fn without_proc_times_are_still_measured() {
    let Some(output) = with_mounts("without_proc", "mount -t tmpfs none /proc") else { return };
    let record = measured(&output);
    let limits = limits(&record);
    assert!(limits.contains("/proc/stat does not exist here"), "{limits}");
    assert!(record["subjects"][0]["runs"][1]["wall_time"].as_f64().unwrap() > 0.0);
}

/// What makes a program run as nobody, behind `setpriv`.
const NOBODY: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];

/// Makes a place where nobody can start `setpriv` and a copy of becalm, whose path is returned.
fn nobodys_becalm(test: &str) -> Option<(TestEnv, String)> {
    if !is_root() {
        skipped(&format!("{test}: becoming nobody needs root"));
        return None;
    }
    let env = TestEnv::new("setpriv");
    // The build folder may lie where nobody may go.
    let binary = env.work().join("becalm");
    std::fs::copy(env!("CARGO_BIN_EXE_becalm"), &binary).unwrap();
    std::fs::set_permissions(env.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let reachable = Command::new("setpriv").args(NOBODY).arg(&binary).arg("--version").output();
    if !reachable.is_ok_and(|output| output.status.success()) {
        skipped(&format!("{test}: nobody cannot reach {}", binary.display()));
        return None;
    }
    Some((env, binary.to_string_lossy().into_owned()))
}

/// Runs becalm as nobody, with a home that cannot be written.
fn as_nobody(test: &str, arguments: &[&str]) -> Option<CommandOutput> {
    let (env, binary) = nobodys_becalm(test)?;
    Some(env.run([&NOBODY[..], &[binary.as_str()], arguments].concat()))
}

#[test]
fn a_user_without_rights_measures_and_learns_what_is_missing() {
    let Some(output) = as_nobody("without_rights", &MEASURE) else { return };
    let record = measured(&output);
    assert_eq!(record["conditions"]["scheduler"], "other");
    let limits = limits(&record);
    assert!(limits.contains("no log of the session is kept on disk"), "{limits}");
}

#[test]
fn what_changes_what_is_measured_is_refused_without_root_with_the_reason() {
    let check = |flags: &[&str], reason: &str| {
        let arguments = [&["run", "--rounds", "2"], flags, &["--", "true"]].concat();
        let Some(output) = as_nobody("what_needs_root", &arguments) else { return };
        let output = output.exits_with(4);
        assert!(said(&output).contains(reason), "{}", output.stderr);
    };
    check(&["--scheduler", "fifo:1"], "SCHED_FIFO needs CAP_SYS_NICE or RLIMIT_RTPRIO");
    check(&["--nice", "-5"], "a lower niceness needs CAP_SYS_NICE or RLIMIT_NICE");
    check(&["--cache", "drop"], "cannot drop the page cache, which needs root");
}

#[test]
fn what_quiets_the_machine_is_left_out_without_root_and_that_is_said() {
    let check = |flag: &str, reason: &str| {
        let arguments = ["run", flag, "--rounds", "2", "--json", "--", "true"];
        let Some(output) = as_nobody("what_quiets_the_machine", &arguments) else { return };
        let record = json(&output.clone().exits_with(0).stdout);
        assert_eq!(record["conditions"]["isolation"], Value::Null);
        assert!(record["conditions"]["tuned"].as_array().is_none_or(Vec::is_empty), "{record}");
        assert!(said(&output).contains(&format!("warning: {reason}")), "{}", output.stderr);
        assert!(limits(&record).contains(reason), "{}", limits(&record));
    };
    check("--isolate", "CPUs cannot be isolated here: this needs root");
    check("--tune", "the machine was not tuned: cannot create the lock");
}

/// The options of `setpriv` for a program that runs as root.
const ROOT: &str = "--reuid 0 --regid 0 --clear-groups";

/// Makes a `setpriv` that makes root of anybody, as sudo does; `None`, visibly, where the file system does not allow it.
fn sudo(test: &str, env: &TestEnv) -> Option<String> {
    let folders = std::env::var("PATH").unwrap_or_default();
    let mut places = folders.split(':').map(|folder| Path::new(folder).join("setpriv"));
    let original = places.find(|path| path.exists()).expect("it was just started");
    let sudo = env.work().join("sudo");
    std::fs::copy(original, &sudo).unwrap();
    std::fs::set_permissions(&sudo, std::fs::Permissions::from_mode(0o4755)).unwrap();
    let sudo = sudo.to_string_lossy().into_owned();
    let mut id = Command::new("setpriv");
    let id = id.args(NOBODY).arg(&sudo).args(ROOT.split(' ')).args(["id", "-u"]).output();
    if id.is_ok_and(|output| output.stdout == b"0\n") {
        return Some(sudo);
    }
    skipped(&format!("{test}: nobody cannot become root through a set-user-ID bit here"));
    None
}

#[test]
fn a_server_of_another_user_that_cannot_be_ended_is_an_error_and_no_wait_for_ever() {
    const TEST: &str = "a_server_of_another_user";
    let Some((env, becalm)) = nobodys_becalm(TEST) else { return };
    let Some(sudo) = sudo(TEST, &env) else { return };
    let server = format!("{sudo} {ROOT} {becalm} workload serve --port {{port}}");
    let url = "http://127.0.0.1:{port}/";
    let load = ["compare", "--load", "rate=50,duration=200ms", "--url", url, &server, &server];
    let output = env.run([&NOBODY[..], &[becalm.as_str()], &load].concat());
    let text = &output.stderr;
    let pid = text.split_once("(process ").and_then(|(_, rest)| rest.split_once(')'));
    if let Some((pid, _)) = pid {
        assert!(Command::new("kill").arg(pid).status().unwrap().success(), "{text}");
    }
    assert!(text.contains("cannot end `") && text.contains("as another user"), "{text}");
    let _ = output.exits_with(4);
}
