//! CPUs that nothing else may use, on the machine that runs the tests.
//!
//! A program of its own, because for a moment every other program of the machine has to make way: tests
//! that look at their own CPUs must not run at the same time.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use becalm_testkit::{TestEnv, skipped, wait_until};
use serde_json::Value;

const ISOLATED: [&str; 6] = ["run", "--isolate", "--threads", "1", "--wait", "--rounds"];

/// How becalm is called: by root itself, or as root by a user.
const CALLS: [&[(&str, &str)]; 2] = [&[], &[("SUDO_UID", "65534"), ("SUDO_GID", "65534")]];

fn called(variables: &[(&str, &str)]) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_becalm"));
    // The user's subjects write there.
    for folder in [env.path(), &env.work()] {
        std::fs::set_permissions(folder, Permissions::from_mode(0o777)).unwrap();
    }
    variables.iter().fold(env, |env, (name, value)| env.variable(name, value))
}

/// Measures once with CPUs of its own; `None`, visibly, where there can be none.
fn isolated(test: &str, env: &TestEnv) -> Option<Value> {
    let rest = ["1", "--warmup", "0", "--json", "--", "true"];
    let output = env.run([&ISOLATED[..], &rest].concat()).exits_with(0);
    let record: Value = serde_json::from_str(&output.stdout).unwrap();
    if record["conditions"]["isolation"] == Value::Null {
        skipped(&format!("{test}: {}", output.stderr.lines().next().unwrap_or_default()));
        return None;
    }
    Some(record)
}

/// Returns the folder of the control group that a record tells of.
fn group(record: &Value) -> String {
    record["conditions"]["isolation"]["group"].as_str().unwrap().to_owned()
}

/// Returns the children of a process that are becalm too: its steward, where it has one.
fn stewards(of: u32) -> Vec<String> {
    let children = std::fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap();
    // Its guardian was started as a program of its own.
    let is_steward = |pid: &&str| {
        let words = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.contains("--isolate")
    };
    children.split_whitespace().filter(is_steward).map(str::to_owned).collect()
}

// One test, because each would have to wait for the others.
#[test]
fn isolation_is_recorded_and_taken_down_also_after_a_kill() {
    for variables in CALLS {
        let env = called(variables);
        let Some(record) = isolated("isolation_is_recorded", &env) else { return };
        let conditions = &record["conditions"];
        assert!(conditions["affinity"].as_str().unwrap().parse::<u32>().is_ok(), "{conditions}");
        assert!(conditions["isolation"]["cpus"].is_string(), "{conditions}");
        assert!(!conditions["limits"].to_string().contains("did not last"), "{conditions}");
        assert!(!Path::new(&group(&record)).exists());
        for victim in [Victim::Becalm, Victim::Steward] {
            check_a_kill(variables, victim, &group(&record));
        }
    }
}

/// Who is killed in the middle of a session, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Becalm,
    /// Where there is one, and then becalm.
    Steward,
}

fn check_a_kill(variables: &[(&str, &str)], victim: Victim, group: &str) {
    let env = called(variables);
    // Nobody ends it when becalm is killed, so it ends with its folder.
    let script = "cat /proc/self/cgroup > in; while [ -e in ]; do sleep 0.02; done";
    let subject = ["1", "--warmup", "0", "--", "sh", "-c", script];
    let mut command = env.command([&ISOLATED[..], &subject].concat());
    let mut becalm = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let file = env.work().join("in");
    let is_inside = || std::fs::read_to_string(&file).is_ok_and(|text| text.contains("becalm"));
    wait_until("a subject in its group", is_inside);
    let stewards = stewards(becalm.id());
    assert_eq!(stewards.len(), usize::from(!variables.is_empty()), "{stewards:?}");
    if let (Victim::Steward, [steward]) = (victim, &stewards[..]) {
        assert!(Command::new("kill").args(["-9", steward]).status().unwrap().success());
    }
    becalm.kill().unwrap();
    becalm.wait().unwrap();
    wait_until("the end of the isolation", || !Path::new(group).exists());
    // The lock is free again once everything is put back.
    assert!(isolated("after a kill", &env).is_some(), "{victim:?}");
}
