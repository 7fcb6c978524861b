//! A fixed frequency: both limits at the same value.
//!
//! Only when a frequency is asked for. The kernel refuses a minimum above the maximum, so the order
//! depends on where the new value lies; it rounds to what the hardware has and clamps what lies outside,
//! without saying so.

use becalm_model::whole;

use super::base_frequency::base_frequency;
use super::policies::{Policy, policies};
use super::{Frequency, Knob, Planner, Profile, Situation, limits};

pub(super) const FREQUENCY: Knob = Knob {
    name: "frequency",
    summary: "a fixed frequency, if requested (--frequency)",
    reason: "the frequency moves between its limits",
    profile: Profile::Safe,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    for policy in policies(situation) {
        let Some(wanted) = wanted(situation, &policy) else {
            if situation.request.frequency != Frequency::Keep {
                let text = format!("{}: the frequency without turbo is unknown", policy.folder);
                planner.refuse(text);
            }
            limits::guard(planner, &policy);
            continue;
        };
        if let Some(why) = limits::why_lower(situation, &policy) {
            planner.refuse(limits::unknown(&policy, &why));
            continue;
        }
        let limit = situation.root.parse(policy.file("scaling_max_freq")).unwrap_or(0);
        let mut files = ["scaling_min_freq", "scaling_max_freq"];
        if wanted > limit {
            files.reverse();
        }
        for file in files {
            planner.set(policy.file(file), &wanted.to_string());
        }
    }
    planner.or_not_here("the kernel does not set frequencies here");
}

/// Returns the frequency that this knob is going to fix, in kHz.
pub(super) fn fixed(situation: &Situation<'_>, policy: &Policy) -> Option<u64> {
    wanted(situation, policy).filter(|_| situation.request.allows(FREQUENCY.name))
}

/// Returns the frequency that is asked for, in kHz.
fn wanted(situation: &Situation<'_>, policy: &Policy) -> Option<u64> {
    match situation.request.frequency {
        Frequency::Keep => None,
        Frequency::Kilohertz(kilohertz) => Some(kilohertz),
        Frequency::Base => base_frequency(situation, policy),
        Frequency::Share(share) => base_frequency(situation, policy).map(|base| part(base, share)),
    }
}

/// Returns a share, in (0, 1], of a frequency.
fn part(base: u64, share: f64) -> u64 {
    whole((base as f64 * share).round())
}
