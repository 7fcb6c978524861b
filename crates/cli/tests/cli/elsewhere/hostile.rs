//! A host that means harm writes nothing but the results, and the terminal obeys none of what it says.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use super::Reach;
use crate::support::{Measures, send, wait_until, with};

#[test]
fn what_a_host_says_is_text() {
    let Some(reach) = Reach::without_becalm("a_hostile_host") else { return };
    let env = &reach.env;
    let version = env!("CARGO_PKG_VERSION");
    let frames = [
        format!("{{\"hello\":{{\"version\":\"{version}\"}}}}"),
        r#"{"say":"\u001b]0;title\u0007said"}"#.to_owned(),
        r#"{"warn":"\u001b[2Jwarned\rover"}"#.to_owned(),
        r#"{"progress":"\u001b[1A\u001b[2K"}"#.to_owned(),
        r#"{"print":"\u001b[31mred\u001b[0m\u001b[5nprinted\n"}"#.to_owned(),
        r#"{"output":[7,"none was asked for"]}"#.to_owned(),
        r#"{"log":"no log\n"}"#.to_owned(),
        r#"{"wants":[99,0]}"#.to_owned(),
        r#"{"error":{"message":"\u001b[2Jfailed","hints":["\u001b]52;c;x\u0007hint"]}}"#.to_owned(),
        r#"{"end":4}"#.to_owned(),
    ];
    let path = env.path().join("imitation");
    let said = frames.map(|frame| format!("printf '%s\\n' '{frame}'\n")).concat();
    let script = format!("#!/bin/sh\nread -r job\nprintf '\\033[2Jraw' >&2\n{said}");
    // The first frame comes before the job is sent.
    let script = script.replacen("read -r job\n", "", 1).replacen("'\n", "'\nread -r job\n", 2);
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    reach.hosts(&format!("becalm = '{}'\n", path.display()));
    let before = files(&reach);
    for command in ["run", "check"] {
        let output = match command {
            "run" => env.measure(&["--on", "bench", "--", "true"]),
            _ => env.run(["check", "--on", "bench"]),
        };
        let output = output.exits_with(4);
        let all = output.stdout.clone() + &output.stderr;
        assert!(
            !all.contains('\u{1b}') && !all.contains('\u{7}') && !all.contains('\r'),
            "{all:?}"
        );
        assert!(all.contains("failed") && all.contains("hint"), "{all}");
    }
    assert_eq!(files(&reach), before);
}

#[test]
fn nothing_precedes_the_job() {
    let Some(reach) = Reach::without_becalm("nothing_precedes_the_job") else { return };
    let heard = reach.env.path().join("heard");
    let ended = reach.env.path().join("ended");
    let path = reach.env.path().join("imitation");
    // It takes so long to start that the user gives up.
    let script =
        format!("#!/bin/sh\n: > '{}'\ncat > '{0}'\n: > '{}'\n", heard.display(), ended.display());
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    reach.hosts(&format!("becalm = '{}'\n", path.display()));
    let mut command = reach.env.command(with("run", &["--on", "bench", "--", "true"]));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the start of the far end", || heard.exists());
    send("TERM", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(143));
    wait_until("the end of the far end", || ended.exists());
    assert_eq!(std::fs::read_to_string(&heard).unwrap(), "");
}

/// Returns every file below the folders of the user.
fn files(reach: &Reach) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut folders: Vec<_> =
        ["work", "home", "config", "data"].map(|name| reach.env.path().join(name)).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}
