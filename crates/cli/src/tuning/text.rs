//! What tuning says to people.

use std::fmt::Write as _;

use becalm_machine::Reading;
use becalm_machine::knobs::NoteKind;
use becalm_machine::tune::{Applied, Effect, Left, Plan, Recovered, Restored};
use becalm_model::Change;

/// Returns a plan: what would be set, knob by knob, and what cannot be.
pub(crate) fn plan_text(plan: &Plan) -> String {
    let mut text = String::new();
    let mut knob = "";
    for change in plan.changes.iter().filter(|change| change.new.is_some()) {
        if change.knob != knob {
            knob = &change.knob;
            let _ = writeln!(text, "{knob}: {}", change.reason);
        }
        let new = change.new.as_deref().unwrap_or_default();
        let _ = writeln!(text, "  {}  {} -> {}", change.target, shown(&change.old), shown(new));
    }
    if text.is_empty() {
        text.push_str("Nothing to change.\n");
    }
    let guarded = plan.changes.iter().filter(|change| change.new.is_none()).count();
    if guarded > 0 {
        let _ = writeln!(
            text,
            "\n{guarded} other settings that these may disturb are saved and put back with them."
        );
    }
    for (kind, title) in [
        (NoteKind::Refused, "Not possible here:"),
        (NoteKind::NotHere, "Not there on this machine:"),
        (NoteKind::AlreadyQuiet, "Quiet already:"),
    ] {
        let mut lines: Vec<String> = plan
            .notes
            .iter()
            .filter(|note| note.kind == kind)
            .map(|note| format!("  {}: {}\n", note.knob, note.text))
            .collect();
        lines.dedup();
        if !lines.is_empty() {
            let _ = write!(text, "\n{title}\n{}", lines.concat());
        }
    }
    text
}

/// Returns one line for each change that did not have the wanted effect.
pub(crate) fn failures(applied: &[Applied]) -> Vec<String> {
    applied.iter().filter_map(failure).collect()
}

fn failure(applied: &Applied) -> Option<String> {
    let Change { knob, target, new, .. } = &applied.change;
    let new = shown(new.as_deref().unwrap_or_default());
    let what = match &applied.effect {
        _ if !applied.is_failure() => return None,
        Effect::Refused { reason } => format!("the kernel refused {new}: {reason}"),
        Effect::Ignored => format!("the kernel took {new} and kept the old value"),
        Effect::Otherwise { now } => format!("set to {new}, the kernel made it {}", shown(now)),
        Effect::Set | Effect::Guarded => return None,
    };
    Some(format!("{knob}: {target}: {what}"))
}

/// Says what restoring did, one sentence a line.
pub(super) fn recovered_lines(recovered: &Recovered) -> Vec<String> {
    match recovered {
        Recovered::Nothing => vec!["Nothing to restore: becalm has changed nothing.".to_owned()],
        Recovered::OtherBoot { changes } => vec![format!(
            "The journal is of an earlier boot, which reset its {changes} settings: discarded."
        )],
        Recovered::Restored(restored) => restored_lines(restored),
    }
}

fn restored_lines(restored: &Restored) -> Vec<String> {
    let mut lines = vec![format!(
        "{} put back, {} unchanged.",
        count(restored.put_back.len(), "setting"),
        restored.untouched
    )];
    for Left { change, now, .. } in &restored.foreign {
        lines.push(format!(
            "{}: somebody else set it to {} meanwhile; left so (it was {} before becalm; to set \
             that: {})",
            change.target,
            reading(now),
            shown(&change.old),
            change.target.by_hand(&change.old)
        ));
    }
    lines
}

/// Says what is left and how to put it back by hand.
pub(super) fn left_lines(left: &[Left]) -> Vec<String> {
    left.iter()
        .map(|Left { change, now, why }| {
            format!(
                "{} (now {}) was {}: {why}. By hand: {}",
                change.target,
                reading(now),
                shown(&change.old),
                change.target.by_hand(&change.old)
            )
        })
        .collect()
}

/// Returns `1 setting` or `3 settings`.
pub(super) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn reading(now: &Reading) -> String {
    match now {
        Reading::Value(value) => shown(value),
        other => other.why_not().unwrap_or_default(),
    }
}

/// Empty values are hard to see, and some files hold several lines.
fn shown(value: &str) -> String {
    if value.is_empty() { "(empty)".to_owned() } else { value.replace('\n', " ") }
}
