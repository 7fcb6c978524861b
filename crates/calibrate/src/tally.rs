//! Counts of the answers of a rule over many simulated comparisons.

use becalm_stats::decide::margin::Answer;
use becalm_stats::{Interval, Rng};

use crate::noise::Noise;
use crate::rate::clopper_pearson;
use crate::redo::{Disturber, OnDisturbance};
use crate::rule::Rule;
use crate::trial::{Looks, Order, Outcome, observe};

/// Two-sided level of all tables.
pub const ALPHA: f64 = 0.05;

/// Margin of the columns that have one.
pub const MARGIN: f64 = 0.01;

/// Most rounds of the sequential columns.
pub const MAXIMUM: u32 = 100;

/// Confidence of the intervals of the rates themselves.
pub const RATE_CONFIDENCE: f64 = 0.95;

/// Answers of a rule over many trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Trials made.
    pub trials: u64,
    /// Trials that said the ratio is above 1.
    pub above: u64,
    /// Trials that said it is below 1.
    pub below: u64,
    /// Trials that said it is inside the margin.
    pub equivalent: u64,
    /// Rounds of all trials together.
    pub rounds: u64,
}

impl Tally {
    /// Runs `trials` simulated comparisons.
    pub fn of(rule: &Rule, noise: &Noise, ratio: f64, trials: u32, seed: u64) -> Self {
        Self::of_sessions((trials, seed), |rng| rule.decide(noise, ratio, ALPHA, rng))
    }

    /// Runs `trials` simulated comparisons on a machine with disturbances.
    pub fn disturbed(
        disturber: &Disturber,
        policy: OnDisturbance,
        plan: &Looks,
        ratio: f64,
        (trials, seed): (u32, u64),
    ) -> Self {
        Self::of_sessions((trials, seed), |rng| disturber.decide(plan, policy, ratio, rng))
    }

    /// Counts how so many sessions end, each with a generator of its own.
    pub(crate) fn of_sessions(
        (trials, seed): (u32, u64),
        decide: impl Fn(&mut Rng) -> Outcome,
    ) -> Self {
        let mut rng = Rng::new(seed);
        let mut tally = Self::default();
        for _ in 0..trials {
            let outcome = decide(&mut rng.split());
            tally.count(outcome.answer, u64::from(outcome.rounds));
        }
        tally
    }

    /// Adds one trial.
    pub(crate) fn count(&mut self, answer: Answer, rounds: u64) {
        self.trials += 1;
        self.rounds += rounds;
        match answer {
            Answer::Above => self.above += 1,
            Answer::Below => self.below += 1,
            Answer::Equivalent => self.equivalent += 1,
            Answer::Inconclusive => {}
        }
    }

    /// Returns the share of trials that found a difference, in either direction.
    pub fn different(&self) -> Interval {
        self.rate(self.above + self.below)
    }

    /// Returns the share of `count` of the trials, with Clopper and Pearson's interval.
    pub fn rate(&self, count: u64) -> Interval {
        clopper_pearson(count, self.trials, RATE_CONFIDENCE)
    }

    /// Returns the mean number of rounds.
    pub fn mean_rounds(&self) -> f64 {
        self.rounds as f64 / self.trials as f64
    }
}

/// Returns the share of sessions with a baseline and as many equal candidates that call any of
/// them different.
pub fn family_false_alarms(
    noise: &Noise,
    plan: &Looks,
    candidates: usize,
    trials: u32,
    seed: u64,
) -> Interval {
    let mut rng = Rng::new(seed);
    let false_alarms = (0..trials)
        .filter(|_| {
            let mut rng = rng.split();
            let orders = Order::Schedule.rounds(&mut rng, plan.maximum(), candidates + 1);
            let rounds = observe(noise, &vec![1.0; candidates], &orders, &mut rng);
            let different = |answer| matches!(answer, Answer::Above | Answer::Below);
            plan.decide_family(&rounds).iter().any(|outcome| different(outcome.answer))
        })
        .count();
    let tally = Tally { trials: u64::from(trials), ..Tally::default() };
    tally.rate(false_alarms as u64)
}

/// Returns becalm's rule as sessions apply it.
pub fn own(plan: Looks) -> Rule {
    Rule::Becalm(plan, Order::Schedule)
}

/// Returns a rate and its interval in percent.
pub(crate) fn percent(rate: Interval) -> String {
    let Interval { estimate, low, high } = rate.map(|share| 100.0 * share);
    format!("{estimate:.1} [{low:.1}, {high:.1}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_their_interval() {
        let tally = Tally { trials: 1000, above: 30, below: 20, ..Tally::default() };
        assert_eq!(percent(tally.different()), "5.0 [3.7, 6.5]");
    }
}
