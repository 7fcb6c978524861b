use super::loader::MARK;
use super::*;
use crate::{SysRoot, Topology};
use becalm_model::wire::BootDocument;
use becalm_testkit::{FakeMachine, FakeTree};

const CONFIG: &str = "/boot/config-6.12.0-fake";
const ALL: &str = "CONFIG_NO_HZ_FULL=y\nCONFIG_RCU_NOCB_CPU=y\nCONFIG_CPU_ISOLATION=y\n";
const GRUB_FILE: &str = "/etc/default/grub.d/99-becalm.cfg";

fn tree() -> FakeTree {
    FakeMachine { cores: 4, threads: 2, ..FakeMachine::default() }.tree().file(CONFIG, ALL)
}

fn document(tree: &FakeTree, cpus: &str, domain: Domain) -> Result<BootDocument, String> {
    let root = SysRoot::new(tree.path());
    let topology = Topology::read(&root).unwrap();
    let reserved = Reserved::new(&topology, &cpus.parse().unwrap())?;
    let options = KernelOptions::read(&root);
    let of_line = |line: &str| loaders(&root, line);
    parameters(&root, &topology, &reserved, &options, domain, &[], of_line)
}

#[track_caller]
fn check_line(tree: &FakeTree, cpus: &str, domain: Domain, expected: &str) -> BootDocument {
    let document = document(tree, cpus, domain).unwrap();
    assert_eq!(document.line, expected);
    document
}

#[track_caller]
fn check_refused(cpus: &str, expected: &str) {
    let error = document(&tree(), cpus, Domain::Balanced).unwrap_err();
    assert!(error.contains(expected), "{error}");
}

fn warned(document: &BootDocument) -> String {
    document.warnings.join("\n")
}

#[test]
fn a_kernel_with_everything_gets_all_parameters() {
    let found = check_line(
        &tree(),
        "3,7",
        Domain::Balanced,
        "nohz_full=3,7 rcu_nocbs=3,7 irqaffinity=0-2,4-6 isolcpus=managed_irq,3,7",
    );
    assert_eq!(found.options_from.as_deref(), Some(CONFIG));
    assert!(found.missing.is_empty() && !warned(&found).contains("share cores"), "{found:?}");
}

#[test]
fn parts_of_a_cache_are_warned_of_where_a_whole_one_can_be_had() {
    let machine = FakeMachine { cores: 8, l3s: 2, ..FakeMachine::default() };
    let warned = |machine: &FakeMachine, cpus| {
        warned(&document(&machine.tree(), cpus, Domain::Balanced).unwrap())
    };
    let found = warned(&machine, "6-7");
    assert!(found.contains("share an L3 cache with CPUs 4-5"), "{found}");
    assert!(found.contains("Reserve all CPUs of a cache: --cpus 4-7"), "{found}");
    for (machine, cpus) in [(&machine, "4-7"), (&FakeMachine { l3s: 1, ..machine.clone() }, "6-7")]
    {
        assert!(!warned(machine, cpus).contains("cache"), "{cpus}");
    }
}

#[test]
fn what_the_kernel_was_built_without_is_left_out_and_said() {
    let tree = tree().file(CONFIG, "# CONFIG_NO_HZ_FULL is not set\nCONFIG_CPU_ISOLATION=y\n");
    let found =
        check_line(&tree, "3,7", Domain::Balanced, "irqaffinity=0-2,4-6 isolcpus=managed_irq,3,7");
    assert!(found.missing[0].contains("without CONFIG_NO_HZ_FULL"), "{found:?}");
    assert!(!warned(&found).contains("nohz_full"), "{found:?}");
    let unknown = document(&tree.without(CONFIG), "3,7", Domain::Balanced).unwrap();
    assert!(unknown.line.starts_with("nohz_full=3,7 "), "{unknown:?}");
    assert!(unknown.missing[0].contains("is unknown"), "{unknown:?}");
}

#[test]
fn full_isolation_is_on_request_and_warns_of_threads_on_one_cpu() {
    let found = document(&tree(), "3,7", Domain::Isolated).unwrap();
    assert!(found.line.ends_with("isolcpus=managed_irq,domain,3,7"), "{found:?}");
    assert!(warned(&found).contains("stay on the CPU that it starts on"), "{found:?}");
}

#[test]
fn traps_are_told_where_they_are() {
    let halves = document(&tree(), "3", Domain::Balanced).unwrap();
    assert!(warned(&halves).contains("Reserve whole cores: --cpus 3,7"), "{halves:?}");
    let tree = tree()
        .file("/sys/devices/system/cpu/cpu3/cpufreq/scaling_driver", "intel_pstate\n")
        .file("/proc/cmdline", "quiet isolcpus=1\n");
    let old = document(&tree, "3,7", Domain::Balanced).unwrap();
    assert!(warned(&old).contains("intel_pstate without"), "{old:?}");
    assert!(warned(&old).contains("already started with isolcpus=1"), "{old:?}");
    let with_hwp =
        document(&tree.file("/proc/cpuinfo", "flags\t: fpu hwp\n"), "3,7", Domain::Balanced);
    assert!(!warned(&with_hwp.unwrap()).contains("intel_pstate without"));
}

#[test]
fn what_was_reserved_or_cannot_be_read_is_told() {
    let partition = "/sys/fs/cgroup/cpuset.cpus.isolated";
    let tree = tree().file("/proc/cmdline", "quiet\n").file(partition, "2-3\n");
    let found = warned(&document(&tree, "3,7", Domain::Balanced).unwrap());
    assert!(found.contains("CPUs 2-3 are already reserved by an isolated partition"), "{found}");
    assert!(!found.contains("unknown"), "{found}");
    let tree = tree.unreadable(partition).unreadable("/proc/cmdline");
    let found = warned(&document(&tree, "3,7", Domain::Balanced).unwrap());
    assert!(
        found.contains("the parameters that this kernel was started with are unknown"),
        "{found}"
    );
    assert!(found.contains("whether a control group reserves CPUs"), "{found}");
}

#[test]
fn further_parameters_are_added_by_name() {
    let root = tree();
    let root = SysRoot::new(root.path());
    let also = |names: &[&str]| {
        let topology = Topology::read(&root).unwrap();
        let reserved = Reserved::new(&topology, &"3,7".parse().unwrap()).unwrap();
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let options = KernelOptions::read(&root);
        parameters(&root, &topology, &reserved, &options, Domain::Balanced, &names, |_| Vec::new())
    };
    let line = also(&["skew_tick", "processor.max_cstate"]).unwrap().line;
    let added = " skew_tick=1 intel_idle.max_cstate=0 processor.max_cstate=1";
    assert!(line.ends_with(added), "{line}");
    let error = also(&["quiet"]).unwrap_err();
    assert!(
        error.contains("the further parameters are kthread_cpus, intel_idle.max_cstate"),
        "{error}"
    );
}

#[test]
fn lists_that_cannot_be_reserved_are_refused() {
    check_refused("9", "the CPUs of this machine are 0-7");
    check_refused("0-3", "starts on CPU 0");
}

#[test]
fn the_drop_in_is_one_file_and_goes_again() {
    let tree =
        tree().file("/etc/default/grub", "GRUB_TIMEOUT=1\n").file("/etc/default/grub.d/x.cfg", "");
    let root = SysRoot::new(tree.path());
    for line in ["nohz_full=3", "nohz_full=2-3"] {
        let (loader, path) = write_dropin(&root, line).unwrap();
        assert_eq!((loader, path.as_str()), (Loader::Grub, GRUB_FILE));
        let text = root.read(GRUB_FILE).value().unwrap();
        assert!(text.ends_with(&format!("_DEFAULT {line}\"")), "{text}");
    }
    let names = root.list_dir("/etc/default/grub.d").value().unwrap();
    assert_eq!(names, ["99-becalm.cfg", "x.cfg"]);
    remove_dropin(&root).unwrap();
    assert_eq!(root.list_dir("/etc/default/grub.d").value().unwrap(), ["x.cfg"]);
    assert!(matches!(remove_dropin(&root), Err(DropinError::None(_))));
}

#[test]
fn files_of_others_are_never_touched() {
    let tree = tree().file("/etc/default/grub", "").file(GRUB_FILE, "mine\n");
    let root = SysRoot::new(tree.path());
    assert!(matches!(write_dropin(&root, "x"), Err(DropinError::NotOurs(_))));
    assert!(matches!(remove_dropin(&root), Err(DropinError::NotOurs(_))));
    assert_eq!(root.read(GRUB_FILE).value().as_deref(), Some("mine"));
    // Nor do they keep ours from being removed.
    let path = "/etc/kernel/cmdline.d/99-becalm.conf";
    let tree = tree.file(path, format!("{MARK}\nnohz_full=3\n"));
    assert_eq!(remove_dropin(&root).unwrap().1, path);
    assert_eq!(root.read(GRUB_FILE).value().as_deref(), Some("mine"));
    drop(tree);
}

#[test]
fn loaders_are_told_apart_and_the_own_one_comes_first() {
    let first = |tree: &FakeTree| {
        let all = loaders(&SysRoot::new(tree.path()), "a=1 b");
        assert_eq!(all.iter().filter(|one| one.found).count(), 1);
        (all[0].name.clone(), all[0].file.clone(), all[0].commands.clone())
    };
    let plain = FakeTree::new().file("/etc/default/grub", "");
    assert_eq!(first(&plain).1, None);
    let debian = plain.file("/usr/sbin/update-grub", "").file("/etc/default/grub.d/x", "");
    let command = vec!["sudo update-grub".to_owned()];
    assert_eq!(first(&debian), ("GRUB".into(), Some(GRUB_FILE.into()), command));
    let fedora = debian.file("/usr/sbin/grubby", "");
    assert_eq!(first(&fedora).2, ["sudo grubby --update-kernel=ALL --args=\"a=1 b\""]);
    let pop = fedora.file("/etc/kernelstub/configuration", "{}");
    assert_eq!(first(&pop).2, ["sudo kernelstub --add-options \"a=1 b\""]);
    let arch =
        FakeTree::new().file("/boot/loader/loader.conf", "").file("/etc/cmdline.d/root.conf", "");
    assert_eq!(first(&arch).1.as_deref(), Some("/etc/cmdline.d/99-becalm.conf"));
    let none = FakeTree::new();
    assert!(matches!(write_dropin(&SysRoot::new(none.path()), "x"), Err(DropinError::NoLoader)));
}
