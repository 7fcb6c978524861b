//! A chore that is ended leaves nothing running.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use becalm_testkit::{TestEnv, wait_until, write_program};

fn is_running(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The state comes after the name; what nobody waited for has ended all the same.
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[test]
fn what_a_chore_has_started_ends_with_it() {
    // Temporary folders may be where nothing can be executed.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let pids = folder.path().join("pids");
    // In the place of cargo: it starts something and waits for it, as cargo does with tests.
    let cargo = folder.path().join("cargo");
    let script = format!("#!/bin/sh\nsleep 1000 &\necho $$ $! >{}\nwait\n", pids.display());
    write_program(&cargo, &script);
    // Signals that these tests ignore it does not.
    let mut chore = TestEnv::new(env!("CARGO_BIN_EXE_xtask"))
        .command(["docs", "--check"])
        .env("CARGO", &cargo)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    wait_until("the start of cargo", || read(&pids).ends_with('\n'));
    let started = read(&pids);
    assert!(started.split_whitespace().all(is_running), "{started}");
    let sent = Command::new("kill").args(["-TERM", &chore.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(chore.wait().unwrap().signal(), Some(15));
    wait_until("the end of all of it", || !started.split_whitespace().any(is_running));
}
