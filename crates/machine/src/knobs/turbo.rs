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
use super::{Knob, Planner, Profile, Situation, limits};

const NO_TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
const PERCENTAGES: [&str; 2] = [
    "/sys/devices/system/cpu/intel_pstate/max_perf_pct",
    "/sys/devices/system/cpu/intel_pstate/min_perf_pct",
];
const BOOST: &str = "/sys/devices/system/cpu/cpufreq/boost";

pub(super) const TURBO: Knob = Knob {
    name: "turbo",
    summary: "no turbo frequencies",
    reason: "turbo depends on temperature, power and what other cores do",
    profile: Profile::Safe,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    let Some(driver) = driver(situation) else {
        return planner.not_here(
            "the kernel does not set frequencies here; in a virtual machine the host does",
        );
    };
    for policy in policies(situation) {
        limits::guard(planner, &policy);
    }
    match driver.as_str() {
        "intel_pstate" | "intel_cpufreq" => {
            for path in PERCENTAGES {
                planner.guard(path);
            }
            planner.set(NO_TURBO, "1");
        }
        "acpi-cpufreq" => acpi(planner),
        "amd-pstate-epp" if !has_switch_per_policy(situation) => {
            if situation.root.exists(BOOST) {
                planner.set(BOOST, "0");
            }
            clamp(planner);
        }
        _ => general(planner),
    }
}

fn has_switch_per_policy(situation: &Situation<'_>) -> bool {
    policies(situation).iter().any(|policy| situation.root.exists(policy.file("boost")))
}

fn acpi(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    let is_there = situation.root.exists(BOOST);
    if is_there {
        planner.set(BOOST, "0");
    }
    for policy in policies(situation) {
        let cpb = policy.file("cpb");
        if situation.root.exists(&cpb) {
            if is_there {
                planner.guard(cpb);
            } else {
                planner.set(cpb, "0");
            }
        } else if !is_there {
            return clamp(planner);
        }
    }
}

fn general(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    let is_there = situation.root.exists(BOOST);
    if is_there {
        planner.set(BOOST, "0");
    }
    if !is_there && !has_switch_per_policy(situation) {
        return clamp(planner);
    }
    for policy in policies(situation) {
        let path = policy.file("boost");
        if is_there {
            // Off with the global one, which may forget what each was.
            planner.guard(path);
        } else if situation.root.exists(&path) {
            planner.set(path, "0");
        }
    }
}

/// Lowers the limits to the frequency without turbo, where they are above it.
fn clamp(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    for policy in policies(situation) {
        let Some(base) = base_frequency(situation, &policy) else {
            let text =
                "this driver has no switch for turbo, and the frequency without it is unknown";
            planner.refuse(text);
            continue;
        };
        match fixed(situation, &policy) {
            // Without turbo already, and the limit is that knob's.
            Some(frequency) if frequency <= base => continue,
            Some(frequency) => {
                let text =
                    format!("{}: only turbo reaches the requested {frequency} kHz", policy.folder);
                planner.refuse(text);
                continue;
            }
            None => {}
        }
        let path = policy.file("scaling_max_freq");
        let now = situation.root.parse::<u64>(&path);
        if now.is_none_or(|now| now <= base) {
            continue;
        }
        match limits::why_lower(situation, &policy) {
            None => planner.set(path, &base.to_string()),
            Some(why) => planner.refuse(limits::unknown(&policy, &why)),
        }
    }
}
