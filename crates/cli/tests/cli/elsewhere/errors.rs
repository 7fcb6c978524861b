//! Each case of a host that cannot be used has one clear sentence, and what mends it.

use std::os::unix::fs::PermissionsExt as _;

use super::Reach;
use crate::support::{Measures, env, is_root};

/// Measures on the host, which has to fail; returns what becalm says.
#[track_caller]
fn fails(reach: &Reach) -> String {
    let output = reach.env.measure(&["--on", "bench", "--rounds", "2", "--", "true"]).exits_with(4);
    assert_eq!(output.stdout, "");
    let said = output.stderr;
    assert_eq!(said.matches("error: ").count(), 1, "{said}");
    assert_eq!(said.matches("hint: ").count(), 1, "{said}");
    said
}

#[test]
fn there_is_no_ssh() {
    let env = env().variable("PATH", "/nonexistent");
    let output = env.run(["run", "--on", "bench", "--", "/bin/true"]).exits_with(4);
    assert!(output.stderr.contains("cannot start ssh"), "{}", output.stderr);
    assert!(output.stderr.contains("openssh-client"), "{}", output.stderr);
}

#[test]
fn the_host_is_unknown() {
    let Some(reach) = Reach::with_becalm("an_unknown_host") else { return };
    let arguments = ["--on", "no-such-host.invalid", "--rounds", "2", "--", "true"];
    let output = reach.env.measure(&arguments).exits_with(4);
    assert!(output.stderr.contains("cannot connect to no-such-host.invalid"), "{}", output.stderr);
}

#[test]
fn no_name_of_a_host_is_an_option_of_ssh() {
    let arguments = ["run", "--on=-oProxyCommand=touch gotcha", "--", "true"];
    let env = env();
    let output = env.run(arguments).exits_with(2);
    assert!(output.stderr.contains("is not the name of a host"), "{}", output.stderr);
    assert!(!env.work().join("gotcha").exists());
}

#[test]
fn the_key_of_the_host_is_unknown() {
    let Some(reach) = Reach::with_becalm("an_unknown_host_key") else { return };
    reach.host.forget_key();
    let said = fails(&reach);
    assert!(said.contains("the key of bench is not the one that ssh knows"), "{said}");
    assert!(said.contains("fingerprint"), "{said}");
}

#[test]
fn the_host_refuses_the_user() {
    let Some(reach) = Reach::with_becalm("a_refused_key") else { return };
    reach.host.refuse();
    let said = fails(&reach);
    assert!(said.contains("bench refuses the login") && said.contains("ssh bench true"), "{said}");
}

#[test]
fn there_is_no_place_for_becalm() {
    let Some(reach) = Reach::without_becalm("no_place_on_the_host") else { return };
    std::fs::write(reach.store(), "a file").unwrap();
    let said = fails(&reach);
    assert!(said.contains("bench has no place for becalm in"), "{said}");
    assert!(said.contains("folder = "), "{said}");
}

#[test]
fn programs_may_not_be_executed_there() {
    let Some(reach) = Reach::without_becalm("a_noexec_folder") else { return };
    let Some(said) = with_mount(&reach, "size=900m,noexec") else { return };
    assert!(said.contains("does not start on bench") && said.contains("noexec"), "{said}");
}

#[test]
fn the_disk_there_is_full() {
    let Some(reach) = Reach::without_becalm("a_full_disk") else { return };
    let Some(said) = with_mount(&reach, "size=64k") else { return };
    assert!(said.contains("bench has no place for becalm"), "{said}");
    assert!(said.contains("No space left on device"), "{said}");
}

/// Measures with a file system of its own in place of the store, which has to fail; `None`, visibly, where that is not
/// allowed.
fn with_mount(reach: &Reach, options: &str) -> Option<String> {
    if !is_root() {
        becalm_testkit::skipped("a file system on the host: not root");
        return None;
    }
    let store = reach.store();
    std::fs::create_dir(&store).unwrap();
    let script = format!(
        "mount -t tmpfs -o {options} none '{}' || exit 77; exec \"$0\" run --on bench --rounds 2 -- true",
        store.display()
    );
    let becalm = reach.env.command(["x"]);
    let mut command = std::process::Command::new("unshare");
    command.args(["-m", "sh", "-c", &script]).arg(becalm.get_program());
    command.env_clear().current_dir(reach.env.work());
    command.envs(becalm.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(77) || said.starts_with("unshare:") {
        becalm_testkit::skipped("a file system on the host: this sandbox does not allow a mount");
        return None;
    }
    assert_eq!(output.status.code(), Some(4), "{said}");
    Some(said)
}

#[test]
fn the_host_has_another_processor() {
    let Some(reach) = Reach::without_becalm("another_architecture_on_the_host") else { return };
    reach.host.imitate("uname", "[ \"$1\" = -m ] && echo pdp11 || exec /usr/bin/uname \"$@\"");
    let said = fails(&reach);
    let here = std::env::consts::ARCH;
    assert!(said.contains(&format!("bench is pdp11, this becalm is for {here}")), "{said}");
    assert!(said.contains("becalm-pdp11"), "{said}");
    assert!(reach.stored("bin").is_empty(), "nothing was copied");
}

#[test]
fn the_host_is_no_linux() {
    let Some(reach) = Reach::without_becalm("another_system_on_the_host") else { return };
    reach.host.imitate("uname", "[ \"$1\" = -s ] && echo FreeBSD || exec /usr/bin/uname \"$@\"");
    let output = reach.env.measure(&["--on", "bench", "--", "true"]).exits_with(4);
    assert!(output.stderr.contains("bench is a FreeBSD machine"), "{}", output.stderr);
}

/// Measures on a host whose clock is ahead by so many seconds; returns what becalm says, and the text of the session.
fn with_clock_ahead(reach: &Reach, seconds: i64) -> (String, String) {
    reach.host.imitate("date", &format!("echo $(($(/usr/bin/date +%s) + {seconds}))"));
    let arguments = ["--on", "bench", "--rounds", "2", "--warmup", "0", "--", "true"];
    let output = reach.env.measure(&arguments).exits_with(0);
    (output.stderr, output.stdout)
}

#[test]
fn the_clock_of_the_host_is_ahead_or_behind() {
    let Some(reach) = Reach::with_becalm("another_time_on_the_host") else { return };
    for (seconds, how) in [(7300, "ahead of"), (-7300, "behind")] {
        let (said, printed) = with_clock_ahead(&reach, seconds);
        // A second more or less may pass meanwhile.
        assert_eq!(said.matches("the clock of bench is 7").count(), 1, "{said}");
        assert!(said.contains(&format!(" s {how} the clock here")), "{said}");
        assert!(said.contains("timedatectl set-ntp true"), "{said}");
        // Whoever reads the record later has no other way to know.
        let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(printed.contains("those of its clock, 7") && printed.contains(how), "{printed}");
    }
    let (said, _) = with_clock_ahead(&reach, 5);
    assert!(!said.contains("clock"), "{said}");
}

/// Makes a program of the host that passes for becalm.
fn imitate(reach: &Reach, script: &str) {
    let path = reach.env.path().join("imitation");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    reach.hosts(&format!("becalm = '{}'\n", path.display()));
}

#[test]
fn another_version_is_installed_there() {
    let Some(reach) = Reach::without_becalm("another_version_on_the_host") else { return };
    imitate(&reach, "echo '{\"hello\":{\"version\":\"99.0.0\"}}'; cat > /dev/null");
    let said = fails(&reach);
    assert!(said.contains("bench has becalm 99.0.0, this is"), "{said}");
}

#[test]
fn something_else_is_installed_there() {
    let Some(reach) = Reach::without_becalm("something_else_on_the_host") else { return };
    imitate(&reach, "echo 'Welcome to bench!'; cat > /dev/null");
    let output = reach.env.measure(&["--on", "bench", "--rounds", "2", "--", "true"]).exits_with(4);
    assert!(output.stderr.contains("unexpected answer from bench: Welcome to bench!"));
    imitate(&reach, "echo 'cannot do it' >&2; exit 1");
    let said =
        reach.env.measure(&["--on", "bench", "--rounds", "2", "--", "true"]).exits_with(4).stderr;
    assert!(said.contains("the connection to bench was lost: cannot do it"), "{said}");
}

#[test]
fn the_file_of_hosts_has_a_mistake() {
    let env = env();
    let folder = env.path().join("config/becalm");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("hosts.toml"), "[bench]\nport = 22\n").unwrap();
    let output = env.run(["check", "--on", "bench"]).exits_with(2);
    assert!(output.stderr.contains("hosts.toml") && output.stderr.contains("line 2"));
}
