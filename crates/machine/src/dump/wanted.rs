//! What belongs into a dump: everything that becalm reads of a machine.

use super::take::Taking;
use crate::sysroot::SysRoot;
use crate::tasks;
use crate::topology::{confined, devices, memory};
use crate::tune::task::is_of_kernel;

/// Files whose content matters as it is.
const FILES: [&str; 32] = [
    "/proc/cpuinfo",
    "/proc/stat",
    "/proc/meminfo",
    "/proc/interrupts",
    "/proc/softirqs",
    "/proc/cmdline",
    "/proc/version",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/swaps",
    "/proc/sysinfo",
    "/proc/schedstat",
    "/proc/config.gz",
    "/proc/self/cgroup",
    "/proc/self/cpuset",
    "/proc/self/limits",
    "/proc/self/autogroup",
    "/proc/self/cpu_resctrl_groups",
    "/proc/pressure/cpu",
    "/proc/pressure/memory",
    "/proc/pressure/io",
    "/proc/pressure/irq",
    "/proc/device-tree/hypervisor/compatible",
    "/sys/hypervisor/type",
    "/sys/firmware/acpi/platform_profile",
    "/sys/firmware/acpi/platform_profile_choices",
    "/sys/kernel/rcu_expedited",
    "/sys/kernel/rcu_normal",
    "/sys/devices/cpu_core/cpus",
    "/sys/devices/cpu_atom/cpus",
    "/sys/devices/cpu_lowpower/cpus",
    "/etc/os-release",
];

/// Folders with everything in them.
const TREES: [&str; 16] = [
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/devices/system/machinecheck",
    "/sys/devices/system/clocksource",
    memory::TIERS,
    "/sys/devices/virtual/workqueue",
    "/sys/bus/workqueue",
    "/sys/kernel/mm",
    "/sys/module/intel_idle/parameters",
    "/sys/module/pcie_aspm/parameters",
    "/sys/module/processor/parameters",
    "/sys/module/workqueue/parameters",
    "/sys/module/rcutree/parameters",
    "/proc/irq",
    "/proc/sys/kernel",
    "/proc/sys/vm",
];

/// What is taken of the firmware's table, which also holds serial numbers and UUIDs.
const FIRMWARE: [&str; 9] = [
    "sys_vendor",
    "product_name",
    "product_version",
    "product_family",
    "board_vendor",
    "board_name",
    "bios_vendor",
    "bios_version",
    "bios_date",
];

/// File systems that concern the kernel and not the user's files.
const KERNEL_FILE_SYSTEMS: [&str; 8] =
    ["cgroup", "cgroup2", "cpuset", "sysfs", "proc", "debugfs", "tracefs", "resctrl"];

pub(super) fn all(root: &SysRoot, taking: &mut Taking<'_>) {
    for path in FILES {
        taking.file(path);
    }
    for path in TREES {
        taking.tree(path);
    }
    taking.files_of("/sys/class/dmi/id", |name| FIRMWARE.contains(&name));
    taking.class("/sys/class/thermal", |name| {
        ["type", "temp", "cur_state", "max_state"].contains(&name) || name.starts_with("trip_point")
    });
    taking.class("/sys/class/hwmon", |name| {
        let kinds = ["temp", "fan", "power"];
        name == "name" || kinds.iter().any(|kind| name.starts_with(kind))
    });
    taking.class("/sys/class/powercap", |name| {
        ["name", "enabled", "max_energy_range_uj"].contains(&name)
            || name.starts_with("constraint_")
    });
    taking.class("/sys/class/scsi_host", |name| name.starts_with("link_power_management"));
    taking.class("/sys/class/power_supply", |name| {
        ["type", "status", "online", "capacity", "scope", "present"].contains(&name)
    });
    taking.class("/sys/class/platform-profile", |name| {
        ["name", "profile", "choices"].contains(&name)
    });
    let of_group = |name: &str| ["schemata", "cpus_list", "mode"].contains(&name);
    taking.tree("/sys/fs/resctrl/info");
    taking.files_of("/sys/fs/resctrl", of_group);
    taking.class("/sys/fs/resctrl", of_group);
    if let Some(release) = root.read("/proc/sys/kernel/osrelease").value() {
        taking.file(format!("/boot/config-{release}"));
    }
    pci(root, taking);
    for path in ["/.dockerenv", "/run/.containerenv"] {
        taking.mark(path);
    }
    taking.file("/run/systemd/container");
    mounts(taking);
    own_process(taking);
    control_groups(root, taking);
    processes(root, taking);
}

/// What PCI devices are, where they are and what is on them: the folders that the links of the bus and of the
/// classes lead to, with the few files that are read.
fn pci(root: &SysRoot, taking: &mut Taking<'_>) {
    for device in root.list_dir(devices::DEVICES).value().unwrap_or_default() {
        taking.linked(&format!("{}/{device}", devices::DEVICES), |name| {
            ["class", "numa_node", "local_cpulist", "local_cpus"].contains(&name)
        });
    }
    for class in devices::CLASSES {
        for name in root.list_dir(class).value().unwrap_or_default() {
            let entry = format!("{class}/{name}");
            if devices::device_of(root, &entry).is_some() {
                taking.linked(&entry, |_| false);
            }
        }
    }
    for name in root.list_dir(memory::DAX).value().unwrap_or_default() {
        taking.linked(&format!("{}/{name}", memory::DAX), |name| name == "target_node");
    }
}

fn mounts(taking: &mut Taking<'_>) {
    let of_kernel = |kind: Option<&str>| kind.is_some_and(|one| KERNEL_FILE_SYSTEMS.contains(&one));
    for path in ["/proc/mounts", "/proc/self/mounts"] {
        taking.file_with(path, |line| of_kernel(line.split(' ').nth(2)));
    }
    taking.file_with("/proc/self/mountinfo", |line| {
        of_kernel(line.split_once(" - ").and_then(|(_, rest)| rest.split(' ').next()))
    });
}

/// What the kernel lets becalm do; not who the user is.
fn own_process(taking: &mut Taking<'_>) {
    taking.file_with("/proc/self/status", |line| {
        ["Name:", "Cap", "Cpus_allowed", "Mems_allowed", "NoNewPrivs:", "Seccomp", "Threads:"]
            .iter()
            .any(|start| line.starts_with(start))
    });
}

/// The groups that becalm is in, up to the root, and what they allow.
fn control_groups(root: &SysRoot, taking: &mut Taking<'_>) {
    let wants = |name: &str| {
        let kinds = ["cpu.", "cpuset.", "memory.max", "memory.high", "memory.swap.max", "pids.max"];
        kinds.iter().any(|kind| name.starts_with(kind))
            || ["cgroup.controllers", "cgroup.type", "cgroup.subtree_control"].contains(&name)
            || name == "cpus"
    };
    let mut folders = confined::levels(root);
    if let Ok(groups) = crate::cgroup::ControlGroups::read(root) {
        folders.extend(groups.levels);
    }
    for folder in folders {
        taking.files_of(folder, wants);
    }
}

/// Names of processes, which tell other tuners and daemons; of kernel threads also their places.
fn processes(root: &SysRoot, taking: &mut Taking<'_>) {
    for pid in tasks::processes(root) {
        let folder = format!("/proc/{pid}");
        taking.file(format!("{folder}/comm"));
        if is_of_kernel(root, pid) {
            taking.file(format!("{folder}/stat"));
            taking.file_with(format!("{folder}/status"), |line| {
                ["Name:", "State:", "Pid:", "PPid:", "Cpus_allowed"]
                    .iter()
                    .any(|key| line.starts_with(key))
            });
        }
    }
}
