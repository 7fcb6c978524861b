//! What to do about what a gate says.

use becalm_model::history::{full_name, short_commit};
use becalm_model::wire::GateResultDocument;

/// Says what to do next about the worst result, in one sentence; nothing where all is well. `base` is the last
/// commit of the level that was compared with, `head` the one that was judged, where they are known.
pub(crate) fn next(
    worst: &GateResultDocument,
    base: Option<&str>,
    head: Option<&str>,
) -> Option<String> {
    let base = base.map_or("GOOD", short_commit);
    let head = head.map_or("HEAD", short_commit);
    let name = &full_name(&worst.benchmark, &worst.parameters);
    if worst.verdict == "pass" {
        return None;
    }
    let both = format!("`becalm compare --rev {base} --rev {head} -- COMMAND`");
    Some(match (worst.by.as_str(), worst.verdict.as_str()) {
        ("comparison", "fail") => format!(
            "Find the commit with `becalm bisect --good {base} --bad {head} -- COMMAND`, or let {name} be slower with \
             a larger margin in [gate] of becalm.toml."
        ),
        ("comparison", _) => {
            "Measure for longer (`becalm compare --max-time`), or allow a larger margin.".to_owned()
        }
        ("history", _) if worst.missing.is_some() => format!(
            "Add runs with `becalm history add`, or decide now with {both}, which needs no history."
        ),
        ("history", _) => format!("Make sure with {both}, which measures both sides interleaved."),
        ("change", _) => {
            let id = worst.change.as_deref().unwrap_or_default();
            format!(
                "Find the commit with `becalm bisect --good {base} --bad {head} -- COMMAND`; if the change is wanted, say \
                 so with `becalm changes acknowledge {id}`."
            )
        }
        _ => format!("Make {name} fit its limit, or change the limit in becalm.toml."),
    })
}
