//! Running totals of what happens on some CPUs, read between measurements.
//!
//! The difference of two readings is the evidence for the runs between them. Because it runs
//! between measurements it has to be cheap: files stay open, and a file whose reading would be dear
//! on this machine is left out when the reader is opened, which [`ActivityReader::limits`] says.

mod clocks;
mod firmware;
mod held;
mod msr;
pub(crate) mod parse;

use std::time::Duration;

use becalm_model::{CpuId, CpuSet, EvidenceLimit, Limit, Obstacle, Unseen};

use crate::cgroup::ControlGroups;
use crate::cpumask::read_list;
use crate::sysroot::{Reading, SysRoot};
use becalm_kernel::clock;
use clocks::ClockReader;
pub use clocks::Clocks;
pub use firmware::SmiReader;
pub(crate) use held::Held;

/// A single optional file may cost this much per reading; dearer ones are left out. It keeps away
/// from what `/proc/interrupts` costs, 30 to 50 us on a virtual machine with 2 CPUs and milliseconds
/// on large servers, so that the same machine decides the same way every time.
const BUDGET: Duration = Duration::from_micros(20);

/// Before Linux 5.18 `scaling_cur_freq` interrupts the CPU and sleeps for 10 ms when its last
/// sample is old (`arch_freq_get_on_cpu`), so a first reading this long says: leave it alone.
const SLEEPS: Duration = Duration::from_millis(8);

/// From this cost of `/proc/stat` on the user is told.
const DEAR: Duration = Duration::from_micros(500);

/// At most this many CPUs are asked for thermal throttling, as each is a file of its own.
const THERMAL_CPUS: usize = 8;

/// Running totals since boot, summed over some CPUs. `None` means that it cannot be read here.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Activity {
    /// `CLOCK_MONOTONIC` when the reading began.
    pub at: Duration,
    /// Seconds in which the CPUs ran something, in steps of the tick (10 ms).
    pub busy: Option<f64>,
    /// Seconds in which the SMT siblings of the CPUs ran something, those that are none of the CPUs
    /// themselves; `None` also where there are none.
    pub siblings: Option<f64>,
    /// Seconds that the hypervisor took from the CPUs, in steps of the tick (10 ms).
    pub steal: Option<f64>,
    /// Seconds in which some task of the whole machine waited for a CPU.
    pub pressure_cpu: Option<f64>,
    /// Seconds in which some task of the whole machine waited for memory.
    pub pressure_memory: Option<f64>,
    /// Seconds in which some task of the whole machine waited for I/O.
    pub pressure_io: Option<f64>,
    /// Seconds for which a CPU quota held back our control group or one above it.
    pub quota_throttled: Option<f64>,
    /// Times the CPUs slowed themselves down because of heat; at most 8 of them are asked.
    pub thermal_throttles: Option<u64>,
    /// Times that firmware took all CPUs; only Intel counts them.
    pub smis: Option<u64>,
    /// Interrupts of every kind on the CPUs.
    pub interrupts: Option<u64>,
    /// Softirqs run on the CPUs.
    pub softirqs: Option<u64>,
    /// Frequency of the first CPU in hertz, right now.
    pub frequency: Option<f64>,
    /// Clocks of a few of the CPUs, whose difference tells the frequency at which they ran.
    pub clocks: Option<Clocks>,
}

/// Keeps the kernel's files open and reads them again and again.
#[derive(Debug, Default)]
pub struct ActivityReader {
    cpus: CpuSet,
    siblings: CpuSet,
    /// Whether `cpus` are all online CPUs, for which `/proc/stat` counts interrupts at no cost.
    is_all: bool,
    seconds_per_tick: f64,
    buffer: Vec<u8>,
    limits: Vec<Limit>,
    stat: Option<Held>,
    pressure_cpu: Option<Held>,
    pressure_memory: Option<Held>,
    pressure_io: Option<Held>,
    quota: Vec<Held>,
    thermal: Vec<Held>,
    smis: Option<SmiReader>,
    interrupts: Option<Held>,
    softirqs: Option<Held>,
    frequency: Option<Held>,
    clocks: Option<ClockReader>,
}

impl ActivityReader {
    /// Opens what can be opened and remembers why the rest cannot. Takes a few milliseconds.
    pub fn open(root: &SysRoot, cpus: &CpuSet) -> Self {
        Self::open_within(root, cpus, BUDGET)
    }

    /// Opens as [`ActivityReader::open`] does, and leaves out what is optional (interrupts and softirqs
    /// of some CPUs, frequencies) and costs more than `budget` each per reading.
    pub fn open_within(root: &SysRoot, cpus: &CpuSet, budget: Duration) -> Self {
        let (seconds_per_tick, buffer) = (clock::ticks_per_second().recip(), vec![0; 16 * 1024]);
        let reader = Self { seconds_per_tick, buffer, ..Self::default() };
        let mut opening = Opening { root, budget, reader };
        let (stat, cpus) = opening.stat(cpus);
        let pressure_cpu = opening.pressure("cpu", Unseen::PressureOnCpu);
        let pressure_memory = opening.pressure("memory", Unseen::PressureOnMemory);
        let pressure_io = opening.pressure("io", Unseen::PressureOnIo);
        opening.reader.quota = opening.quota();
        opening.reader.thermal = opening.thermal(&cpus);
        opening.reader.interrupts = opening.counts(Unseen::Interrupts, "/proc/interrupts", &cpus);
        opening.reader.softirqs = opening.counts(Unseen::Softirqs, "/proc/softirqs", &cpus);
        let (frequency, clocks) = opening.frequencies(&cpus);
        let smis = cpus.first().and_then(|cpu| SmiReader::open(root, cpu, budget));
        let siblings = opening.siblings(&cpus);
        let reader = Self { cpus, siblings, stat, smis, frequency, clocks, ..opening.reader };
        Self { pressure_cpu, pressure_memory, pressure_io, ..reader }
    }

    /// Returns what cannot be read here and why.
    pub fn limits(&self) -> Vec<Limit> {
        self.limits.clone()
    }

    /// Reads everything once.
    pub fn read(&mut self) -> Activity {
        let at = clock::monotonic_now();
        let buffer = &mut self.buffer;
        let (cpus, siblings, is_all) = (&self.cpus, &self.siblings, self.is_all);
        let stat = self.stat.as_ref().and_then(|file| {
            file.parse(buffer, |text| {
                let all = |sum: fn(&str) -> Option<u64>| if is_all { sum(text) } else { None };
                Some(Stat {
                    ticks: parse::stat(text, cpus),
                    siblings: parse::stat(text, siblings),
                    interrupts: all(parse::stat_interrupts),
                    softirqs: all(parse::stat_softirqs),
                })
            })
        });
        let stat = stat.unwrap_or_default();
        let mut stalled = |file: &Option<Held>| {
            file.as_ref()?.parse(buffer, parse::pressure).map(|micros| micros as f64 * 1e-6)
        };
        let pressure_cpu = stalled(&self.pressure_cpu);
        let pressure_memory = stalled(&self.pressure_memory);
        let pressure_io = stalled(&self.pressure_io);
        let mut counted = |file: &Option<Held>| {
            file.as_ref()?.parse(buffer, |text| parse::interrupts(text, cpus))
        };
        let (interrupts, softirqs) = (counted(&self.interrupts), counted(&self.softirqs));
        let seconds = |ticks: u64| ticks as f64 * self.seconds_per_tick;
        let frequency = self.frequency.as_ref().and_then(|file| file.parse(buffer, parse::number));
        Activity {
            at,
            busy: stat.ticks.map(|ticks| seconds(ticks.busy)),
            siblings: stat.siblings.map(|ticks| seconds(ticks.busy)),
            steal: stat.ticks.map(|ticks| seconds(ticks.steal)),
            pressure_cpu,
            pressure_memory,
            pressure_io,
            quota_throttled: sum(&self.quota, |file| file.parse(buffer, parse::throttled)),
            thermal_throttles: sum(&self.thermal, |file| file.parse(buffer, parse::number)),
            smis: self.smis.as_ref().and_then(SmiReader::read),
            interrupts: stat.interrupts.or(interrupts),
            softirqs: stat.softirqs.or(softirqs),
            frequency: frequency.map(|kilohertz| kilohertz as f64 * 1e3),
            clocks: self.clocks.as_ref().and_then(ClockReader::read),
        }
    }
}

/// What one reading of `/proc/stat` gives.
#[derive(Debug, Clone, Copy, Default)]
struct Stat {
    ticks: Option<parse::Ticks>,
    siblings: Option<parse::Ticks>,
    /// Of all CPUs, where these are wanted.
    interrupts: Option<u64>,
    softirqs: Option<u64>,
}

/// Sums over files; `None` without any, or as soon as one of them fails, because a partial sum
/// would look like a total that went backwards.
fn sum<T: std::iter::Sum>(files: &[Held], read: impl FnMut(&Held) -> Option<T>) -> Option<T> {
    if files.is_empty() { None } else { files.iter().map(read).sum() }
}

/// What is gathered while a reader is opened.
struct Opening<'a> {
    root: &'a SysRoot,
    budget: Duration,
    reader: ActivityReader,
}

impl Opening<'_> {
    /// Opens `/proc/stat` and leaves out CPUs that have no line there.
    fn stat(&mut self, cpus: &CpuSet) -> (Option<Held>, CpuSet) {
        let what = Unseen::OthersTime;
        let file = match Held::open(self.root, "/proc/stat") {
            Ok(file) => file,
            Err(why) => {
                self.not_seen(what, Obstacle::Error(why));
                return (None, cpus.clone());
            }
        };
        let online = file.parse(&mut self.reader.buffer, |text| Some(parse::stat_cpus(text)));
        let online = online.unwrap_or_default();
        let offline = cpus.difference(&online);
        let cpus = cpus.intersection(&online);
        let all = file.parse(&mut self.reader.buffer, parse::stat_interrupts);
        self.reader.is_all = cpus == online && all.is_some();
        if cpus.is_empty() {
            let path = "/proc/stat".to_owned();
            self.not_seen(what, Obstacle::NoLine { path, cpus: offline.to_string() });
            return (None, offline);
        }
        // Nothing else tells busy from stolen time, so a dear file is kept, and said to be dear: the
        // kernel sums every interrupt source over every CPU for it.
        let cost = file.cost(&mut self.reader.buffer).usual;
        if cost > DEAR {
            let (path, micros) = ("/proc/stat".to_owned(), micros(cost));
            self.reader.limits.push(EvidenceLimit::Dear { path, micros }.into());
        }
        if !offline.is_empty() {
            let cpus = offline.to_string();
            self.reader.limits.push(EvidenceLimit::CpusNotWatched { cpus }.into());
        }
        (Some(file), cpus)
    }

    /// Opens one pressure file. The kernel may have it and refuse to read it (`psi=0`).
    fn pressure(&mut self, kind: &str, what: Unseen) -> Option<Held> {
        let file = self.keep(what, Held::open(self.root, format!("/proc/pressure/{kind}")))?;
        if file.parse(&mut self.reader.buffer, parse::pressure).is_none() {
            self.not_seen(what, Obstacle::NoTotal { path: file.path().display().to_string() });
            return None;
        }
        Some(file)
    }

    /// Opens `cpu.stat` of every control group on the way up that counts throttling.
    fn quota(&mut self) -> Vec<Held> {
        let what = Unseen::Throttling;
        let groups = match ControlGroups::read(self.root) {
            Ok(groups) => groups,
            Err(why) => {
                self.not_seen(what, Obstacle::Error(why));
                return Vec::new();
            }
        };
        let files: Vec<Held> = groups
            .levels
            .iter()
            .filter_map(|level| Held::open(self.root, level.join("cpu.stat")).ok())
            .filter(|file| file.parse(&mut self.reader.buffer, parse::throttled).is_some())
            .collect();
        if files.is_empty() {
            self.not_seen(what, Obstacle::NoGroupCounts);
        }
        files
    }

    /// Opens the throttle counters of a few CPUs, spread evenly.
    fn thermal(&mut self, cpus: &CpuSet) -> Vec<Held> {
        let step = cpus.len().div_ceil(THERMAL_CPUS).max(1);
        let mut files = Vec::new();
        for cpu in cpus.iter().step_by(step) {
            let path = cpu_file(cpu, "thermal_throttle/core_throttle_count");
            match Held::open(self.root, path) {
                Ok(file) => files.push(file),
                Err(why) => {
                    self.not_seen(Unseen::Heat, Obstacle::OnlyIntel(why));
                    return Vec::new();
                }
            }
        }
        files
    }

    /// Opens a table of counts by CPU, unless the machine has so many CPUs and sources that it is dear.
    fn counts(&mut self, what: Unseen, path: &str, cpus: &CpuSet) -> Option<Held> {
        if self.reader.is_all {
            return None;
        }
        let file = self.keep(what, Held::open(self.root, path))?;
        if file.parse(&mut self.reader.buffer, |text| parse::interrupts(text, cpus)).is_none() {
            let (path, cpus) = (path.to_owned(), cpus.to_string());
            self.not_seen(what, Obstacle::NoColumn { path, cpus });
            return None;
        }
        self.keep_if_cheap(what, file)
    }

    /// Returns the CPUs that share a core with one of `cpus` and are none of them.
    fn siblings(&mut self, cpus: &CpuSet) -> CpuSet {
        let mut cores = CpuSet::new();
        let mut unread = None;
        for cpu in cpus.iter() {
            let path = cpu_file(cpu, "topology/thread_siblings_list");
            match read_list(self.root, &path) {
                Reading::Value(core) => cores = cores.union(&core),
                Reading::Absent => {}
                other => unread = unread.or(other.of(&path).err()),
            }
        }
        if let Some(why) = unread {
            self.not_seen(Unseen::Siblings, Obstacle::Error(why));
        }
        cores.difference(cpus)
    }

    /// Opens the current frequency of the first CPU and the clocks of a few CPUs. Where there is
    /// neither, that is one limit.
    fn frequencies(&mut self, cpus: &CpuSet) -> (Option<Held>, Option<ClockReader>) {
        let clocks = ClockReader::open(self.root, cpus);
        let path = cpus.first().map(|cpu| cpu_file(cpu, "cpufreq/scaling_cur_freq"));
        let Some(path) = path.filter(|path| self.root.exists(path)) else {
            if let Err(why) = &clocks {
                self.not_seen(Unseen::Frequency, Obstacle::NoDriver(why.clone()));
            }
            return (None, clocks.ok().and_then(|clocks| self.clocks_if_cheap(clocks)));
        };
        let frequency = self.frequency(&path);
        let what = Unseen::MeanBesideFrequency;
        let clocks = clocks.map_err(|why| self.not_seen(what, Obstacle::Error(why)));
        (frequency, clocks.ok().and_then(|clocks| self.clocks_if_cheap(clocks)))
    }

    fn frequency(&mut self, path: &str) -> Option<Held> {
        let what = Unseen::Frequency;
        let file = self.keep(what, Held::open(self.root, path))?;
        if file.parse(&mut self.reader.buffer, parse::number).is_none() {
            self.not_seen(what, Obstacle::NoNumber { path: path.to_owned() });
            return None;
        }
        self.keep_if_cheap(what, file)
    }

    /// Reading the clocks of another CPU interrupts it.
    fn clocks_if_cheap(&mut self, clocks: ClockReader) -> Option<ClockReader> {
        let cost = clocks.cost();
        if cost <= self.budget {
            return Some(clocks);
        }
        let (path, micros) = (clocks.to_string(), micros(cost));
        self.not_seen(Unseen::MeanFrequency, Obstacle::Dear { path, micros });
        None
    }

    fn not_seen(&mut self, what: Unseen, because: Obstacle) {
        self.reader.limits.push(EvidenceLimit::NotSeen { what, because }.into());
    }

    fn keep(&mut self, what: Unseen, opened: Result<Held, String>) -> Option<Held> {
        opened.map_err(|why| self.not_seen(what, Obstacle::Error(why))).ok()
    }

    fn keep_if_cheap(&mut self, what: Unseen, file: Held) -> Option<Held> {
        let cost = file.cost(&mut self.reader.buffer);
        let sleeps = cost.first >= SLEEPS.max(self.budget);
        if cost.usual <= self.budget && !sleeps {
            return Some(file);
        }
        let cost = if sleeps { cost.usual.max(cost.first) } else { cost.usual };
        let (path, micros) = (file.path().display().to_string(), micros(cost));
        self.not_seen(what, Obstacle::Dear { path, micros });
        None
    }
}

fn micros(cost: Duration) -> u64 {
    u64::try_from(cost.as_micros()).unwrap_or(u64::MAX)
}

fn cpu_file(cpu: CpuId, name: &str) -> String {
    format!("/sys/devices/system/cpu/cpu{cpu}/{name}")
}

#[cfg(test)]
mod tests;
