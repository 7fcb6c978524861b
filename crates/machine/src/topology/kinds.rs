//! Which CPUs are faster than others by design.
//!
//! Intel names its kinds by the counters they have. Arm, and x86 since Linux 6.12, state a capacity
//! relative to the fastest. Else the highest frequency decides. Cores of one design differ a little
//! in both (favoured cores boost higher), so only a clear gap starts another kind. Arm's equally
//! fast cores may still be of two designs, and AMD's may have caches of two sizes.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use becalm_model::{CpuId, CpuSet};

use super::lists::Lists;
use super::parts::{Designer, Part, Parts};
use super::{Cache, CoreKind};
use crate::sysroot::SysRoot;

/// A CPU slower than this share of the next faster one is of another kind. Favoured cores differ by
/// some percent (5.2 and 5.0 GHz), P and E cores by more than 20 (5.0 and 3.9 GHz).
const SAME_KIND: f64 = 0.9;

/// The counters that Intel's kinds have, the fastest first (`Documentation/arch/x86/topology` and
/// `arch/x86/events/intel/core.c`).
const INTEL: [(&str, &str); 3] = [
    ("/sys/devices/cpu_core/cpus", P_CORE),
    ("/sys/devices/cpu_atom/cpus", E_CORE),
    ("/sys/devices/cpu_lowpower/cpus", LOW_POWER),
];

const P_CORE: &str = "P-core";
const E_CORE: &str = "E-core";
const LOW_POWER: &str = "low-power E-core";

/// Finds the kinds of the online CPUs, the fastest first.
pub(super) fn read(
    lists: &Lists<'_>,
    online: &CpuSet,
    caches: &[Cache],
    parts: &Parts,
) -> Vec<CoreKind> {
    let root = lists.root;
    let frequencies = number_of_each(lists, online, "cpufreq/cpuinfo_max_freq");
    // With one list missing its CPUs would look like a kind that nobody knows, and slow.
    if let Some(named) = intel(lists, online, caches, frequencies.as_deref())
        && named.len() > 1
    {
        return named;
    }
    let by_capacity = number_of_each(lists, online, "cpu_capacity")
        .map(|speeds| split(&speeds, |capacity| format!("core of capacity {capacity}")));
    let by_frequency = || {
        split(frequencies.as_deref().unwrap_or_default(), |kilohertz| {
            format!("core of {:.1} GHz", kilohertz as f64 / 1e6)
        })
    };
    let mut kinds = match by_capacity.filter(|kinds| kinds.len() > 1) {
        Some(kinds) => kinds,
        None => by_frequency(),
    };
    if kinds.is_empty() {
        kinds = vec![CoreKind { name: "core".into(), cpus: online.clone() }];
    }
    match parts.designer {
        Designer::Intel => name_by_rank(&mut kinds),
        Designer::Amd => kinds = split_by_cache(root, kinds, caches),
        Designer::Other => kinds = split_by_part(kinds, parts),
    }
    if let [only] = kinds.as_mut_slice() {
        only.name = "core".into();
    }
    kinds
}

/// Intel's kinds by their counters. The low-power E-cores of a separate die count with the others
/// there; they are slower, and do without the third level of cache that all others share. `None` where
/// a counter does not tell its CPUs.
fn intel(
    lists: &Lists<'_>,
    online: &CpuSet,
    caches: &[Cache],
    frequencies: Option<&[(u64, CpuId)]>,
) -> Option<Vec<CoreKind>> {
    let mut left = online.clone();
    let mut kinds = Vec::new();
    let has_last_level = |cpu: CpuId| last_level(caches, cpu).is_some();
    for (path, name) in INTEL {
        if !lists.root.exists(path) {
            continue;
        }
        let cpus = lists.read(path)?.intersection(&left);
        if cpus.is_empty() {
            continue;
        }
        left = left.difference(&cpus);
        let without: CpuSet = cpus.iter().filter(|&cpu| !has_last_level(cpu)).collect();
        let (own, low_power) = if name != E_CORE || !online.iter().any(has_last_level) {
            (cpus, CpuSet::new())
        } else if without.is_empty() {
            slower(&cpus, frequencies)
        } else {
            (cpus.difference(&without), without)
        };
        for (name, cpus) in [(name, own), (LOW_POWER, low_power)] {
            if !cpus.is_empty() {
                kinds.push(CoreKind { name: name.into(), cpus });
            }
        }
    }
    // A kind that this table does not know yet is not thereby fast.
    if !kinds.is_empty() && !left.is_empty() {
        kinds.push(CoreKind { name: "core of another kind".into(), cpus: left });
    }
    Some(kinds)
}

/// Tells the CPUs that are clearly slower from the others.
fn slower(cpus: &CpuSet, frequencies: Option<&[(u64, CpuId)]>) -> (CpuSet, CpuSet) {
    let all = frequencies.unwrap_or_default().iter();
    let speeds: Vec<_> = all.filter(|(_, cpu)| cpus.contains(*cpu)).copied().collect();
    match split(&speeds, |_| String::new()).as_slice() {
        [first, ..] => (first.cpus.clone(), cpus.difference(&first.cpus)),
        [] => (cpus.clone(), CpuSet::new()),
    }
}

/// Intel's kinds where the kernel does not name them.
fn name_by_rank(kinds: &mut [CoreKind]) {
    for (kind, name) in kinds.iter_mut().zip([P_CORE, E_CORE, LOW_POWER]) {
        kind.name = name.into();
    }
}

/// Splits AMD's kinds where some cores have a larger third level of cache than others. What the
/// firmware prefers for a single thread comes first, then the larger cache.
fn split_by_cache(root: &SysRoot, kinds: Vec<CoreKind>, caches: &[Cache]) -> Vec<CoreKind> {
    let preference = |cpu: CpuId| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/amd_pstate_prefcore_ranking");
        root.read(path).value().and_then(|text| text.parse::<u64>().ok()).unwrap_or(0)
    };
    let mut all = Vec::new();
    for kind in kinds {
        let mut by_size: BTreeMap<Option<u64>, CpuSet> = BTreeMap::new();
        for cpu in kind.cpus.iter() {
            by_size.entry(last_level(caches, cpu).flatten()).or_default().insert(cpu);
        }
        if by_size.len() == 1 {
            all.push(kind);
            continue;
        }
        let mut parts: Vec<_> = by_size.into_iter().collect();
        parts.sort_by_key(|(size, cpus)| {
            Reverse((cpus.iter().map(preference).max().unwrap_or(0), *size))
        });
        all.extend(parts.into_iter().map(|(size, cpus)| {
            let name = match size {
                Some(size) => format!("core with {} MiB of L3", size >> 20),
                None => "core without L3".to_owned(),
            };
            CoreKind { name, cpus }
        }));
    }
    all
}

/// Splits kinds of one speed that are of several designs, the newer first, and names them.
fn split_by_part(kinds: Vec<CoreKind>, parts: &Parts) -> Vec<CoreKind> {
    let mut all: Vec<(CoreKind, Option<Part>)> = Vec::new();
    for kind in kinds {
        let mut by_part: BTreeMap<Option<Part>, CpuSet> = BTreeMap::new();
        for cpu in kind.cpus.iter() {
            by_part.entry(parts.part(cpu)).or_default().insert(cpu);
        }
        let split = by_part.into_iter().rev();
        all.extend(split.map(|(part, cpus)| (CoreKind { name: kind.name.clone(), cpus }, part)));
    }
    let named: Vec<Option<Part>> = all.iter().map(|(_, part)| *part).collect();
    let name = |(mut kind, part): (CoreKind, Option<Part>)| {
        if let Some(part) = part {
            let repeats = named.iter().filter(|other| **other == Some(part)).count() > 1;
            // One design at two speeds keeps its speed in the name.
            kind.name = match kind.name.strip_prefix("core") {
                Some(speed) if repeats => format!("{}{speed}", part.name()),
                _ => part.name(),
            };
        }
        kind
    };
    all.into_iter().map(name).collect()
}

/// Returns the size of the third-level cache of a CPU, if it has one.
#[expect(clippy::option_option, reason = "a cache of unknown size is still a cache")]
fn last_level(caches: &[Cache], cpu: CpuId) -> Option<Option<u64>> {
    let cache = caches.iter().find(|cache| cache.level == 3 && cache.cpus.contains(cpu))?;
    Some(cache.size)
}

/// Reads one number per CPU; `None` unless every CPU has it.
fn number_of_each(lists: &Lists<'_>, online: &CpuSet, file: &str) -> Option<Vec<(u64, CpuId)>> {
    online
        .iter()
        .map(|cpu| Some((lists.number(&format!("/sys/devices/system/cpu/cpu{cpu}/{file}"))?, cpu)))
        .collect()
}

/// Splits CPUs wherever their speeds have a clear gap; a kind is named after its fastest CPU.
fn split(speeds: &[(u64, CpuId)], name: impl Fn(u64) -> String) -> Vec<CoreKind> {
    let mut speeds = speeds.to_vec();
    speeds.sort_unstable_by(|a, b| b.cmp(a));
    let mut kinds: Vec<CoreKind> = Vec::new();
    let mut previous = None;
    for (speed, cpu) in speeds {
        let near = previous.is_some_and(|faster: u64| speed as f64 >= faster as f64 * SAME_KIND);
        match kinds.last_mut() {
            Some(kind) if near => {
                kind.cpus.insert(cpu);
            }
            _ => kinds.push(CoreKind { name: name(speed), cpus: CpuSet::from_iter([cpu]) }),
        }
        previous = Some(speed);
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(speeds: &[u64], expected: &[&str]) {
        let speeds: Vec<_> = speeds.iter().copied().zip((0..).map(CpuId)).collect();
        let kinds = split(&speeds, |speed| speed.to_string());
        let shown: Vec<_> =
            kinds.iter().map(|kind| format!("{}: {}", kind.name, kind.cpus)).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn favoured_cores_are_no_kind_of_their_own() {
        check(&[5000, 5200, 5000, 5200], &["5200: 0-3"]);
    }

    #[test]
    fn a_clear_gap_starts_another_kind() {
        check(&[3900, 5000, 5200, 3900], &["5200: 1-2", "3900: 0,3"]);
        check(&[280, 280, 855, 1024], &["1024: 3", "855: 2", "280: 0-1"]);
    }

    #[test]
    fn speeds_of_zero_do_no_harm() {
        check(&[0, 0], &["0: 0-1"]);
    }
}
