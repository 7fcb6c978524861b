//! What makes a machine noisy, for people.

use std::fmt::Write as _;

use becalm_model::ablate::{MitigationEffect, MitigationVerdict};
use becalm_model::{Checkup, Finding, Fix, Severity};

use crate::detail::Detail;
use crate::moment::date;
use crate::quantity::{confidence, times};

/// What no setting of a machine removes.
const IN_THE_PROGRAM: &str = "No setting removes the noise of the program and its build; there you can fix the seed of \
     random numbers and the input (`--input`; `--expect-output same` detects output that \
     differs), and align functions and loops in the same way in both builds \
     (`-falign-functions=64 -falign-loops=32`, in Rust `-C llvm-args=-align-all-functions=6`), or \
     measure over layouts (`compare --layouts`).";

/// Returns the findings, worst first, each with its fix.
pub fn checkup_text(checkup: &Checkup, width: usize, detail: Detail) -> String {
    let mut text = String::new();
    let bad = checkup.findings.iter().filter(|one| one.severity < Severity::Note).count();
    let headline = match bad {
        0 if !checkup.unreadable.is_empty() => {
            "becalm found nothing that makes results noisy, among what it could read.".to_owned()
        }
        0 => "becalm found nothing that makes results noisy here.".to_owned(),
        1 => "1 thing makes results noisy here.".to_owned(),
        n => format!("{n} things make results noisy here, worst first."),
    };
    wrap(&mut text, &headline, "", width);
    if !checkup.surroundings.is_empty() {
        text.push('\n');
        wrap(&mut text, &checkup.surroundings, "", width);
    }
    let shown = checkup
        .findings
        .iter()
        .filter(|one| detail == Detail::Full || one.severity < Severity::Note);
    for finding in shown {
        text.push('\n');
        one(&mut text, finding, width);
    }
    let notes = checkup.findings.len() - bad;
    if detail == Detail::Short && notes > 0 {
        let things = if notes == 1 { "thing is" } else { "things are" };
        text.push('\n');
        let further = format!("{notes} further {things} worth knowing (--verbose).");
        wrap(&mut text, &further, "", width);
    }
    if detail == Detail::Full {
        text.push('\n');
        wrap(&mut text, IN_THE_PROGRAM, "", width);
    }
    if !checkup.unreadable.is_empty() {
        text.push('\n');
        match detail {
            Detail::Short => {
                let count = checkup.unreadable.len();
                let _ = writeln!(text, "Not readable here: {count} (--verbose lists them).");
            }
            Detail::Full => {
                let _ = writeln!(text, "Not readable here:");
                checkup.unreadable.iter().for_each(|line| wrap(&mut text, line, "  ", width));
            }
        }
    }
    text
}

fn one(text: &mut String, finding: &Finding, width: usize) {
    let _ = writeln!(text, "{} [{}]", finding.id, finding.severity.name());
    wrap(text, &format!("{} {}", finding.what, finding.why), "  ", width);
    if !finding.size.is_empty() {
        wrap(text, &format!("Typically: {}", finding.size), "  ", width);
    }
    if let Some(effect) = &finding.here {
        wrap(text, &format!("Here: {}", here(&finding.id, effect)), "  ", width);
    }
    let fix = match &finding.fix {
        Fix::Knob(knob) => format!("Fix: `sudo becalm tune --only {knob}`"),
        Fix::Boot(line) => format!("Fix: boot with {line}"),
        Fix::Advice(advice) => format!("Fix: {advice}"),
    };
    wrap(text, &fix, "  ", width);
}

/// Says what the remedy of a finding did on this machine.
fn here(id: &str, effect: &MitigationEffect) -> String {
    let mended = match effect.mends.as_slice() {
        [_] => "it".to_owned(),
        all => {
            let others: Vec<&str> =
                all.iter().map(String::as_str).filter(|name| *name != id).collect();
            format!("it, together with {},", others.join(", "))
        }
    };
    let judged = match effect.verdict {
        MitigationVerdict::Helps => format!("fixing {mended} helped"),
        MitigationVerdict::Harms => format!("fixing {mended} made results worse"),
        MitigationVerdict::Nothing => format!("fixing {mended} had no effect"),
        MitigationVerdict::Undecided => format!("the effect of fixing {mended} is undecided"),
    };
    let busy = match effect.hogs {
        0 => "",
        _ => " beside busy processes",
    };
    #[expect(clippy::cast_precision_loss, reason = "a time of day, in whole seconds")]
    let day = date(effect.measured_at as f64);
    format!(
        "{judged}: {}{busy} scattered {} times as much as before, {} interval {} to {} (`becalm \
         noise ablate`, {day}).",
        effect.subject,
        times(effect.ratio),
        confidence(effect.confidence),
        times(effect.low),
        times(effect.high),
    )
}

/// Breaks lines at spaces.
fn wrap(text: &mut String, sentence: &str, indent: &str, width: usize) {
    for line in crate::width::wrap(sentence, width.saturating_sub(indent.len())) {
        let _ = writeln!(text, "{indent}{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(id: &str, severity: Severity) -> Finding {
        Finding {
            id: id.into(),
            severity,
            what: "It is so.".into(),
            why: "That is bad.".into(),
            size: String::new(),
            here: None,
            fix: Fix::Knob(id.into()),
        }
    }

    #[test]
    fn what_was_measured_here_is_told_with_its_subject_and_day() {
        #[track_caller]
        fn check(effect: &MitigationEffect, expected: &str) {
            assert_eq!(here("ksm", effect).replace('\u{a0}', " "), expected);
        }
        let effect = MitigationEffect {
            mitigation: "memory".into(),
            mends: vec!["ksm".into(), "compaction".into()],
            subject: "array-sum".into(),
            ratio: 0.62,
            low: 0.5,
            high: 0.804,
            confidence: 0.99,
            verdict: MitigationVerdict::Helps,
            measured_at: 1_795_132_800,
            ..MitigationEffect::default()
        };
        let figures = "0.620 times as much as before, 99 % interval 0.500 to 0.804 (`becalm noise \
                       ablate`, 2026-11-20).";
        check(
            &effect,
            &format!("fixing it, together with compaction, helped: array-sum scattered {figures}"),
        );
        check(
            &MitigationEffect {
                mends: vec!["ksm".into()],
                hogs: 2,
                verdict: MitigationVerdict::Undecided,
                ..effect
            },
            &format!(
                "the effect of fixing it is undecided: array-sum beside busy processes scattered {figures}"
            ),
        );
    }

    #[test]
    fn notes_are_counted_and_the_rest_is_told() {
        let checkup = Checkup {
            findings: vec![finding("a", Severity::Noise), finding("b", Severity::Note)],
            surroundings: String::new(),
            unreadable: vec!["x: no".into()],
        };
        let short = checkup_text(&checkup, 80, Detail::Short);
        assert_eq!(
            short,
            "1 thing makes results noisy here.\n\na [noise]\n  It is so. That is bad.\n  Fix: `sudo \
             becalm tune --only a`\n\n1 further thing is worth knowing (--verbose).\n\nNot readable here: 1 \
             (--verbose lists them).\n"
        );
        let full = checkup_text(&checkup, 80, Detail::Full);
        assert!(full.contains("b [note]") && full.contains("  x: no"), "{full}");
        let quiet = checkup_text(&Checkup::default(), 80, Detail::Short);
        assert_eq!(quiet, "becalm found nothing that makes results noisy here.\n");
        let blind = Checkup { unreadable: vec!["x: no".into()], ..Checkup::default() };
        assert_eq!(
            checkup_text(&blind, 80, Detail::Short),
            "becalm found nothing that makes results noisy, among what it could read.\n\nNot readable here: 1 (--verbose lists them).\n"
        );
    }
}
