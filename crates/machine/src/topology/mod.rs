//! How the CPUs of a machine are built together.
//!
//! Only CPUs that are online have a place in cores, packages, nodes and caches: the kernel removes
//! the others from its own tables. Numbers have holes, so nothing here is an index by CPU number.

mod caches;
pub(crate) mod confined;
mod cpuinfo;
pub(crate) mod devices;
mod document;
mod kinds;
mod lists;
pub(crate) mod memory;
mod parts;
mod sysfs;

use becalm_model::conditions::NodeSet;
use becalm_model::{CpuId, CpuSet, TopologyLimit};

/// The CPUs of a machine, and what they share.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Topology {
    /// CPUs that run.
    pub online: CpuSet,
    /// CPUs that are there and switched off.
    pub offline: CpuSet,
    /// CPUs that could ever be there, counting free sockets.
    pub possible: CpuSet,
    /// Online CPUs on which this process may run.
    pub allowed: CpuSet,
    /// CPUs without load balancing (`isolcpus=`).
    pub isolated: CpuSet,
    /// CPUs whose tick stops while a single task runs (`nohz_full=`).
    pub nohz_full: CpuSet,
    /// The online CPUs in rising order.
    pub cpus: Vec<Cpu>,
    /// Physical cores, by their lowest CPU.
    pub cores: Vec<Core>,
    /// Whether cores and packages are guesses, because the kernel does not say who shares a core.
    pub cores_are_guessed: bool,
    /// Packages (sockets), by the kernel's number.
    pub packages: Vec<Group>,
    /// Dies, where the kernel tells them from packages; empty elsewhere.
    pub dies: Vec<Group>,
    /// Clusters of cores inside of a package or die (Intel E-cores, Arm); empty elsewhere.
    pub clusters: Vec<Group>,
    /// Books of a mainframe: several packages each.
    pub books: Vec<Group>,
    /// Drawers of a mainframe: several books each.
    pub drawers: Vec<Group>,
    /// NUMA nodes, by the kernel's number. A node may have memory and no CPU.
    pub nodes: Vec<Node>,
    /// Caches, by level and lowest CPU.
    pub caches: Vec<Cache>,
    /// Kinds of cores, the fastest first; a single one on most machines.
    pub kinds: Vec<CoreKind>,
    /// PCI devices by their address, once [`Topology::read_devices`] has read them.
    pub devices: Vec<Device>,
    /// What could not be found out, as sentences.
    pub limits: Vec<TopologyLimit>,
}

/// One online CPU and where it belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpu {
    /// The kernel's number.
    pub id: CpuId,
    /// Index into [`Topology::cores`].
    pub core: usize,
    /// Index into [`Topology::packages`].
    pub package: usize,
    /// The kernel's number of its core, which is unique in a package at most.
    pub core_id: Option<i64>,
    /// Index into [`Topology::nodes`], where the kernel has nodes.
    pub node: Option<usize>,
    /// Index into [`Topology::kinds`].
    pub kind: usize,
    /// Speed relative to the fastest CPU, where the kernel states it.
    pub capacity: Option<u64>,
    /// Highest frequency in kHz, where the kernel states it.
    pub max_khz: Option<u64>,
    /// How much the firmware prefers this core for a single thread: the ranking of
    /// `amd_pstate_prefcore_ranking`, else the highest performance of `acpi_cppc`.
    pub preference: Option<u64>,
}

/// A physical core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Core {
    /// Its online CPUs: more than one with SMT.
    pub cpus: CpuSet,
}

/// A package (which plugs into a socket), die, cluster, book or drawer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The kernel's number; -1 where the kernel does not know.
    pub id: i64,
    /// Its online CPUs.
    pub cpus: CpuSet,
}

/// A NUMA node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The kernel's number.
    pub id: u32,
    /// Its online CPUs.
    pub cpus: CpuSet,
    /// Its memory in bytes, where the kernel states it.
    pub memory: Option<u64>,
    /// How far it is to each node of [`Topology::nodes`], 10 for itself; empty if the kernel does
    /// not state it.
    pub distances: Vec<u32>,
    /// The CPUs nearest to its memory: its own, or those of other nodes where it has none. Empty
    /// where that is unknown.
    pub near: CpuSet,
    /// Caches in front of its memory, by level.
    pub side_caches: Vec<SideCache>,
    /// The tier of its memory; a smaller number is faster.
    pub tier: Option<u32>,
    /// What its memory is, where that is not plain memory.
    pub kind: Option<MemoryKind>,
    /// How many MiB a second the nearest CPUs read, where firmware states it.
    pub read_bandwidth: Option<u64>,
}

/// A cache in front of the memory of a node, which firmware runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideCache {
    /// 1 for the one nearest to the memory.
    pub level: u32,
    /// Size in bytes, where the kernel states it.
    pub size: Option<u64>,
}

/// Memory that came from a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryKind {
    /// Behind a CXL link.
    Cxl,
    /// Persistent memory that is used as plain memory.
    Persistent,
}

/// A PCI device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Domain, bus, device and function: `0000:01:00.0`.
    pub address: String,
    /// What it is.
    pub kind: DeviceKind,
    /// What the kernel calls what is on it: `eth0`, `nvme0n1`; none without a driver.
    pub names: Vec<String>,
    /// Index into [`Topology::nodes`]; `None` where the kernel does not know.
    pub node: Option<usize>,
    /// Online CPUs that are near; `None` where the kernel does not know.
    pub cpus: Option<CpuSet>,
}

/// What a PCI device is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceKind {
    /// Network, also InfiniBand.
    Network,
    /// Disks and what they hang on.
    Storage,
    /// Display, also a GPU that only computes.
    Display,
    /// Something else that computes.
    Accelerator,
    /// Memory behind a CXL link.
    Memory,
}

/// One cache and the CPUs that share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    /// 1 for the one nearest to the core.
    pub level: u32,
    /// What it holds.
    pub content: CacheContent,
    /// Size in bytes, where the kernel knows it.
    pub size: Option<u64>,
    /// Online CPUs that share it.
    pub cpus: CpuSet,
}

/// What a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheContent {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

/// A set of CPUs that are equally fast by design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreKind {
    /// What to call one of its cores: `P-core`, `Cortex-X3`, `core of capacity 855`, `core`.
    pub name: String,
    /// Its online CPUs.
    pub cpus: CpuSet,
}

/// Why nothing is known about the CPUs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// Neither `/sys` nor `/proc` names a single CPU.
    #[error(
        "no CPUs are known: /sys/devices/system/cpu, /proc/stat, /proc/cpuinfo and \
         /proc/self/status list none ({0})"
    )]
    NoCpu(String),
    /// What should stand for a machine is no folder.
    #[error("{} is not a folder, so no machine can be read from it", .0.display())]
    NoFolder(std::path::PathBuf),
}

impl Topology {
    /// Returns the entry of an online CPU.
    pub fn cpu(&self, id: CpuId) -> Option<&Cpu> {
        let index = self.cpus.binary_search_by_key(&id, |cpu| cpu.id).ok()?;
        self.cpus.get(index)
    }

    /// Returns the online CPUs of the core that `id` belongs to, itself included.
    pub fn core_of(&self, id: CpuId) -> CpuSet {
        match self.cpu(id) {
            Some(cpu) => self.cores[cpu.core].cpus.clone(),
            None => CpuSet::from_iter([id]),
        }
    }

    /// Returns the other online CPUs of the core that `id` belongs to.
    pub fn siblings_of(&self, id: CpuId) -> CpuSet {
        self.core_of(id).difference(&CpuSet::from_iter([id]))
    }

    /// Returns how many CPUs the largest core has: 2 with SMT on most machines, else 1.
    pub fn threads_per_core(&self) -> usize {
        self.cores.iter().map(|core| core.cpus.len()).max().unwrap_or(1)
    }

    /// Returns the CPUs at the data cache of one level that `id` has, itself included; `None` where
    /// no such cache is known.
    pub fn at_cache_of(&self, level: u32, id: CpuId) -> Option<&CpuSet> {
        self.data_caches(level).map(|cache| &cache.cpus).find(|cpus| cpus.contains(id))
    }

    /// Returns all CPUs at the data caches of one level that any of `cpus` has.
    pub fn at_caches_of(&self, level: u32, cpus: &CpuSet) -> CpuSet {
        let caches = self.data_caches(level).map(|cache| &cache.cpus);
        caches
            .filter(|at| !at.intersection(cpus).is_empty())
            .fold(CpuSet::new(), |all, at| all.union(at))
    }

    /// Returns the CPUs of other cores at the data caches of one level that any of `cpus` has.
    pub fn beside(&self, level: u32, cpus: &CpuSet) -> CpuSet {
        self.at_caches_of(level, cpus).difference(&self.whole_cores(cpus))
    }

    /// Returns the CPUs at a data cache of one level that is not that of the first CPU; the last of
    /// several.
    pub fn spare_cache(&self, level: u32) -> Option<&CpuSet> {
        let caches = self.data_caches(level).map(|cache| &cache.cpus);
        caches.filter(|cpus| cpus.first() != self.online.first()).last()
    }

    /// Returns all CPUs of the cores that these are of.
    pub fn whole_cores(&self, cpus: &CpuSet) -> CpuSet {
        cpus.iter().fold(CpuSet::new(), |all, cpu| all.union(&self.core_of(cpu)))
    }

    /// Returns the nodes whose memory is that of these CPUs; `None` where all memory is, or not all of these
    /// CPUs have some.
    pub fn memory_of(&self, cpus: &CpuSet) -> Option<NodeSet> {
        let filled = || self.nodes.iter().filter(|node| node.memory != Some(0));
        let near: Vec<&Node> =
            filled().filter(|node| !node.cpus.intersection(cpus).is_empty()).collect();
        let covered = near.iter().fold(CpuSet::new(), |all, node| all.union(&node.cpus));
        let is_some = near.len() < filled().count() && cpus.difference(&covered).is_empty();
        (is_some && !near.is_empty()).then(|| near.iter().map(|node| node.id).collect())
    }

    /// Returns how far it is from the CPUs of a node to `id`, in the kernel's measure. Where the kernel
    /// does not state it, other nodes of the package count as nearer than those of other packages.
    pub(crate) fn distance(&self, from: &Node, id: CpuId) -> Option<u32> {
        let cpu = self.cpu(id)?;
        let node = cpu.node?;
        let package = &self.packages[cpu.package].cpus;
        Some(match from.distances.get(node) {
            Some(&stated) => stated,
            None if from.cpus.contains(id) => 10,
            None if !package.intersection(&from.cpus).is_empty() => 15,
            None => 20,
        })
    }

    /// Returns the caches of one level that hold data, which leaves instruction caches out.
    pub fn data_caches(&self, level: u32) -> impl Iterator<Item = &Cache> {
        self.caches
            .iter()
            .filter(move |cache| cache.level == level && cache.content != CacheContent::Instruction)
    }
}

#[cfg(test)]
mod tests;
