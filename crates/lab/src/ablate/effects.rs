//! What an experiment says about each source of noise, for `becalm check` to tell.

use becalm_model::ablate::{AblateConfiguration, AblateDocument, MitigationEffect, Stage};
use becalm_model::conditions::Thp;
use becalm_model::whole;

use super::mitigation::{MITIGATIONS, Means, find};

/// Returns what each mitigation that mends something that `becalm check` finds did alone. One that came
/// with others says nothing of itself.
pub fn effects(document: &AblateDocument) -> Vec<MitigationEffect> {
    let singly = document.configurations.iter().filter(|one| one.stage == Stage::Singly);
    singly.filter_map(|one| effect(document, one)).collect()
}

fn effect(document: &AblateDocument, one: &AblateConfiguration) -> Option<MitigationEffect> {
    let ([mitigation], Some(ratio), Some(verdict)) =
        (one.mitigations.as_slice(), &one.spread_ratio, one.verdict)
    else {
        return None;
    };
    let mends = mends(mitigation);
    let measured_at = whole(document.started_at + document.duration);
    (!mends.is_empty()).then(|| MitigationEffect {
        mitigation: mitigation.clone(),
        mends,
        subject: document.subject.name.clone(),
        hogs: document.subject.hogs,
        spread_of: document.spread_of,
        ratio: ratio.ratio,
        low: ratio.low,
        high: ratio.high,
        confidence: ratio.confidence,
        verdict,
        measured_at,
    })
}

/// Returns the findings that a mitigation mends: they are called as the knobs are.
fn mends(mitigation: &str) -> Vec<String> {
    let Some(index) = find(mitigation) else { return Vec::new() };
    let knobs = match MITIGATIONS[index].means {
        Means::NoAslr => &["aslr"],
        Means::HugePages(Thp::Off) => &["thp"],
        _ => MITIGATIONS[index].knobs(),
    };
    knobs.iter().map(|&knob| knob.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use becalm_model::ablate::{AblateRatio, MitigationVerdict};

    use super::*;

    fn configuration(stage: Stage, mitigations: &[&str]) -> AblateConfiguration {
        AblateConfiguration {
            stage,
            mitigations: mitigations.iter().map(|&name| name.into()).collect(),
            spread_ratio: Some(AblateRatio {
                ratio: 0.5,
                low: 0.4,
                high: 0.6,
                ..Default::default()
            }),
            verdict: Some(MitigationVerdict::Helps),
            ..AblateConfiguration::default()
        }
    }

    #[test]
    fn only_what_was_tried_alone_and_mends_a_finding_is_kept() {
        let untuned = AblateConfiguration { ..Default::default() };
        let document = AblateDocument {
            configurations: vec![
                untuned,
                configuration(Stage::Singly, &["memory"]),
                configuration(Stage::Singly, &["aslr"]),
                configuration(Stage::Singly, &["pin"]),
                configuration(Stage::Cumulatively, &["thp"]),
            ],
            started_at: 100.0,
            duration: 20.5,
            ..AblateDocument::default()
        };
        let kept = effects(&document);
        let names: Vec<&str> = kept.iter().map(|one| one.mitigation.as_str()).collect();
        assert_eq!(names, ["memory", "aslr"]);
        assert_eq!(kept[0].mends, ["ksm", "compaction", "swappiness"]);
        assert_eq!((kept[0].ratio, kept[0].measured_at), (0.5, 120));
    }
}
