//! Whether a session has what it was made for.

use becalm_model::terms::{Goal, Primary, Stop};
use becalm_model::{Record, metric};
use becalm_stats::{Sample, decide, median_interval};

use super::event::RoundEvent;
use super::executor::Executor;
use super::measure::Rounds;
use super::plan::Judgement;
use crate::conclude::{self, Shape};

impl<E: Executor> Rounds<'_, E> {
    /// Says whether so many rounds are as many as any plan wants and have reached the goal.
    pub(super) fn is_enough(&mut self, rounds: u32) -> bool {
        rounds >= self.plan.stop.minimum() && self.goal_is_reached(rounds)
    }

    fn goal_is_reached(&mut self, rounds: u32) -> bool {
        let (plan, record) = (self.plan, &*self.record);
        let Stop::Until { minimum, goal, .. } = plan.stop else { return false };
        match goal {
            Goal::Budget => false,
            _ if !decide::looks::is_look(rounds, minimum) => false,
            Goal::Precision(target) => {
                precision(record, &plan.judgement).is_some_and(|precision| precision <= target)
            }
            Goal::Verdict => {
                let shape = Shape::of_session(plan, record);
                let comparisons = conclude::comparisons(record, &plan.judgement, &shape);
                (self.tell)(RoundEvent::Looked { rounds, comparisons: &comparisons });
                !comparisons.is_empty()
                    && comparisons
                        .iter()
                        .filter(|one| one.primary)
                        .all(|one| conclude::is_settled(one, plan.judgement.margin))
            }
        }
    }

    /// Tells before the first measured round when the plan has no room for any verdict.
    pub(super) fn warn_if_undecidable(&mut self) {
        /// A first, cold run can take so many times as long as the later ones.
        const COLD_FACTOR: f64 = 2.0;
        let record = &*self.record;
        let needed = self.plan.judgement.fewest_rounds(record);
        let fastest = |subject: usize| {
            let wall = record.metric_index(metric::WALL_TIME)?;
            let runs = record.runs.iter().filter(|run| run.subject == subject);
            runs.filter_map(|run| run.value(wall)).min_by(f64::total_cmp)
        };
        let round: f64 = (0..record.subjects.len()).filter_map(fastest).sum();
        if let Some(possible) = self.plan.stop.possible_rounds(round / COLD_FACTOR)
            && possible < needed
        {
            (self.tell)(RoundEvent::Undecidable { possible, needed });
        }
    }
}

/// Returns the half width of the interval of the median as a share of the median, the widest over
/// the subjects and the metrics that the user named, else the wall time; `None` while some interval
/// is unknown.
fn precision(record: &Record, judgement: &Judgement) -> Option<f64> {
    let metrics = match &judgement.primary {
        Primary::Named(names) => names.iter().map(|name| record.metric_index(name)).collect(),
        Primary::Auto => vec![record.metric_index(metric::WALL_TIME)],
        Primary::Benchmarks(_) => {
            let metrics = conclude::primary_metrics(record, judgement).metrics;
            // Nothing is precise before anything is known.
            if metrics.is_empty() { vec![None] } else { metrics.into_iter().map(Some).collect() }
        }
    };
    let mut widest: f64 = 0.0;
    for metric in metrics {
        for subject in 0..record.subjects.len() {
            let sample = Sample::new(record.values(subject, metric?)).ok()?;
            let interval = median_interval::median_interval(&sample, judgement.confidence)?;
            let half = (interval.high - interval.estimate).max(interval.estimate - interval.low);
            // Values that never differ are as precise as can be, be they zero or not.
            if half > 0.0 {
                widest = widest.max(half / interval.estimate.abs());
            }
        }
    }
    Some(widest)
}
