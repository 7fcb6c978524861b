//! The terms of a session, from its flags: when it ends, what counts as a failure, how it is judged.

use std::time::Duration;

use becalm_model::conditions::Padding;
use becalm_model::terms::{Goal, Primary, Stop};
use becalm_model::{Record, RecordKind};
use becalm_report::confidence_in_words;
use becalm_runner::rounds::{Independent, Judgement, Plan};

use crate::error::CommandError;
use crate::measuring::flags::{BackendFlag, MeasureFlags};
use crate::ui::Ui;

/// Rounds in which exact counts are made: enough to show that they are.
const COUNTED_ROUNDS: u32 = 2;

/// Returns when a session ends, by its flags and otherwise after `budget`, but not before `minimum` rounds. A
/// limit that the user set is kept even if it leaves no room for a verdict.
pub(crate) fn stop(flags: &MeasureFlags, minimum: u32, budget: Duration, goal: Goal) -> Stop {
    if let Some(rounds) = flags.rounds {
        return Stop::Rounds(rounds);
    }
    let is_limited_by_nobody =
        flags.min_rounds.is_none() && flags.max_rounds.is_none() && flags.max_time.is_none();
    if flags.backend == BackendFlag::Callgrind && is_limited_by_nobody {
        return Stop::Rounds(COUNTED_ROUNDS);
    }
    let limited = flags.max_rounds.is_some() || flags.max_time.is_some();
    Stop::Until {
        minimum: flags.min_rounds.unwrap_or(if limited { 1 } else { minimum }),
        maximum: flags.max_rounds,
        budget: if limited { flags.max_time } else { Some(budget) },
        goal,
    }
}

/// Returns the terms that the flags ask for.
pub(super) fn plan_of(
    stop: Stop,
    margin: f64,
    flags: &MeasureFlags,
    primary: Primary,
    independent: Option<Independent>,
) -> Result<Plan, CommandError> {
    if let (Some(least), Some(most)) = (flags.min_rounds, flags.max_rounds)
        && least > most
    {
        return Err(CommandError::usage(format!(
            "--min-rounds {least} is more than --max-rounds {most}"
        )));
    }
    Ok(Plan {
        warmup: flags.warmup,
        stop,
        failure: flags.failure_policy(),
        // Where the stack starts would change the counts by a few instructions.
        padding: match flags.backend {
            BackendFlag::Callgrind => Padding::Fixed,
            BackendFlag::Processor => flags.conditions.layout.into(),
        },
        builds: Vec::new(),
        on_disturbance: flags.conditions.on_disturbance.into(),
        conditioning: flags.conditioning(),
        judgement: Judgement { confidence: flags.confidence, margin, primary },
        independent,
    })
}

/// Warns of a plan that is too short for any verdict; says whether it did.
pub(super) fn warn_before_start(record: &Record, plan: &Plan, ui: &Ui) -> bool {
    let needed = plan.judgement.fewest_rounds(record);
    let possible = match plan.stop {
        Stop::Rounds(rounds) => Some(rounds),
        Stop::Until { maximum, .. } => maximum,
    };
    let Some(possible) = possible.filter(|&possible| possible < needed) else { return false };
    if record.kind != RecordKind::Comparison {
        return false;
    }
    ui.warn(undecidable(possible, needed, plan.judgement.confidence));
    true
}

/// Says how long the fewest rounds take, when the first one shows that it is longer than the budget.
pub(super) fn longer_than_planned(plan: &Plan, round: Duration) -> Option<String> {
    let Stop::Until { minimum, budget: Some(budget), .. } = plan.stop else { return None };
    let expected = round * minimum;
    // Where the user set nothing but a limit, one round is enough, and the limit ends the session.
    (minimum > 1 && expected > budget).then(|| {
        format!(
            "a round takes {:.1} s here, so {minimum} rounds will take about {:.0} s; --max-time, without \
             --min-rounds, ends it before",
            round.as_secs_f64(),
            expected.as_secs_f64()
        )
    })
}

pub(super) fn undecidable(possible: u32, needed: u32, confidence: f64) -> String {
    let level = confidence_in_words(confidence).replace('\u{a0}', " ");
    let rounds = if possible == 1 { "1 round".to_owned() } else { format!("{possible} rounds") };
    format!(
        "{rounds} cannot give a verdict at {level} confidence; at least {needed} are needed, \
         and more for a small difference"
    )
}
