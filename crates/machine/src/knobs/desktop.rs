//! Leaves the graphical session: `graphical.target` and what it wants beyond `multi-user.target` are stopped,
//! the display manager first of all.
//!
//! By name, and not by `systemctl isolate multi-user.target`: that starts everything else that
//! `multi-user.target` wants, and what somebody has stopped by hand would run afterwards.
//!
//! Only on request: whoever works at the screen is logged out and loses what was not saved.

use becalm_model::Target;

use super::services::NOISY;
use super::{Knob, Planner, Profile};
use crate::systemd::{self, ACTIVE, INACTIVE, UnitState};

pub(super) const DESKTOP: Knob = Knob {
    name: "desktop",
    summary: "no graphical session (ends every program in it)",
    reason: "a compositor and its programs wake up for every frame",
    profile: Profile::OnRequest,
    plan,
};

/// Stopped first, so that it is started last: it wants all the others.
const GRAPHICAL: &str = "graphical.target";

fn plan(planner: &mut Planner<'_>) {
    if !systemd::is_there(planner.situation.root) {
        return planner.not_here("systemd does not run on this machine");
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
        Err(error) => return planner.refuse(error.to_string()),
    };
    if running.first().is_none_or(|first| first != GRAPHICAL) {
        let text = format!("there is no graphical session: {GRAPHICAL} is not active");
        return planner.is_quiet(text);
    }
    for name in running {
        planner.add(planner.change(Target::Unit(name), ACTIVE, Some(INACTIVE)));
    }
}
