//! Leaves the graphical session: systemd goes to `multi-user.target`, and back.
//!
//! Only on request: whoever works at the screen is logged out and loses what was not saved.

use becalm_model::{Change, Nature, Target};

use super::{Knob, NoteKind, Planned, Profile, Situation};
use crate::systemd;

const NAME: &str = "desktop";

pub(super) const DESKTOP: Knob = Knob {
    name: NAME,
    summary: "graphical session left (ends every program in it)",
    profile: Profile::OnRequest,
    plan,
};

fn plan(situation: &Situation<'_>) -> Planned {
    if !systemd::is_there(situation.root) {
        return Planned::not_here(NAME, "systemd does not run this machine");
    }
    match systemd::reached_target() {
        Ok(target) if target == "graphical.target" => {
            let mut planned = Planned::default();
            planned.changes.push(Change {
                knob: NAME.to_owned(),
                target: Target::SystemdTarget,
                old: target,
                new: Some("multi-user.target".to_owned()),
                reason: "a compositor and its programs wake up for every frame".to_owned(),
                nature: Nature::Plain,
            });
            planned
        }
        Ok(target) => Planned::default().note(
            NAME,
            NoteKind::AlreadyQuiet,
            format!("there is no graphical session: {target}"),
        ),
        Err(error) => Planned::default().note(NAME, NoteKind::Refused, error.to_string()),
    }
}
