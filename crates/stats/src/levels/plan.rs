//! The cheapest numbers of repetitions that reach a goal.
//!
//! With r(i) repetitions of level i inside each one of the level above, i = 1 the highest and m the
//! lowest, the mean of everything has the variance V / r(1) with
//!
//! V = T(1)^2 + T(2)^2 / r(2) + T(3)^2 / (r(2) r(3)) + ..., and takes
//!
//! r(1) (c(1) + r(2) (c(2) + r(3) c(3) ...)) seconds, c(i) being what one repetition of level i costs
//! beside those below it. For given lower numbers the goal fixes r(1):
//!
//! t(1 - alpha / 2; r(1) - 1) sqrt(V / r(1)) <= p for a precision p.
//!
//! Without rounding the best lower numbers do not depend on the goal: r(i + 1) = sqrt(c(i) T(i + 1)^2
//! / (c(i + 1) T(i)^2)), Kalibera and Jones, "Rigorous Benchmarking in Reasonable Time", ISMM (2013),
//! section 7. Numbers are whole and some variances 0, so the whole numbers are
//! searched, over every value up to [`EVERY`] and in steps of a tenth above. Variances are relative,
//! those of logarithms, so that precisions are shares. What a comparison of two programs needs is another question:
//! [`crate::decide::needed`].

use std::collections::BTreeMap;

use crate::sample::assert_confidence;
use crate::student;

/// Most repetitions of one lower level inside one of the level above.
pub const MOST_INSIDE: u32 = 10_000;

/// Most repetitions of the highest level.
pub const MOST: u32 = 1_000_000;

/// Fewest repetitions of the highest level: an interval from fewer stands on its normality alone.
pub const FEWEST: u32 = 5;

/// Up to here every number of repetitions is tried.
const EVERY: u32 = 40;

/// One level of an experiment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Variance of the logarithms that arises here; negative estimates count as 0.
    pub variance: f64,
    /// Seconds that one repetition takes beside what is repeated inside it.
    pub cost: f64,
}

/// The interval that is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Half width, as a share of the mean.
    pub share: f64,
    /// Confidence of the interval.
    pub confidence: f64,
}

impl Precision {
    /// Returns the largest standard error of the mean that is small enough with so many repetitions of the
    /// highest level.
    fn standard_error(self, repetitions: u32) -> f64 {
        self.share / student::two_sided_quantile(self.confidence, f64::from(repetitions - 1))
    }
}

/// A number of repetitions for each level.
#[derive(Debug, Clone, PartialEq)]
pub struct Repetitions {
    /// Repetitions inside one of the level above, the highest level first.
    pub counts: Vec<u32>,
    /// Time that it takes, in seconds.
    pub seconds: f64,
    /// Standard error of the mean of the logarithms.
    pub standard_error: f64,
}

impl Repetitions {
    /// Returns what these numbers of repetitions take and give.
    pub fn of(levels: &[Level], counts: &[u32]) -> Self {
        let (mut variance, mut repetitions, mut seconds) = (0.0, 1.0, 0.0);
        for (level, &count) in levels.iter().zip(counts) {
            repetitions *= f64::from(count);
            variance += level.variance.max(0.0) / repetitions;
            seconds += level.cost.max(0.0) * repetitions;
        }
        Self { counts: counts.to_vec(), seconds, standard_error: variance.sqrt() }
    }
}

/// Returns the plan that reaches the goal in the least time; `None` when [`MOST`] repetitions of
/// the highest level are not enough.
///
/// Panics without a level, and unless the precision is above 0 and its confidence between 0 and 1.
pub fn cheapest(levels: &[Level], goal: Precision) -> Option<Repetitions> {
    assert!(!levels.is_empty(), "an experiment has at least one level");
    assert_confidence(goal.confidence);
    assert!(goal.share > 0.0, "a precision is above 0, not {}", goal.share);
    let mut search = Search { levels, goal, errors: BTreeMap::new(), best: None };
    search.from(&mut vec![1; levels.len()], 1);
    search.best
}

/// The search over whole numbers of the lower levels.
struct Search<'a> {
    levels: &'a [Level],
    goal: Precision,
    /// Largest standard errors by repetitions of the highest level: quantiles are slow, and
    /// bisections ask for the same ones again.
    errors: BTreeMap<u32, f64>,
    best: Option<Repetitions>,
}

impl Search<'_> {
    /// Tries the numbers of the levels from `depth` on; the highest follows from the others.
    fn from(&mut self, counts: &mut [u32], depth: usize) {
        if depth == self.levels.len() {
            self.with_the_highest(counts);
            return;
        }
        // More repetitions do not help against a variance of 0.
        let helps = self.levels[depth..].iter().any(|level| level.variance > 0.0);
        let most = if helps { MOST_INSIDE } else { 1 };
        let mut count = 1;
        while count <= most {
            counts[depth] = count;
            counts[depth + 1..].fill(1);
            counts[0] = FEWEST;
            if self.is_too_long(&Repetitions::of(self.levels, counts)) {
                break;
            }
            self.from(counts, depth + 1);
            count += if count < EVERY { 1 } else { count / 10 };
        }
    }

    fn with_the_highest(&mut self, counts: &mut [u32]) {
        let Some(highest) = self.fewest_of_the_highest(counts) else { return };
        counts[0] = highest;
        let plan = Repetitions::of(self.levels, counts);
        if !self.is_too_long(&plan) {
            self.best = Some(plan);
        }
    }

    /// Says whether the best plan so far is as short, so that of plans that take equally long the
    /// one with fewer repetitions inside stays.
    fn is_too_long(&self, plan: &Repetitions) -> bool {
        self.best.as_ref().is_some_and(|best| plan.seconds >= best.seconds * (1.0 - 1e-12))
    }

    /// Returns how often the highest level has to be repeated, by bisection.
    fn fewest_of_the_highest(&mut self, counts: &mut [u32]) -> Option<u32> {
        counts[0] = 1;
        let once = Repetitions::of(self.levels, counts).standard_error;
        if !self.is_enough(once, MOST) {
            return None;
        }
        let (mut short, mut enough) = (FEWEST - 1, MOST);
        while enough - short > 1 {
            let middle = short.midpoint(enough);
            if self.is_enough(once, middle) { enough = middle } else { short = middle }
        }
        Some(enough)
    }

    fn is_enough(&mut self, once: f64, n: u32) -> bool {
        let goal = self.goal;
        once / f64::from(n).sqrt()
            <= *self.errors.entry(n).or_insert_with(|| goal.standard_error(n))
    }
}

/// Returns how often the highest level has to be repeated for the goal with the given numbers of
/// the others, of which the first is not looked at; `None` when [`MOST`] is not enough.
pub fn repetitions(levels: &[Level], goal: Precision, counts: &[u32]) -> Option<u32> {
    let mut search = Search { levels, goal, errors: BTreeMap::new(), best: None };
    search.fewest_of_the_highest(&mut counts.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERCENT: Precision = Precision { share: 0.01, confidence: 0.95 };

    /// Kalibera and Jones's optimum, not rounded.
    fn optimal_ratio(upper: &Level, lower: &Level) -> f64 {
        (upper.cost / lower.cost * lower.variance / upper.variance).sqrt()
    }

    fn level(deviation: f64, cost: f64) -> Level {
        Level { variance: deviation * deviation, cost }
    }

    #[test]
    fn one_level_needs_what_the_t_interval_says() {
        // t(0.975; 17) 0.02 / sqrt 18 = 0.00995; with 17 it is 0.01028.
        let plan = cheapest(&[level(0.02, 0.5)], PERCENT).unwrap();
        assert_eq!((plan.counts.as_slice(), plan.seconds), (&[18][..], 9.0));
    }

    #[test]
    fn the_worked_optimum_of_the_paper_is_met() {
        // T^2 of three levels from the highest, at 100, 20 and 3 seconds.
        let levels = [
            Level { variance: 0.7747, cost: 100.0 },
            Level { variance: 0.262_778, cost: 20.0 },
            Level { variance: 0.726_667, cost: 3.0 },
        ];
        assert!((optimal_ratio(&levels[0], &levels[1]) - 1.3023).abs() < 1e-3);
        assert!((optimal_ratio(&levels[1], &levels[2]) - 4.2937).abs() < 1e-3);
    }

    #[test]
    fn whole_numbers_lie_around_the_optimum() {
        let levels = [level(0.03, 2.0), level(0.05, 0.1), level(0.2, 0.004)];
        let plan = cheapest(&levels, PERCENT).unwrap();
        let runs = optimal_ratio(&levels[0], &levels[1]);
        let iterations = optimal_ratio(&levels[1], &levels[2]);
        assert!((f64::from(plan.counts[1]) - runs).abs() <= 1.5, "{plan:?}, {runs}");
        assert!(
            (f64::from(plan.counts[2]) / iterations - 1.0).abs() < 0.2,
            "{plan:?}, {iterations}"
        );
    }

    #[test]
    fn nothing_else_is_cheaper() {
        let levels = [level(0.02, 0.3), level(0.03, 0.05)];
        let plan = cheapest(&levels, PERCENT).unwrap();
        for rounds in FEWEST..200 {
            for runs in 1..40 {
                let other = Repetitions::of(&levels, &[rounds, runs]);
                let is_enough = other.standard_error <= PERCENT.standard_error(rounds);
                assert!(!is_enough || other.seconds >= plan.seconds * (1.0 - 1e-9), "{other:?}");
            }
        }
    }

    #[test]
    fn variance_of_iterations_alone_is_repeated_inside_few_runs() {
        let plan = cheapest(&[level(0.0, 1.0), level(0.1, 0.001)], PERCENT).unwrap();
        assert_eq!(plan.counts[0], FEWEST);
        assert!(plan.counts[1] > 50, "{plan:?}");
    }

    #[test]
    fn variance_of_runs_alone_needs_one_iteration_in_each() {
        let negative = Level { variance: -1e-4, cost: 0.001 };
        let plan = cheapest(&[level(0.05, 0.1), negative], PERCENT).unwrap();
        assert_eq!(plan.counts[1], 1);
    }

    #[test]
    fn no_variance_still_takes_the_fewest() {
        let plan = cheapest(&[level(0.0, 1.0)], PERCENT).unwrap();
        assert_eq!((plan.counts[0], plan.standard_error), (FEWEST, 0.0));
    }

    #[test]
    fn what_cannot_be_reached_is_no_plan() {
        let goal = Precision { share: 1e-6, confidence: 0.95 };
        assert_eq!(cheapest(&[level(1.0, 1.0)], goal), None);
    }
}
