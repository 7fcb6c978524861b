//! What tuning says to people.

use std::fmt::Write as _;

use becalm_machine::knobs::NoteKind;
use becalm_machine::service::{Held, Queued, user_name};
use becalm_machine::tune::{Left, Recovered, Restored, TuningPlan, by_hand};
use becalm_machine::{Reading, SysRoot};
use becalm_model::{Change, Target};

use becalm_model::counted;
use becalm_session::shown;

/// Says where the caller is in the queue of the machine's service, and behind whom.
pub(crate) fn place_in_queue(queued: &Queued) -> String {
    let Queued { place, holder } = queued;
    let behind = match holder {
        None => "nobody has the machine yet".to_owned(),
        Some(Held { uid, pid, command, left, .. }) => {
            let user = uid.map(|uid| user_name(uid).unwrap_or_else(|| format!("user {uid}")));
            let user = user.map_or_else(String::new, |user| format!(" of {user}"));
            let left = left.map_or_else(String::new, |left| format!(", for at most {left} s more"));
            format!("`{command}`{user} (process {pid}) has the machine{left}")
        }
    };
    format!("place {place} in the queue: {behind}")
}

/// Returns a plan: what would be set, knob by knob, and what cannot be set.
pub(crate) fn plan_text(root: &SysRoot, plan: &TuningPlan) -> String {
    let mut text = String::new();
    let mut knob = "";
    for change in plan.changes.iter().filter(|change| change.new.is_some()) {
        if change.knob != knob {
            knob = &change.knob;
            let _ = writeln!(text, "{knob}: {}", change.reason);
        }
        let new = change.new.as_deref().unwrap_or_default();
        let name = task_name(root, &change.target);
        let _ =
            writeln!(text, "  {}{name}  {} -> {}", change.target, shown(&change.old), shown(new));
    }
    if text.is_empty() {
        text.push_str("Nothing to change.\n");
    }
    let guarded = plan.changes.iter().filter(|change| change.new.is_none()).count();
    if guarded > 0 {
        let _ = writeln!(
            text,
            "\n{} that these changes may disturb {} saved and put back, too.",
            becalm_model::counted(guarded, "other setting"),
            becalm_model::is_are(guarded)
        );
    }
    for (kind, title) in [
        (NoteKind::Refused, "Not possible here:"),
        (NoteKind::NotHere, "Not on this machine:"),
        (NoteKind::AlreadyQuiet, "Already quiet:"),
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

/// Returns the name of a task in brackets; nothing for other targets.
fn task_name(root: &SysRoot, target: &Target) -> String {
    let (Target::Affinity(task) | Target::Membership { task, .. }) = target else {
        return String::new();
    };
    let name = root.read(format!("/proc/{}/comm", task.pid)).value();
    name.map_or_else(String::new, |name| format!(" ({name})"))
}

/// Says what restoring did, one sentence a line.
pub(super) fn recovered_lines(recovered: &Recovered) -> Vec<String> {
    match recovered {
        Recovered::Nothing => vec!["Nothing to restore: becalm has changed nothing.".to_owned()],
        Recovered::OtherBoot { changes, kept } => {
            let what = match changes {
                0 => "every setting".to_owned(),
                changes => format!("its {}", counted(*changes, "setting")),
            };
            let but = if kept.is_empty() { "" } else { ", except for what follows" };
            let first = format!(
                "The journal is from an earlier boot, and the restart reset {what}{but}; it was \
                 discarded."
            );
            std::iter::once(first).chain(left_lines(kept)).collect()
        }
        Recovered::SetAside { place, .. } => {
            vec![format!("The journal is now {}; becalm can be used again.", place.display())]
        }
        Recovered::Restored(restored) => restored_lines(restored),
    }
}

fn restored_lines(restored: &Restored) -> Vec<String> {
    let mut lines = vec![format!(
        "{} put back, {} unchanged.",
        settings(&restored.put_back),
        restored.untouched
    )];
    for Left { change, now, .. } in &restored.foreign {
        lines.push(format!(
            "{}: another program set it to {} meanwhile, so becalm left it alone (it was {} \
             before becalm; to set that: {})",
            change.target,
            reading(now),
            shown(&change.old),
            by_hand(&change.target, &change.old)
        ));
    }
    lines
}

/// Lists what remains and how to put it back by hand.
pub(super) fn left_lines(left: &[Left]) -> Vec<String> {
    left.iter()
        .map(|Left { change, now, why }| {
            format!(
                "{} (now {}) was {}: {why}. By hand: {}",
                change.target,
                reading(now),
                shown(&change.old),
                by_hand(&change.target, &change.old)
            )
        })
        .collect()
}

/// Counts changes: `3 settings, 5 threads` and what they disturbed.
pub(crate) fn settings<'a>(changes: impl IntoIterator<Item = &'a Change>) -> String {
    let (mut settings, mut threads, mut disturbed) = (0, 0, 0);
    for change in changes {
        match change.target {
            Target::Affinity(_) | Target::Membership { .. } => threads += 1,
            _ if change.new.is_none() => disturbed += 1,
            _ => settings += 1,
        }
    }
    let mut text = counted(settings, "setting");
    for (number, what) in [(threads, "thread"), (disturbed, "disturbed setting")] {
        if number > 0 {
            let _ = write!(text, ", {}", counted(number, what));
        }
    }
    text
}

fn reading(now: &Reading) -> String {
    match now {
        Reading::Value(value) => shown(value),
        other => other.why_not().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_restart_did_not_reset_is_told_with_its_old_value() {
        let check = |kept: Vec<Left>, expected: &[&str]| {
            let lines = recovered_lines(&Recovered::OtherBoot { changes: 3, kept });
            assert_eq!(lines.len(), expected.len(), "{lines:?}");
            for (line, part) in lines.iter().zip(expected) {
                assert!(line.contains(part), "{line}");
            }
        };
        check(Vec::new(), &["the restart reset its 3 settings; it was discarded"]);
        let path = "/sys/firmware/acpi/platform_profile";
        let change = Change::file("platform-profile", path, "balanced", "performance", "why");
        let now = Reading::Value("performance".to_owned());
        let kept = Left { change, now, why: "firmware may have kept it".to_owned() };
        check(
            vec![kept],
            &[
                "except for what follows",
                "(now performance) was balanced: firmware may have kept it",
            ],
        );
    }
}
