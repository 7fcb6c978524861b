//! The frequency side of invented machines, with the manners of the real drivers.
//!
//! What is imitated was seen on Linux 6.1 and 6.12: a preference that is locked while the governor is
//! `performance`, limits that are clamped without a word, turbo and firmware that lower the upper limit, and the
//! lower one with it, and raise them again, switches of policies that answer EINVAL while the global one is off, policies of CPUs that are
//! offline, which answer EBUSY and have the global switch's setting and limit when they return, tunables of a
//! governor that are gone with the last policy that has it, and have their defaults when it comes back.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::FakeTree;

const CPU: &str = "/sys/devices/system/cpu";
const LOWEST: u64 = 800_000;
const NOMINAL: u64 = 2_400_000;
const TURBO: u64 = 3_200_000;
/// The governor that has a tunable here, its default, and what somebody has set.
const GOVERNOR: &str = "schedutil";
const TUNABLE: &str = "rate_limit_us";
const DEFAULT: &str = "2000";
const CHOSEN: &str = "700";
const EBUSY: i32 = 16;
const EINVAL: i32 = 22;

/// What a frequency driver has.
#[derive(Debug, Clone, Copy)]
pub struct FakeCpufreq {
    /// `scaling_driver`.
    pub driver: &'static str,
    /// The governor at first.
    pub governor: &'static str,
    /// Whether CPUs have an energy performance preference.
    pub epp: bool,
    /// The global switch for turbo.
    pub switch: Switch,
    /// Whether each policy has a switch of its own.
    pub switch_per_policy: bool,
    /// Whether `base_frequency` and `acpi_cppc/nominal_freq` tell the frequency without turbo.
    pub tells_nominal: bool,
}

/// The global switch for turbo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// `intel_pstate/no_turbo`.
    NoTurbo,
    /// `cpufreq/boost`.
    Boost,
    /// `cpufreq/boost`, which is taken and not heeded.
    IdleBoost,
    /// `cpb` of each policy, which is the same for all.
    Cpb,
    /// None.
    None,
}

impl FakeCpufreq {
    /// Adds the driver's files for these CPUs, one policy each.
    pub fn add_to(&self, mut tree: FakeTree, cpus: &[u32]) -> FakeTree {
        for cpu in cpus {
            let policy = format!("{CPU}/cpufreq/policy{cpu}");
            tree = tree
                .file(format!("{policy}/affected_cpus"), format!("{cpu}\n"))
                .file(format!("{policy}/scaling_driver"), format!("{}\n", self.driver))
                .file(format!("{policy}/scaling_governor"), format!("{}\n", self.governor))
                .file(
                    format!("{policy}/scaling_available_governors"),
                    "performance powersave schedutil\n",
                )
                .file(format!("{policy}/cpuinfo_min_freq"), format!("{LOWEST}\n"))
                .file(format!("{policy}/cpuinfo_max_freq"), format!("{TURBO}\n"))
                .file(format!("{policy}/scaling_min_freq"), format!("{LOWEST}\n"))
                .file(format!("{policy}/scaling_max_freq"), format!("{TURBO}\n"));
            if self.governor == GOVERNOR {
                let folder = self.tunables(&policy);
                tree = tree.file(format!("{folder}/{TUNABLE}"), format!("{CHOSEN}\n"));
            }
            if self.epp {
                let path = format!("{policy}/energy_performance_preference");
                tree = tree.file(path, "balance_performance\n");
            }
            if self.switch_per_policy {
                tree = tree.file(format!("{policy}/boost"), "1\n");
            }
            if self.switch == Switch::Cpb {
                tree = tree.file(format!("{policy}/cpb"), "1\n");
            }
            if self.tells_nominal {
                tree = tree.file(
                    format!("{CPU}/cpu{cpu}/acpi_cppc/nominal_freq"),
                    format!("{}\n", NOMINAL / 1000),
                );
            }
        }
        match self.switch {
            Switch::NoTurbo => tree
                .file(format!("{CPU}/intel_pstate/no_turbo"), "0\n")
                .file(format!("{CPU}/intel_pstate/max_perf_pct"), "100\n")
                .file(format!("{CPU}/intel_pstate/min_perf_pct"), "25\n"),
            Switch::Boost | Switch::IdleBoost => tree.file(format!("{CPU}/cpufreq/boost"), "1\n"),
            Switch::Cpb | Switch::None => tree,
        }
    }

    /// Returns where the tunables of the governor are. The drivers of Arm have them for each policy.
    fn tunables(&self, policy: &str) -> String {
        let above = if self.driver == "scmi" { policy } else { &format!("{CPU}/cpufreq") };
        format!("{above}/{GOVERNOR}")
    }

    /// Returns what answers to writes in `tree` as this driver would.
    pub fn kernel(
        self,
        tree: &FakeTree,
    ) -> impl Fn(&Path, &str) -> io::Result<Option<String>> + Send + Sync + 'static {
        let kernel = Kernel {
            folder: tree.path().to_owned(),
            cpufreq: self,
            wanted_limits: Mutex::default(),
            wanted_minima: Mutex::default(),
            locked: Mutex::default(),
        };
        move |path, value| kernel.write(path.to_str().expect("our paths are text"), value)
    }
}

struct Kernel {
    folder: PathBuf,
    cpufreq: FakeCpufreq,
    /// Upper limits as they were asked for; what is shown is never above what turbo allows.
    wanted_limits: Mutex<BTreeMap<String, u64>>,
    /// Lower limits likewise; what is shown is never above the upper one.
    wanted_minima: Mutex<BTreeMap<String, u64>>,
    /// Preferences that a governor has locked.
    locked: Mutex<BTreeMap<String, String>>,
}

impl Kernel {
    fn write(&self, path: &str, value: &str) -> io::Result<Option<String>> {
        let (policy, name) = path.rsplit_once('/').expect("an absolute path");
        if self.place(path).is_dir() && is_setting(name) {
            return refused(EBUSY);
        }
        match name {
            "control" if policy.ends_with("/smt") => {
                self.policies().iter().for_each(|policy| {
                    // Switching on starts every CPU, whoever had stopped it.
                    if value == "on" || self.is_second(policy) {
                        self.switch(policy, value == "on");
                    }
                });
            }
            "online" => {
                let cpu = policy.rsplit_once("/cpu").expect("a CPU").1;
                self.switch(&format!("{CPU}/cpufreq/policy{cpu}"), value == "1");
            }
            "cpb" => {
                for policy in self.policies() {
                    self.store(&format!("{policy}/cpb"), value);
                    self.limit(&policy);
                }
                return Ok(None);
            }
            "scaling_governor" => self.govern(policy, value)?,
            "energy_performance_preference"
                if self.read(&format!("{policy}/scaling_governor")) == "performance"
                    && value != "performance" =>
            {
                return refused(EBUSY);
            }
            "scaling_max_freq" => {
                let wanted = number(value)?.clamp(LOWEST, TURBO);
                if wanted < self.number(&format!("{policy}/scaling_min_freq")) {
                    return refused(EINVAL);
                }
                self.wanted_limits.lock().unwrap().insert(policy.to_owned(), wanted);
                return Ok(Some(line(wanted.min(self.top(policy)))));
            }
            "scaling_min_freq" => {
                let wanted = number(value)?.clamp(LOWEST, self.top(policy));
                if wanted > self.number(&format!("{policy}/scaling_max_freq")) {
                    return refused(EINVAL);
                }
                self.wanted_minima.lock().unwrap().insert(policy.to_owned(), wanted);
                return Ok(Some(line(wanted)));
            }
            "bios_limit" => {
                self.store(path, value);
                self.limit(policy);
                return Ok(None);
            }
            "boost" if policy.contains("policy") => {
                if self.read(&format!("{CPU}/cpufreq/boost")) == "0" {
                    return refused(EINVAL);
                }
                self.store(path, value);
                self.limit(policy);
                return Ok(None);
            }
            "boost" => {
                self.store(path, value);
                for policy in self.policies() {
                    if self.cpufreq.switch_per_policy {
                        self.store(&format!("{policy}/boost"), value);
                    }
                    self.limit(&policy);
                }
                return Ok(None);
            }
            "no_turbo" => {
                self.store(path, value);
                self.policies().iter().for_each(|policy| self.limit(policy));
                return Ok(None);
            }
            _ => {}
        }
        Ok(Some(format!("{value}\n")))
    }

    fn govern(&self, policy: &str, value: &str) -> io::Result<()> {
        if !["performance", "powersave", "schedutil"].contains(&value) {
            return refused(EINVAL).map(|_| ());
        }
        self.tunables(policy, value);
        if !self.cpufreq.epp {
            return Ok(());
        }
        let preference = format!("{policy}/energy_performance_preference");
        let mut locked = self.locked.lock().unwrap();
        if value == "performance" {
            locked.entry(policy.to_owned()).or_insert_with(|| self.read(&preference));
            self.store(&preference, "performance");
        } else if let Some(before) = locked.remove(policy) {
            self.store(&preference, &before);
        }
        Ok(())
    }

    /// Makes or forgets the tunables as this policy gets a governor.
    fn tunables(&self, policy: &str, governor: &str) {
        let folder = self.place(&self.cpufreq.tunables(policy));
        if governor == GOVERNOR && !folder.exists() {
            fs::create_dir(&folder).expect("the tree can be written");
            fs::write(folder.join(TUNABLE), format!("{DEFAULT}\n"))
                .expect("the tree can be written");
        } else if governor != GOVERNOR && folder.exists() {
            let has = |other: &String| self.read(&format!("{other}/scaling_governor")) == GOVERNOR;
            let shares = |other: &String| {
                other != policy && self.cpufreq.tunables(other) == self.cpufreq.tunables(policy)
            };
            if !self.policies().iter().any(|other| shares(other) && has(other)) {
                fs::remove_dir_all(&folder).expect("the tree can be written");
            }
        }
    }

    /// Highest frequency that turbo allows now.
    fn top(&self, policy: &str) -> u64 {
        let is_off = match self.cpufreq.switch {
            Switch::NoTurbo => self.read(&format!("{CPU}/intel_pstate/no_turbo")) == "1",
            Switch::Boost => self.read(&format!("{CPU}/cpufreq/boost")) == "0",
            Switch::Cpb => self.read(&format!("{policy}/cpb")) == "0",
            Switch::IdleBoost | Switch::None => false,
        };
        let own = self.cpufreq.switch_per_policy && self.read(&format!("{policy}/boost")) == "0";
        let firmware = self.read(&format!("{policy}/bios_limit")).parse().unwrap_or(TURBO);
        if is_off || own { NOMINAL.min(firmware) } else { TURBO.min(firmware) }
    }

    /// Shows the limits that were asked for, as far as turbo and firmware allow them.
    fn limit(&self, policy: &str) {
        let wanted = self.wanted_limits.lock().unwrap().get(policy).copied().unwrap_or(TURBO);
        let limit = wanted.min(self.top(policy));
        self.store(&format!("{policy}/scaling_max_freq"), &limit.to_string());
        if let Some(lowest) = self.wanted_minima.lock().unwrap().get(policy) {
            let lowest = limit.min(*lowest);
            self.store(&format!("{policy}/scaling_min_freq"), &lowest.to_string());
        }
    }

    /// Says whether a policy is that of the second thread of a core.
    fn is_second(&self, policy: &str) -> bool {
        let cpu = number_of(policy);
        let siblings = self.read(&format!("{CPU}/cpu{cpu}/topology/thread_siblings_list"));
        siblings.split([',', '-']).next().is_some_and(|first| !first.is_empty() && first != cpu)
    }

    /// Starts or stops a CPU. While it is stopped its settings can be neither read nor written.
    fn switch(&self, policy: &str, is_on: bool) {
        let online = format!("{CPU}/cpu{}/online", number_of(policy));
        if !self.place(&online).exists() {
            return;
        }
        self.store(&online, if is_on { "1" } else { "0" });
        for name in SETTINGS {
            let file = self.place(&format!("{policy}/{name}"));
            let kept = self.place(&format!("{policy}/kept-{name}"));
            if is_on && kept.exists() {
                fs::remove_dir(&file).expect("it was made when the CPU was stopped");
                fs::rename(&kept, &file).expect("the tree can be written");
            } else if !is_on && file.is_file() {
                fs::rename(&file, &kept).expect("the tree can be written");
                fs::create_dir(&file).expect("the tree can be written");
            }
        }
        // Those of a policy alone begin anew with it.
        if self.cpufreq.governor == GOVERNOR {
            let governor = self.read(&format!("{policy}/scaling_governor"));
            self.tunables(policy, &governor);
        }
        let has_global = self.place(&format!("{CPU}/cpufreq/boost")).exists();
        if is_on && has_global && self.cpufreq.switch_per_policy {
            let global = self.read(&format!("{CPU}/cpufreq/boost"));
            self.store(&format!("{policy}/boost"), &global);
        }
        // Before Linux 6.14 the limit stays what it is without turbo, if that is off now.
        if is_on && self.top(policy) < TURBO {
            self.wanted_limits.lock().unwrap().insert(policy.to_owned(), self.top(policy));
        }
        if is_on {
            self.limit(policy);
        }
    }

    fn policies(&self) -> Vec<String> {
        let folder = format!("{CPU}/cpufreq");
        let entries = fs::read_dir(self.place(&folder)).expect("the tree has policies");
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names
            .filter(|name| name.starts_with("policy"))
            .map(|name| format!("{folder}/{name}"))
            .collect()
    }

    fn place(&self, path: &str) -> PathBuf {
        self.folder.join(path.trim_start_matches('/'))
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.place(path)).unwrap_or_default().trim().to_owned()
    }

    fn number(&self, path: &str) -> u64 {
        self.read(path).parse().expect("a limit is a number")
    }

    /// Keeps a value; that of a CPU which is offline is not to be reached.
    fn store(&self, path: &str, value: &str) {
        if self.place(path).is_dir() {
            return;
        }
        fs::write(self.place(path), format!("{value}\n")).expect("the tree can be written");
    }
}

/// What can be set of a policy.
const SETTINGS: [&str; 6] = [
    "scaling_governor",
    "scaling_min_freq",
    "scaling_max_freq",
    "energy_performance_preference",
    "boost",
    "cpb",
];

fn is_setting(name: &str) -> bool {
    SETTINGS.contains(&name)
}

/// The number of a policy, and of its one CPU.
fn number_of(policy: &str) -> &str {
    policy.rsplit_once("policy").expect("a policy").1
}

fn number(value: &str) -> io::Result<u64> {
    value.parse().map_err(|_| io::Error::from_raw_os_error(EINVAL))
}

fn line(value: u64) -> String {
    format!("{value}\n")
}

fn refused(code: i32) -> io::Result<Option<String>> {
    Err(io::Error::from_raw_os_error(code))
}
