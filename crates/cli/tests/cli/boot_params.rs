//! Boot parameters: advice, and one file that can be taken away again.

use becalm_testkit::{FakeMachine, FakeTree};

use crate::support::{env, json};

fn machine() -> FakeTree {
    FakeMachine { cores: 4, ..FakeMachine::default() }
        .tree()
        .file("/boot/config-6.12.0-fake", "CONFIG_NO_HZ_FULL=y\nCONFIG_CPU_ISOLATION=y\n")
        .file("/etc/default/grub", "GRUB_TIMEOUT=1\n")
        .file("/etc/default/grub.d/other.cfg", "# other\n")
        .file("/usr/sbin/update-grub", "")
}

const FILE: &str = "etc/default/grub.d/99-becalm.cfg";

#[test]
fn the_lines_are_those_of_this_kernel_and_this_loader() {
    let tree = machine();
    let root = tree.path().display().to_string();
    let output = env().run(["boot-params", "--cpus", "2-3", "--root", &root]).exits_with(0);
    for part in [
        "nohz_full=2-3",
        "rcu_nocbs=2-3 is not used: this kernel was built without CONFIG_RCU_NOCB_CPU",
        "GRUB (found here)\n  /etc/default/grub.d/99-becalm.cfg with\n    GRUB_CMDLINE_LINUX_DEFAULT=",
        "then run\n    sudo update-grub\n",
    ] {
        assert!(flat(&output.stdout).contains(&flat(part)), "{part} in\n{}", output.stdout);
    }
    assert!(!tree.path().join(FILE).exists());
}

#[test]
fn without_a_known_boot_loader_the_ways_of_all_are_shown_as_such() {
    let tree = FakeMachine { cores: 4, ..FakeMachine::default() }.tree();
    let root = tree.path().display().to_string();
    let output = env().run(["boot-params", "--cpus", "2-3", "--root", &root]).exits_with(0);
    assert!(output.stdout.contains("No boot loader was found here."), "{}", output.stdout);
}

/// The text in one line.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_file_comes_and_goes_and_nothing_else_changes() {
    let tree = machine();
    let (env, root) = (env(), tree.path().display().to_string());
    let arguments =
        ["boot-params", "--cpus", "3", "--full-isolation", "--write-dropin", "--root", &root];
    let output = env.run(arguments).exits_with(0);
    assert!(output.stderr.contains("`sudo update-grub` and a restart"), "{}", output.stderr);
    let text = std::fs::read_to_string(tree.path().join(FILE)).unwrap();
    assert!(text.contains("isolcpus=managed_irq,domain,3"), "{text}");
    let _ = env.run(["boot-params", "--remove-dropin", "--root", &root]).exits_with(0);
    let left = std::fs::read_dir(tree.path().join("etc/default/grub.d")).unwrap();
    assert_eq!(left.count(), 1);
    let output = env.run(["boot-params", "--remove-dropin", "--root", &root]).exits_with(4);
    assert!(output.stderr.contains("becalm has no file in"), "{}", output.stderr);
}

#[test]
fn a_file_of_somebody_else_stays() {
    let tree = machine().file(format!("/{FILE}"), "mine\n");
    let (env, root) = (env(), tree.path().display().to_string());
    for arguments in [
        &["boot-params", "--cpus", "3", "--write-dropin", "--root", &root][..],
        &["boot-params", "--remove-dropin", "--root", &root],
    ] {
        let output = env.run(arguments).exits_with(4);
        assert!(output.stderr.contains("was not written by becalm"), "{}", output.stderr);
    }
    assert_eq!(std::fs::read_to_string(tree.path().join(FILE)).unwrap(), "mine\n");
}

#[test]
fn scripts_get_parameters_and_loaders() {
    let tree = machine();
    let root = tree.path().display().to_string();
    let output = env().run(["boot-params", "--cpus", "2-3", "--json", "--root", &root]);
    let document = json(&output.exits_with(0).stdout);
    assert_eq!(document["line"], "nohz_full=2-3 irqaffinity=0-1 isolcpus=managed_irq,2-3");
    assert_eq!(document["loaders"][0]["found"], true);
    let valid = jsonschema::validator_for(&becalm_model::wire::json_schema("boot-params").unwrap())
        .unwrap();
    assert!(valid.is_valid(&document), "{document}");
}

#[test]
fn the_cpu_that_the_kernel_starts_on_cannot_be_reserved() {
    let tree = machine();
    let root = tree.path().display().to_string();
    let output = env().run(["boot-params", "--cpus", "0-1", "--root", &root]).exits_with(2);
    assert!(output.stderr.contains("the kernel starts on CPU 0"), "{}", output.stderr);
}
