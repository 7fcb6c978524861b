//! An experiment as the document that leaves the process.

use becalm_model::ablate::{
    AblateConfiguration, AblateCounter, AblateDocument, AblateMitigation, AblateRatio,
    AblateRecommendation, AblateRun, MitigationVerdict,
};
use becalm_model::wire::ABLATE_SCHEMA;

use super::advice;
use super::analysis::Ratio;
use super::design::{Kind, names};
use super::experiment::{Experiment, Outcome, Recommended};
use super::here::Here;
use super::mitigation::{MITIGATIONS, Renown};

/// Names that stand in a document.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    /// The subject.
    pub subject: &'a str,
    /// The counters of the runs.
    pub counters: &'a [String],
    /// The file of the profile, for flags.
    pub profile: &'a str,
}

/// Returns the document of an experiment. What only its caller knows (command, machine, times) is
/// left to be filled in. `not_tried` has the reason for each mitigation that was not tried.
pub fn document(
    experiment: &Experiment,
    here: &Here,
    not_tried: &[Option<String>],
    names: &Names<'_>,
) -> AblateDocument {
    let mut runs = Vec::new();
    let mut first = 0;
    for stage in &experiment.stages {
        runs.extend(
            stage
                .runs
                .iter()
                .map(|run| AblateRun { configuration: first + run.configuration, ..run.clone() }),
        );
        first += stage.configurations.len();
    }
    let outcomes = experiment.outcomes();
    AblateDocument {
        schema: ABLATE_SCHEMA.to_owned(),
        seed: experiment.seed,
        confidence: experiment.confidence,
        spread_of: experiment.timing,
        mitigations: mitigations(not_tried),
        configurations: outcomes.iter().map(|one| configuration(one, names.counters)).collect(),
        recommendation: experiment.recommended.as_ref().map(|one| recommendation(one, here, names)),
        counters: names.counters.to_vec(),
        runs,
        ..AblateDocument::default()
    }
}

/// Returns every mitigation with the reason why it was not tried, if it was not.
fn mitigations(not_tried: &[Option<String>]) -> Vec<AblateMitigation> {
    MITIGATIONS
        .iter()
        .zip(not_tried)
        .map(|(one, why)| AblateMitigation {
            name: one.name.to_owned(),
            summary: one.summary.to_owned(),
            popular: one.renown == Renown::Popular,
            not_tried: why.clone(),
        })
        .collect()
}

fn recommendation(
    recommended: &Recommended,
    here: &Here,
    names: &Names<'_>,
) -> AblateRecommendation {
    let Recommended { members, chosen } = recommended;
    let flags = advice::flags(members, &here.chosen, &here.allowed, names.profile);
    AblateRecommendation {
        mitigations: owned(members),
        best: owned(&chosen.best),
        best_ratio: chosen.best_ratio,
        profile: advice::profile(members, &flags, names.subject),
        flags,
    }
}

fn configuration(outcome: &Outcome, counters: &[String]) -> AblateConfiguration {
    let one = &outcome.configuration;
    let document = AblateConfiguration {
        stage: outcome.stage,
        name: one.name(),
        label: one.label(),
        mitigations: owned(&one.members),
        spread_ratio: outcome.spread.as_ref().map(ratio),
        time_ratio: outcome.time.as_ref().map(ratio),
        verdict: verdict(outcome),
        ..AblateConfiguration::default()
    };
    let Some(row) = &outcome.row else { return document };
    let counter = |(name, counter): (&String, &Option<(f64, Option<f64>)>)| {
        let (mean, cv) = (*counter)?;
        Some(AblateCounter { name: name.clone(), mean, cv })
    };
    AblateConfiguration {
        n_runs: row.runs,
        mean: row.mean,
        standard_deviation: row.standard_deviation,
        cv: row.cv,
        minimum: row.minimum,
        maximum: row.maximum,
        range: row.maximum - row.minimum,
        cv_of_minimums: row.cv_of_minimums,
        cv_of_means: row.cv_of_means,
        counters: counters.iter().zip(&row.counters).filter_map(counter).collect(),
        ..document
    }
}

/// Judges what a configuration does to the spread. The baseline that is run once more does nothing: its
/// ratio is what chance makes, and there is nothing to judge.
fn verdict(outcome: &Outcome) -> Option<MitigationVerdict> {
    let is_control = outcome.configuration.kind == Kind::Control;
    outcome.spread.as_ref().filter(|_| !is_control).map(Ratio::verdict)
}

fn ratio(ratio: &Ratio) -> AblateRatio {
    AblateRatio {
        ratio: ratio.ratio.estimate,
        low: ratio.ratio.low,
        high: ratio.ratio.high,
        confidence: ratio.confidence,
        p: ratio.adjusted_p,
    }
}

fn owned(members: &[usize]) -> Vec<String> {
    names(members).into_iter().map(ToOwned::to_owned).collect()
}
