//! Which CPUs are faster than others by design.
//!
//! Intel names its kinds by the counters they have. Arm, and x86 since Linux 6.12, state a capacity
//! relative to the fastest. Else the highest frequency decides. Cores of one design differ a little
//! in both (favoured cores boost higher), so only a clear gap starts another kind.

use becalm_model::{CpuId, CpuSet};

use super::CoreKind;
use crate::cpumask::read_list;
use crate::sysroot::SysRoot;

/// A CPU slower than this share of the next faster one is of another kind. Favoured cores differ by
/// some percent (5.2 and 5.0 GHz), P and E cores by more than 20 (5.0 and 3.9 GHz).
const SAME_KIND: f64 = 0.9;

/// The counters that Intel's kinds have, the fastest first (`Documentation/arch/x86/topology` and
/// `arch/x86/events/intel/core.c`).
const INTEL: [(&str, &str); 3] = [
    ("/sys/devices/cpu_core/cpus", "P-core"),
    ("/sys/devices/cpu_atom/cpus", "E-core"),
    ("/sys/devices/cpu_lowpower/cpus", "low-power E-core"),
];

/// Finds the kinds of the online CPUs, the fastest first.
pub(super) fn read(root: &SysRoot, online: &CpuSet) -> Vec<CoreKind> {
    let named = intel(root, online);
    if named.len() > 1 {
        return named;
    }
    let by_capacity = number_of_each(root, online, "cpu_capacity")
        .map(|speeds| split(&speeds, |capacity| format!("core of capacity {capacity}")));
    if let Some(kinds) = by_capacity.filter(|kinds| kinds.len() > 1) {
        return kinds;
    }
    let by_frequency = number_of_each(root, online, "cpufreq/cpuinfo_max_freq").map(|speeds| {
        split(&speeds, |kilohertz| format!("core of {:.1} GHz", kilohertz as f64 / 1e6))
    });
    if let Some(kinds) = by_frequency.filter(|kinds| kinds.len() > 1) {
        return kinds;
    }
    vec![CoreKind { name: "core".into(), cpus: online.clone() }]
}

fn intel(root: &SysRoot, online: &CpuSet) -> Vec<CoreKind> {
    let mut left = online.clone();
    let mut kinds = Vec::new();
    for (path, name) in INTEL {
        let cpus = read_list(root, path).value().unwrap_or_default().intersection(&left);
        if !cpus.is_empty() {
            left = left.difference(&cpus);
            kinds.push(CoreKind { name: name.into(), cpus });
        }
    }
    // A kind that this table does not know yet is not thereby fast.
    if !kinds.is_empty() && !left.is_empty() {
        kinds.push(CoreKind { name: "core of another kind".into(), cpus: left });
    }
    kinds
}

/// Reads one number per CPU; `None` unless every CPU has it.
fn number_of_each(root: &SysRoot, online: &CpuSet, file: &str) -> Option<Vec<(u64, CpuId)>> {
    online
        .iter()
        .map(|cpu| {
            let path = format!("/sys/devices/system/cpu/cpu{cpu}/{file}");
            Some((root.read(path).value()?.parse().ok()?, cpu))
        })
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
