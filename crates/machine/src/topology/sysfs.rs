//! Reads a [`Topology`] from `/sys`, and from what `/proc` knows where `/sys` cannot be read.

use std::collections::BTreeMap;

use becalm_model::{CpuId, CpuSet, TopologyLimit};

use super::confined::cgroup_cpus;
use super::lists::Lists;
use super::parts::Parts;
use super::{Core, Cpu, Group, Node, Topology, TopologyError, caches, cpuinfo, kinds, memory};
use crate::activity::parse::stat_cpus;
use crate::isolcpus;
use crate::sysroot::{Reading, SysRoot};

const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

/// Files with the CPUs of a core and of a package, the names of newer kernels first.
const CORE: [&str; 4] = ["core_cpus_list", "thread_siblings_list", "core_cpus", "thread_siblings"];
const PACKAGE: [&str; 4] =
    ["package_cpus_list", "core_siblings_list", "package_cpus", "core_siblings"];

/// Where a CPU sits.
struct CpuPosition {
    /// The CPUs of its core.
    core: CpuSet,
    /// The CPUs of its package, where the kernel lists them.
    package: Option<CpuSet>,
    /// The kernel's number of its package.
    package_id: i64,
}

impl Topology {
    /// Reads how the machine is built. What is missing is guessed from `/proc`, and said in
    /// [`Topology::limits`]; so is what is there and cannot be read.
    pub fn read(root: &SysRoot) -> Result<Self, TopologyError> {
        let mut topology = Self::default();
        let lists = Lists::new(root);
        topology.read_sets(&lists)?;
        let place = topology.read_places(&lists);
        topology.caches = caches::read(&lists, &topology.online);
        if topology.caches.is_empty() {
            topology.limits.push(TopologyLimit::NoCaches);
        }
        topology.read_nodes(&lists);
        let parts = Parts::read(root, &topology.online);
        topology.kinds = kinds::read(&lists, &topology.online, &topology.caches, &parts);
        topology.join(root, &place);
        topology.read_groups(&lists);
        topology.limits.extend(lists.limit());
        Ok(topology)
    }

    /// Finds which CPUs there are and which of them this process may use.
    fn read_sets(&mut self, lists: &Lists<'_>) -> Result<(), TopologyError> {
        let root = lists.root;
        let set = |name: &str| lists.read(&format!("{CPUS}/{name}"));
        let with = |name: &str, least: &CpuSet| lists.read_with(&format!("{CPUS}/{name}"), least);
        let folders = cpu_folders(lists);
        let affinity = allowed(root);
        self.online = match set("online").or_else(|| online_by_folder(root, &folders)) {
            Some(online) if !online.is_empty() => online,
            _ => {
                let (online, source) = online_from_proc(root, &affinity)?;
                self.limits.push(TopologyLimit::CpusBy { source: source.to_owned() });
                online
            }
        };
        let present = with("present", &self.online).unwrap_or_else(|| folders.union(&self.online));
        self.offline = present.difference(&self.online);
        self.possible = with("possible", &present).unwrap_or(present);
        let booted = |option: fn(&str, &CpuSet) -> Option<CpuSet>| {
            option(&root.read("/proc/cmdline").value()?, &self.possible)
        };
        let isolated = set("isolated").or_else(|| booted(isolcpus::isolated));
        let nohz_full = set("nohz_full").or_else(|| booted(isolcpus::nohz_full));
        (self.isolated, self.nohz_full) =
            (isolated.unwrap_or_default(), nohz_full.unwrap_or_default());
        let confined = cgroup_cpus(lists);
        self.allowed = match affinity {
            Reading::Value(allowed) => allowed.intersection(&self.online),
            other => {
                if confined.is_none() {
                    let error = other.why_not().unwrap_or_default();
                    self.limits.push(TopologyLimit::AllowedUnknown { error });
                }
                self.online.clone()
            }
        };
        // The affinity of a captured tree is that of the program that captured it, if any.
        if let Some(confined) = confined {
            self.allowed = self.allowed.intersection(&confined);
        }
        if self.allowed.is_empty() {
            self.limits.push(TopologyLimit::NoneOnline);
            self.allowed = self.online.clone();
        }
        Ok(())
    }

    /// Returns where each CPU sits.
    fn read_places(&mut self, lists: &Lists<'_>) -> BTreeMap<CpuId, CpuPosition> {
        let root = lists.root;
        let shared = |names: &[&str]| {
            let told = |cpu: CpuId| Some((cpu, self.sharing(lists, cpu, names)?));
            with_what_others_tell(&self.online, self.online.iter().filter_map(told).collect())
        };
        let (mut cores, mut packages) = (shared(&CORE), shared(&PACKAGE));
        let mut places = BTreeMap::new();
        for cpu in self.online.iter() {
            let Some(core) = cores.remove(&cpu) else { continue };
            let package_id = root.parse(format!("{CPUS}/cpu{cpu}/topology/physical_package_id"));
            let (package, package_id) = (packages.remove(&cpu), package_id.unwrap_or(-1));
            places.insert(cpu, CpuPosition { core, package, package_id });
        }
        if places.len() == self.online.len() {
            return places;
        }
        let text = lists.text("/proc/cpuinfo").unwrap_or_default();
        let known: BTreeMap<CpuId, (i64, i64)> = cpuinfo::places(&text)
            .into_iter()
            .filter_map(|place| Some((place.cpu, place.package_and_core?)))
            .collect();
        let missing: CpuSet = self.online.iter().filter(|cpu| !places.contains_key(cpu)).collect();
        if missing.iter().all(|cpu| known.contains_key(&cpu)) {
            self.limits.push(TopologyLimit::CoresByCpuinfo { cpus: missing.clone() });
        } else {
            self.cores_are_guessed = true;
            self.limits.push(TopologyLimit::CoresGuessed { cpus: missing.clone() });
        }
        for cpu in missing.iter() {
            let place = match known.get(&cpu) {
                Some(&place) => {
                    let core = missing.iter().filter(|other| known.get(other) == Some(&place));
                    CpuPosition { core: core.collect(), package: None, package_id: place.0 }
                }
                None => {
                    CpuPosition { core: CpuSet::from_iter([cpu]), package: None, package_id: -1 }
                }
            };
            places.insert(cpu, place);
        }
        places
    }

    /// Returns the online CPUs that share something with `cpu`, itself included, from the first of
    /// several files that tells.
    fn sharing(&self, lists: &Lists<'_>, cpu: CpuId, names: &[&str]) -> Option<CpuSet> {
        let own = CpuSet::from_iter([cpu]);
        let set = lists.first(&format!("{CPUS}/cpu{cpu}/topology"), names, &own)?;
        Some(set.intersection(&self.online))
    }

    /// Reads what lies between cores and packages, and above packages.
    fn read_groups(&mut self, lists: &Lists<'_>) {
        // Kernels that know no dies call every CPU (Arm) or every package (most x86) one; clusters
        // that are a core or a package say nothing either.
        let cores: Vec<&CpuSet> = self.cores.iter().map(|core| &core.cpus).collect();
        let packages: Vec<&CpuSet> = self.packages.iter().map(|package| &package.cpus).collect();
        let dies = self.groups(lists, &["die_cpus_list", "die_cpus"], "die_id", |set| {
            set.len() > 1 && !packages.contains(&set)
        });
        let clusters =
            self.groups(lists, &["cluster_cpus_list", "cluster_cpus"], "cluster_id", |set| {
                set.len() > 1 && !cores.contains(&set) && !packages.contains(&set)
            });
        let clusters =
            clusters.into_iter().filter(|one| dies.iter().all(|die| die.cpus != one.cpus));
        let clusters = clusters.collect();
        let books =
            self.groups(lists, &["book_siblings_list", "book_siblings"], "book_id", |_| true);
        let drawers =
            self.groups(lists, &["drawer_siblings_list", "drawer_siblings"], "drawer_id", |_| true);
        (self.dies, self.clusters, self.books, self.drawers) = (dies, clusters, books, drawers);
    }

    fn groups(
        &self,
        lists: &Lists<'_>,
        names: &[&str],
        id: &str,
        tells: impl Fn(&CpuSet) -> bool,
    ) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for cpu in self.online.iter() {
            if groups.iter().any(|group| group.cpus.contains(cpu)) {
                continue;
            }
            let Some(cpus) = self.sharing(lists, cpu, names).filter(&tells) else { continue };
            let id = lists.root.read(format!("{CPUS}/cpu{cpu}/topology/{id}")).value();
            let id = id.and_then(|text| text.parse().ok()).unwrap_or(-1);
            groups.push(Group { id, cpus });
        }
        groups
    }

    fn read_nodes(&mut self, lists: &Lists<'_>) {
        for name in lists.names(NODES) {
            let number = name.strip_prefix("node").and_then(|number| number.parse().ok());
            let Some(id) = number else { continue };
            let folder = format!("{NODES}/{name}");
            let cpus = lists.first(&folder, &["cpulist", "cpumap"], &CpuSet::new());
            // Beside its list a node has a link to each of its CPUs.
            let cpus = cpus.unwrap_or_else(|| numbered(&lists.names(&folder)));
            let cpus = cpus.intersection(&self.online);
            let memory = lists.root.read(format!("{folder}/meminfo")).value();
            let memory = memory.as_deref().and_then(node_memory);
            let distances = lists.root.read(format!("{folder}/distance")).value();
            let distances = distances.and_then(|text| node_distances(&text)).unwrap_or_default();
            self.nodes.push(Node {
                id,
                cpus,
                memory,
                distances,
                near: CpuSet::new(),
                side_caches: Vec::new(),
                tier: None,
                kind: None,
                read_bandwidth: None,
            });
        }
        // `node10` sorts before `node2` by name.
        self.nodes.sort_by_key(|node| node.id);
        let nodes = self.nodes.len();
        // A table of other nodes than those that are here is none.
        for node in self.nodes.iter_mut().filter(|node| node.distances.len() != nodes) {
            node.distances.clear();
        }
        memory::add(lists, &mut self.nodes);
    }

    /// Gives every CPU its place in the lists, which it completes.
    fn join(&mut self, root: &SysRoot, places: &BTreeMap<CpuId, CpuPosition>) {
        let mut core_of: BTreeMap<CpuId, usize> = BTreeMap::new();
        for (&id, place) in places {
            let core = *core_of.get(&id).unwrap_or(&self.cores.len());
            if core == self.cores.len() {
                // Kernel tables can disagree while a CPU goes on- or offline; the first view wins.
                let free = place.core.iter().filter(|cpu| !core_of.contains_key(cpu));
                let cpus: CpuSet = free.collect();
                core_of.extend(cpus.iter().map(|cpu| (cpu, core)));
                self.cores.push(Core { cpus });
            }
            self.join_package(id, place);
            let number = |file: &str| {
                root.read(format!("{CPUS}/cpu{id}/{file}")).value()?.parse::<u64>().ok()
            };
            let core_id = root.read(format!("{CPUS}/cpu{id}/topology/core_id")).value();
            self.cpus.push(Cpu {
                id,
                core,
                package: 0,
                core_id: core_id.and_then(|text| text.parse().ok()),
                node: self.nodes.iter().position(|node| node.cpus.contains(id)),
                kind: self.kinds.iter().position(|kind| kind.cpus.contains(id)).unwrap_or(0),
                capacity: number("cpu_capacity"),
                max_khz: number("cpufreq/cpuinfo_max_freq"),
                preference: number("cpufreq/amd_pstate_prefcore_ranking")
                    .or_else(|| number("acpi_cppc/highest_perf")),
            });
        }
        // By number where numbers tell packages apart; elsewhere they are all -1, or start anew in
        // every book of a mainframe, and the order of the CPUs stays.
        self.packages.sort_by_key(|package| package.id);
        for cpu in &mut self.cpus {
            let package = self.packages.iter().position(|one| one.cpus.contains(cpu.id));
            cpu.package = package.unwrap_or(0);
        }
    }

    /// Puts a CPU into its package. The sets of CPUs decide, as numbers are -1 on POWER and on many
    /// guests, and repeat in the books of a mainframe; without sets the numbers have to do.
    fn join_package(&mut self, id: CpuId, place: &CpuPosition) {
        if self.packages.iter().any(|package| package.cpus.contains(id)) {
            return;
        }
        let taken = |cpu: &CpuId| self.packages.iter().any(|package| package.cpus.contains(*cpu));
        let Some(set) = &place.package else {
            match self.packages.iter_mut().find(|package| package.id == place.package_id) {
                Some(package) => {
                    package.cpus.insert(id);
                }
                None => self
                    .packages
                    .push(Group { id: place.package_id, cpus: CpuSet::from_iter([id]) }),
            }
            return;
        };
        let cpus = set.iter().filter(|cpu| !taken(cpu)).collect();
        self.packages.push(Group { id: place.package_id, cpus });
    }
}

/// Reads the line `Node 0 MemTotal: 16231 kB` into bytes.
fn node_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|line| line.contains("MemTotal:"))?;
    let number = line.split_once("MemTotal:")?.1.split_whitespace().next()?;
    number.parse::<u64>().ok()?.checked_mul(1024)
}

/// Reads a line of the table of distances, such as `10 16 32`.
fn node_distances(line: &str) -> Option<Vec<u32>> {
    line.split_whitespace().map(|word| word.parse().ok()).collect()
}

/// Adds those CPUs whose own file does not tell what they share and that are in another one's set.
fn with_what_others_tell(
    online: &CpuSet,
    mut told: BTreeMap<CpuId, CpuSet>,
) -> BTreeMap<CpuId, CpuSet> {
    for cpu in online.iter() {
        let of_others = || told.values().find(|set| set.contains(cpu)).cloned();
        if !told.contains_key(&cpu)
            && let Some(set) = of_others()
        {
            told.insert(cpu, set);
        }
    }
    told
}

/// Returns the CPUs that have a folder in `/sys`, on or off.
fn cpu_folders(lists: &Lists<'_>) -> CpuSet {
    numbered(&lists.names(CPUS))
}

/// Returns the CPUs among the names of a folder: `cpu0`, `cpu1`.
fn numbered(names: &[String]) -> CpuSet {
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
            if !root.path().is_dir() {
                return Err(TopologyError::NoFolder(root.path().to_owned()));
            }
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
