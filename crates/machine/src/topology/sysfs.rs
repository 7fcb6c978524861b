//! Reads a [`Topology`] from `/sys`, and from what `/proc` knows where `/sys` cannot be read.

use std::collections::BTreeMap;

use becalm_model::{CpuId, CpuSet};

use super::{
    Cache, CacheContent, Core, Cpu, Node, Package, Topology, TopologyError, cpuinfo, kinds,
};
use crate::activity::parse::stat_cpus;
use crate::cpumask::{read_first, read_list};
use crate::sysroot::{Reading, SysRoot};

const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

impl Topology {
    /// Reads how the machine is built. What is missing is guessed from `/proc`, and said in
    /// [`Topology::limits`].
    pub fn read(root: &SysRoot) -> Result<Self, TopologyError> {
        let mut topology = Self::default();
        topology.read_sets(root)?;
        let place = topology.read_places(root);
        topology.read_caches(root);
        topology.read_nodes(root);
        topology.kinds = kinds::read(root, &topology.online);
        topology.join(&place);
        Ok(topology)
    }

    /// Finds which CPUs there are and which of them this process may use.
    fn read_sets(&mut self, root: &SysRoot) -> Result<(), TopologyError> {
        let set = |name: &str| read_list(root, format!("{CPUS}/{name}")).value();
        let folders = cpu_folders(root);
        let affinity = allowed(root);
        self.online = match set("online").or_else(|| online_by_folder(root, &folders)) {
            Some(online) if !online.is_empty() => online,
            _ => {
                let (online, source) = online_from_proc(root, &affinity)?;
                self.limits.push(format!("{CPUS} cannot be read: the CPUs are those of {source}"));
                online
            }
        };
        let present = set("present").unwrap_or_else(|| folders.union(&self.online));
        self.offline = present.difference(&self.online);
        self.possible = set("possible").unwrap_or(present);
        self.isolated = set("isolated").unwrap_or_default();
        self.nohz_full = set("nohz_full").unwrap_or_default();
        self.allowed = match affinity {
            Reading::Value(allowed) => allowed.intersection(&self.online),
            other => {
                let why = other.why_not().unwrap_or_default();
                self.limits.push(format!(
                    "which CPUs this process may use is not known, so every online one is assumed: \
                     the affinity in /proc/self/status {why}"
                ));
                self.online.clone()
            }
        };
        if self.allowed.is_empty() {
            self.limits.push("none of the CPUs this process may use is online".into());
            self.allowed = self.online.clone();
        }
        Ok(())
    }

    /// Returns each CPU's core, as the set of its CPUs, and the number of its package.
    fn read_places(&mut self, root: &SysRoot) -> BTreeMap<CpuId, (CpuSet, i64)> {
        let mut places = BTreeMap::new();
        for cpu in self.online.iter() {
            let folder = format!("{CPUS}/cpu{cpu}/topology");
            let names = ["core_cpus_list", "thread_siblings_list", "core_cpus", "thread_siblings"];
            let Some(mut core) = read_first(root, &folder, &names) else { continue };
            core.insert(cpu);
            let package = root.read(format!("{folder}/physical_package_id")).value();
            let package = package.and_then(|text| text.parse().ok()).unwrap_or(-1);
            places.insert(cpu, (core.intersection(&self.online), package));
        }
        if places.len() == self.online.len() {
            return places;
        }
        let text = root.read("/proc/cpuinfo").value().unwrap_or_default();
        let known: BTreeMap<CpuId, (i64, i64)> = cpuinfo::places(&text)
            .into_iter()
            .filter_map(|place| Some((place.cpu, place.package_and_core?)))
            .collect();
        let missing: CpuSet = self.online.iter().filter(|cpu| !places.contains_key(cpu)).collect();
        if missing.iter().all(|cpu| known.contains_key(&cpu)) {
            self.limits.push(format!("the cores of CPU {missing} are those of /proc/cpuinfo"));
        } else {
            self.cores_are_guessed = true;
            self.limits.push(format!(
                "which of CPU {missing} share a core is not known: each is taken for a core of its own"
            ));
        }
        for cpu in missing.iter() {
            let place = match known.get(&cpu) {
                Some(&place) => {
                    let core = missing.iter().filter(|other| known.get(other) == Some(&place));
                    (core.collect(), place.0)
                }
                None => (CpuSet::from_iter([cpu]), -1),
            };
            places.insert(cpu, place);
        }
        places
    }

    fn read_caches(&mut self, root: &SysRoot) {
        let mut caches: BTreeMap<(u32, CpuSet, CacheContent), Option<u64>> = BTreeMap::new();
        for cpu in self.online.iter() {
            let folder = format!("{CPUS}/cpu{cpu}/cache");
            for index in root.list_dir(&folder).value().unwrap_or_default() {
                let folder = format!("{folder}/{index}");
                let text = |name: &str| root.read(format!("{folder}/{name}")).value();
                let Some(level) = text("level").and_then(|text| text.parse().ok()) else {
                    continue;
                };
                let content = match text("type").as_deref() {
                    Some("Data") => CacheContent::Data,
                    Some("Instruction") => CacheContent::Instruction,
                    Some("Unified") => CacheContent::Unified,
                    _ => continue,
                };
                // The kernel writes both from one set; `lscpu` and `lstopo` trust the mask too.
                let shared = read_first(root, &folder, &["shared_cpu_map", "shared_cpu_list"]);
                let mut shared = shared.unwrap_or_default().intersection(&self.online);
                shared.insert(cpu);
                let size = text("size").and_then(|text| parse_cache_size(&text));
                caches.entry((level, shared, content)).or_insert(size);
            }
        }
        if caches.is_empty() {
            self.limits.push("the kernel does not say which caches there are".into());
        }
        self.caches = caches
            .into_iter()
            .map(|((level, cpus, content), size)| Cache { level, content, size, cpus })
            .collect();
    }

    fn read_nodes(&mut self, root: &SysRoot) {
        let names = root.list_dir(NODES).value().unwrap_or_default();
        for name in names {
            let number = name.strip_prefix("node").and_then(|number| number.parse().ok());
            let Some(id) = number else { continue };
            let cpus = read_first(root, &format!("{NODES}/{name}"), &["cpulist", "cpumap"]);
            let cpus = cpus.unwrap_or_default().intersection(&self.online);
            self.nodes.push(Node { id, cpus });
        }
        // `node10` sorts before `node2` by name.
        self.nodes.sort_by_key(|node| node.id);
    }

    /// Gives every CPU its place in the lists, which it completes.
    fn join(&mut self, places: &BTreeMap<CpuId, (CpuSet, i64)>) {
        let mut package_ids: Vec<i64> = places.values().map(|place| place.1).collect();
        package_ids.sort_unstable();
        package_ids.dedup();
        self.packages = package_ids.iter().map(|&id| Package { id, cpus: CpuSet::new() }).collect();
        let mut core_of: BTreeMap<CpuId, usize> = BTreeMap::new();
        for (&id, (core_cpus, package_id)) in places {
            let core = *core_of.get(&id).unwrap_or(&self.cores.len());
            if core == self.cores.len() {
                // Kernel tables can disagree while a CPU goes on- or offline; the first view wins.
                let free = core_cpus.iter().filter(|cpu| !core_of.contains_key(cpu));
                let cpus: CpuSet = free.collect();
                core_of.extend(cpus.iter().map(|cpu| (cpu, core)));
                self.cores.push(Core { cpus });
            }
            let package = package_ids.iter().position(|id| id == package_id).unwrap_or(0);
            self.packages[package].cpus.insert(id);
            let node = self.nodes.iter().position(|node| node.cpus.contains(id));
            let kind = self.kinds.iter().position(|kind| kind.cpus.contains(id)).unwrap_or(0);
            self.cpus.push(Cpu { id, core, package, node, kind });
        }
    }
}

/// Returns the CPUs that have a folder in `/sys`, on or off.
fn cpu_folders(root: &SysRoot) -> CpuSet {
    let names = root.list_dir(CPUS).value().unwrap_or_default();
    names.iter().filter_map(|name| name.strip_prefix("cpu")?.parse().ok()).map(CpuId).collect()
}

/// Kernels before 2.6.26 have no list: a CPU is online unless its own file says 0.
fn online_by_folder(root: &SysRoot, folders: &CpuSet) -> Option<CpuSet> {
    let is_on = |cpu: &CpuId| {
        root.read(format!("{CPUS}/cpu{cpu}/online")).value().is_none_or(|text| text != "0")
    };
    Some(folders.iter().filter(is_on).collect()).filter(|online: &CpuSet| !online.is_empty())
}

/// Finds the online CPUs without `/sys`; also returns what named them.
fn online_from_proc(
    root: &SysRoot,
    affinity: &Reading<CpuSet>,
) -> Result<(CpuSet, &'static str), TopologyError> {
    let stat = root.read("/proc/stat");
    let why = stat.why_not();
    let online = stat_cpus(&stat.value().unwrap_or_default());
    if !online.is_empty() {
        return Ok((online, "/proc/stat"));
    }
    let text = root.read("/proc/cpuinfo").value().unwrap_or_default();
    let online: CpuSet = cpuinfo::places(&text).into_iter().map(|place| place.cpu).collect();
    if !online.is_empty() {
        return Ok((online, "/proc/cpuinfo"));
    }
    match affinity {
        Reading::Value(allowed) if !allowed.is_empty() => {
            Ok((allowed.clone(), "the affinity of this process"))
        }
        _ => {
            let why = why.unwrap_or_else(|| "has no cpuN line".into());
            Err(TopologyError::NoCpu(format!("/proc/stat {why}")))
        }
    }
}

/// Reads the CPUs this process may use.
fn allowed(root: &SysRoot) -> Reading<CpuSet> {
    match root.read("/proc/self/status") {
        Reading::Value(text) => match allowed_list(&text) {
            Some(set) => Reading::Value(set),
            None => Reading::Unreadable { reason: "no Cpus_allowed_list line".into() },
        },
        other => other.map(|_| CpuSet::new()),
    }
}

fn allowed_list(status: &str) -> Option<CpuSet> {
    status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.parse().ok()
}

/// Reads a cache size such as `48K` into bytes.
fn parse_cache_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, scale) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1024),
        b'M' => (&text[..text.len() - 1], 1024 * 1024),
        _ => (text, 1),
    };
    number.parse::<u64>().ok()?.checked_mul(scale)
}
