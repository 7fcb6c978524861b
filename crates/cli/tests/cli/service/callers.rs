//! Callers that are hostile, many at once, or wait for each other.

use std::io::Write as _;
use std::process::Stdio;

use becalm_testkit::{CommandOutput, skipped, wait_until};
use serde_json::{Value, json};

use super::{Caller, ONLY, UNTIL_STOP, bench, settings, turn};
use crate::support::is_root;

#[test]
fn hostile_callers_get_nothing_and_keep_nobody_waiting() {
    let bench = bench("isolated-cpus = 1\n");
    let version = env!("CARGO_PKG_VERSION");
    let calls: [&[u8]; 7] = [
        b"\n",
        b"hello\n",
        b"{}\n",
        b"\xff\xfe\0\0\n",
        b"{\"version\":\"0\",\"wish\":\"Status\"}\n",
        b"{\"version\":7,\"wish\":{\"Machine\":{}}}\n",
        &[b'['; 3000],
    ];
    for call in calls {
        let mut caller = bench.call();
        caller.stream.write_all(call).unwrap();
        caller.stream.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(caller.is_left_alone(), "{}", String::from_utf8_lossy(call));
    }
    // One who waits in silence, with half a call, harms nobody.
    let mut silent = bench.call();
    silent.stream.write_all(format!("{{\"version\":\"{version}\"").as_bytes()).unwrap();
    assert_endless(&mut bench.call(), "a call without an end");
    bench.serves("beside a silent one");
    // With the machine in hand.
    for wrong in [
        json!("Finish"),
        json!("Stop"),
        json!("DropPageCache"),
        json!("Tracepoints"),
        json!({ "Remember": [] }),
        json!({ "Begin": { "command": "again", "wait": "No" } }),
        json!({ "Turn": { "path": "/etc/shadow" } }),
        json!("OpenGroup/../../etc"),
        json!(null),
    ] {
        let mut caller = bench.begun();
        caller.says(&wrong);
        assert!(caller.is_left_alone(), "{wrong}");
        bench.is_put_back(&wrong.to_string());
    }
    let mut caller = bench.begun();
    caller.says(&json!("OpenGroup"));
    assert!(caller.hears()["Answer"].get("Err").is_some(), "there is no group yet");
    assert_endless(&mut caller, "a request without an end");
    // Each change adds to the journal.
    let mut caller = bench.begun();
    let mut refused = std::iter::repeat_with(|| {
        caller.says(&turn(&["numa-balancing"]));
        caller.hears()["Answer"]["Err"]["NotAllowed"]["TooOften"].clone()
    });
    assert_eq!(refused.find(|refused| !refused.is_null()), Some(json!(32)));
    drop(caller);
    bench.serves("after all of it");
}

/// Checks that nobody listens to the end of 100 MB without a line's end.
#[track_caller]
fn assert_endless(caller: &mut Caller, what: &str) {
    let part = vec![b'x'; 1 << 16];
    let sent = (0..1600).take_while(|_| caller.stream.write_all(&part).is_ok()).count();
    assert!(sent < 1600, "{what}: all of it was taken");
    assert!(caller.is_left_alone(), "{what}");
}

#[test]
fn many_connections_of_one_user_shut_nobody_else_out() {
    let bench = bench("");
    if !is_root() {
        skipped("many_connections: not root, so that becalm knows no other user");
        return;
    }
    // Root's own.
    let mut all: Vec<Caller> = (0..200).map(|_| bench.call()).collect();
    let mut turned_away = 0;
    for caller in &mut all[16..] {
        turned_away += usize::from(caller.hears() == "TooMany");
    }
    assert_eq!(turned_away, 184);
    let (code, _, complained) = bench.run(&bench.hold(&ONLY, "true"));
    assert_eq!(code, Some(0), "{complained}");
    drop(all);
    bench.serves("when they have gone");
}

#[test]
fn the_machine_goes_round_in_the_order_of_the_calls() {
    let bench = bench("");
    let first = bench.begun();
    let queued = |name: &str, place: u64| {
        let mut caller = bench.call();
        caller.wants(name, "Forever");
        let heard = caller.hears();
        assert_eq!(heard["Queued"]["place"], place, "{name}: {heard}");
        assert_eq!(heard["Queued"]["holder"]["command"], "becalm test", "{name}");
        caller
    };
    let mut second = queued("second", 1);
    let gone = queued("gone", 2);
    let mut third = queued("third", 3);
    let names = || -> Vec<String> {
        let status = bench.status();
        let waiting = status["waiting"].as_array().unwrap();
        waiting.iter().map(|one| one["command"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(), ["second", "gone", "third"]);
    let mut in_haste = bench.call();
    in_haste.wants("in haste", "No");
    let heard = in_haste.hears();
    let holder = |heard: &Value| heard["Held"]["command"].clone();
    let heard = if heard.get("Queued").is_some() { in_haste.hears() } else { heard };
    assert_eq!(holder(&heard), "becalm test", "{heard}");
    drop(gone);
    assert_eq!(third.hears()["Queued"]["place"], 2);
    drop(first);
    second.hear_begun();
    assert_eq!(names(), ["third"]);
    drop(second);
    third.hear_begun();
    assert_eq!(names(), Vec::<String>::new());
}

#[test]
fn a_user_waits_for_the_machine_and_is_told_for_whom() {
    let bench = bench("");
    let first = bench.begun();
    let (code, _, complained) = bench.run(&bench.hold(&ONLY, "true"));
    assert_eq!(code, Some(4), "{complained}");
    assert!(complained.contains("being tuned by `becalm test"), "{complained}");
    let arguments = bench.hold(&[&ONLY[..], &["--wait"]].concat(), "true");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let client = bench.user(&arguments).spawn().unwrap();
    wait_until("a place in the queue", || {
        bench.status()["waiting"].as_array().is_some_and(|waiting| waiting.len() == 1)
    });
    drop(first);
    let output = client.wait_with_output().unwrap();
    let complained = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{complained}");
    assert!(complained.contains("place 1 in the queue: `becalm test` of "), "{complained}");
    bench.is_put_back("after both");
}

#[test]
fn root_and_the_service_wait_for_each_other() {
    if !is_root() {
        skipped("root_and_the_service: not root");
        return;
    }
    let bench = bench("");
    let arguments = bench.hold(&ONLY, UNTIL_STOP);
    let mut command = bench.env.command(&arguments);
    let mut root = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the change", || bench.balancing() == "0");
    assert_eq!(bench.status()["holder"]["uid"], Value::Null);
    let (code, _, complained) = bench.run(&bench.hold(&ONLY, "true"));
    assert_eq!(code, Some(4), "{complained}");
    assert!(complained.contains("tuned by `becalm tune --hold -- sh`"), "{complained}");
    let mut caller = bench.call();
    caller.wants("waits", "Forever");
    assert_eq!(caller.hears()["Queued"]["place"], 1);
    bench.env.write("stop", "");
    root.wait().unwrap();
    caller.hear_begun();
    let output: CommandOutput = bench.env.run(bench.hold(&ONLY, "true"));
    let output = output.exits_with(4);
    assert!(output.stderr.contains("tuned by `waits, for user 0`"), "{}", output.stderr);
    drop(caller);
    bench.is_put_back("after both");
}

#[test]
fn the_time_of_a_user_ends_and_the_next_one_has_the_machine() {
    let bench = bench("limit = \"1s\"\n");
    let mut first = bench.begun();
    let mut next = bench.call();
    next.wants("next", "Forever");
    // Whether it comes in time or not.
    first.says(&turn(&["numa-balancing"]));
    let mut heard = first.hears();
    while heard.get("TimeUp").is_none() {
        assert!(heard.get("Answer").is_some(), "{heard}");
        heard = first.hears();
    }
    assert_eq!(heard["TimeUp"]["seconds"], 1);
    // What became of the machine comes after that, so that who sees a setting change can have heard why.
    let restored = first.hears();
    assert!(restored["PutBack"].get("Ok").is_some(), "{restored}");
    assert!(first.is_left_alone());
    next.hear_begun();
    assert!(settings(&bench.tree) == bench.before, "before the next one has it");
    drop(next);
    // The client says that its time was over, although its command ends later.
    let arguments = bench.hold(&[&ONLY[..], &["--wait"]].concat(), UNTIL_STOP);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let client = bench.user(&arguments).spawn().unwrap();
    wait_until("the change", || bench.balancing() == "0");
    wait_until("the end of its time", || bench.status()["holder"].is_null());
    bench.env.write("stop", "");
    let output = client.wait_with_output().unwrap();
    let complained = String::from_utf8(output.stderr).unwrap();
    let is_told = ["put it back after 1 s", "1 s that the service gives a user are over"];
    assert!(is_told.iter().any(|told| complained.contains(told)), "{complained}");
    bench.is_put_back("after the limit");
}
