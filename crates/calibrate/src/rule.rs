//! The rules whose errors are counted: becalm's own and, beside it, what else is in use.

use becalm_stats::decide::margin::Answer;
use becalm_stats::decide::paired::Observation;
use becalm_stats::{Rng, Sample, center, spread, yuen};

use crate::noise::Noise;
use crate::peers::{mann_whitney, welch};
use crate::trial::{Looks, Order, Outcome, observe};

/// A rule with what it needs to know beforehand.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// Becalm's, with rounds in this order.
    Becalm(Looks, Order),
    /// The trimmed t test of paired log ratios, 20 % from each end, on becalm's rounds.
    TrimmedT {
        /// Rounds, each with a run of either subject.
        rounds: u32,
    },
    /// Welch's t test after all runs of the baseline and then all of the candidate.
    Welch {
        /// Runs of either subject.
        runs: u32,
    },
    /// Mann and Whitney's test in the same order.
    MannWhitney {
        /// Runs of either subject.
        runs: u32,
    },
    /// The `ratio +- deviation` that hyperfine prints, in the same order: a difference where it
    /// leaves out 1. It is no test and does not narrow with more runs.
    Hyperfine {
        /// Runs of either subject.
        runs: u32,
    },
}

impl Rule {
    /// Simulates one comparison and says what the rule makes of it, at the two-sided level `alpha`;
    /// becalm's own has the level of its plan.
    pub fn decide(&self, noise: &Noise, ratio: f64, alpha: f64, rng: &mut Rng) -> Outcome {
        let paired = |rounds: u32, order: Order, rng: &mut Rng| -> Vec<Observation> {
            let orders = order.rounds(rng, rounds, 2);
            observe(noise, &[ratio], &orders, rng).swap_remove(0)
        };
        match self {
            Self::Becalm(plan, order) => plan.decide(&paired(plan.maximum(), *order, rng)),
            &Self::TrimmedT { rounds } => {
                let rounds_seen = paired(rounds, Order::Schedule, rng);
                let ratios = sample(rounds_seen.iter().map(Observation::log_ratio).collect());
                let answer = yuen(&ratios, 0.2, 1.0 - alpha)
                    .map_or(Answer::Inconclusive, |test| side(test.p <= alpha, test.t));
                Outcome { answer, rounds }
            }
            &Self::Welch { runs } => {
                let (a, b) = in_sequence(noise, ratio, runs, rng);
                let answer = welch(&b, &a, 1.0 - alpha)
                    .map_or(Answer::Inconclusive, |test| side(test.p <= alpha, test.t));
                Outcome { answer, rounds: runs }
            }
            &Self::MannWhitney { runs } => {
                let (a, b) = in_sequence(noise, ratio, runs, rng);
                let test = mann_whitney(&b, &a);
                let answer = side(test.p <= alpha, test.superiority - 0.5);
                Outcome { answer, rounds: runs }
            }
            &Self::Hyperfine { runs } => {
                let (a, b) = in_sequence(noise, ratio, runs, rng);
                Outcome { answer: printed_by_hyperfine(&a, &b), rounds: runs }
            }
        }
    }
}

/// All runs of the baseline, then all of the candidate; values, not logarithms.
fn in_sequence(noise: &Noise, ratio: f64, runs: u32, rng: &mut Rng) -> (Sample, Sample) {
    let n = runs as usize;
    let mut values = noise.draw(rng, 2 * n, 1);
    values[n..].iter_mut().for_each(|value| *value += ratio.ln());
    let mut values: Vec<f64> = values.into_iter().map(|value| noise.read(value).exp()).collect();
    let candidate = values.split_off(n);
    (sample(values), sample(candidate))
}

fn printed_by_hyperfine(a: &Sample, b: &Sample) -> Answer {
    let share =
        |x: &Sample| spread::standard_deviation(x).expect("more than one run") / center::mean(x);
    let ratio = center::mean(b) / center::mean(a);
    // The slower over the faster, as it is printed.
    let printed = ratio.max(1.0 / ratio);
    let deviation = printed * share(a).hypot(share(b));
    side(printed - deviation > 1.0, ratio - 1.0)
}

fn side(found: bool, direction: f64) -> Answer {
    match (found, direction > 0.0) {
        (false, _) => Answer::Inconclusive,
        (true, true) => Answer::Above,
        (true, false) => Answer::Below,
    }
}

fn sample(values: Vec<f64>) -> Sample {
    Sample::new(values).expect("simulated values are finite")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise;

    #[test]
    fn every_rule_finds_a_large_difference_and_its_side() {
        let rules = [
            Rule::Becalm(Looks::fixed(17, 0.0, 0.05), Order::Schedule),
            Rule::TrimmedT { rounds: 17 },
            Rule::Welch { runs: 17 },
            Rule::MannWhitney { runs: 17 },
            Rule::Hyperfine { runs: 17 },
        ];
        for rule in rules {
            let decide =
                |ratio| rule.decide(&noise::INDEPENDENT, ratio, 0.05, &mut Rng::new(5)).answer;
            assert_eq!(decide(1.2), Answer::Above, "{rule:?}");
            assert_eq!(decide(0.8), Answer::Below, "{rule:?}");
        }
    }
}
