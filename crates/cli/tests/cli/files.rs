//! Files that a session writes: exports, logs, full disks.

use std::os::unix::fs::FileTypeExt;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

use becalm_testkit::{TestEnv, skipped};

use crate::support::{Measures, T, env, headline, is_root, json, prints, said};

#[test]
fn a_file_that_cannot_be_written_is_an_error_before_anything_is_measured() {
    for flag in ["--export-json", "--export-html", "--export-markdown"] {
        let env = env();
        let output = env.measure(&[flag, "absent/r", "--", "touch", "measured"]).exits_with(2);
        assert_eq!(
            said(&output),
            "error: cannot write absent/r: No such file or directory (os error 2)\nhint: nothing was started; choose a file in an existing, writable folder\n"
        );
        assert!(!env.work().join("measured").exists());
    }
    let output = env().measure(&["--export-json", ".", "--", "true"]).exits_with(2);
    assert!(output.stderr.contains("Is a directory"), "{output:?}");
}

#[test]
fn two_exports_do_not_go_to_the_same_file() {
    let output =
        env().measure(&["--export-json", "r", "--export-html", "r", "--", "true"]).exits_with(2);
    assert_snapshot!(said(&output), @"error: two exports write to the same file r");
}

#[test]
fn all_exports_are_written_and_the_log_is_gone_in_the_end() {
    let env = env();
    let exports =
        ["--export-json", "r.json", "--export-html", "r.html", "--export-markdown", "r.md"];
    let (a, b) = (prints("4"), prints("5"));
    let rest = ["--rounds", "6", "--metric", T, &a, &b];
    let output = env.compare(&[&exports[..], &rest].concat()).exits_with(0);
    assert_snapshot!(headline(&output), @"echo t: 5 is [SHARE] slower than echo t: 4 on t (exact).");
    let mut files: Vec<String> = std::fs::read_dir(env.work())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["r.html", "r.json", "r.md"]);
    assert!(env.read("r.html").contains("<svg") && !env.read("r.html").contains("<script"));
    assert!(env.read("r.md").starts_with("**echo t: 5 is"), "{}", env.read("r.md"));
}

#[test]
fn an_existing_file_is_replaced_and_a_link_keeps_pointing() {
    let env = env();
    env.write("real.json", "old");
    std::os::unix::fs::symlink("real.json", env.work().join("link.json")).unwrap();
    let _ =
        env.measure(&["--rounds", "1", "--export-json", "link.json", "--", "true"]).exits_with(0);
    assert!(env.work().join("link.json").is_symlink());
    assert!(env.read("real.json").starts_with('{'));
}

#[test]
fn a_full_device_is_an_error_after_the_result_was_printed_and_is_never_replaced() {
    let env = env();
    let output =
        env.measure(&["--rounds", "2", "--export-json", "/dev/full", "--", "true"]).exits_with(4);
    assert!(output.stdout.contains("true, wall_time: median"), "{output:?}");
    assert_snapshot!(said(&output), @r"
    error: cannot write /dev/full: No space left on device (os error 28)
    hint: every round that finished before that is in [TMP]/state/becalm/sessions/[LOG]
    ");
    let facts = std::fs::metadata("/dev/full").unwrap();
    assert!(facts.file_type().is_char_device());
}

#[test]
fn a_disk_that_fills_up_ends_in_an_error_and_keeps_what_fitted() {
    if !is_root() {
        return skipped("a_disk_that_fills_up: mounting a small file system needs root");
    }
    let env = TestEnv::new("/usr/bin/unshare");
    let script = format!(
        "mount -t tmpfs -o size=32k none {0} || exit 77; \
         {1} run --affinity none --scheduler other --rounds 200 --export-json {0}/r.json -- true; \
         code=$?; cp {0}/r.json.partial saved; exit $code",
        env.path().join("tmp").display(),
        env!("CARGO_BIN_EXE_becalm"),
    );
    let output = env.run(["-m", "sh", "-c", &script]);
    if output.status.code() == Some(77) || output.stderr.contains("unshare") {
        return skipped("a_disk_that_fills_up: this sandbox does not allow a mount");
    }
    let output = output.exits_with(4);
    assert!(output.stdout.contains("200 runs"), "{output:?}");
    assert_snapshot!(said(&output), @r"
    error: cannot write [TMP]/tmp/r.json: No space left on device (os error 28)
    hint: also: cannot write [TMP]/tmp/r.json.partial: No space left on device (os error 28)
    ");
    let shown = self::env().run(["show".into(), env.work().join("saved").into_os_string()]);
    assert!(shown.exits_with(0).stdout.contains("of 1 subject"));
}

#[test]
fn a_session_without_an_export_leaves_its_log_in_the_state_folder() {
    let env = env();
    for _ in 0..2 {
        let _ = env.measure(&["--rounds", "2", "--", "true"]).exits_with(0);
    }
    let folder = env.path().join("state/becalm/sessions");
    let logs: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(logs.len(), 2);
    let output = env.run([std::ffi::OsStr::new("show"), logs[0].as_os_str()]).exits_with(0);
    assert!(output.stdout.contains("2 runs of 1 subject"), "{}", output.stdout);
}

#[test]
fn without_a_place_for_the_log_the_session_goes_on_and_says_so() {
    let env = env().variable("XDG_STATE_HOME", "/proc/nowhere");
    let output = env.measure(&["--rounds", "2", "--", "true"]).exits_with(0);
    assert!(output.stdout.contains("no log of the session is kept on disk"), "{}", output.stdout);
}

#[test]
fn a_named_pipe_is_read_to_the_end_and_one_that_nobody_reads_is_an_error() {
    let env = env();
    let pipe = env.work().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().unwrap();
    let arguments = ["-r", "2", "--export-json", "pipe", "--", "true"];
    let output = env.measure(&arguments).exits_with(0);
    assert!(output.stdout.contains("2 runs"), "{}", output.stdout);
    let read = reader.wait_with_output().unwrap();
    assert_eq!(json(&String::from_utf8_lossy(&read.stdout))["schema"], "becalm/run/2");
    let output = env.measure(&arguments).exits_with(4);
    assert!(output.stdout.contains("2 runs"), "what was measured is shown: {}", output.stdout);
    assert!(output.stderr.contains("cannot write pipe: No such device"), "{}", output.stderr);
}

#[test]
fn a_session_that_measures_nothing_leaves_the_file_of_an_earlier_one() {
    let env = env();
    let _ = env.measure(&["-r", "2", "--export-json", "r.json", "--", "true"]).exits_with(0);
    let before = env.read("r.json");
    let fails = ["-r", "2", "--setup", "false", "--export-json", "r.json", "--", "true"];
    let output = env.measure(&fails).exits_with(4);
    assert!(output.stderr.contains("r.json was not changed"), "{}", output.stderr);
    assert_eq!(env.read("r.json"), before);
}
