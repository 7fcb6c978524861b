//! Small invented machines, written as the files that the kernel would show.

use std::fmt::Write as _;

use crate::FakeTree;

/// The build of an invented machine. Change the fields of [`FakeMachine::default`], then make the
/// tree with [`FakeMachine::tree`].
///
/// CPUs are numbered as Linux does on x86: the first threads of all cores, then the second threads;
/// efficient cores come last and have one thread. Nodes and third-level caches are equal parts of a
/// package, of cores that follow each other.
#[derive(Debug, Clone)]
pub struct FakeMachine {
    /// Number of packages.
    pub packages: u32,
    /// Full cores in each package.
    pub cores: u32,
    /// Threads of each full core.
    pub threads: u32,
    /// Efficient cores, all in the first package.
    pub efficient: u32,
    /// Efficient cores that share a second-level cache.
    pub efficient_per_l2: u32,
    /// NUMA nodes of each package.
    pub nodes: u32,
    /// Third-level caches of each package; 0 for none anywhere.
    pub l3s: u32,
    /// From the number of one CPU to that of the next: larger than 1 leaves holes.
    pub stride: u32,
    /// CPUs that are switched off.
    pub offline: Vec<u32>,
    /// Value of `isolcpus=`.
    pub isolated: &'static str,
    /// Value of `nohz_full=`.
    pub nohz_full: &'static str,
    /// CPUs this process may use; empty for every CPU.
    pub allowed: &'static str,
    /// Device interrupts since boot of each CPU, in order; missing ones are 10.
    pub interrupts: Vec<u64>,
    /// How much the firmware prefers each full core, in order; empty if it does not say.
    pub preferences: Vec<u64>,
    /// From each node to each, as the kernel writes them; empty if it does not.
    pub distances: &'static [&'static str],
    /// Whether the machine shows frequencies, as real hardware does and most VMs do not.
    pub cpufreq: bool,
}

impl Default for FakeMachine {
    fn default() -> Self {
        Self {
            packages: 1,
            cores: 4,
            threads: 1,
            efficient: 0,
            efficient_per_l2: 1,
            nodes: 1,
            l3s: 1,
            stride: 1,
            offline: Vec::new(),
            isolated: "",
            nohz_full: "",
            allowed: "",
            interrupts: Vec::new(),
            preferences: Vec::new(),
            distances: &[],
            cpufreq: true,
        }
    }
}

/// One CPU of an invented machine.
struct FakeCpu {
    cpu: u32,
    core: u32,
    package: u32,
    node: u32,
    l2: u32,
    l3: u32,
    efficient: bool,
}

impl FakeMachine {
    /// Writes the machine's files.
    pub fn tree(&self) -> FakeTree {
        let places = self.places();
        let all: Vec<u32> = places.iter().map(|place| place.cpu).collect();
        let online: Vec<u32> =
            all.iter().copied().filter(|cpu| !self.offline.contains(cpu)).collect();
        let cpus = "/sys/devices/system/cpu";
        let mut tree = FakeTree::new()
            .file(format!("{cpus}/possible"), list(&all))
            .file(format!("{cpus}/present"), list(&all))
            .file(format!("{cpus}/online"), list(&online))
            .file(format!("{cpus}/isolated"), format!("{}\n", self.isolated))
            .file("/proc/stat", stat(&online))
            .file("/proc/interrupts", self.interrupt_table(&online))
            .file("/proc/self/status", self.status(&all))
            .file("/proc/sys/kernel/osrelease", "6.12.0-fake\n");
        for place in places.iter().filter(|place| online.contains(&place.cpu)) {
            tree = self.cpu(tree, place, &places);
        }
        if !self.nohz_full.is_empty() {
            tree = tree.file(format!("{cpus}/nohz_full"), format!("{}\n", self.nohz_full));
        }
        for node in 0..self.packages * self.nodes {
            let here = places.iter().filter(|place| place.node == node);
            let here: Vec<u32> = here.map(|place| place.cpu).collect();
            let folder = format!("/sys/devices/system/node/node{node}");
            tree = tree.file(format!("{folder}/cpulist"), list(&here));
            if let Some(distances) = self.distances.get(node as usize) {
                tree = tree.file(format!("{folder}/distance"), format!("{distances}\n"));
            }
        }
        if self.efficient > 0 {
            let of_kind = |efficient| {
                let kind = places.iter().filter(|place| place.efficient == efficient);
                list(&kind.map(|place| place.cpu).collect::<Vec<_>>())
            };
            tree = tree
                .file("/sys/devices/cpu_core/cpus", of_kind(false))
                .file("/sys/devices/cpu_atom/cpus", of_kind(true));
        }
        tree
    }

    fn places(&self) -> Vec<FakeCpu> {
        let full = self.packages * self.cores;
        let threads = (0..self.threads).flat_map(|thread| {
            (0..full).map(move |core| FakeCpu {
                cpu: (thread * full + core) * self.stride,
                core,
                package: core / self.cores,
                node: core * self.nodes / self.cores,
                l2: core,
                l3: core * self.l3s / self.cores,
                efficient: false,
            })
        });
        let efficient = (0..self.efficient).map(|index| FakeCpu {
            cpu: (self.threads * full + index) * self.stride,
            core: full + index,
            package: 0,
            node: 0,
            l2: full + index / self.efficient_per_l2,
            l3: 0,
            efficient: true,
        });
        threads.chain(efficient).collect()
    }

    fn cpu(&self, tree: FakeTree, place: &FakeCpu, places: &[FakeCpu]) -> FakeTree {
        let sharing = |same: &dyn Fn(&FakeCpu) -> bool| {
            let cpus = places.iter().filter(|other| same(other)).map(|other| other.cpu);
            let online: Vec<u32> = cpus.filter(|cpu| !self.offline.contains(cpu)).collect();
            list(&online)
        };
        let core = sharing(&|other| other.core == place.core);
        let folder = format!("/sys/devices/system/cpu/cpu{}", place.cpu);
        let mut tree = tree
            .file(format!("{folder}/topology/thread_siblings_list"), &core)
            .file(format!("{folder}/topology/physical_package_id"), place.package.to_string());
        let l2 = sharing(&|other| other.l2 == place.l2);
        let l3 = sharing(&|other| other.l3 == place.l3);
        let mut caches = vec![(1, "Data", "32K", &core), (2, "Unified", "1024K", &l2)];
        if self.l3s > 0 {
            caches.push((3, "Unified", "16384K", &l3));
        }
        for (index, (level, kind, size, shared)) in caches.into_iter().enumerate() {
            let folder = format!("{folder}/cache/index{index}");
            tree = tree
                .file(format!("{folder}/level"), format!("{level}\n"))
                .file(format!("{folder}/type"), format!("{kind}\n"))
                .file(format!("{folder}/size"), format!("{size}\n"))
                .file(format!("{folder}/shared_cpu_list"), shared);
        }
        if let Some(preference) = self.preferences.get(place.core as usize) {
            let ranking = format!("{folder}/cpufreq/amd_pstate_prefcore_ranking");
            tree = tree.file(ranking, format!("{preference}\n"));
        }
        if !self.cpufreq {
            return tree;
        }
        let highest = if place.efficient { "3000000\n" } else { "4000000\n" };
        tree.file(format!("{folder}/cpufreq/cpuinfo_max_freq"), highest)
            .file(format!("{folder}/cpufreq/cpuinfo_min_freq"), "800000\n")
            .file(format!("{folder}/cpufreq/scaling_driver"), "acpi-cpufreq\n")
            .file(format!("{folder}/cpufreq/scaling_governor"), "schedutil\n")
    }

    fn interrupt_table(&self, online: &[u32]) -> String {
        let mut table = String::from("    ");
        let mut counts = String::from("  9: ");
        let mut timer = String::from("LOC: ");
        for &cpu in online {
            let count = self.interrupts.get(cpu as usize).copied().unwrap_or(10);
            write!(table, " CPU{cpu}").expect("a string can be written");
            write!(counts, " {count}").expect("a string can be written");
            write!(timer, " 1000").expect("a string can be written");
        }
        format!("{table}\n{counts}  IO-APIC 9-edge disk\n{timer}  Local timer interrupts\n")
    }

    fn status(&self, all: &[u32]) -> String {
        let allowed =
            if self.allowed.is_empty() { list(all) } else { format!("{}\n", self.allowed) };
        format!("Name:\tbecalm\nCapEff:\t0000000000000000\nCpus_allowed_list:\t{allowed}")
    }
}

/// Writes CPU numbers with commas, which is a CPU list even without ranges.
fn list(cpus: &[u32]) -> String {
    let numbers: Vec<String> = cpus.iter().map(u32::to_string).collect();
    format!("{}\n", numbers.join(","))
}

fn stat(online: &[u32]) -> String {
    let mut text = String::from("cpu  0 0 0 0 0 0 0 0 0 0\n");
    for cpu in online {
        writeln!(text, "cpu{cpu} 0 0 0 0 0 0 0 0 0 0").expect("a string can be written");
    }
    text
}
