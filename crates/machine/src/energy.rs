//! The energy that processor packages have used, by the counters of RAPL (Intel since Sandy Bridge, AMD since Zen).
//!
//! Each package counts what it has used itself, cores, caches and memory controllers of everybody's programs, without
//! memory, disks and fans. The kernel updates a counter about every millisecond and starts it again at 0 after
//! `max_energy_range_uj`. Since Linux 5.10 only root may read it, because readings in quick succession tell
//! what other programs compute (CVE-2020-8694); so where becalm acts for a caller the steward reads it, at most
//! every [`PATIENCE`]. <https://docs.kernel.org/power/powercap/powercap.html>

use std::time::Duration;

use becalm_kernel::clock;
use serde::{Deserialize, Serialize};

use crate::SysRoot;
use crate::activity::Held;

const FOLDER: &str = "/sys/class/powercap";

/// What a steward has read this recently it does not read again.
const PATIENCE: Duration = Duration::from_millis(10);

/// Shortest time of which the energy is known to two parts in a hundred: a counter is up to an update old at either
/// end.
pub const SHORTEST: Duration = Duration::from_millis(100);

/// No package uses more power, in watts: what may have started again twice has no value.
const MOST_WATTS: f64 = 1000.0;

/// What all packages have used until a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnergyReading {
    /// `CLOCK_MONOTONIC` when it was read.
    at: Duration,
    packages: Vec<Counter>,
}

/// The counter of one package, in microjoules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Counter {
    count: u64,
    /// The highest value, after which it starts again at 0.
    range: u64,
}

impl EnergyReading {
    /// Returns the joules used since an earlier reading; `None` where the time between is too short for the counters
    /// or so long that one may have started again twice.
    pub fn joules_since(&self, earlier: &Self) -> Option<f64> {
        let time = self.at.checked_sub(earlier.at).filter(|time| *time >= SHORTEST)?;
        if self.packages.len() != earlier.packages.len() {
            return None;
        }
        let used = self.packages.iter().zip(&earlier.packages).map(|(now, before)| {
            let is_clear = time.as_secs_f64() * MOST_WATTS < before.range as f64 * 1e-6;
            let rest = before.range.checked_sub(before.count)?;
            let again = || now.count.checked_add(rest)?.checked_add(1);
            now.count.checked_sub(before.count).or_else(again).filter(|_| is_clear)
        });
        used.sum::<Option<u64>>().map(|microjoules| microjoules as f64 * 1e-6)
    }
}

/// Why the energy is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NoEnergy {
    /// No package has a counter, as in virtual machines and on most other processors than x86.
    NotHere,
    /// There are counters that cannot be read, as a fragment that starts with a path.
    Unread(String),
}

/// The open counters of all packages.
#[derive(Debug)]
pub(crate) struct Counters {
    /// With their ranges.
    packages: Vec<(Held, u64)>,
    buffer: Vec<u8>,
}

impl Counters {
    pub(crate) fn open(root: &SysRoot) -> Result<Self, NoEnergy> {
        let zones = root.list_dir(FOLDER).if_there(FOLDER).map_err(NoEnergy::Unread)?;
        let zones = zones.ok_or(NoEnergy::NotHere)?;
        let mut packages = Vec::new();
        // Not `intel-rapl-mmio:0`, the same package again, nor `intel-rapl:0:0`, a part of one.
        let of_packages = zones.iter().filter(|name| {
            name.strip_prefix("intel-rapl:").is_some_and(|number| number.parse::<u32>().is_ok())
        });
        for zone in of_packages {
            let folder = format!("{FOLDER}/{zone}");
            // `psys` is the whole board, with the packages.
            let name = root.read(format!("{folder}/name")).of(&folder).map_err(NoEnergy::Unread)?;
            if !name.starts_with("package") {
                continue;
            }
            let path = format!("{folder}/max_energy_range_uj");
            let range = root.parse(&path).ok_or(format!("{path} contains no number"));
            let file = Held::open(root, format!("{folder}/energy_uj"));
            packages.push(file.and_then(|file| Ok((file, range?))).map_err(NoEnergy::Unread)?);
        }
        if packages.is_empty() {
            return Err(NoEnergy::NotHere);
        }
        let mut counters = Self { packages, buffer: Vec::new() };
        let unread = || NoEnergy::Unread(format!("{FOLDER}: energy_uj cannot be read"));
        counters.read().ok_or_else(unread)?;
        Ok(counters)
    }

    /// Reads all of them; `None` where one fails.
    pub(crate) fn read(&mut self) -> Option<EnergyReading> {
        let at = clock::monotonic_now();
        let mut packages = Vec::with_capacity(self.packages.len());
        for (file, range) in &self.packages {
            let count = file.parse(&mut self.buffer, |text| text.trim().parse().ok())?;
            packages.push(Counter { count, range: *range });
        }
        Some(EnergyReading { at, packages })
    }
}

/// The steward's side: counters that are opened when somebody asks for them.
#[derive(Debug, Default)]
pub(crate) struct KeptCounters(Option<(Counters, EnergyReading)>);

impl KeptCounters {
    /// Returns what was read last, or what is to be read now if that is longer ago than [`PATIENCE`].
    pub(crate) fn reading(&mut self, root: &SysRoot) -> Result<EnergyReading, NoEnergy> {
        let unread = || NoEnergy::Unread("energy_uj can no longer be read".to_owned());
        let (mut counters, last) = match self.0.take() {
            Some((counters, last)) => (counters, Some(last)),
            None => (Counters::open(root)?, None),
        };
        let age = |last: &EnergyReading| clock::monotonic_now().saturating_sub(last.at);
        let reading = match last.filter(|last| age(last) < PATIENCE) {
            Some(recent) => recent,
            None => counters.read().ok_or_else(unread)?,
        };
        self.0 = Some((counters, reading.clone()));
        Ok(reading)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    fn reading(at_ms: u64, counts: &[u64]) -> EnergyReading {
        let packages = counts.iter().map(|&count| Counter { count, range: 262_143_328_850 });
        EnergyReading { at: Duration::from_millis(at_ms), packages: packages.collect() }
    }

    #[test]
    fn joules_of_all_packages_are_added_also_over_a_wrap() {
        let check = |before: &EnergyReading, after: &EnergyReading, expected: Option<f64>| {
            assert_eq!(after.joules_since(before), expected, "{before:?} {after:?}");
        };
        check(
            &reading(1000, &[5_000_000, 1_000_000]),
            &reading(3000, &[9_500_000, 2_000_000]),
            Some(5.5),
        );
        check(&reading(0, &[262_143_328_850]), &reading(1000, &[1_999_999]), Some(2.0));
        check(&reading(0, &[0]), &reading(99, &[7_000_000]), None);
        // Once around in 262 s takes 1000 W.
        check(&reading(0, &[0]), &reading(262_000, &[1_000_000]), Some(1.0));
        check(&reading(0, &[0]), &reading(263_000, &[1_000_000]), None);
        check(&reading(1000, &[0]), &reading(0, &[1_000_000]), None);
        check(&reading(0, &[0]), &reading(1000, &[1, 2]), None);
        check(&reading(0, &[u64::MAX]), &reading(1000, &[5]), None);
    }

    fn machine() -> FakeTree {
        let zone = |tree: FakeTree, zone: &str, name: &str, count: &str| {
            tree.file(format!("{FOLDER}/{zone}/name"), format!("{name}\n"))
                .file(format!("{FOLDER}/{zone}/energy_uj"), format!("{count}\n"))
                .file(format!("{FOLDER}/{zone}/max_energy_range_uj"), "262143328850\n")
        };
        let tree = zone(FakeTree::new(), "intel-rapl:0", "package-0", "17");
        let tree = zone(tree, "intel-rapl:1", "package-1", "23");
        let tree = zone(tree, "intel-rapl:0:0", "core", "5");
        let tree = zone(tree, "intel-rapl:2", "psys", "99");
        zone(tree, "intel-rapl-mmio:0", "package-0", "17")
    }

    #[test]
    fn packages_are_read_once_each_and_again() {
        let tree = machine();
        let mut counters = Counters::open(&SysRoot::new(tree.path())).unwrap();
        let counts = |counters: &mut Counters| -> Vec<u64> {
            counters.read().unwrap().packages.iter().map(|one| one.count).collect()
        };
        assert_eq!(counts(&mut counters), [17, 23]);
        let tree = tree.file(format!("{FOLDER}/intel-rapl:1/energy_uj"), "42\n");
        assert_eq!(counts(&mut counters), [17, 42]);
        let _tree = tree.file(format!("{FOLDER}/intel-rapl:1/energy_uj"), "x\n");
        assert_eq!(counters.read(), None);
    }

    #[test]
    fn counters_that_are_not_there_and_those_that_are_refused_are_told_apart() {
        let why = |root: SysRoot| Counters::open(&root).unwrap_err();
        let empty = FakeTree::new();
        assert_eq!(why(SysRoot::new(empty.path())), NoEnergy::NotHere);
        let tree = machine();
        let path = format!("{FOLDER}/intel-rapl:0/energy_uj");
        let NoEnergy::Unread(text) = why(SysRoot::new(tree.path()).denying(&path)) else {
            panic!()
        };
        assert!(text.starts_with(&path), "{text}");
        let tree = machine().file(format!("{FOLDER}/intel-rapl:0/max_energy_range_uj"), "?\n");
        assert!(matches!(why(SysRoot::new(tree.path())), NoEnergy::Unread(_)));
    }

    #[test]
    fn a_steward_reads_no_more_often_than_it_has_to() {
        let tree = machine();
        let root = SysRoot::new(tree.path());
        let mut kept = KeptCounters::default();
        let first = kept.reading(&root).unwrap();
        let second = kept.reading(&root).unwrap();
        assert!(
            second == first || second.at.saturating_sub(first.at) >= PATIENCE,
            "{first:?} {second:?}"
        );
    }
}
