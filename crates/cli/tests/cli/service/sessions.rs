//! Sessions of users, with the machine tuned for them by the service.

use std::os::unix::fs::{PermissionsExt, chown};

use becalm_testkit::{CommandOutput, FakeMachine, TestEnv, skipped};
use serde_json::Value;

use super::{BALANCING, ONLY, bench};
use crate::support::{is_root, json, limits};

/// Puts the place of a service on the folder `TREE` where clients look for that of this machine, and has the user call
/// becalm.
const SESSION: &str = r#"
{ mount -t tmpfs none /run && mkdir -p -m 711 /run/becalm "$TREE/run/becalm" &&
  mount --bind "$TREE/run/becalm" /run/becalm; } || exit 77
exec 9<"$0"
"$0" machine service run --root "$TREE" --group 4343 2>../service & service=$!
until "$0" machine service status >/dev/null 2>&1; do sleep 0.05; done
setpriv --reuid 4242 --regid 4343 --clear-groups /proc/self/fd/9 "$@"; code=$?
kill $service; exit $code
"#;

/// Measures as a user, on this machine, with another one tuned for it; `None`, visibly, where that cannot be.
fn session(test: &str, policy: &str, subject: &str) -> Option<(CommandOutput, Option<Value>)> {
    if !is_root() {
        skipped(&format!("{test}: not root"));
        return None;
    }
    let tree = FakeMachine::default()
        .tree()
        .file(BALANCING, "1\n")
        .file("/proc/sys/kernel/random/boot_id", "0000-this-boot\n")
        .file("/etc/becalm/service.toml", policy);
    let env = TestEnv::new("unshare").variable("TREE", &tree.path().display().to_string());
    for folder in [tree.path(), env.path()] {
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
    }
    chown(env.work(), Some(4242), Some(4343)).unwrap();
    env.write("only.toml", "only = [\"numa-balancing\"]\n");
    let before = ["-m", "sh", "-c", SESSION, env!("CARGO_BIN_EXE_becalm")];
    let run = ["run", "--tune=./only.toml", "--affinity", "0", "--rounds", "1", "--warmup", "0"];
    let rest = ["--export-json", "saved.json", "--", "sh", "-c", subject];
    let output = env.run([&before[..], &run, &rest].concat());
    if output.status.code() == Some(77) || output.stderr.starts_with("unshare:") {
        skipped(&format!("{test}: this sandbox does not allow a mount"));
        return None;
    }
    let value = std::fs::read_to_string(tree.path().join(BALANCING.trim_start_matches('/')));
    assert_eq!(value.unwrap().trim(), "1", "{test}");
    let saved = std::fs::read_to_string(env.work().join("saved.json"));
    Some((output, saved.ok().map(|saved| json(&saved))))
}

#[test]
fn a_session_of_a_user_says_what_was_tuned_for_it() {
    let Some((output, record)) = session("a_session_of_a_user", "", "true") else { return };
    let output = output.exits_with(0);
    let record = record.unwrap();
    let tuned = &record["conditions"]["tuned"];
    assert_eq!(tuned[0]["target"], BALANCING, "{tuned}\n{}", output.stderr);
    assert!(!limits(&record).contains("put it back"), "{}", limits(&record));
}

#[test]
fn a_session_that_outlasts_its_time_goes_on_and_says_so() {
    let subject = format!("until grep -q 1 \"$TREE{BALANCING}\"; do sleep 0.02; done");
    let limit = "limit = \"2s\"\n";
    let Some((output, record)) = session("a_session_that_outlasts", limit, &subject) else {
        return;
    };
    // On a machine that is very busy it was over before it began.
    if output.stderr.contains("2 s that the service gives a user are over") {
        skipped("a_session_that_outlasts: its time was up before its first run");
        return;
    }
    let output = output.exits_with(0);
    let told = "the service of this machine put it back after 2 s";
    assert!(output.stderr.contains(told), "{}", output.stderr);
    let record = record.unwrap();
    assert!(limits(&record).contains(told), "{}", limits(&record));
    let drifted = record["conditions"]["drifted"].as_array();
    assert!(drifted.is_none_or(Vec::is_empty), "nobody else has changed anything: {drifted:?}");
}

#[test]
fn without_a_service_nothing_is_different() {
    let mut bench = bench("");
    bench.service.kill().unwrap();
    bench.service.wait().unwrap();
    let root = bench.root();
    let output = bench.env.run(["machine", "service", "status", "--root", &root]).exits_with(4);
    assert!(output.stderr.contains("no service of becalm runs"), "{}", output.stderr);
    if !is_root() {
        skipped("without_a_service: not root, so that the folder is this user's to tune");
        return;
    }
    let (code, _, complained) = bench.run(&bench.hold(&ONLY, "true"));
    assert_eq!(code, Some(4), "{complained}");
    assert!(complained.contains("tuning needs root"), "{complained}");
}
