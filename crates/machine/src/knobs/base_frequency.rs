//! The highest frequency without turbo.

use super::Situation;
use super::policies::Policy;

/// Returns the highest frequency without turbo of a policy's CPUs in kHz, where the kernel tells:
/// `intel_pstate` by `base_frequency`, processors with CPPC by `nominal_freq` (in MHz).
pub(super) fn base_frequency(situation: &Situation<'_>, policy: &Policy) -> Option<u64> {
    let number = |path: String| -> Option<u64> {
        situation.root.read(path).value()?.parse().ok().filter(|&value| value > 0)
    };
    if let Some(kilohertz) = number(policy.file("base_frequency")) {
        return Some(kilohertz);
    }
    let cpu = policy.cpus.first()?.0;
    let nominal = number(format!("/sys/devices/system/cpu/cpu{cpu}/acpi_cppc/nominal_freq"))?;
    nominal.checked_mul(1000)
}
