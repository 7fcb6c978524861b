//! One simulated session: runs in the real order, decided by the real code.
//!
//! What the session of the runner adds to [`becalm_stats::decide`] and [`becalm_stats::schedule`] is the loop over
//! looks; it stands here once more, without processes and records.

use becalm_stats::decide::family;
use becalm_stats::decide::looks::looks_until;
use becalm_stats::decide::margin::{Answer, answer, is_settled};
use becalm_stats::decide::paired::{self, Observation};
use becalm_stats::decide::spending::{self, Look};
use becalm_stats::{Rng, schedule};

use crate::noise::Noise;

/// Who chooses the order inside the rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// [`schedule::order`], which sessions use.
    Schedule,
    /// Rounds in mirrored pairs, AB BA or BA AB by a coin.
    Mirrored,
    /// A coin for every round.
    Coin,
}

impl Order {
    /// Returns the subjects of each round in the order of their runs. Only [`Order::Schedule`]
    /// knows more than two subjects.
    pub fn rounds(self, rng: &mut Rng, rounds: u32, subjects: usize) -> Vec<Vec<usize>> {
        let seed = rng.next_u64();
        if self == Self::Schedule {
            return (0..rounds).map(|round| schedule::order(seed, round, subjects)).collect();
        }
        assert_eq!(subjects, 2, "other orders are there for comparison with two subjects");
        let mut swapped = false;
        (0..rounds)
            .map(|round| {
                swapped = if self == Self::Coin || round % 2 == 0 { rng.coin() } else { !swapped };
                if swapped { vec![1, 0] } else { vec![0, 1] }
            })
            .collect()
    }
}

/// Simulates rounds in the given order, one list of observations for each candidate; `ratios` are
/// those of the candidates to the baseline, which is subject 0.
pub fn observe(
    noise: &Noise,
    ratios: &[f64],
    orders: &[Vec<usize>],
    rng: &mut Rng,
) -> Vec<Vec<Observation>> {
    let subjects = ratios.len() + 1;
    let disturbance = noise.draw(rng, orders.len() * subjects, subjects);
    let mut rounds = vec![Vec::with_capacity(orders.len()); ratios.len()];
    for (order, disturbance) in orders.iter().zip(disturbance.chunks_exact(subjects)) {
        let place = |subject: usize| {
            order.iter().position(|&s| s == subject).expect("every subject runs in every round")
        };
        let (first, baseline) = (place(0), noise.read(disturbance[place(0)]));
        for (candidate, ratio) in ratios.iter().enumerate() {
            let place = place(candidate + 1);
            rounds[candidate].push(Observation {
                baseline,
                candidate: noise.read(disturbance[place] + ratio.ln()),
                candidate_first: place < first,
                pace: [0.0; 2],
            });
        }
    }
    rounds
}

/// When to look, and how strictly to judge at each look.
#[derive(Debug, Clone, PartialEq)]
pub struct Looks {
    rounds: Vec<u32>,
    /// Two-sided levels at each look for the whole error, for a half of it, for a third, ...
    levels: Vec<Vec<f64>>,
    margin: f64,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// What it says.
    pub answer: Answer,
    /// Rounds that it took.
    pub rounds: u32,
}

impl Looks {
    /// Plans `rounds` rounds with one look at the end.
    pub fn fixed(rounds: u32, margin: f64, alpha: f64) -> Self {
        Self::of(vec![rounds], margin, alpha, 1)
    }

    /// Plans looks from the first that can say anything up to `maximum` rounds, with the error
    /// spent over them by rounds, for so many candidates.
    pub fn sequential(maximum: u32, margin: f64, alpha: f64, candidates: usize) -> Self {
        Self::of(looks_until(maximum, 0), margin, alpha, candidates)
    }

    fn of(rounds: Vec<u32>, margin: f64, alpha: f64, candidates: usize) -> Self {
        let all = f64::from(*rounds.last().expect("the last round is always a look"));
        let looks: Vec<Look> = rounds
            .iter()
            .map(|&rounds| Look { rounds, fraction: f64::from(rounds) / all })
            .collect();
        let levels =
            (1..=candidates).map(|share| spending::levels(&looks, alpha / share as f64)).collect();
        Self { rounds, levels, margin }
    }

    /// Returns the most rounds it can take.
    pub fn maximum(&self) -> u32 {
        self.rounds[self.rounds.len() - 1]
    }

    /// Returns the rounds that it takes at least.
    pub fn minimum(&self) -> u32 {
        self.rounds[0]
    }

    /// Decides rounds in time order, of which there are [`Looks::maximum`].
    pub fn decide(&self, observations: &[Observation]) -> Outcome {
        self.decide_family(std::slice::from_ref(&observations))[0]
    }

    /// Decides several candidates together: a session ends when all of them are settled.
    pub fn decide_family<T: AsRef<[Observation]>>(&self, candidates: &[T]) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for (look, &rounds) in self.rounds.iter().enumerate() {
            let levels = self.levels(look, candidates, rounds);
            let bounds: Vec<(f64, f64)> = candidates
                .iter()
                .zip(levels)
                .map(|(one, level)| {
                    match paired::estimate(&one.as_ref()[..rounds as usize], level) {
                        Some(estimate) => (estimate.low.exp(), estimate.high.exp()),
                        None => (0.0, f64::INFINITY),
                    }
                })
                .collect();
            outcomes = bounds
                .iter()
                .map(|&(low, high)| Outcome { answer: answer(low, high, self.margin), rounds })
                .collect();
            if bounds.iter().all(|&(low, high)| is_settled(low, high, self.margin)) {
                break;
            }
        }
        outcomes
    }

    fn levels<T: AsRef<[Observation]>>(
        &self,
        look: usize,
        candidates: &[T],
        rounds: u32,
    ) -> Vec<f64> {
        if candidates.len() == 1 {
            return vec![self.levels[0][look]];
        }
        let p_values: Vec<f64> = candidates
            .iter()
            .map(|one| {
                // The p value does not depend on the level of the interval.
                paired::estimate(&one.as_ref()[..rounds as usize], 0.5).map_or(1.0, |e| e.p)
            })
            .collect();
        family::levels(&p_values, |share| self.levels[share - 1][look])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise;

    #[test]
    fn a_clear_difference_ends_at_the_first_look() {
        let mut rng = Rng::new(1);
        let plan = Looks::sequential(100, 0.01, 0.05, 1);
        let orders = Order::Schedule.rounds(&mut rng, plan.maximum(), 2);
        let rounds = observe(&noise::INDEPENDENT, &[1.2], &orders, &mut rng);
        assert_eq!(plan.decide(&rounds[0]), Outcome { answer: Answer::Above, rounds: 8 });
    }

    #[test]
    fn the_order_decides_which_run_is_whose() {
        let orders = vec![vec![1, 0], vec![0, 1]];
        let rounds = observe(&noise::POSITION, &[1.5], &orders, &mut Rng::new(2));
        let (first, second) = (rounds[0][0], rounds[0][1]);
        assert!(first.candidate_first && !second.candidate_first);
        assert!((first.log_ratio() - 1.5_f64.ln() + 0.01).abs() < 0.03);
        assert!((second.log_ratio() - 1.5_f64.ln() - 0.01).abs() < 0.03);
    }

    #[test]
    fn mirrored_rounds_are_balanced_in_pairs() {
        let rounds = Order::Mirrored.rounds(&mut Rng::new(3), 20, 2);
        assert!(rounds.chunks(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn one_of_two_candidates_can_differ_alone() {
        let mut rng = Rng::new(4);
        let plan = Looks::sequential(60, 0.01, 0.05, 2);
        let orders = Order::Schedule.rounds(&mut rng, plan.maximum(), 3);
        let rounds = observe(&noise::INDEPENDENT, &[1.0, 1.05], &orders, &mut rng);
        let answers: Vec<Answer> =
            plan.decide_family(&rounds).iter().map(|outcome| outcome.answer).collect();
        assert_eq!(answers, [Answer::Equivalent, Answer::Above]);
    }
}
