//! Under sudo the subjects are the user's own.

use std::os::unix::fs::MetadataExt as _;

use becalm_testkit::{CommandOutput, TestEnv, skipped};

use crate::support::is_root;

const SHOW: &str = "id -u; id -g; id -G; echo $HOME $USER $LOGNAME $SHELL $SUDO_UID.; \
                    grep -E 'Cap(Inh|Prm|Eff|Amb)|NoNewPrivs' /proc/self/status";

const SHOWN: &str = "4242\n4343\n4343 4444\n/home/its its its /bin/sh .\n\
                     CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n\
                     CapEff:\t0000000000000000\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\n";

/// Runs becalm as sudo would for a user `its`, whom only a mount namespace of the test knows; `None`,
/// visibly, where there can be none.
fn under_sudo(test: &str, arguments: &[&str]) -> Option<(TestEnv, CommandOutput)> {
    if !is_root() {
        skipped(&format!("{test}: not root"));
        return None;
    }
    let env = TestEnv::new("unshare");
    env.write("passwd", "root:x:0:0:root:/root:/bin/bash\nits:x:4242:4343::/home/its:/bin/sh\n");
    env.write("group", "root:x:0:\nits:x:4343:\nmore:x:4444:its\nother:x:4545:root\n");
    let script = "{ mount --bind passwd /etc/passwd && mount --bind group /etc/group; } || exit 77; \
                  umask 077; echo of root > ../secret; chmod 777 .; chown 4242 . \"$XDG_STATE_HOME\" \"$TMPDIR\"; chmod 755 .. \"$TMPDIR\"; exec env SUDO_UID=4242 SUDO_GID=4343 SUDO_USER=its \
                  SUDO_COMMAND=becalm HOME=/root USER=root LOGNAME=root SHELL=/bin/bash \"$0\" \"$@\"";
    let before = ["-m", "sh", "-c", script, env!("CARGO_BIN_EXE_becalm")];
    let output = env.run([&before[..], arguments].concat());
    if output.status.code() == Some(77) || output.stderr.starts_with("unshare:") {
        skipped(&format!("{test}: this sandbox does not allow a mount"));
        return None;
    }
    Some((env, output))
}

#[test]
fn a_subject_is_the_invoking_user_with_nothing_of_root() {
    let show = format!("{{ {SHOW}; }} > shown");
    let arguments = ["run", "--rounds", "1", "--warmup", "0", "--", "sh", "-c", &show];
    let Some((env, output)) = under_sudo("a_subject_under_sudo", &arguments) else { return };
    let _ = output.exits_with(0);
    let shown = std::fs::read_to_string(env.work().join("shown")).unwrap();
    assert_eq!(shown, SHOWN);
}

#[test]
fn what_is_saved_belongs_to_the_invoking_user() {
    let arguments =
        ["run", "--rounds", "1", "--warmup", "0", "--export-json", "saved.json", "--", "true"];
    let Some((env, output)) = under_sudo("what_is_saved_under_sudo", &arguments) else { return };
    let _ = output.exits_with(0);
    let facts = std::fs::metadata(env.work().join("saved.json")).unwrap();
    assert_eq!((facts.uid(), facts.gid()), (4242, 4343));
    // The log of a session without --export-json lies in a folder of the user's.
    let arguments = ["run", "--rounds", "1", "--warmup", "0", "--", "true"];
    let Some((env, output)) = under_sudo("what_is_logged_under_sudo", &arguments) else { return };
    let _ = output.exits_with(0);
    let folder = env.path().join("state/becalm/sessions");
    let log = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    for path in [folder.parent().unwrap(), &folder, &log] {
        assert_eq!(std::fs::metadata(path).unwrap().uid(), 4242, "{}", path.display());
    }
}

#[test]
fn a_subject_cannot_lead_root_to_where_its_user_may_not_write() {
    let plant = "rm -f saved.json; ln -s ../secret saved.json";
    let arguments = ["run", "--rounds", "1", "--warmup", "0", "--export-json", "saved.json", "--"];
    let arguments = [&arguments[..], &["sh", "-c", plant]].concat();
    let Some((env, output)) = under_sudo("a_subject_that_plants_a_link", &arguments) else {
        return;
    };
    assert!(
        output.stderr.contains("cannot write saved.json: Permission denied"),
        "{}",
        output.stderr
    );
    assert_eq!(std::fs::read_to_string(env.path().join("secret")).unwrap(), "of root\n");
}

#[test]
fn a_hook_is_the_invoking_user_too() {
    let show = format!("{{ {SHOW}; }} > shown");
    let arguments = ["run", "--rounds", "1", "--warmup", "0", "--prepare", &show, "--", "true"];
    let Some((env, output)) = under_sudo("a_hook_under_sudo", &arguments) else { return };
    let _ = output.exits_with(0);
    let shown = std::fs::read_to_string(env.work().join("shown")).unwrap();
    assert_eq!(shown, SHOWN);
}

#[test]
fn a_build_cannot_lead_root_to_what_its_user_may_not_read() {
    let build = "ln -sf /proc/1/environ a; : {link_seed}";
    let arguments = ["compare", "--build", build, "--rounds", "6", "./a", "./a"];
    let Some((_, output)) = under_sudo("a_build_under_sudo", &arguments) else { return };
    assert!(!output.status.success());
    for part in ["cannot keep a copy of", "Permission denied"] {
        assert!(output.stderr.contains(part), "{}", output.stderr);
    }
}

#[test]
fn what_becalm_makes_for_a_subject_may_be_read_by_it_whatever_the_umask() {
    // Not `sh`, which may have to start `date` for a clock; how long that takes depends on what else runs.
    let arguments = [
        "timeit",
        "-p",
        "2",
        "-n",
        "2",
        "-w",
        "0",
        "--min-time",
        "200us",
        "--interpreter",
        "bash",
        "x=2",
    ];
    let Some((_, output)) = under_sudo("timeit_under_sudo", &arguments) else { return };
    let _ = output.exits_with(0);
}
