//! irqbalance leaves the measured CPUs alone.
//!
//! It would move interrupts back within ten seconds. Its socket takes a list of further CPUs to leave
//! alone, which it forgets when it restarts: better than stopping the service.
//! <https://github.com/Irqbalance/irqbalance>, `irqbalance-ui`.

use becalm_model::{CpuSet, Target};

use super::{Knob, Planner, Profile};
use crate::Reading;
use crate::tune::read_target;

pub(super) const IRQBALANCE: Knob = Knob {
    name: "irqbalance",
    summary: "irqbalance leaves the measured CPUs alone",
    reason: "irqbalance would move interrupts back",
    profile: Profile::Safe,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    match read_target(situation.root, &Target::IrqbalanceBan) {
        Reading::Value(old) => {
            // What is told replaces what it had found itself.
            let banned: CpuSet = match old.parse() {
                Ok(banned) => banned,
                Err(error) => return planner.refuse(format!("irqbalance bans `{old}`: {error}")),
            };
            let all = banned.union(&situation.cpus);
            planner.add(planner.change(Target::IrqbalanceBan, &old, Some(&all.to_string())));
        }
        Reading::Absent => planner.not_here(
            "no irqbalance listens in /run/irqbalance; if one runs anyway, becalm cannot reach it",
        ),
        other => planner.refuse(format!("irqbalance {}", other.why_not().unwrap_or_default())),
    }
}
