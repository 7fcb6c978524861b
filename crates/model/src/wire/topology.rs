//! What `becalm topology --json` prints.

use schemars::JsonSchema;
use serde::Serialize;

use super::worded::Worded;
use crate::conditions::AffinityReason;
use crate::note::Limit;

/// How the CPUs of a machine are built together. CPUs are the kernel's numbers; every other number
/// is an index into the list of that name, unless it is called `id`, which is the kernel's own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct TopologyDocument {
    /// `becalm/topology/1`.
    pub schema: String,
    /// CPUs that run.
    pub online: Vec<u32>,
    /// CPUs that are there and switched off.
    pub offline: Vec<u32>,
    /// CPUs that could ever be there, counting free sockets.
    pub possible: Vec<u32>,
    /// Online CPUs on which becalm may run: its affinity and its control groups leave these.
    pub allowed: Vec<u32>,
    /// CPUs without load balancing (`isolcpus=` or an isolated partition).
    pub isolated: Vec<u32>,
    /// CPUs whose tick stops while a single task runs (`nohz_full=`).
    pub nohz_full: Vec<u32>,
    /// How many CPUs' worth of time the control groups allow; absent without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_quota: Option<f64>,
    /// The online CPUs in rising order.
    pub cpus: Vec<TopologyCpu>,
    /// Physical cores, by their lowest CPU.
    pub cores: Vec<TopologyCore>,
    /// Whether cores and packages are guesses, because the kernel does not say who shares a core.
    pub cores_are_guessed: bool,
    /// Packages (sockets), by their lowest CPU.
    pub packages: Vec<TopologyGroup>,
    /// Dies, where the kernel tells them from packages.
    pub dies: Vec<TopologyGroup>,
    /// Clusters of cores that share more than the package, such as a second-level cache.
    pub clusters: Vec<TopologyGroup>,
    /// Books of a mainframe.
    pub books: Vec<TopologyGroup>,
    /// Drawers of a mainframe.
    pub drawers: Vec<TopologyGroup>,
    /// NUMA nodes. Some have memory and no CPU, others CPUs and no memory.
    pub nodes: Vec<TopologyNode>,
    /// Caches, by level and lowest CPU.
    pub caches: Vec<TopologyCache>,
    /// Kinds of cores, the fastest first; a single one on most machines.
    pub kinds: Vec<TopologyKind>,
    /// PCI devices that a measurement may have to do with, by address.
    pub devices: Vec<TopologyDevice>,
    /// Which CPUs a measurement would use: for one thread, and for several.
    pub choices: Vec<TopologyChoice>,
    /// What could not be found out.
    pub limits: Vec<Worded<Limit>>,
}

/// One online CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TopologyCpu {
    /// The kernel's number.
    pub id: u32,
    /// Its core.
    pub core: usize,
    /// Its package.
    pub package: usize,
    /// Its die, where there are dies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub die: Option<usize>,
    /// Its cluster, where there are clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<usize>,
    /// Its NUMA node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<usize>,
    /// Its kind of core.
    pub kind: usize,
    /// Other CPUs of its core.
    pub siblings: Vec<u32>,
    /// Whether becalm may run on it.
    pub allowed: bool,
    /// Speed relative to the fastest CPU, which has 1024 on most machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<u64>,
    /// Highest frequency in kHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_khz: Option<u64>,
    /// How much the firmware prefers this core for a single thread; more is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preference: Option<u64>,
}

/// A physical core.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TopologyCore {
    /// The kernel's number of its first CPU's core; unique in a package at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// Its online CPUs: more than one with SMT.
    pub cpus: Vec<u32>,
    /// Its package.
    pub package: usize,
    /// Its kind.
    pub kind: usize,
}

/// A package, die, cluster, book or drawer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TopologyGroup {
    /// The kernel's number; -1 where it has none. Not always unique.
    pub id: i64,
    /// Its online CPUs.
    pub cpus: Vec<u32>,
}

/// A NUMA node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TopologyNode {
    /// The kernel's number.
    pub id: u32,
    /// Its online CPUs.
    pub cpus: Vec<u32>,
    /// Its memory in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// The kernel knows no nodes: this one stands for the whole machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub assumed: bool,
    /// The CPUs nearest to its memory, where it has none of its own; absent if they are unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<u32>,
    /// What its memory is: `cxl` or `persistent`; absent for plain memory and if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The kernel's number of the tier of its memory; a smaller one is faster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<u32>,
    /// Caches in front of its memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub side_caches: Vec<TopologySideCache>,
    /// How many MiB a second the nearest CPUs read of its memory, where firmware states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bandwidth: Option<u64>,
}

/// A cache in front of the memory of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TopologySideCache {
    /// 1 for the one nearest to the memory.
    pub level: u32,
    /// Size in bytes, where the kernel knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// A PCI device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TopologyDevice {
    /// Domain, bus, device and function: `0000:01:00.0`.
    pub address: String,
    /// `network`, `storage`, `display`, `accelerator` or `memory`.
    pub kind: String,
    /// What the kernel calls what is on it: `eth0`, `nvme0n1`; none without a driver.
    pub names: Vec<String>,
    /// Its NUMA node; absent if the kernel does not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<usize>,
    /// Online CPUs that are near; absent if the kernel does not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<Vec<u32>>,
}

/// One cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TopologyCache {
    /// `L1d`, `L1i`, `L2`, `L3` ...
    pub name: String,
    /// 1 for the one nearest to the core.
    pub level: u32,
    /// `data`, `instruction` or `unified`.
    pub content: String,
    /// Size in bytes, where the kernel knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Online CPUs that share it.
    pub cpus: Vec<u32>,
}

/// A kind of cores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TopologyKind {
    /// `P-core`, `E-core`, `Cortex-X3`, `core` ...
    pub name: String,
    /// Its online CPUs.
    pub cpus: Vec<u32>,
}

/// The CPUs that a measurement would use.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TopologyChoice {
    /// For how many threads; absent for as many as fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// CPUs of the subject.
    pub subject: Vec<u32>,
    /// CPUs of becalm itself.
    pub housekeeping: Vec<u32>,
    /// Why these.
    pub reason: Worded<AffinityReason>,
    /// What this choice cannot give.
    pub limits: Vec<Worded<Limit>>,
}
