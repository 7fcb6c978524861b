//! Turbo off, by the way that the driver in charge has.
//!
//! | driver | switch |
//! |---|---|
//! | `intel_pstate`, `intel_cpufreq` | `intel_pstate/no_turbo` |
//! | acpi-cpufreq | `cpufreq/boost`, or `cpb` of older AMD ones, which acts on all CPUs |
//! | amd-pstate, amd-pstate-epp, `cppc_cpufreq`, others | `cpufreq/boost`, then `boost` of each policy |
//!
//! The global switch comes before those of policies, which answer EINVAL while it is off. amd-pstate-epp
//! before Linux 6.11 takes the global switch and does not heed it, so where it has no switch per policy the
//! limit is lowered to the nominal frequency as well; so it is where there is no switch at all. Switching
//! turbo lowers the limits by itself and raises them again: they are saved, and put back after it.
//! <https://docs.kernel.org/admin-guide/pm/cpufreq.html#frequency-boost-support>,
//! <https://docs.kernel.org/admin-guide/pm/amd-pstate.html>

use super::base_frequency::base_frequency;
use super::frequency::fixed;
use super::policies::{driver, policies};
use super::{Knob, NoteKind, Planned, Profile, Situation, limits};

const NAME: &str = "turbo";
const REASON: &str = "turbo depends on temperature, power and what other cores do";
const NO_TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
const PERCENTAGES: [&str; 2] = [
    "/sys/devices/system/cpu/intel_pstate/max_perf_pct",
    "/sys/devices/system/cpu/intel_pstate/min_perf_pct",
];
const BOOST: &str = "/sys/devices/system/cpu/cpufreq/boost";

pub(super) const TURBO: Knob =
    Knob { name: NAME, summary: "no turbo frequencies", profile: Profile::Safe, plan };

fn plan(situation: &Situation<'_>) -> Planned {
    let Some(driver) = driver(situation) else {
        return Planned::not_here(
            NAME,
            "the kernel does not set frequencies here; in a virtual machine the host does",
        );
    };
    let mut planned = Planned::default();
    for policy in policies(situation) {
        limits::guard(situation, &mut planned, NAME, &policy);
    }
    match driver.as_str() {
        "intel_pstate" | "intel_cpufreq" => {
            for path in PERCENTAGES {
                planned.guard(situation, NAME, path);
            }
            planned.set(situation, NAME, NO_TURBO, "1", REASON);
        }
        "acpi-cpufreq" => acpi(situation, &mut planned),
        "amd-pstate-epp" if !has_switch_per_policy(situation) => {
            if situation.root.exists(BOOST) {
                planned.set(situation, NAME, BOOST, "0", REASON);
            }
            clamp(situation, &mut planned);
        }
        _ => general(situation, &mut planned),
    }
    planned
}

fn has_switch_per_policy(situation: &Situation<'_>) -> bool {
    policies(situation).iter().any(|policy| situation.root.exists(policy.file("boost")))
}

fn acpi(situation: &Situation<'_>, planned: &mut Planned) {
    let is_there = situation.root.exists(BOOST);
    if is_there {
        planned.set(situation, NAME, BOOST, "0", REASON);
    }
    for policy in policies(situation) {
        let cpb = policy.file("cpb");
        if situation.root.exists(&cpb) {
            if is_there {
                planned.guard(situation, NAME, cpb);
            } else {
                planned.set(situation, NAME, cpb, "0", REASON);
            }
        } else if !is_there {
            return clamp(situation, planned);
        }
    }
}

fn general(situation: &Situation<'_>, planned: &mut Planned) {
    let is_there = situation.root.exists(BOOST);
    if is_there {
        planned.set(situation, NAME, BOOST, "0", REASON);
    }
    if !is_there && !has_switch_per_policy(situation) {
        return clamp(situation, planned);
    }
    for policy in policies(situation) {
        let path = policy.file("boost");
        if is_there {
            // Off with the global one, which may forget what each was.
            planned.guard(situation, NAME, path);
        } else if situation.root.exists(&path) {
            planned.set(situation, NAME, path, "0", REASON);
        }
    }
}

/// Lowers the limits to the frequency without turbo, where they are above it.
fn clamp(situation: &Situation<'_>, planned: &mut Planned) {
    for policy in policies(situation) {
        let Some(base) = base_frequency(situation, &policy) else {
            no_switch(planned);
            continue;
        };
        match fixed(situation, &policy) {
            // Without turbo already, and the limit is that knob's.
            Some(frequency) if frequency <= base => continue,
            Some(frequency) => {
                let text = format!(
                    "{}: {frequency} kHz were asked for, which only turbo reaches",
                    policy.folder
                );
                *planned = std::mem::take(planned).note(NAME, NoteKind::Refused, text);
                continue;
            }
            None => {}
        }
        let path = policy.file("scaling_max_freq");
        let now = situation.root.read(&path).value().and_then(|text| text.parse::<u64>().ok());
        if now.is_none_or(|now| now <= base) {
            continue;
        }
        match limits::why_lower(situation, &policy) {
            None => planned.set(situation, NAME, path, &base.to_string(), REASON),
            Some(why) => planned.notes.push(limits::unknown(NAME, &policy, &why)),
        }
    }
}

fn no_switch(planned: &mut Planned) {
    let text = "this driver has no switch for turbo, and no frequency without it is known";
    let planned_now = std::mem::take(planned);
    *planned = planned_now.note(NAME, NoteKind::Refused, text);
}
