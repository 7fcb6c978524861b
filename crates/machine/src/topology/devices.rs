//! PCI devices that a measurement may have to do with, and which CPUs are near them.
//!
//! The kernel gives each device a NUMA node, -1 where firmware says nothing, and a list of near CPUs, which then
//! is the list of all. What a device is called by its users stands in the folders of the classes: each entry is
//! a link that leads through the device. <https://docs.kernel.org/PCI/sysfs-pci.html>

use std::collections::BTreeMap;

use becalm_model::CpuSet;

use super::lists::Lists;
use super::{Device, DeviceKind, Topology};
use crate::sysroot::SysRoot;

pub(crate) const DEVICES: &str = "/sys/bus/pci/devices";

/// Classes whose entries are the names of devices. Drives that are reached through several controllers belong
/// to none, and the controllers are named instead.
pub(crate) const CLASSES: [&str; 6] = [
    "/sys/class/net",
    "/sys/class/infiniband",
    "/sys/block",
    "/sys/class/nvme",
    "/sys/class/drm",
    "/sys/class/accel",
];

/// Entries of this class count only for devices that no other class names.
const CONTROLLERS: &str = "/sys/class/nvme";

impl Topology {
    /// Reads the PCI devices too, which only those need who show them. What is there and cannot be read is added
    /// to the limits.
    pub fn read_devices(&mut self, root: &SysRoot) {
        let lists = Lists::new(root);
        let mut names = names(&lists);
        for address in lists.names(DEVICES) {
            let folder = format!("{DEVICES}/{address}");
            let class = lists.text(&format!("{folder}/class"));
            let Some(kind) = class.and_then(|class| kind(&class)) else { continue };
            let (node, cpus) = self.place(&lists, &folder);
            let names = names.remove(&address).unwrap_or_default();
            self.devices.push(Device { address, kind, names, node, cpus });
        }
        self.limits.extend(lists.limit());
    }

    /// Returns the node of a device, and the online CPUs that are near it.
    fn place(&self, lists: &Lists<'_>, folder: &str) -> (Option<usize>, Option<CpuSet>) {
        let text = lists.text(&format!("{folder}/numa_node"));
        let id = text.and_then(|text| text.parse::<u32>().ok());
        let node = id.and_then(|id| self.nodes.iter().position(|node| node.id == id));
        let near = lists.first(folder, &["local_cpulist", "local_cpus"], &CpuSet::new());
        let near = near.map(|near| near.intersection(&self.online));
        match (node, near.filter(|near| !near.is_empty())) {
            // Without a node the kernel calls all CPUs near.
            (None, Some(near)) if near == self.online => (None, None),
            (None, near) => (None, near),
            (Some(index), near) => {
                let of_node = &self.nodes[index].cpus;
                let of_node = (!of_node.is_empty()).then(|| of_node.clone());
                (Some(index), near.or(of_node))
            }
        }
    }
}

/// Returns what a device is by its class: base class, subclass and programming interface in hexadecimal digits.
/// Left out is what no measurement is placed by: bridges, USB, sound, and what has no class.
fn kind(class: &str) -> Option<DeviceKind> {
    let class = u32::from_str_radix(class.trim().strip_prefix("0x")?, 16).ok()? >> 8;
    match (class >> 8, class) {
        (0x01, _) | (_, 0x0c04) => Some(DeviceKind::Storage),
        (0x02, _) | (_, 0x0c06) => Some(DeviceKind::Network),
        (0x03, _) => Some(DeviceKind::Display),
        (0x0b | 0x12, _) => Some(DeviceKind::Accelerator),
        (_, 0x0502) => Some(DeviceKind::Memory),
        _ => None,
    }
}

/// Returns the names of each device, by its address.
fn names(lists: &Lists<'_>) -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::<String, Vec<String>>::new();
    let mut controllers = Vec::new();
    for class in CLASSES {
        // A card of `drm` has entries for its outputs and for rendering, too.
        let is_whole = |name: &String| !class.ends_with("drm") || is_card(name);
        for name in lists.names(class).into_iter().filter(is_whole) {
            let Some(device) = device_of(lists.root, &format!("{class}/{name}")) else { continue };
            if class == CONTROLLERS {
                controllers.push((device, name));
            } else {
                all.entry(device).or_default().push(name);
            }
        }
    }
    for (device, name) in controllers {
        all.entry(device).or_insert_with(|| vec![name]);
    }
    all
}

fn is_card(name: &str) -> bool {
    name.strip_prefix("card").is_some_and(|number| number.bytes().all(|one| one.is_ascii_digit()))
}

/// Returns the last PCI device that the link of an entry leads through.
pub(crate) fn device_of(root: &SysRoot, entry: &str) -> Option<String> {
    let link = root.link(entry)?;
    let mut parts = link.iter().filter_map(|part| part.to_str()).rev();
    parts.find(|part| is_address(part)).map(str::to_owned)
}

/// Says whether a name is that of a PCI device: domain, bus, device and function.
fn is_address(name: &str) -> bool {
    let is_number = |text: &str| text.bytes().all(|one| one.is_ascii_hexdigit());
    let mut parts = name.split(':');
    let (Some(domain), Some(bus), Some(last), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let is_last = last.split_once('.').is_some_and(|(device, function)| {
        device.len() == 2 && function.len() == 1 && is_number(device) && is_number(function)
    });
    domain.len() >= 4 && bus.len() == 2 && is_number(domain) && is_number(bus) && is_last
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::{FakeMachine, FakeTree};

    fn device(tree: FakeTree, address: &str, class: &str, node: &str, cpus: &str) -> FakeTree {
        let place = format!("/sys/devices/pci0000:00/{address}");
        tree.file(format!("{place}/class"), format!("{class}\n"))
            .file(format!("{place}/numa_node"), format!("{node}\n"))
            .file(format!("{place}/local_cpulist"), format!("{cpus}\n"))
            .link(format!("{DEVICES}/{address}"), format!("../../../devices/pci0000:00/{address}"))
    }

    fn named(tree: FakeTree, class: &str, name: &str, path: &str) -> FakeTree {
        let up = "../".repeat(class.matches('/').count() - 1);
        tree.file(format!("/sys/devices/{path}/x"), "")
            .link(format!("{class}/{name}"), format!("{up}devices/{path}"))
    }

    fn read(tree: &FakeTree) -> (Vec<String>, Topology) {
        let root = SysRoot::new(tree.path());
        let mut topology = Topology::read(&root).unwrap();
        topology.read_devices(&root);
        let shown = topology.devices.iter().map(|one| {
            let cpus = one.cpus.as_ref().map_or("unknown".into(), ToString::to_string);
            format!("{} {:?} {} {:?} {cpus}", one.address, one.kind, one.names.join(","), one.node)
        });
        (shown.collect(), topology)
    }

    fn two_packages() -> FakeTree {
        FakeMachine { packages: 2, cores: 2, ..FakeMachine::default() }.tree()
    }

    #[test]
    fn devices_have_kinds_names_and_places() {
        let tree = device(two_packages(), "0000:00:1f.0", "0x060100", "0", "0-1");
        let tree = device(tree, "0000:01:00.0", "0x010802", "1", "2-3");
        let tree = device(tree, "0000:02:00.0", "0x020000", "0", "0-1");
        let tree = device(tree, "0000:03:00.0", "0x030200", "-1", "0-3");
        let tree = device(tree, "10000:e1:00.0", "0x010802", "-1", "2-3");
        let tree = named(tree, "/sys/block", "nvme0n1", "pci0/0000:01:00.0/nvme/nvme0/nvme0n1");
        let tree = named(tree, "/sys/class/nvme", "nvme0", "pci0/0000:01:00.0/nvme/nvme0");
        let tree = named(tree, "/sys/class/nvme", "nvme1", "pci0/10000:e1:00.0/nvme/nvme1");
        let tree = named(tree, "/sys/class/net", "eth0", "pci0/0000:02:00.0/net/eth0");
        let tree = named(tree, "/sys/class/net", "lo", "virtual/net/lo");
        let tree = named(tree, "/sys/class/drm", "card0", "pci0/0000:03:00.0/drm/card0");
        let tree =
            named(tree, "/sys/class/drm", "card0-DP-1", "pci0/0000:03:00.0/drm/card0/card0-DP-1");
        let (shown, topology) = read(&tree);
        assert_eq!(
            shown,
            [
                "0000:01:00.0 Storage nvme0n1 Some(1) 2-3",
                "0000:02:00.0 Network eth0 Some(0) 0-1",
                "0000:03:00.0 Display card0 None unknown",
                "10000:e1:00.0 Storage nvme1 None 2-3",
            ]
        );
        assert_eq!(topology.limits, []);
    }

    #[test]
    fn a_place_that_is_said_in_part_is_completed_and_one_that_cannot_be_read_is_told() {
        let tree = device(two_packages(), "0000:01:00.0", "0x020000", "1", "2-3");
        let place = "/sys/devices/pci0000:00/0000:01:00.0";
        let tree = tree.without(format!("{place}/local_cpulist"));
        assert_eq!(read(&tree).0, ["0000:01:00.0 Network  Some(1) 2-3"]);
        let tree = tree.file(format!("{place}/local_cpus"), "4\n");
        assert_eq!(read(&tree).0, ["0000:01:00.0 Network  Some(1) 2"]);
        let tree = tree.without(format!("{place}/numa_node"));
        assert_eq!(read(&tree).0, ["0000:01:00.0 Network  None 2"]);
        let tree = tree.unreadable(format!("{place}/numa_node"));
        let (shown, topology) = read(&tree);
        assert_eq!(shown, ["0000:01:00.0 Network  None 2"]);
        assert!(format!("{:?}", topology.limits).contains("numa_node"), "{:?}", topology.limits);
        let (shown, topology) = read(&tree.unreadable(format!("{place}/class")));
        assert!(shown.is_empty());
        assert!(format!("{:?}", topology.limits).contains("class"), "{:?}", topology.limits);
    }

    #[test]
    fn addresses_are_told_from_other_names() {
        for name in ["0000:00:1f.2", "10000:e1:00.0", "abcd:ff:1f.7"] {
            assert!(is_address(name), "{name}");
        }
        for name in ["", "pci0000:00", "00:1f.2", "0000:00:1f", "0:0:0:0", "0000:00:1f.2.3", "::."]
        {
            assert!(!is_address(name), "{name}");
        }
        assert_eq!([kind("0x060400"), kind("none"), kind("0x")], [None; 3]);
    }
}
