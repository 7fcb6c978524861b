//! What the CPUs are.

use std::collections::BTreeSet;

use super::cpuinfo::CpuInfo;
use super::{Collector, as_is};
use crate::topology::Topology;

const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

pub(super) fn collect(collector: &mut Collector<'_>, topology: &Topology) {
    collector.put("architecture", std::env::consts::ARCH);
    let cpuinfo = CpuInfo::of(collector.text("/proc/cpuinfo").unwrap_or_default());
    match cpuinfo.model() {
        Some(model) => collector.put("cpu_model", model),
        None => collector.miss("cpu_model", "/proc/cpuinfo names no model"),
    }
    match cpuinfo.value("microcode") {
        Some(version) => collector.put("microcode", version),
        None => collector.miss("microcode", "/proc/cpuinfo states no microcode version"),
    }
    collector.put_number("cpu_count", topology.online.len() + topology.offline.len());
    collector.put("cpu_online", topology.online.to_string());
    collector.put("cpu_allowed", topology.allowed.to_string());
    collector.put("cpu_offline", or_none(&topology.offline.to_string()));
    if topology.cores_are_guessed {
        for key in ["packages", "cores", "threads_per_core"] {
            collector.miss(key, "the kernel does not say which CPUs share a core");
        }
    } else {
        collector.put_number("packages", topology.packages.len());
        collector.put_number("cores", topology.cores.len());
        collector.put_number("threads_per_core", topology.threads_per_core());
    }
    for (key, cpus, absent) in [
        ("isolated", &topology.isolated, "the kernel does not say which CPUs are isolated"),
        ("nohz_full", &topology.nohz_full, "this kernel cannot stop the tick of a busy CPU"),
    ] {
        let path = format!("{CPUS}/{key}");
        // The topology has read it already; the file only tells empty from unknown.
        collector.file(key, &path, absent, |_| Some(or_none(&cpus.to_string())));
    }
    if topology.kinds.len() > 1 {
        let kinds = topology.kinds.iter().map(|kind| format!("{}:{}", kind.cpus, kind.name));
        collector.put("core_kinds", kinds.collect::<Vec<_>>().join(", "));
    }
    if topology.nodes.is_empty() {
        collector.absent("numa_nodes", NODES, "this kernel has no NUMA nodes");
    } else {
        collector.put_number("numa_nodes", topology.nodes.len());
    }
    let sizes: BTreeSet<u64> = topology.data_caches(3).filter_map(|cache| cache.size).collect();
    match sizes.last() {
        Some(largest) => collector.put("l3_cache", format!("{} KiB", largest / 1024)),
        None => collector.absent("l3_cache", CPUS, "the kernel shows no third level of cache"),
    }
    collector.file(
        "smt",
        "/sys/devices/system/cpu/smt/control",
        "this kernel has no switch for SMT",
        as_is,
    );
}

fn or_none(list: &str) -> String {
    if list.is_empty() { "none".into() } else { list.to_owned() }
}
