//! How often `perf` may sample.
//!
//! Only on request: with one sample a second nobody on the machine can profile meanwhile, and the
//! evidence of becalm itself needs no samples. The kernel lowers the rate by itself when sampling takes
//! too long, and refuses to set it where `perf_cpu_time_max_percent` is 0 or 100, so that one is put
//! back first. <https://docs.kernel.org/admin-guide/sysctl/kernel.html#perf-event-max-sample-rate>

use becalm_model::{Change, Nature};

use super::{Knob, NoteKind, Planned, Profile, Situation};
use crate::Reading;

const NAME: &str = "perf-limits";
const REASON: &str = "somebody who profiles interrupts every CPU";
const RATE: &str = "/proc/sys/kernel/perf_event_max_sample_rate";
const SHARE: &str = "/proc/sys/kernel/perf_cpu_time_max_percent";

pub(super) const PERF_LIMITS: Knob =
    Knob { name: NAME, summary: "no sampling by perf", profile: Profile::OnRequest, plan };

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    let root = situation.root;
    let (Reading::Value(rate), Reading::Value(share)) = (root.read(RATE), root.read(SHARE)) else {
        return Planned::not_here(NAME, format!("{RATE} or {SHARE} does not exist here"));
    };
    if matches!(share.as_str(), "0" | "100") {
        let text = format!("{SHARE} is {share}, with which the kernel refuses to change the rate");
        return planned.note(NAME, NoteKind::Refused, text);
    }
    planned.changes.push(Change::file(NAME, RATE, &rate, "1", REASON).with(Nature::Drifts));
    planned.guard(situation, NAME, SHARE);
    planned
}
