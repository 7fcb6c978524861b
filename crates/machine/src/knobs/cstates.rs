//! Idle states that take long to leave, on the measured CPUs.
//!
//! A state is switched off when leaving it takes more than 10 us: what is left is the halt of all
//! CPUs. Spinning instead (`--latency 0`) would take power from the neighbours, and with it their
//! turbo. <https://docs.kernel.org/admin-guide/pm/cpuidle.html#idle-states-control>

use super::{Knob, Planner, Profile};

/// Longest exit latency that is left, in microseconds.
const LONGEST_EXIT: u64 = 10;

pub(super) const CSTATES: Knob = Knob {
    name: "cstates",
    summary: "no deep idle states on the measured CPUs",
    reason: "a CPU in deep sleep wakes up late, with cold caches",
    profile: Profile::Safe,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    for cpu in situation.cpus.intersection(&situation.staying()).iter() {
        let folder = format!("/sys/devices/system/cpu/cpu{}/cpuidle", cpu.0);
        for state in situation.root.list_dir(&folder).value().unwrap_or_default() {
            let latency = situation.root.parse::<u64>(format!("{folder}/{state}/latency"));
            if latency.is_some_and(|latency| latency > LONGEST_EXIT) {
                planner.set(format!("{folder}/{state}/disable"), "1");
            }
        }
    }
    planner.or_not_here("the measured CPUs have no deep idle states here");
}
