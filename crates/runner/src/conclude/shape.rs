//! How often a session has looked at its results, which decides how strict each look must be.

use std::collections::BTreeMap;

use becalm_model::terms::{Goal, Stop};
use becalm_model::{Record, Run, metric};
use becalm_stats::decide::{
    looks,
    spending::{self, Look},
};

use crate::rounds::Plan;

/// The looks of a session so far; the last one is the present one.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    looks: Vec<Look>,
}

impl Shape {
    /// Returns the shape of results that are looked at once: the whole error is spent on it.
    pub fn single() -> Self {
        Self { looks: vec![Look { rounds: 1, fraction: 1.0 }] }
    }

    /// Returns the shape of a running session, derived from its plan and the runs so far. Nothing
    /// but the record goes in, so that a resumed session looks as often as an unbroken one.
    pub fn of_session(plan: &Plan, record: &Record) -> Self {
        let ends = Self::round_ends(record);
        let rounds = u32::try_from(ends.len()).expect("fewer than 2^32 rounds");
        let fraction = |round: u32| {
            let elapsed = ends.get(round as usize - 1).copied().unwrap_or(0.0);
            plan.stop.fraction(round, elapsed)
        };
        let rounds_looked_at = match plan.stop {
            Stop::Until { minimum, goal: Goal::Verdict, .. } if rounds > 0 => {
                looks::looks_until(rounds, minimum)
            }
            // Other goals do not end by what the comparison shows, so one look is all there is.
            _ if rounds > 0 => vec![rounds],
            _ => Vec::new(),
        };
        let sequential = matches!(plan.stop, Stop::Until { goal: Goal::Verdict, .. });
        Self {
            looks: rounds_looked_at
                .into_iter()
                .map(|rounds| Look {
                    rounds,
                    fraction: if sequential || matches!(plan.stop, Stop::Rounds(_)) {
                        fraction(rounds)
                    } else {
                        1.0
                    },
                })
                .collect(),
        }
    }

    /// Returns the same shape with the last look as the final one: all error that is left is spent.
    #[must_use]
    pub fn at_the_end(mut self) -> Self {
        if let Some(last) = self.looks.last_mut() {
            last.fraction = 1.0;
        }
        self
    }

    /// Returns the two-sided level of the present look for a family-wise error of `alpha`.
    pub(crate) fn level(&self, alpha: f64) -> f64 {
        spending::levels(&self.looks, alpha).last().copied().unwrap_or(0.0)
    }

    /// Returns the time at which each measured round that was kept ended, in seconds of measuring. The
    /// time of discarded rounds counts; pauses between a session and its continuation do not.
    fn round_ends(record: &Record) -> Vec<f64> {
        let mut ends: BTreeMap<u32, f64> = BTreeMap::new();
        for (run, end) in Self::ends(record).filter(|(run, _)| run.is_measured()) {
            let latest = ends.entry(run.round).or_default();
            *latest = latest.max(end);
        }
        ends.into_values().collect()
    }

    /// Returns when the last run ended that is none of the warm-up, likewise; 0 without any.
    pub(crate) fn last_end(record: &Record) -> f64 {
        Self::ends(record).map(|(_, end)| end).fold(0.0, f64::max)
    }

    fn ends(record: &Record) -> impl Iterator<Item = (&Run, f64)> {
        let wall = record.metric_index(metric::WALL_TIME);
        let mut start = None;
        record.runs.iter().filter(|run| !run.warmup).map(move |run| {
            let start = *start.get_or_insert(run.started);
            let lasted = wall.and_then(|wall| run.value(wall)).unwrap_or(0.0);
            (run, run.started - start + lasted)
        })
    }
}
