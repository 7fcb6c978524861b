//! Idle states that take long to leave, on the measured CPUs.
//!
//! A state is switched off when leaving it takes more than 10 us: what is left is the halt of all
//! CPUs. Spinning instead (`--latency 0`) would take power from the neighbours, and with it their
//! turbo. <https://docs.kernel.org/admin-guide/pm/cpuidle.html#idle-states-control>

use super::{Knob, Planned, Profile, Situation};

const NAME: &str = "cstates";
const REASON: &str = "a CPU that sleeps deeply wakes up late, with cold caches";
/// Longest exit latency that is left, in microseconds.
const LONGEST_EXIT: u64 = 10;

pub(super) const CSTATES: Knob = Knob {
    name: NAME,
    summary: "no deep idle states on the measured CPUs",
    profile: Profile::Safe,
    plan,
};

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    for cpu in situation.cpus.intersection(&situation.staying()).iter() {
        let folder = format!("/sys/devices/system/cpu/cpu{}/cpuidle", cpu.0);
        for state in situation.root.list_dir(&folder).value().unwrap_or_default() {
            let latency = situation.root.read(format!("{folder}/{state}/latency")).value();
            let latency = latency.and_then(|text| text.parse::<u64>().ok());
            if latency.is_some_and(|latency| latency > LONGEST_EXIT) {
                planned.set(situation, NAME, format!("{folder}/{state}/disable"), "1", REASON);
            }
        }
    }
    if planned == Planned::default() {
        return Planned::not_here(NAME, "the measured CPUs have no deep idle states here");
    }
    planned
}
