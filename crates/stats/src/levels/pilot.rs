//! From the runs of a pilot to levels with their variances and costs.
//!
//! Values enter as logarithms, so that variances are relative and a rare slow value weighs less.
//! Levels that the pilot did not repeat cannot be told from the one above: with one run in each round
//! their variances are one, called that of the run.

use super::components::{Analysis, Component};
use super::plan::{Level, Precision, Repetitions, repetitions};
use crate::whole::count;
use crate::{Rng, Violation, sum::sum};

/// Confidence of what a pilot leaves open.
const RANGE: f64 = 0.9;

/// Draws of the variances, enough for quantiles at 5 % that hardly depend on the seed.
const DRAWS: usize = 1999;

/// Which level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A layout of memory, an environment and the weather of the machine, with all runs in it.
    Round,
    /// One process.
    Run,
    /// One value that a process timed itself.
    Iteration,
}

/// One run of the pilot.
#[derive(Debug, Clone, PartialEq)]
pub struct PilotRun {
    /// Round it belongs to.
    pub round: usize,
    /// Its values: iterations, or the one value of the run; above 0.
    pub values: Vec<f64>,
    /// Seconds that the run took in all, values included.
    pub seconds: f64,
    /// Seconds that one of its values took; 0 when the value is the run itself.
    pub seconds_per_value: f64,
}

/// What a pilot tells about one level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PilotLevel {
    /// Which level.
    pub kind: Kind,
    /// Its variance, that of logarithms.
    pub component: Component,
    /// Seconds that one repetition takes beside those inside it.
    pub cost: f64,
    /// Mean number of repetitions in one of the level above.
    pub repetitions: f64,
}

/// What a pilot tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Pilot {
    /// Geometric mean of the values.
    pub typical: f64,
    /// The levels that were repeated, the highest first.
    pub levels: Vec<PilotLevel>,
    /// Variances of all levels that may have given the values, each as likely as the others: [`Analysis::draw`].
    pub draws: Vec<Vec<f64>>,
}

impl Pilot {
    /// Returns what planning needs, the highest level first. Variances are the estimates; one that came out negative,
    /// or smaller than that, is the mean of what it may be: few repetitions of a level do not show that it does nothing.
    pub fn levels(&self) -> Vec<Level> {
        let n = self.draws.len().max(1) as f64;
        let level = |(k, level): (usize, &PilotLevel)| {
            let doubtful = self.draws.iter().filter(|draw| draw[k] == 0.0).count() as f64;
            let mean = sum(self.draws.iter().map(|draw| draw[k])) / n;
            let estimate = level.component.variance.max(0.0);
            // The more draws have none of it, the less the estimate says.
            let share = doubtful / n;
            Level { variance: estimate + share * (mean - estimate).max(0.0), cost: level.cost }
        };
        self.levels.iter().enumerate().map(level).collect()
    }

    /// Returns the fewest repetitions of the highest level that reach a goal with the numbers of the pilot below it.
    pub fn as_it_was(&self, goal: Precision) -> Option<Repetitions> {
        let mut counts: Vec<u32> =
            self.levels.iter().map(|level| count(level.repetitions.round().max(1.0))).collect();
        let levels = self.levels();
        counts[0] = repetitions(&levels, goal, &counts)?;
        Some(Repetitions::of(&levels, &counts))
    }

    /// Returns how many repetitions of the highest level the goal may need with the numbers of `plan` below it: from 5 to
    /// 95 % of what the variances may be.
    pub fn range(&self, goal: Precision, plan: &Repetitions) -> Option<(u32, u32)> {
        let with = |draw: &Vec<f64>| -> Vec<Level> {
            let levels = self.levels.iter().zip(draw);
            levels.map(|(level, &variance)| Level { variance, cost: level.cost }).collect()
        };
        let error = |draw: &Vec<f64>| Repetitions::of(&with(draw), &plan.counts).standard_error;
        let mut sorted: Vec<(f64, &Vec<f64>)> =
            self.draws.iter().map(|draw| (error(draw), draw)).collect();
        sorted.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let tail = (1.0 - RANGE) / 2.0;
        let at = |share: f64| {
            let place =
                crate::whole::place(share * sorted.len() as f64).min(sorted.len().checked_sub(1)?);
            Some(repetitions(&with(sorted[place].1), goal, &plan.counts).unwrap_or(u32::MAX))
        };
        Some((at(tail).filter(|low| *low < u32::MAX)?, at(1.0 - tail)?))
    }
}

/// Analyses a pilot; `round_cost` is what a new round takes beside its runs, in seconds. Values that
/// are not above 0 have no logarithm and are refused as not finite.
pub fn pilot(runs: &[PilotRun], round_cost: f64) -> Result<Pilot, Violation> {
    let (mut values, mut rounds, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for (number, run) in runs.iter().enumerate() {
        values.extend(run.values.iter().map(|value| value.ln()));
        rounds.extend(run.values.iter().map(|_| run.round));
        numbers.extend(run.values.iter().map(|_| number));
    }
    if values.is_empty() {
        return Err(Violation::Empty);
    }
    let n_runs = runs.len();
    let mut distinct: Vec<usize> = runs.iter().map(|run| run.round).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let (has_rounds, has_iterations) = (distinct.len() < n_runs, values.len() > n_runs);

    let mut kinds = vec![Kind::Run];
    let mut groups = Vec::new();
    if has_rounds {
        kinds.insert(0, Kind::Round);
        groups.push(rounds);
    }
    if has_iterations {
        kinds.push(Kind::Iteration);
        groups.push(numbers);
    }
    let analysis = Analysis::of(&values, &groups)?;
    let found = analysis.components();

    let per_value = sum(runs.iter().map(|run| run.seconds_per_value * run.values.len() as f64));
    let beside = sum(runs
        .iter()
        .map(|run| (run.seconds - run.seconds_per_value * run.values.len() as f64).max(0.0)));
    let levels = kinds
        .into_iter()
        .zip(found)
        .map(|(kind, component)| {
            let (cost, repetitions) = match kind {
                Kind::Round => (round_cost, distinct.len() as f64),
                Kind::Run => {
                    let above = if has_rounds { distinct.len() } else { 1 };
                    let own = if has_rounds { 0.0 } else { round_cost };
                    (own + beside / n_runs as f64, n_runs as f64 / above as f64)
                }
                Kind::Iteration => {
                    let n = values.len() as f64;
                    (per_value / n, n / n_runs as f64)
                }
            };
            PilotLevel { kind, component, cost, repetitions }
        })
        .collect();
    // The same pilot gives the same plan.
    let mut rng = Rng::new(1);
    let draws = (0..DRAWS).map(|_| analysis.draw(&mut rng)).collect();
    let typical = (sum(values.iter().copied()) / values.len() as f64).exp();
    Ok(Pilot { typical, levels, draws })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn run(round: usize, values: &[f64], seconds: f64) -> PilotRun {
        PilotRun { round, values: values.to_vec(), seconds, seconds_per_value: 0.5 }
    }

    #[track_caller]
    fn kinds(runs: &[PilotRun], expected: &[Kind]) {
        let found = pilot(runs, 0.0).unwrap();
        assert_eq!(found.levels.iter().map(|level| level.kind).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_was_not_repeated_is_no_level() {
        kinds(&[run(0, &[1.0], 2.0), run(1, &[1.1], 2.0)], &[Kind::Run]);
        let in_rounds = [run(0, &[1.0], 2.0), run(0, &[1.1], 2.0), run(1, &[1.2], 2.0)];
        kinds(&in_rounds, &[Kind::Round, Kind::Run]);
        let with_iterations = [run(0, &[1.0, 1.1], 2.0), run(1, &[1.2, 1.0], 2.0)];
        kinds(&with_iterations, &[Kind::Run, Kind::Iteration]);
    }

    #[test]
    fn a_run_costs_what_its_iterations_do_not() {
        let runs = [run(0, &[1.0, 1.1], 4.0), run(1, &[1.2, 1.0], 6.0)];
        let found = pilot(&runs, 10.0).unwrap();
        // A new round comes with every run here.
        assert_eq!((found.levels[0].cost, found.levels[1].cost), (14.0, 0.5));
        assert_eq!((found.levels[0].repetitions, found.levels[1].repetitions), (2.0, 2.0));
    }

    #[test]
    fn variances_are_relative() {
        let mut rng = Rng::new(1);
        let mut runs = Vec::new();
        for round in 0..60 {
            let of_round = 0.05 * rng.normal();
            for _ in 0..4 {
                let of_run = of_round + 0.02 * rng.normal();
                let values: Vec<f64> =
                    (0..20).map(|_| 7.0 * (of_run + 0.1 * rng.normal()).exp()).collect();
                runs.push(run(round, &values, 1.0));
            }
        }
        let found = pilot(&runs, 0.0).unwrap();
        let deviations: Vec<f64> =
            found.levels.iter().map(|level| level.component.variance.sqrt()).collect();
        for (found, truth) in deviations.iter().zip([0.05, 0.02, 0.1]) {
            assert!((found / truth - 1.0).abs() < 0.3, "{deviations:?}");
        }
        assert!((found.typical - 7.0).abs() < 0.2, "{}", found.typical);
    }

    #[test]
    fn a_range_is_around_the_plan() {
        let value = |round: usize| 1.0 + 0.01 * f64::from(u8::try_from(round % 4).unwrap());
        let runs: Vec<PilotRun> = (0..10).map(|round| run(round, &[value(round)], 1.0)).collect();
        let found = pilot(&runs, 0.0).unwrap();
        assert_eq!(found.levels[0].kind, Kind::Run);
        let goal = Precision { share: 0.005, confidence: 0.95 };
        let plan = crate::levels::cheapest(&found.levels(), goal).unwrap();
        let (low, high) = found.range(goal, &plan).unwrap();
        assert!(low < plan.counts[0] && plan.counts[0] < high, "{low} {plan:?} {high}");
    }

    #[test]
    fn what_has_no_logarithm_is_refused() {
        let runs = [run(0, &[1.0], 1.0), run(1, &[0.0], 1.0)];
        assert_eq!(pilot(&runs, 0.0), Err(Violation::NotFinite { index: 1 }));
        assert_eq!(pilot(&[], 0.0), Err(Violation::Empty));
    }
}
