//! A fixed frequency: both limits at the same value.
//!
//! Only when a frequency is asked for. The kernel refuses a minimum above the maximum, so the order
//! depends on where the new value lies; it rounds to what the hardware has and clamps what lies outside,
//! without saying so.

use super::base_frequency::base_frequency;
use super::policies::{Policy, policies};
use super::{Frequency, Knob, NoteKind, Planned, Profile, Situation, limits};

const NAME: &str = "frequency";
const REASON: &str = "the frequency moves between its limits";

pub(super) const FREQUENCY: Knob = Knob {
    name: NAME,
    summary: "a fixed frequency, where one is asked for (--frequency)",
    profile: Profile::Safe,
    plan,
};

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    for policy in policies(situation) {
        let Some(wanted) = wanted(situation, &policy) else {
            if situation.request.frequency != Frequency::Keep {
                let text = format!("{}: no frequency without turbo is known", policy.folder);
                planned = planned.note(NAME, NoteKind::Refused, text);
            }
            limits::guard(situation, &mut planned, NAME, &policy);
            continue;
        };
        if let Some(why) = limits::why_lower(situation, &policy) {
            planned.notes.push(limits::unknown(NAME, &policy, &why));
            continue;
        }
        let limit = situation.root.read(policy.file("scaling_max_freq")).value();
        let limit = limit.and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        let mut files = ["scaling_min_freq", "scaling_max_freq"];
        if wanted > limit {
            files.reverse();
        }
        for file in files {
            planned.set(situation, NAME, policy.file(file), &wanted.to_string(), REASON);
        }
    }
    if planned == Planned::default() {
        return Planned::not_here(NAME, "the kernel does not set frequencies here");
    }
    planned
}

/// Returns the frequency that this knob is going to fix, in kHz.
pub(super) fn fixed(situation: &Situation<'_>, policy: &Policy) -> Option<u64> {
    let request = situation.request;
    let named = |names: &[String]| names.iter().any(|name| name == NAME);
    let is_turned = !named(&request.skip) && (request.only.is_empty() || named(&request.only));
    wanted(situation, policy).filter(|_| is_turned)
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
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a part of a frequency is no larger than it, and not negative"
)]
fn part(base: u64, share: f64) -> u64 {
    (base as f64 * share).round() as u64
}
