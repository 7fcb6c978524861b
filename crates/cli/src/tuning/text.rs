//! What tuning says to people.

use std::fmt::Write as _;

use becalm_machine::knobs::NoteKind;
use becalm_machine::tune::{Applied, Effect, Left, Plan, Recovered, Restored};
use becalm_machine::{Reading, SysRoot};
use becalm_model::{Change, Target};

use crate::ui::count;

/// Returns a plan: what would be set, knob by knob, and what cannot be.
pub(crate) fn plan_text(root: &SysRoot, plan: &Plan) -> String {
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

/// Returns the name of a task in brackets; nothing for other targets.
fn task_name(root: &SysRoot, target: &Target) -> String {
    let (Target::Affinity { pid, .. } | Target::Membership { pid, .. }) = target else {
        return String::new();
    };
    let name = root.read(format!("/proc/{pid}/comm")).value();
    name.map_or_else(String::new, |name| format!(" ({name})"))
}

/// Says which interrupts stay on the measured CPUs, and why; `None` if all were moved.
pub(crate) fn unmoved(root: &SysRoot, applied: &[Applied]) -> Option<String> {
    let (mut locked, mut refused) = (Vec::new(), Vec::new());
    for one in applied.iter().filter(|one| !one.is_failure()) {
        let (Target::File(path), Effect::Refused { reason, .. }) =
            (&one.change.target, &one.effect)
        else {
            continue;
        };
        let number = path
            .strip_prefix("/proc/irq/")
            .and_then(|path| path.strip_suffix("/smp_affinity_list"));
        // Without a device it interrupts nobody.
        let Some((number, device)) =
            number.and_then(|number| Some((number, device(root, number)?)))
        else {
            continue;
        };
        if one.is_the_kernels() {
            locked.push(format!("{number} ({device})"));
        } else {
            refused.push(format!("{number} ({device}): {reason}"));
        }
    }
    let told = [
        ("interrupts that the kernel lets nobody move stay where they are", locked),
        ("interrupts that the kernel did not move where it was asked to", refused),
    ];
    let told = told.iter().filter(|(_, interrupts)| !interrupts.is_empty());
    let told: Vec<String> =
        told.map(|(what, interrupts)| format!("{what}: {}", first_of(interrupts))).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// Names the first of several: large machines have hundreds.
fn first_of(names: &[String]) -> String {
    const NAMED: usize = 5;
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", names[..names.len().min(NAMED)].join(", "))
}

/// Returns the device of an interrupt, after which the kernel names a folder.
fn device(root: &SysRoot, number: &str) -> Option<String> {
    let folder = format!("/proc/irq/{number}");
    let names = root.list_dir(&folder).value().unwrap_or_default();
    names.into_iter().find(|name| root.list_dir(format!("{folder}/{name}")).value().is_some())
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
        Effect::Refused { reason, .. } => format!("the kernel refused {new}: {reason}"),
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
        Recovered::OtherBoot { changes, kept } => {
            let what = match changes {
                0 => "every setting".to_owned(),
                changes => format!("its {}", count(*changes, "setting")),
            };
            let but = if kept.is_empty() { "" } else { ", but for what follows" };
            let first = format!(
                "The journal is of an earlier boot; the restart reset {what}{but}: discarded."
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

/// Counts changes: `3 settings, 5 threads` and what they disturbed.
pub(crate) fn settings<'a>(changes: impl IntoIterator<Item = &'a Change>) -> String {
    let (mut settings, mut threads, mut disturbed) = (0, 0, 0);
    for change in changes {
        match change.target {
            Target::Affinity { .. } | Target::Membership { .. } => threads += 1,
            _ if change.new.is_none() => disturbed += 1,
            _ => settings += 1,
        }
    }
    let mut text = count(settings, "setting");
    for (number, what) in [(threads, "thread"), (disturbed, "disturbed setting")] {
        if number > 0 {
            let _ = write!(text, ", {}", count(number, what));
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

/// Empty values are hard to see, and some files hold several lines.
fn shown(value: &str) -> String {
    if value.is_empty() { "(empty)".to_owned() } else { value.replace('\n', " ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_model::Nature;
    use becalm_testkit::FakeTree;

    #[test]
    fn interrupts_that_stay_are_told_with_the_reason() {
        let tree = FakeTree::new()
            .file("/proc/irq/24/nvme0q1/x", "")
            .file("/proc/irq/25/eth0/x", "")
            .file("/proc/irq/26/spurious", "");
        let applied = [(24, 5), (25, 28), (26, 5)].map(|(number, code)| {
            let path = format!("/proc/irq/{number}/smp_affinity_list");
            let reason = std::io::Error::from_raw_os_error(code).to_string();
            Applied {
                change: Change::file("irq-affinity", path, "0-3", "0", "why")
                    .with(Nature::MayBeRefused),
                effect: Effect::Refused { reason, code: Some(code) },
            }
        });
        let told = unmoved(&SysRoot::new(tree.path()), &applied).unwrap();
        assert_eq!(
            told,
            "interrupts that the kernel lets nobody move stay where they are: 24 (nvme0q1); interrupts that \
             the kernel did not move where it was asked to: 25 (eth0): No space left on device (os error 28)"
        );
    }

    #[test]
    fn what_a_restart_did_not_reset_is_told_with_its_old_value() {
        let check = |kept: Vec<Left>, expected: &[&str]| {
            let lines = recovered_lines(&Recovered::OtherBoot { changes: 3, kept });
            assert_eq!(lines.len(), expected.len(), "{lines:?}");
            for (line, part) in lines.iter().zip(expected) {
                assert!(line.contains(part), "{line}");
            }
        };
        check(Vec::new(), &["the restart reset its 3 settings: discarded"]);
        let path = "/sys/firmware/acpi/platform_profile";
        let change = Change::file("platform-profile", path, "balanced", "performance", "why");
        let now = Reading::Value("performance".to_owned());
        let kept = Left { change, now, why: "firmware may have kept it".to_owned() };
        check(
            vec![kept],
            &["but for what follows", "(now performance) was balanced: firmware may have kept it"],
        );
    }
}
