//! The highest frequency without turbo.

use super::Situation;
use super::policies::Policy;

/// Returns the highest frequency without turbo of a policy's CPUs in kHz, where the kernel tells:
/// `intel_pstate` by `base_frequency`, processors with CPPC by `nominal_freq` (in MHz). Firmware may
/// allow less (`bios_limit`): what it does not allow cannot be had.
pub(super) fn base_frequency(situation: &Situation<'_>, policy: &Policy) -> Option<u64> {
    let number = |path: String| -> Option<u64> {
        situation.root.read(path).value()?.parse().ok().filter(|&value| value > 0)
    };
    let nominal = || {
        let cpu = policy.cpus.first()?.0;
        let megahertz = number(format!("/sys/devices/system/cpu/cpu{cpu}/acpi_cppc/nominal_freq"))?;
        megahertz.checked_mul(1000)
    };
    let base = number(policy.file("base_frequency")).or_else(nominal)?;
    Some(number(policy.file("bios_limit")).map_or(base, |limit| base.min(limit)))
}
