//! CPUs that nothing else may use, on the machine that runs the tests.
//!
//! A program of its own, because for a moment every other program of the machine has to make way: tests
//! that look at their own CPUs must not run at the same time.

use std::path::Path;
use std::process::Stdio;

use becalm_testkit::{TestEnv, skipped, wait_until};
use serde_json::Value;

const ISOLATED: [&str; 6] = ["run", "--isolate", "--threads", "1", "--wait", "--rounds"];

/// Measures once with CPUs of its own; `None`, visibly, where there can be none.
fn isolated(test: &str) -> Option<Value> {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_becalm"));
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

// One test, because each would have to wait for the others.
#[test]
fn isolation_is_recorded_and_taken_down_also_after_a_kill() {
    let Some(record) = isolated("isolation_is_recorded_and_taken_down") else { return };
    let conditions = &record["conditions"];
    assert!(conditions["affinity"].as_str().unwrap().parse::<u32>().is_ok(), "{conditions}");
    assert!(conditions["isolation"]["cpus"].is_string(), "{conditions}");
    assert!(!conditions["limits"].to_string().contains("did not last"), "{conditions}");
    assert!(!Path::new(&group(&record)).exists());

    let env = TestEnv::new(env!("CARGO_BIN_EXE_becalm"));
    let subject =
        ["1", "--warmup", "0", "--", "sh", "-c", "cat /proc/self/cgroup > in; sleep 1000"];
    let mut command = env.command([&ISOLATED[..], &subject].concat());
    let mut killed = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let file = env.work().join("in");
    let is_inside = || std::fs::read_to_string(&file).is_ok_and(|text| text.contains("becalm"));
    wait_until("a subject in its group", is_inside);
    killed.kill().unwrap();
    killed.wait().unwrap();
    wait_until("the end of the isolation", || !Path::new(&group(&record)).exists());
    // The lock is free again once the guardian has put everything back.
    assert!(isolated("after a kill").is_some());
}
