//! What `check` and `services` say and how they exit.

use becalm_testkit::{FakeMachine, FakeTree};

use crate::support::{env, json};

fn machine() -> FakeTree {
    FakeMachine { cpufreq: false, ..FakeMachine::default() }
        .tree()
        .file("/sys/devices/system/cpu/isolated", "2-3\n")
        .file("/proc/sys/kernel/randomize_va_space", "2\n")
}

#[test]
fn a_quiet_machine_exits_with_0_and_a_noisy_one_with_1() {
    let quiet = machine();
    let root = quiet.path().display().to_string();
    let output = env().run(["check", "--root", &root]).exits_with(0);
    assert!(
        output.stdout.starts_with(
            "becalm found nothing that makes results noisy, among what it could read."
        )
    );
    assert!(output.stdout.contains("Not readable here: 2"), "{}", output.stdout);
    assert!(output.stdout.contains("2 further things are worth knowing"), "{}", output.stdout);
    let _noisy = quiet.file("/sys/kernel/mm/ksm/run", "1\n");
    let output = env().run(["check", "--root", &root]).exits_with(1);
    assert!(output.stdout.contains("ksm [noise]"), "{}", output.stdout);
    assert!(output.stdout.contains("Fix: `sudo becalm tune --only ksm`"), "{}", output.stdout);
}

#[test]
fn the_findings_are_json_for_others() {
    let tree = machine().file("/sys/kernel/mm/ksm/run", "1\n");
    let root = tree.path().display().to_string();
    let document = json(&env().run(["check", "--json", "--root", &root]).exits_with(1).stdout);
    assert_eq!((&document["schema"], &document["noisy"]), (&"becalm/check/1".into(), &true.into()));
    let first = &document["findings"][0];
    assert_eq!((&first["id"], &first["knob"]), (&"ksm".into(), &"ksm".into()));
}

#[test]
fn a_folder_without_a_machine_cannot_be_checked() {
    let tree = FakeTree::new();
    let output = env().run(["check", "--root", &tree.path().display().to_string()]).exits_with(4);
    assert!(
        output.stderr.contains("cannot determine the CPUs of the machine captured in"),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("hint: a captured machine is a folder"), "{}", output.stderr);
}

#[test]
fn services_names_who_used_the_cpu() {
    let document =
        json(&env().run(["services", "--watch", "200ms", "--json"]).exits_with(0).stdout);
    assert_eq!(document["schema"], "becalm/services/1");
    assert!(document["seconds"].as_f64().unwrap() >= 0.2);
    assert!(document["programs"].is_array());
}
