//! The plan of a session, from its terms, and what has to be said about it before the first run.

use std::time::Duration;

use becalm_model::conditions::{Backend, Padding};
use becalm_model::terms::{Primary, Stop, Terms};
use becalm_model::{Record, RecordKind};
use becalm_runner::rounds::{Independent, Judgement, Plan};

use crate::event::{Event, Listener};
use crate::setup::conditioning;

/// Returns the plan of some terms.
pub(crate) fn plan_of(
    terms: &Terms,
    primary: Primary,
    independent: Option<Independent>,
    builds: Vec<u32>,
) -> Plan {
    Plan {
        warmup: terms.warmup,
        stop: terms.stop,
        failure: terms.failure.clone(),
        padding: match terms.runs.backend {
            // Where the stack starts would change the counts by a few instructions.
            Backend::Callgrind => Padding::Fixed,
            Backend::Processor => terms.runs.layout,
        },
        builds,
        on_disturbance: terms.runs.on_disturbance,
        conditioning: conditioning(terms),
        judgement: Judgement { confidence: terms.confidence, margin: terms.margin, primary },
        independent,
    }
}

/// Warns of a plan that is too short for any verdict; says whether it did.
pub(crate) fn warn_before_start(record: &Record, plan: &Plan, listener: Listener<'_>) -> bool {
    let needed = plan.judgement.fewest_rounds(record);
    let possible = match plan.stop {
        Stop::Rounds(rounds) => Some(rounds),
        Stop::Until { maximum, .. } => maximum,
    };
    let Some(possible) = possible.filter(|&possible| possible < needed) else { return false };
    if record.kind != RecordKind::Comparison {
        return false;
    }
    listener.hears(undecidable(possible, needed, plan));
    true
}

/// Returns the warning of a plan that is too short.
pub(crate) fn undecidable(possible: u32, needed: u32, plan: &Plan) -> Event<'static> {
    Event::Undecidable { possible, needed, confidence: plan.judgement.confidence }
}

/// Says so, when the first round shows that the fewest rounds take longer than the budget.
pub(crate) fn longer_than_planned(plan: &Plan, round: Duration) -> Option<Event<'static>> {
    let Stop::Until { minimum, budget: Some(budget), .. } = plan.stop else { return None };
    // Where the user set nothing but a limit, one round is enough, and the limit ends the session.
    (minimum > 1 && round * minimum > budget).then_some(Event::LongerThanPlanned { round, minimum })
}
