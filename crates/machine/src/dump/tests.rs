use super::*;
use crate::Topology;
use becalm_testkit::{FakeMachine, FakeTree};

fn taken(dump: &Dump, path: &str) -> Option<String> {
    match dump.entries.get(&PathBuf::from(path))? {
        Entry::File(content) => Some(String::from_utf8_lossy(content).into_owned()),
        Entry::Folder => Some("folder".into()),
        Entry::Link(to) => Some(format!("-> {}", to.display())),
    }
}

/// Writes a dump as a tree of files again.
fn unpacked(dump: &Dump) -> FakeTree {
    dump.entries.iter().fold(FakeTree::new(), |tree, (path, entry)| match entry {
        Entry::File(content) => tree.file(path, content),
        Entry::Link(to) => tree.link(path, to),
        Entry::Folder => tree,
    })
}

#[test]
fn a_dump_is_read_as_the_machine_is() {
    let tree =
        FakeMachine { packages: 2, threads: 2, efficient: 2, ..FakeMachine::default() }.tree();
    let root = SysRoot::new(tree.path());
    let copy = unpacked(&Dump::of(&root, &[]));
    assert_eq!(Topology::read(&SysRoot::new(copy.path())), Topology::read(&root));
}

#[test]
fn devices_are_found_in_a_dump_and_their_addresses_are_not() {
    let place = "/sys/devices/pci0000:00/0000:00:03.0";
    let tree = FakeMachine { packages: 2, ..FakeMachine::default() }
        .tree()
        .file(format!("{place}/class"), "0x020000\n")
        .file(format!("{place}/numa_node"), "1\n")
        .file(format!("{place}/local_cpulist"), "4-7\n")
        .file(format!("{place}/vpd"), "serial 77\n")
        .file(format!("{place}/net/enx0016d3cca427/address"), "00:16:d3:cc:a4:27\n")
        .link("/sys/bus/pci/devices/0000:00:03.0", "../../../devices/pci0000:00/0000:00:03.0")
        .link(
            "/sys/class/net/enx0016d3cca427",
            "../../devices/pci0000:00/0000:00:03.0/net/enx0016d3cca427",
        );
    let read = |tree: &FakeTree| {
        let root = SysRoot::new(tree.path());
        let mut topology = Topology::read(&root).unwrap();
        topology.read_devices(&root);
        topology.devices
    };
    let dump = Dump::of(&SysRoot::new(tree.path()), &[]);
    let (here, copied) = (read(&tree), read(&unpacked(&dump)));
    assert_eq!(copied.len(), 1);
    assert_eq!(copied[0].names, ["enxADDRESS"]);
    assert_eq!((&copied[0].cpus, copied[0].node), (&here[0].cpus, Some(1)));
    let has = |text: &str| format!("{:?}", dump.entries).contains(text);
    assert!(!has("0016d3") && !has("00:16:d3") && !has("serial 77"));
}

#[test]
fn what_names_the_machine_stays_there() {
    let tree = FakeMachine::default()
        .tree()
        .file("/proc/sys/kernel/hostname", "mars\n")
        .file("/proc/sys/kernel/random/boot_id", "1b4e28ba-2fa1-11d2-883f-0016d3cca427\n")
        .file("/proc/sys/kernel/numa_balancing", "1\n")
        .file("/sys/class/dmi/id/product_serial", "123\n")
        .file("/sys/class/dmi/id/product_name", "Box of ada\n")
        .file(
            "/proc/self/mountinfo",
            "1 2 0:3 / /home/ada rw - ext4 /dev/x rw\n4 5 0:6 / /sys rw - sysfs s rw\n",
        )
        .file("/proc/self/status", "Name:\tbecalm\nUid:\t1000\nCpus_allowed_list:\t0-3\n");
    let dump = Dump::of(&SysRoot::new(tree.path()), &["ada".into()]);
    assert_eq!(taken(&dump, "/proc/sys/kernel/numa_balancing").as_deref(), Some("1\n"));
    assert_eq!(taken(&dump, "/proc/sys/kernel/hostname"), None);
    assert_eq!(taken(&dump, "/proc/sys/kernel/random/boot_id"), None);
    assert_eq!(taken(&dump, "/sys/class/dmi/id/product_serial"), None);
    assert_eq!(taken(&dump, "/sys/class/dmi/id/product_name").as_deref(), Some("Box of USER\n"));
    assert_eq!(
        taken(&dump, "/proc/self/mountinfo").as_deref(),
        Some("4 5 0:6 / /sys rw - sysfs s rw\n")
    );
    let status = taken(&dump, "/proc/self/status").unwrap();
    assert_eq!(status, "Name:\tbecalm\nCpus_allowed_list:\t0-3\n");
    let all = format!("{:?}", dump.entries);
    assert!(!all.contains("mars") && !all.contains("ada\\n"), "{all}");
}

#[test]
fn links_stay_links_where_their_end_is_taken_too() {
    let tree = FakeTree::new()
        .file("/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n")
        .file("/sys/devices/system/cpu/online", "0\n")
        .file("/sys/devices/system/cpu/cpu0/topology/core_id", "0\n");
    let folder = tree.path().join("sys/devices/system/cpu/cpu0");
    std::os::unix::fs::symlink("../cpufreq/policy0", folder.join("cpufreq")).unwrap();
    std::os::unix::fs::symlink("../../../../firmware/x", folder.join("firmware_x")).unwrap();
    let dump = Dump::of(&SysRoot::new(tree.path()), &[]);
    let link = |name: &str| taken(&dump, &format!("/sys/devices/system/cpu/cpu0/{name}"));
    assert_eq!(link("cpufreq").as_deref(), Some("-> ../cpufreq/policy0"));
    assert_eq!(link("firmware_x"), None);
}

#[test]
fn what_may_not_be_read_is_there_and_counted() {
    let tree = FakeMachine::default().tree().file("/proc/sys/vm/drop_caches", "");
    let root = SysRoot::new(tree.path()).denying("/proc/sys/vm/drop_caches");
    let dump = Dump::of(&root, &[]);
    assert_eq!(taken(&dump, "/proc/sys/vm/drop_caches").as_deref(), Some(""));
    assert!(dump.left_out.iter().any(|one| one.contains("1 file")), "{:?}", dump.left_out);
}

#[test]
fn parts_of_a_watchdog_that_is_off_are_taken_without_being_read() {
    let parts = ["/proc/sys/kernel/nmi_watchdog", "/proc/sys/kernel/soft_watchdog"];
    let tree = FakeMachine::default().tree().file("/proc/sys/kernel/watchdog", "0\n");
    let tree = parts.iter().fold(tree, |tree, part| tree.file(part, "1\n"));
    let root = SysRoot::new(tree.path()).denying(parts[0]).denying(parts[1]);
    let dump = Dump::of(&root, &[]);
    assert!(parts.iter().all(|part| taken(&dump, part).as_deref() == Some("0\n")));
}
