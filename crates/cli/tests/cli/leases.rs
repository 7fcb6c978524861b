//! CPUs that no other becalm uses.

use std::process::{Child, Stdio};
use std::time::Duration;

use becalm_machine::SysRoot;
use becalm_testkit::{TestEnv, skipped};
use serde_json::Value;

use crate::support::{env, json, limits, said, wait_until};

/// How often a free CPU is looked for.
const PATIENCE: u32 = 300;

/// A becalm whose only run has begun and does not end.
struct Endless {
    child: Child,
    cpus: String,
}

impl Endless {
    /// Starts one that has its CPU for itself; nothing where other measurements leave none.
    fn start(env: &TestEnv, conditions: &[&str]) -> Option<Self> {
        for _ in 0..PATIENCE {
            let one = Self::start_once(env, conditions);
            let held = becalm_machine::leased(&SysRoot::default(), &one.cpus.parse().unwrap());
            if held.iter().any(|lease| lease.holder == one.child.id()) {
                return Some(one);
            }
            assert!(!held.is_empty(), "nobody holds the CPU that it measures on");
            one.end();
            std::fs::remove_file(env.work().join("cpus")).unwrap();
            std::thread::sleep(Duration::from_millis(200));
        }
        skipped("two measurements at once: others use all CPUs");
        None
    }

    fn start_once(env: &TestEnv, conditions: &[&str]) -> Self {
        let script = "grep Cpus_allowed_list /proc/self/status > cpus.part && \
                      mv cpus.part cpus; sleep 1000";
        let measure = ["--rounds", "1", "--warmup", "0", "--", "sh", "-c", script];
        let mut command = env.command([&["run"], conditions, &measure].concat());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let file = env.work().join("cpus");
        wait_until("the first run", || file.exists());
        let line = std::fs::read_to_string(file).unwrap();
        let cpus = line.split_whitespace().next_back().unwrap().to_owned();
        Self { child, cpus }
    }

    fn end(mut self) {
        crate::support::send("TERM", self.child.id());
        self.child.wait().unwrap();
    }
}

fn measured(conditions: &[&str]) -> Value {
    let rest = ["--rounds", "1", "--warmup", "0", "--json", "--", "true"];
    json(&env().run([&["run"], conditions, &rest].concat()).exits_with(0).stdout)
}

#[test]
fn two_measurements_do_not_share_a_cpu_or_say_so() {
    let first_env = env();
    let Some(first) = Endless::start(&first_env, &["--threads", "1"]) else { return };
    let second = measured(&["--threads", "1"]);
    let pid = first.child.id();
    let cpus = first.cpus.clone();
    first.end();
    let is_shared = second["conditions"]["affinity"] == cpus.as_str();
    let told = format!("another becalm measures on CPU {cpus} at the same time (process {pid})");
    assert_eq!(is_shared, limits(&second).contains(&told), "{}", limits(&second));
}

#[test]
fn cpus_named_by_the_user_are_used_whoever_else_measures_there() {
    let first_env = env();
    let Some(first) = Endless::start(&first_env, &["--threads", "1"]) else { return };
    let second = measured(&["--affinity", &first.cpus]);
    let pid = first.child.id();
    let cpus = first.cpus.clone();
    first.end();
    assert_eq!(second["conditions"]["affinity"], cpus.as_str());
    let told = format!("another becalm measures on CPU {cpus} at the same time (process {pid})");
    assert!(limits(&second).contains(&told), "{}", limits(&second));
}

#[test]
fn isolation_needs_cpus_to_isolate() {
    let output = env().run(["run", "--isolate", "--affinity", "none", "--", "true"]).exits_with(2);
    assert!(said(&output).contains("--isolate needs CPUs"), "{output:?}");
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    let all = ["run", "--isolate", "--affinity", online.trim(), "--", "true"];
    let output = env().run(all).exits_with(2);
    assert!(said(&output).contains("no CPU would be left for everything else"), "{output:?}");
}
