//! irqbalance leaves the measured CPUs alone.
//!
//! It would move interrupts back within ten seconds. Its socket takes a list of further CPUs to leave
//! alone, which it forgets when it restarts: better than stopping the service.
//! <https://github.com/Irqbalance/irqbalance>, `irqbalance-ui`.

use becalm_model::{Change, CpuSet, Nature, Target};

use super::{Knob, NoteKind, Planned, Profile, Situation};
use crate::Reading;
use crate::tune::read_target;

const NAME: &str = "irqbalance";

pub(super) const IRQBALANCE: Knob = Knob {
    name: NAME,
    summary: "irqbalance leaves the measured CPUs alone",
    profile: Profile::Safe,
    plan,
};

fn plan(situation: &Situation<'_>) -> Planned {
    match read_target(situation.root, &Target::IrqbalanceBan) {
        Reading::Value(old) => {
            let mut planned = Planned::default();
            // What is told replaces what it had found itself.
            let all = old.parse::<CpuSet>().unwrap_or_default().union(&situation.cpus);
            planned.changes.push(Change {
                knob: NAME.to_owned(),
                target: Target::IrqbalanceBan,
                old,
                new: Some(all.to_string()),
                reason: "irqbalance would move interrupts back".to_owned(),
                nature: Nature::Plain,
            });
            planned
        }
        Reading::Absent => {
            let text = "no irqbalance listens in /run/irqbalance; one that runs all the same cannot be reached";
            Planned::not_here(NAME, text)
        }
        other => Planned::default().note(
            NAME,
            NoteKind::Refused,
            format!("irqbalance {}", other.why_not().unwrap_or_default()),
        ),
    }
}
