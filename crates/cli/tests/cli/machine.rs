//! A capture of a machine stands for it, and does not say whose it is.

use std::process::Command;

use becalm_testkit::FakeMachine;

use crate::support::env;

fn unpack(folder: &std::path::Path, archive: &str) {
    let status = Command::new("tar").args(["xzf", archive]).current_dir(folder).status();
    assert!(status.expect("tar is there").success());
}

#[test]
fn a_capture_of_this_machine_says_what_the_machine_says() {
    let env = env();
    let output = env.run(["machine", "dump"]).exits_with(0);
    assert!(output.stderr.contains("wrote becalm-machine.tar.gz: "), "{}", output.stderr);
    assert!(output.stderr.contains("Not included:\n- serial numbers"), "{}", output.stderr);
    unpack(&env.work(), "becalm-machine.tar.gz");
    let topology = |arguments: &[&str]| {
        let output = env.run([&["topology", "--json"], arguments].concat()).exits_with(0);
        let mut topology: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
        // This depends also on what `noise probe` found before, which is no part of a capture.
        let choices = topology.as_object_mut().unwrap().remove("choices");
        assert!(choices.is_some());
        topology
    };
    assert_eq!(topology(&["--root", "becalm-machine"]), topology(&[]));
}

#[test]
fn a_capture_of_a_tree_keeps_links_and_drops_names() {
    let tree = FakeMachine { cores: 2, threads: 2, ..FakeMachine::default() }
        .tree()
        .file("/proc/sys/kernel/hostname", "mars\n")
        .file("/proc/cmdline", "root=/dev/mars nohz_full=1 -- secret\n")
        .file("/sys/devices/system/cpu/cpufreq/policy9/scaling_governor", "schedutil\n");
    let cpu = tree.path().join("sys/devices/system/cpu/cpu3");
    std::fs::remove_dir_all(cpu.join("cpufreq")).unwrap();
    std::os::unix::fs::symlink("../cpufreq/policy9", cpu.join("cpufreq")).unwrap();
    let env = env();
    let root = tree.path().display().to_string();
    let _ = env.run(["machine", "dump", "m.tar.gz", "--root", &root]).exits_with(0);
    unpack(&env.work(), "m.tar.gz");
    let captured = env.work().join("becalm-machine");
    let read = |path: &str| std::fs::read_to_string(captured.join(path)).unwrap();
    assert_eq!(read("proc/cmdline"), "root=REDACTED nohz_full=1\n");
    assert_eq!(read("sys/devices/system/cpu/cpu3/cpufreq/scaling_governor"), "schedutil\n");
    assert!(!captured.join("proc/sys/kernel/hostname").exists());
}

#[test]
fn nothing_to_capture_is_an_error() {
    let env = env();
    let output = env.run(["machine", "dump", "--root", "nowhere"]).exits_with(4);
    assert!(output.stderr.contains("neither `proc` nor `sys`"), "{}", output.stderr);
}
