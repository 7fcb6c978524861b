//! What an experiment says in sentences.

use becalm_model::ablate::{
    AblateConfiguration, AblateDocument, AblateRatio, MitigationVerdict, Stage, Timing,
};

use super::is_control;
use crate::moment::roughly;
use crate::quantity::{confidence, count, percent, signed_percent, times};
use crate::style::Role;

/// Returns what is recommended and what it is worth, in one to three sentences.
pub(super) fn headline(document: &AblateDocument) -> Vec<(Role, String)> {
    if let Some(why) = &document.interrupted {
        return vec![(Role::Warning, format!("Not finished: {why}."))];
    }
    let again = |label: &str| {
        let own = |one: &&AblateConfiguration| one.stage == Stage::Again && one.label == label;
        document.configurations.iter().find(own)
    };
    let Some(recommendation) = &document.recommendation else {
        let sentence = "Nothing that was tried makes times demonstrably steadier here.";
        let mut said = vec![(Role::Inconclusive, sentence.to_owned())];
        said.extend(again("not confirmed").map(|tried| {
            let names = tried.mitigations.join(", ");
            (Role::Hint, format!("{names} seemed to, and did not when it was measured again."))
        }));
        return said;
    };
    let names = recommendation.mitigations.join(", ");
    let mut said = vec![(Role::Heading, format!("Recommended: {names}."))];
    if let (Some(baseline), Some(measured)) = (again("baseline"), again("recommended")) {
        said.push(again_sentence(document, baseline, measured));
    }
    said
}

/// A ratio of spreads above this is no effect worth a name, whatever its interval.
const WORTH_A_NAME: f64 = 0.8;

fn again_sentence(
    document: &AblateDocument,
    baseline: &AblateConfiguration,
    measured: &AblateConfiguration,
) -> (Role, String) {
    let cvs = match (baseline.cv, measured.cv) {
        (Some(before), Some(after)) => {
            format!("the CV is {} instead of {}", percent(after), percent(before))
        }
        _ => "the CV is unknown".to_owned(),
    };
    let Some(ratio) = &measured.spread_ratio else {
        return (
            Role::Inconclusive,
            format!("Measured again, {cvs}, in too few blocks to compare."),
        );
    };
    let interval = interval(ratio);
    let blocks = count(measured.n_runs, "block");
    let level = confidence(document.confidence);
    let cost = match &measured.time_ratio {
        Some(time) if time.p <= 1.0 - document.confidence => {
            format!("; mean time {}", signed_percent(time.ratio - 1.0, 1))
        }
        _ => String::new(),
    };
    let sentence = format!(
        "Measured again in {blocks}, {cvs}: spread x {} ({level} interval {interval}){cost}.",
        times(ratio.ratio)
    );
    if ratio.high < 1.0 {
        (Role::Faster, sentence)
    } else if ratio.low <= 1.0 && ratio.ratio < WORTH_A_NAME {
        (Role::Warning, format!("{sentence} These blocks alone do not show the effect."))
    } else {
        (Role::Warning, format!("{sentence} The effect was not confirmed."))
    }
}

/// Returns what was run, how often and for how long.
pub(super) fn extent(document: &AblateDocument) -> String {
    let subject = &document.subject;
    let iterations = match subject.iterations {
        Some(iterations) => {
            format!(", {} each", becalm_model::counted(iterations as usize, "iteration"))
        }
        None => ", each timed as a whole".to_owned(),
    };
    let busy = match subject.hogs {
        0 => String::new(),
        1 => " beside a process that becalm kept busy".to_owned(),
        hogs => format!(" beside {hogs} processes that becalm kept busy"),
    };
    let uncounted = match document.uncounted_runs {
        0 => String::new(),
        more => {
            let more = count(more as usize, "more run");
            format!(" {more} tested what is possible, or belong to a block that did not finish.")
        }
    };
    format!(
        "`{}`: {}{iterations}{busy}, in {}. Seed {}.{uncounted}",
        subject.name,
        count(document.runs.len(), "run"),
        roughly(document.duration),
        document.seed
    )
}

/// Returns what columns mean.
pub(super) fn legend(document: &AblateDocument) -> Vec<String> {
    if document.runs.is_empty() {
        return Vec::new();
    }
    let level = confidence(document.confidence);
    let mut said = Vec::new();
    if document.spread_of == Timing::Iterations {
        said.push(
            "mean, std dev and CV are those of the iterations of a typical run; min and max those \
             of all runs; CV of min and CV of means show how far runs differ from each other."
                .to_owned(),
        );
        said.push(
            "spread: CV / CV of the first row, from pairs of runs in the same block.".to_owned(),
        );
    } else {
        said.push(
            "spread: mean absolute deviation between runs / that of the first row.".to_owned(),
        );
    }
    said.push(format!(
        "Intervals and p of mitigations alone and of stacks are corrected for the number of \
         configurations, so that their verdicts together have {level} confidence; the same goes \
         for the parts of the chosen stack. What is measured again, and the baseline run twice, \
         are not corrected. `nothing` means less than a factor of 1.25."
    ));
    said.extend(document.configurations.iter().find(|one| is_control(one)).and_then(control));
    said
}

/// Says what the ratio of the unchanged machine to itself shows, if it is far from 1.
fn control(one: &AblateConfiguration) -> Option<String> {
    let ratio = one.spread_ratio.as_ref()?;
    let excludes_one = ratio.low > 1.0 || ratio.high < 1.0;
    excludes_one.then(|| {
        format!(
            "`{}` changes nothing and has a ratio of {} ({}): ratios of that size occur here by \
             chance.",
            one.label,
            times(ratio.ratio),
            interval(ratio)
        )
    })
}

/// Returns what was not possible or not done.
pub(super) fn limits(document: &AblateDocument) -> Vec<String> {
    document.limits.iter().map(|limit| limit.text().to_owned()).collect()
}

/// Returns a sentence for each popular mitigation that was tried alone and did not help.
pub(super) fn popular(document: &AblateDocument) -> Vec<String> {
    document
        .mitigations
        .iter()
        .filter(|one| one.popular)
        .filter_map(|mitigation| {
            let alone = document.configurations.iter().find(|one| {
                one.stage == Stage::Singly && one.mitigations == [mitigation.name.as_str()]
            })?;
            let ratio = alone.spread_ratio.as_ref()?;
            let name = format!("{} ({})", mitigation.name, mitigation.summary);
            let spread = format!("spread x {} ({})", times(ratio.ratio), interval(ratio));
            let slower = slowdown(alone, document.confidence);
            match alone.verdict? {
                MitigationVerdict::Helps => {
                    slower.map(|slower| format!("{name} helps, but costs time: {slower}."))
                }
                MitigationVerdict::Harms => {
                    Some(format!("{name} makes times less steady: {spread}."))
                }
                MitigationVerdict::Nothing => Some(format!("{name} has no effect: {spread}.")),
                MitigationVerdict::Undecided => Some(format!(
                    "{name} has no effect that is detectable with these runs: {spread}."
                )),
            }
        })
        .collect()
}

/// Says by how much a configuration is slower, if it demonstrably is by more than 1 %.
fn slowdown(one: &AblateConfiguration, confidence: f64) -> Option<String> {
    let time = one.time_ratio.as_ref()?;
    let is_slower = time.p <= 1.0 - confidence && time.ratio > 1.01;
    is_slower.then(|| format!("mean time {}", signed_percent(time.ratio - 1.0, 1)))
}

/// Returns the mitigations that were not tried, with the reasons.
pub(super) fn not_tried(document: &AblateDocument) -> Vec<(&str, &str)> {
    document
        .mitigations
        .iter()
        .filter_map(|one| Some((one.name.as_str(), one.not_tried.as_deref()?)))
        .collect()
}

/// Writes the interval of a ratio: `0.20 .. 0.31`.
pub(super) fn interval(ratio: &AblateRatio) -> String {
    format!("{}\u{a0}..\u{a0}{}", times(ratio.low), times(ratio.high))
}
