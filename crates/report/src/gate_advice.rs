//! What to do about what a gate says, in one sentence.

use becalm_model::gate::{GateBy, GateOutcome, GateResult};
use becalm_model::history::short_commit;

/// Says what to do next about the worst result, in one sentence; nothing where all is well.
pub fn gate_advice(worst: &GateResult) -> Option<String> {
    if worst.outcome == GateOutcome::Pass {
        return None;
    }
    let base = worst.base.as_deref().map_or("GOOD", short_commit);
    let head = worst.head.as_deref().map_or("HEAD", short_commit);
    let name = worst.of.full_name();
    let both = format!("`becalm compare --rev {base} --rev {head} -- COMMAND`");
    Some(match worst.by {
        GateBy::Comparison if worst.outcome == GateOutcome::Fail => format!(
            "Find the commit with `becalm bisect --good {base} --bad {head} -- COMMAND`, or let {name} be slower with \
             a larger margin in [gate] of becalm.toml."
        ),
        GateBy::Comparison => {
            "Measure for longer (`becalm compare --max-time`), or allow a larger margin.".to_owned()
        }
        GateBy::History { missing: Some(_), .. } => format!(
            "Add runs with `becalm history add`, or decide now with {both}, which needs no history."
        ),
        GateBy::History { .. } | GateBy::CutOff => {
            format!("Make sure with {both}, which measures both sides interleaved.")
        }
        GateBy::Change(id) => format!(
            "Find the commit with `becalm bisect --good {base} --bad {head} -- COMMAND`; if the change is wanted, say \
             so with `becalm changes acknowledge {id}`."
        ),
        GateBy::Limit => format!("Make {name} fit its limit, or change the limit in becalm.toml."),
    })
}
