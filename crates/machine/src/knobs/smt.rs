//! The second threads of cores.
//!
//! Left idle unless asked for: an idle sibling disturbs next to nothing, and nothing is to be put back.
//! Switched off, their CPUs vanish with their frequency policies. Switching on again starts every CPU,
//! also those that an administrator had stopped, so the state of each is saved; and so is what the kernel
//! changes when CPUs go.
//! <https://docs.kernel.org/admin-guide/cputopology.html>, `kernel/cpu.c`.

use becalm_model::{CpuId, CpuSet};

use super::policies::{all_policies, running_siblings, second_threads};
use super::{Knob, Planner, Profile, Situation, Smt, hotplug, limits, tunables};
use crate::SysRoot;

const CONTROL: &str = "/sys/devices/system/cpu/smt/control";

pub(super) const SMT: Knob = Knob {
    name: "smt",
    summary: "second threads of cores off, if requested (--smt off)",
    reason: "two threads share a core and slow each other down",
    profile: Profile::Safe,
    plan,
};

/// Says whether SMT is on and can be switched off. `forceoff` cannot be undone, and a machine without
/// SMT says `notsupported`.
pub(super) fn can_be_switched(root: &SysRoot) -> bool {
    root.read(CONTROL).value().is_some_and(|value| is_on(&value))
}

/// Returns the first threads. One without a second may be a second itself, whose first is offline.
fn sure_to_stay(situation: &Situation<'_>) -> CpuSet {
    let topology = situation.topology;
    let firsts = topology.online.difference(&second_threads(situation));
    let is_sure =
        |cpu: &CpuId| topology.offline.is_empty() || running_siblings(situation, *cpu).len() > 1;
    firsts.iter().filter(is_sure).collect()
}

/// From Linux 6.6 on a number of threads may stand for `on`.
fn is_on(control: &str) -> bool {
    control == "on" || control.parse::<u32>().is_ok_and(|threads| threads > 1)
}

fn plan(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    let control = planner.see(CONTROL).value();
    if situation.request.smt == Smt::Idle {
        if control.as_deref().is_some_and(is_on) {
            planner.is_quiet("second threads stay on, and idle; --smt off switches them off");
        }
        return;
    }
    if !control.as_deref().is_some_and(is_on) {
        let found = control.unwrap_or_else(|| "missing".to_owned());
        let text = format!("{CONTROL} is `{found}`: there is nothing to switch off");
        return planner.not_here(text);
    }
    if situation.cpus.difference(&second_threads(situation)).is_empty() {
        let text = format!("CPU {} would go offline, but it will be measured", situation.cpus);
        return planner.refuse(text);
    }
    hotplug::guard(planner, &sure_to_stay(situation));
    for policy in all_policies(situation) {
        tunables::guard(planner, &policy);
        for file in [
            // Back online a policy has the global setting again.
            "boost",
            "energy_performance_preference",
            "scaling_governor",
        ] {
            planner.guard(policy.file(file));
        }
        limits::guard(planner, &policy);
    }
    // Backwards, these come back after the switch has started everything.
    let present = situation.topology.online.union(&situation.topology.offline);
    for cpu in present.iter() {
        planner.guard(format!("/sys/devices/system/cpu/cpu{}/online", cpu.0));
    }
    planner.set(CONTROL, "off");
}
