//! Which metrics decide.

use becalm_model::terms::Primary;
use becalm_model::{ComparisonNote, Record, Run, SessionNote, Subject, WallTimeReason, metric};
use becalm_stats::decide::paired;

use super::character::character;
use super::pairs::FEWEST_EXACT;
use crate::rounds::Judgement;

/// Which metrics decide, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Indices into the record's metrics.
    pub metrics: Vec<usize>,
    /// Why, when it was not the user's choice.
    pub reason: Option<ComparisonNote>,
}

/// Rounds whose runs settle the choice. It is made once, from the first rounds and from evidence
/// alone, so that it cannot follow the result.
const ROUNDS_TO_JUDGE_BY: u32 = 8;

/// Returns the metrics that decide for this record.
pub fn primary_metrics(record: &Record, judgement: &Judgement) -> Choice {
    match &judgement.primary {
        Primary::Named(names) => Choice {
            metrics: names.iter().filter_map(|name| record.metric_index(name)).collect(),
            reason: None,
        },
        Primary::Auto => automatic(record),
        Primary::Benchmarks(measures) => {
            Choice { metrics: record.about_benchmarks(measures), reason: None }
        }
    }
}

impl Judgement {
    /// Returns the fewest rounds after which a comparison of the subjects of `record` can call any
    /// difference; 0 for one subject, which is compared with nothing. Benchmarks count as far as they
    /// are known.
    pub fn fewest_rounds(&self, record: &Record) -> u32 {
        let deciding = || primary_metrics(record, self).metrics.into_iter();
        let is_exact = |index: usize| record.metrics[index].exact;
        if self.primary != Primary::Auto && deciding().next().is_some() && deciding().all(is_exact)
        {
            return u32::from(record.subjects.len() > 1) * FEWEST_EXACT;
        }
        let metrics = match &self.primary {
            Primary::Auto => 1,
            Primary::Named(names) => names.len(),
            Primary::Benchmarks(_) => primary_metrics(record, self).metrics.len().max(1),
        };
        match record.subjects.len().saturating_sub(1) * metrics {
            0 => 0,
            // The first of a family is held against its share of the error.
            family => paired::fewest_rounds((1.0 - self.confidence) / family as f64),
        }
    }
}

/// Says which benchmarks some subjects have and others do not.
pub fn one_sided(record: &Record) -> Vec<SessionNote> {
    let has = |subject: usize, metric: usize| {
        record.measured(subject).any(|run| run.value(metric).is_some())
    };
    let mut notes = Vec::new();
    for (index, metric) in record.metrics.iter().enumerate().filter(|(_, one)| one.is_main()) {
        let (with, without): (Vec<usize>, Vec<usize>) =
            (0..record.subjects.len()).partition(|&subject| has(subject, index));
        let names = |subjects: &[usize]| -> Vec<String> {
            subjects.iter().map(|&one| record.subjects[one].name.clone()).collect()
        };
        if !with.is_empty() && !without.is_empty() {
            notes.push(SessionNote::OneSided {
                benchmark: metric.name.clone(),
                with: names(&with),
                without: names(&without),
            });
        }
    }
    notes
}

fn automatic(record: &Record) -> Choice {
    let wall = record.metric_index(metric::WALL_TIME);
    let cpu = record.metric_index(metric::CPU_TIME);
    let wall_because = |because, subject: Option<&Subject>| Choice {
        metrics: wall.into_iter().collect(),
        reason: Some(ComparisonNote::DecidedOnWallTime {
            because,
            subject: subject.map(|subject| subject.name.clone()),
        }),
    };
    let Some(cpu) = cpu else {
        return wall_because(WallTimeReason::NoCpuTime, None);
    };
    for (index, subject) in record.subjects.iter().enumerate() {
        let runs: Vec<&Run> =
            record.measured(index).filter(|run| run.round < ROUNDS_TO_JUDGE_BY).collect();
        let Some(character) = character(record, &runs) else {
            return wall_because(WallTimeReason::NoCompleteRun, Some(subject));
        };
        if runs.iter().any(|run| run.is_censored()) {
            return wall_because(WallTimeReason::CutOff, Some(subject));
        }
        let computes_alone = character.single_threaded && character.cpu_bound;
        if !character.is_certain && !computes_alone {
            return wall_because(WallTimeReason::Unknown, Some(subject));
        }
        if !character.single_threaded {
            return wall_because(WallTimeReason::SeveralThreads, Some(subject));
        }
        if !character.cpu_bound {
            return wall_because(WallTimeReason::Waits, Some(subject));
        }
    }
    Choice { metrics: vec![cpu], reason: Some(ComparisonNote::DecidedOnCpuTime) }
}
