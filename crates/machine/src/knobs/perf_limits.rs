//! How often `perf` may sample.
//!
//! Only on request: with one sample a second nobody on the machine can profile meanwhile, and the
//! evidence of becalm itself needs no samples. The kernel lowers the rate by itself when sampling takes
//! too long, and refuses to set it where `perf_cpu_time_max_percent` is 0 or 100, so that one is put
//! back first. <https://docs.kernel.org/admin-guide/sysctl/kernel.html#perf-event-max-sample-rate>

use becalm_model::{Nature, Target};

use super::{Knob, Planner, Profile};
use crate::Reading;

const RATE: &str = "/proc/sys/kernel/perf_event_max_sample_rate";
const SHARE: &str = "/proc/sys/kernel/perf_cpu_time_max_percent";

pub(super) const PERF_LIMITS: Knob = Knob {
    name: "perf-limits",
    summary: "no sampling by perf",
    reason: "a profiler interrupts every CPU",
    profile: Profile::OnRequest,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let root = planner.situation.root;
    let (Reading::Value(rate), Reading::Value(share)) = (root.read(RATE), root.read(SHARE)) else {
        return planner.not_here(format!("{RATE} or {SHARE} does not exist here"));
    };
    if matches!(share.as_str(), "0" | "100") {
        let text = format!("{SHARE} is {share}, so the kernel refuses to change the rate");
        return planner.refuse(text);
    }
    let change = planner.change(Target::File(RATE.to_owned()), &rate, Some("1"));
    planner.add(change.with(Nature::Drifts));
    planner.guard(SHARE);
}
