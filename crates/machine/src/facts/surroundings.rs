//! What the kernel runs in, and what this process runs in.

use super::Collector;
use super::cpuinfo::CpuInfo;
use crate::cgroup::{CgroupVersion, ControlGroups};

pub(super) fn collect(collector: &mut Collector<'_>) {
    let virtualisation = virtualisation(collector);
    collector.put("virtualisation", virtualisation);
    let container = container(collector);
    collector.put("container", container);
    match ControlGroups::read(collector.root) {
        Ok(groups) => {
            let version = match groups.version {
                CgroupVersion::V1 => "v1",
                CgroupVersion::V2 => "v2",
            };
            collector.put("cgroup", version);
            match groups.quota(collector.root) {
                Ok(Some(cpus)) => collector.put("cpu_quota", format!("{cpus:.2} CPUs")),
                Ok(None) => collector.put("cpu_quota", "none"),
                Err(why) => collector.miss("cpu_quota", why),
            }
        }
        Err(why) => {
            collector.miss("cgroup", why.clone());
            collector.miss("cpu_quota", why);
        }
    }
}

/// Hypervisors by what their firmware calls the machine.
const PRODUCTS: [(&str, &str); 13] = [
    ("Firecracker", "Firecracker"),
    ("KVM", "KVM"),
    ("QEMU", "QEMU"),
    ("VMware", "VMware"),
    ("VirtualBox", "VirtualBox"),
    ("Xen", "Xen"),
    ("HVM domU", "Xen"),
    ("Google Compute Engine", "Google Compute Engine"),
    ("Amazon EC2", "Amazon EC2"),
    ("OpenStack", "OpenStack"),
    ("Parallels", "Parallels"),
    ("BHYVE", "bhyve"),
    ("Microsoft Corporation Virtual Machine", "Hyper-V"),
];

/// Returns the kind of hypervisor, or that there is no sign of any.
///
/// The firmware's words alone do not decide on x86: rented bare metal carries the same names.
fn virtualisation(collector: &Collector<'_>) -> String {
    let cpuinfo = CpuInfo::of(collector.text("/proc/cpuinfo").unwrap_or_default());
    let has_flag = cpuinfo.has_flag("hypervisor");
    let named = named_hypervisor(collector);
    if has_flag == Some(false) && named.as_deref() != Some("Xen") {
        return "none".into();
    }
    match named {
        Some(name) => name,
        None if has_flag == Some(true) => "a hypervisor that does not say its name".into(),
        None => "no sign of any".into(),
    }
}

fn named_hypervisor(collector: &Collector<'_>) -> Option<String> {
    let read = |path: &str| collector.text(path).unwrap_or_default();
    if read("/proc/sys/kernel/osrelease").contains("microsoft") {
        return Some("WSL".into());
    }
    if read("/sys/hypervisor/type") == "xen" {
        return Some("Xen".into());
    }
    // Device trees of Arm guests.
    match read("/proc/device-tree/hypervisor/compatible").as_str() {
        text if text.contains("kvm") => return Some("KVM".into()),
        text if text.contains("xen") => return Some("Xen".into()),
        _ => {}
    }
    let firmware = format!(
        "{} {}",
        read("/sys/class/dmi/id/sys_vendor"),
        read("/sys/class/dmi/id/product_name")
    );
    if let Some((_, name)) = PRODUCTS.iter().find(|(word, _)| firmware.contains(word)) {
        return Some((*name).to_owned());
    }
    // Firecracker has no DMI; its ACPI tables carry its maker's id, which root may read.
    if read("/sys/firmware/acpi/tables/DSDT").contains("FIRECK") {
        return Some("Firecracker".into());
    }
    // KVM offers its clock to guests that have no name of their own.
    let clocks = read("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    clocks.contains("kvm-clock").then(|| "KVM".to_owned())
}

/// Names in the path of a control group that container engines leave there.
const ENGINES: [(&str, &str); 6] = [
    ("kubepods", "Kubernetes"),
    ("docker", "Docker"),
    ("libpod", "Podman"),
    ("lxc", "LXC"),
    ("containerd", "containerd"),
    ("crio", "CRI-O"),
];

/// Says whether this process has the process ids of the kernel itself, and no image for its root: then it
/// is in no container, whatever files an image has left there from which the machine was made.
fn is_first_namespace(collector: &Collector<'_>) -> bool {
    /// `PROC_PID_INIT_INO` of `linux/proc_ns.h`.
    const FIRST: &str = "pid:[4026531836]";
    let mounts = collector.text("/proc/self/mounts").unwrap_or_default();
    let root = mounts.lines().filter_map(|line| line.split_once(" / ")).next_back();
    let is_image = root.is_none_or(|(_, kind)| kind.starts_with("overlay"));
    let own = collector.root.link("/proc/self/ns/pid");
    !is_image && own.is_some_and(|own| own.as_os_str() == FIRST)
}

fn container(collector: &Collector<'_>) -> String {
    let root = collector.root;
    if is_first_namespace(collector) {
        return "no sign of any".into();
    }
    if let Some(name) = collector.text("/run/systemd/container").filter(|name| !name.is_empty()) {
        return name;
    }
    if root.exists("/.dockerenv") {
        return "Docker".into();
    }
    if root.exists("/run/.containerenv") {
        return "Podman".into();
    }
    let groups = collector.text("/proc/self/cgroup").unwrap_or_default();
    let engine = ENGINES.iter().find(|(word, _)| groups.contains(word));
    engine.map_or("no sign of any", |(_, name)| name).to_owned()
}
