//! Leaves the graphical session: `graphical.target` and what it wants beyond `multi-user.target` are stopped,
//! the display manager first of all.
//!
//! By name, and not by `systemctl isolate multi-user.target`: that starts everything else that
//! `multi-user.target` wants, and what somebody has stopped by hand would run afterwards.
//!
//! Only on request: whoever works at the screen is logged out and loses what was not saved.

use becalm_model::{Change, Nature, Target};

use super::services::NOISY;
use super::{Knob, NoteKind, Planned, Profile, Situation};
use crate::systemd::{self, ACTIVE, INACTIVE, UnitState};

const NAME: &str = "desktop";

pub(super) const DESKTOP: Knob = Knob {
    name: NAME,
    summary: "graphical session left (ends every program in it)",
    profile: Profile::OnRequest,
    plan,
};

/// Stopped first, so that it is started last: it wants all the others.
const GRAPHICAL: &str = "graphical.target";

fn plan(situation: &Situation<'_>) -> Planned {
    if !systemd::is_there(situation.root) {
        return Planned::not_here(NAME, "systemd does not run this machine");
    }
    let running = systemd::wanted_by_graphical().and_then(|wanted| {
        // Background services are a knob of their own.
        let wanted = wanted.into_iter().filter(|name| !NOISY.contains(&name.as_str()));
        let names: Vec<String> = std::iter::once(GRAPHICAL.to_owned()).chain(wanted).collect();
        let states = systemd::states(&names)?;
        Ok(names
            .into_iter()
            .filter(|name| states.get(name) == Some(&UnitState::Active))
            .collect::<Vec<_>>())
    });
    let running = match running {
        Ok(running) => running,
        Err(error) => {
            return Planned::default().note(NAME, NoteKind::Refused, error.to_string());
        }
    };
    if running.first().is_none_or(|first| first != GRAPHICAL) {
        let text = format!("there is no graphical session: {GRAPHICAL} is not reached");
        return Planned::default().note(NAME, NoteKind::AlreadyQuiet, text);
    }
    let changes = running.into_iter().map(|name| Change {
        knob: NAME.to_owned(),
        target: Target::Unit(name),
        old: ACTIVE.to_owned(),
        new: Some(INACTIVE.to_owned()),
        reason: "a compositor and its programs wake up for every frame".to_owned(),
        nature: Nature::Plain,
    });
    Planned { changes: changes.collect(), ..Planned::default() }
}
