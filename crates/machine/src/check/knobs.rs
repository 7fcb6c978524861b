//! Settings that `becalm tune` would change, by the plans of its knobs.

use std::collections::BTreeMap;

use becalm_model::{Change, Checkup, Finding, Fix, Severity, Target};

use super::View;
use crate::facts::memory;
use crate::knobs::{KNOBS, NoteKind, Situation, TuningRequest};

/// How bad a setting is, and how large its effect was where somebody measured it. Knobs that are not
/// here leave no finding: what they change is no noise by itself.
const JUDGED: [(&str, Severity, &str); 30] = [
    (
        "governor",
        Severity::Severe,
        "runs initially 1.8 times slower; CV 1.06 % to 0.79 % once pinned (\"Tuning a Server for \
         Benchmarking\")",
    ),
    ("epp", Severity::Noise, ""),
    ("epb", Severity::Note, ""),
    (
        "turbo",
        Severity::Severe,
        "8 % slower with seven neighbours busy than alone, 0.1 % without turbo (\"A Loose Cable That Broke Physics\")",
    ),
    ("hwp-dynamic-boost", Severity::Noise, ""),
    ("uncore", Severity::Noise, ""),
    ("platform-profile", Severity::Noise, ""),
    (
        "cstates",
        Severity::Noise,
        "the wake-up takes up to the exit latency of the state, some 100 us",
    ),
    ("pcie-aspm", Severity::Note, ""),
    ("nvme-power", Severity::Note, "the wake-up takes up to the permitted latency"),
    ("sata-power", Severity::Note, ""),
    ("runtime-pm", Severity::Note, ""),
    ("thp", Severity::Noise, ""),
    ("ksm", Severity::Noise, ""),
    ("numa-balancing", Severity::Noise, ""),
    ("compaction", Severity::Note, ""),
    ("swappiness", Severity::Note, ""),
    (
        "watchdog",
        Severity::Note,
        "one timer interrupt per CPU every 4 s; one hardware counter if nmi_watchdog is 1",
    ),
    ("timer-migration", Severity::Note, ""),
    ("vmstat-interval", Severity::Note, "one wake-up per CPU every second"),
    ("machine-check", Severity::Note, "one wake-up per CPU every 5 minutes"),
    (
        "rt-throttling",
        Severity::Note,
        "real-time tasks stop for 50 ms of each second (kernel documentation)",
    ),
    ("autogroup", Severity::Note, ""),
    ("perf-limits", Severity::Note, ""),
    ("writeback", Severity::Note, ""),
    (
        "irq-affinity",
        Severity::Note,
        "single samples up to 17 % longer without isolation, 0.4 % with (\"Visualize the system noise\")",
    ),
    ("packet-steering", Severity::Note, ""),
    ("workqueues", Severity::Note, ""),
    ("kernel-threads", Severity::Note, ""),
    ("aslr", Severity::Note, "CV 9.3 % to 4.9 % in one experiment without pinning"),
];

pub(super) fn look(view: &View<'_>, checkup: &mut Checkup) {
    let request = TuningRequest::default();
    let situation = Situation::of(view.root, view.topology, view.cpus.clone(), &request);
    for knob in KNOBS {
        let Some((_, severity, size)) = JUDGED.iter().find(|(name, _, _)| *name == knob.name)
        else {
            continue;
        };
        let planned = knob.planned(&situation);
        let set: Vec<&Change> =
            planned.changes.iter().filter(|change| change.new.is_some()).collect();
        for note in planned.notes.iter().filter(|note| note.kind == NoteKind::Refused) {
            checkup.unreadable.push(format!("{}: {}", note.knob, note.text));
        }
        let is_harmless = match knob.name {
            // With `madvise` only programs that ask for huge pages get them.
            "thp" => !set.iter().any(|change| change.old == "always"),
            "swappiness" => memory(view.root, "SwapTotal") == Some(0),
            _ => false,
        };
        let Some(first) = set.first().filter(|_| !is_harmless) else { continue };
        checkup.findings.push(Finding {
            id: knob.name.to_owned(),
            severity: *severity,
            what: match knob.name {
                "cstates" => "Idle states that take longer than 10 us to leave are on.".to_owned(),
                "kernel-threads" => threads(set.len()),
                _ => values(&set),
            },
            why: sentence(&first.reason),
            size: (*size).to_owned(),
            here: None,
            fix: fix(knob.name),
        });
    }
}

/// The knob, but for those that cost more than they bring.
fn fix(knob: &str) -> Fix {
    let instead = match knob {
        "aslr" => {
            "leave it on: the layout then varies from run to run, so that chance in one layout does not decide"
        }
        "rt-throttling" => {
            "leave it: becalm rests after each real-time run, so the limit is not reached"
        }
        "perf-limits" => "leave it, unless another user profiles here; then ask them to stop",
        _ => return Fix::Knob(knob.to_owned()),
    };
    Fix::Advice(instead.to_owned())
}

/// Returns the present values, equal ones together: `scaling_governor is schedutil (8 places)`.
fn values(set: &[&Change]) -> String {
    let mut groups: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for change in set {
        let name = match &change.target {
            Target::File(path) => setting(path),
            other => other.to_string(),
        };
        *groups.entry((name, change.old.as_str())).or_default() += 1;
    }
    let shown: Vec<String> = groups
        .iter()
        .map(|((name, value), places)| match places {
            1 => format!("{name} is {value}"),
            n => format!("{name} is {value} in {n} places"),
        })
        .collect();
    format!("{}.", shown.join(", "))
}

/// Names a file so that it tells itself from others of its name.
fn setting(path: &str) -> String {
    let parts: Vec<&str> = path.rsplit('/').take(3).collect();
    match parts[..] {
        ["policy", _, module] => format!("{module}/policy"),
        [name, above, ..] if matches!(name, "enabled" | "defrag" | "run" | "control") => {
            format!("{above}/{name}")
        }
        [name, ..] => name.to_owned(),
        [] => path.to_owned(),
    }
}

fn threads(count: usize) -> String {
    match count {
        1 => "A kernel thread may run on the measured CPUs and could run elsewhere.".to_owned(),
        n => format!("{n} kernel threads may run on the measured CPUs and could run elsewhere."),
    }
}

fn sentence(fragment: &str) -> String {
    let mut letters = fragment.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_judged_setting_is_that_of_a_knob_and_explained() {
        let text = include_str!("../../../../docs/MACHINE.md");
        let section = text.split("## What check looks at").nth(1).unwrap();
        let section = section.split("\n## ").next().unwrap();
        for (name, _, _) in JUDGED {
            assert!(KNOBS.iter().any(|knob| knob.name == name), "no knob is called {name}");
            assert!(section.contains(&format!("`{name}`")), "docs/MACHINE.md lacks {name}");
        }
    }
}
