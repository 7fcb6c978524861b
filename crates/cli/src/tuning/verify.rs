//! Whether tuning had an effect: a spin on each measured CPU before and after.

use std::fmt::Write as _;
use std::time::Duration;

use becalm_lab::{Spin, spin};
use becalm_machine::SysRoot;
use becalm_model::{CpuId, CpuSet};
use becalm_runner::{own_affinity, pin_self};

/// Long enough for several ticks of the kernel's clock.
const DURATION: Duration = Duration::from_millis(100);

/// Largest relative difference between the measured and the expected frequency that is called the same:
/// the chain of operations and the kernel's rounding each take a little.
const TOLERANCE: f64 = 0.05;

const IS_X86: bool = cfg!(target_arch = "x86_64");

/// Spins on each of `cpus`. CPUs that this process may not use are skipped.
pub(crate) fn spins(cpus: &CpuSet) -> Vec<(CpuId, Spin)> {
    let Ok(own) = own_affinity() else { return Vec::new() };
    let measured = cpus
        .iter()
        .filter_map(|cpu| {
            pin_self(&std::iter::once(cpu).collect()).ok()?;
            Some((cpu, spin(DURATION)))
        })
        .collect();
    // Where this fails becalm stays where it is, which harms nobody.
    let _ = pin_self(&own);
    measured
}

/// Returns one line per CPU: what was measured before and after, and whether the frequency is what
/// the limits promise.
pub(crate) fn verdict(root: &SysRoot, before: &[(CpuId, Spin)], after: &[(CpuId, Spin)]) -> String {
    let mut text = String::new();
    for (cpu, now) in after {
        let Some((_, then)) = before.iter().find(|(other, _)| other == cpu) else { continue };
        let _ = write!(
            text,
            "CPU {cpu}: {:.2} GHz, equal work within {:.1} % before; {:.2} GHz, {:.1} % after",
            then.hertz / 1e9,
            then.spread * 100.0,
            now.hertz / 1e9,
            now.spread * 100.0,
        );
        let _ = match promised(root, *cpu) {
            Some(hertz) if (now.hertz / hertz - 1.0).abs() <= TOLERANCE => {
                writeln!(text, "; as promised ({:.2} GHz)", hertz / 1e9)
            }
            Some(hertz) => writeln!(
                text,
                "; the limits promise {:.2} GHz: either something else limits the frequency \
                 (firmware, heat, power, a sibling thread), or the CPU is busy",
                hertz / 1e9
            ),
            None => writeln!(text, "; no frequency is promised here"),
        };
    }
    text
}

/// The frequency in Hz at which a busy CPU should run: its upper limit, where both limits are the same.
/// Below a higher limit turbo decides; and only on x86-64 is the measured figure one of hertz.
fn promised(root: &SysRoot, cpu: CpuId) -> Option<f64> {
    let folder = format!("/sys/devices/system/cpu/cpu{}/cpufreq", cpu.0);
    let path = format!("{folder}/scaling_max_freq");
    if root.read(&path) != root.read(format!("{folder}/scaling_min_freq")) || !IS_X86 {
        return None;
    }
    let kilohertz: f64 = root.read(path).value()?.parse().ok()?;
    (kilohertz > 0.0).then_some(kilohertz * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    #[test]
    fn the_verdict_compares_with_what_the_limits_promise() {
        let folder = "/sys/devices/system/cpu/cpu1/cpufreq";
        let tree = FakeTree::new()
            .file(format!("{folder}/scaling_max_freq"), "2400000\n")
            .file(format!("{folder}/scaling_min_freq"), "2400000\n");
        let root = SysRoot::new(tree.path());
        let spin = |hertz, spread| [(CpuId(1), Spin { hertz, spread })];
        let before = spin(3.1e9, 0.12);
        let text = verdict(&root, &before, &spin(2.41e9, 0.01));
        assert_eq!(
            text,
            "CPU 1: 3.10 GHz, equal work within 12.0 % before; 2.41 GHz, 1.0 % after; as promised \
             (2.40 GHz)\n"
        );
        assert!(verdict(&root, &before, &before).contains("the limits promise 2.40 GHz"));
        let nowhere = SysRoot::new("/nonexistent");
        assert!(verdict(&nowhere, &before, &before).contains("no frequency is promised"));
    }
}
