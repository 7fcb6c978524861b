//! Simulated sessions whose disturbed rounds are made again, judged by simulated evidence.
//!
//! Discarding is dangerous when evidence and times hang together, so each model says how they do: for
//! the whole machine or one run alone, for everybody alike or for one of two equal programs only.

use becalm_stats::decide::paired::{self, Observation};
use becalm_stats::decide::redo::{self, KEPT_PER_DISCARDED};
use becalm_stats::usual::{Usual, limits_alike};
use becalm_stats::{Rng, schedule};

use crate::noise::{self, Noise};
use crate::trial::{Looks, Outcome};

/// What becomes of disturbed rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDisturbance {
    /// They stay.
    Keep,
    /// They are discarded and made again, within [`redo`]'s bound.
    Redo,
}

/// What a disturbance did to one run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Effect {
    /// Logarithm added to the time.
    log: f64,
    /// What the evidence shows, beside its own scatter of one.
    evidence: f64,
}

/// A model of disturbances on a noisy machine, with the evidence that they leave.
#[derive(Debug, Clone, Copy)]
pub struct Disturber {
    /// Name in tables.
    pub name: &'static str,
    /// What it does, in one line.
    pub description: &'static str,
    /// What the machine adds to every run.
    noise: Noise,
    /// Draws the effects on so many runs in time order, of which two make a round.
    draw: fn(&mut Rng, usize) -> Vec<Effect>,
    /// Whether the evidence of the baseline shows nothing.
    one_sided: bool,
    /// Whether the evidence is the time itself, beside what disturbances leave.
    shows_time: bool,
}

/// Evidence beyond this is a disturbance whatever its scatter: the slack of the limits.
const SLACK: f64 = 4.0;

const fn disturber(
    name: &'static str,
    description: &'static str,
    draw: fn(&mut Rng, usize) -> Vec<Effect>,
) -> Disturber {
    let noise = noise::INDEPENDENT;
    Disturber { name, description, noise, draw, one_sided: false, shows_time: false }
}

/// Interruptions of single runs.
pub const SINGLE: Disturber = disturber(
    "single runs",
    "15 % of the runs take 5 to 50 % longer; the evidence shows how much",
    |rng, runs| (0..runs).map(|_| hit(rng, 0.15)).collect(),
);

/// Somebody else's work, which lasts.
pub const SPELLS: Disturber = disturber(
    "spells",
    "spells of 8 runs on average, a quarter of the time: 10 to 30 % longer, with evidence",
    |rng, runs| {
        let mut inside = rng.uniform() < 0.25;
        (0..runs)
            .map(|_| {
                inside ^= rng.uniform() < if inside { 0.125 } else { 0.042 };
                let strength = if inside { 0.1 + 0.2 * rng.uniform() } else { 0.0 };
                Effect { log: f64::ln_1p(strength), evidence: 100.0 * strength }
            })
            .collect()
    },
);

/// What hits both runs of a round.
pub const WHOLE_ROUNDS: Disturber = disturber(
    "whole rounds",
    "15 % of the rounds: both runs take 5 to 50 % longer, with evidence",
    |rng, runs| {
        (0..runs.div_ceil(2))
            .flat_map(|_| {
                let effect = hit(rng, 0.15);
                [effect, effect]
            })
            .collect()
    },
);

/// Evidence without an effect.
pub const IDLE_TALK: Disturber = disturber(
    "evidence alone",
    "15 % of the runs have evidence, and take no longer",
    |rng, runs| (0..runs).map(|_| Effect { log: 0.0, ..hit(rng, 0.15) }).collect(),
);

/// Evidence of what makes runs shorter.
pub const QUICK: Disturber = disturber(
    "quicker runs",
    "15 % of the runs take 5 to 50 % less time, with evidence",
    |rng, runs| {
        let turned = |effect: Effect| Effect { log: -effect.log, ..effect };
        (0..runs).map(|_| turned(hit(rng, 0.15))).collect()
    },
);

/// The worst that evidence can be: the time itself.
pub const TIME_ITSELF: Disturber = Disturber {
    noise: noise::HEAVY_TAILS,
    shows_time: true,
    ..disturber(
        "the time itself",
        "heavy tails, and the evidence is the time: every run far above the others is seen",
        |_, runs| vec![Effect::default(); runs],
    )
};

/// The same under drift, with disturbances on top.
pub const DRIFTING: Disturber = Disturber {
    noise: noise::CORRELATED_95,
    ..disturber(
        "drift and single runs",
        "AR(1) 0.95, and 15 % of the runs 5 to 50 % longer, with evidence",
        |rng, runs| (0..runs).map(|_| hit(rng, 0.15)).collect(),
    )
};

/// More disturbances than may be made again.
pub const MOST: Disturber = disturber(
    "a third of the runs",
    "a third of the runs take 5 to 50 % longer, with evidence, more than may be repeated",
    |rng, runs| (0..runs).map(|_| hit(rng, 0.33)).collect(),
);

/// What the rule cannot be safe against: disturbances that only one of two equal programs shows.
pub const ONE_SIDED: Disturber = Disturber {
    one_sided: true,
    ..disturber(
        "one side only",
        "15 % of the runs take 5 to 50 % longer; only the candidate's evidence shows it",
        |rng, runs| (0..runs).map(|_| hit(rng, 0.15)).collect(),
    )
};

/// The models under which the rule keeps its stated error.
pub const ALIKE: [Disturber; 8] =
    [SINGLE, SPELLS, WHOLE_ROUNDS, IDLE_TALK, QUICK, TIME_ITSELF, DRIFTING, MOST];

fn hit(rng: &mut Rng, probability: f64) -> Effect {
    if rng.uniform() >= probability {
        return Effect::default();
    }
    let strength = 0.05 + 0.45 * rng.uniform();
    Effect { log: strength.ln_1p(), evidence: 100.0 * strength }
}

/// A session as it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Made {
    /// The rounds that were kept, in time order.
    pub kept: Vec<Observation>,
    /// How many were discarded.
    pub discarded: u32,
}

impl Disturber {
    /// Makes rounds until as many as `plan` can take are kept; the true ratio is `ratio`.
    pub fn session(&self, plan: &Looks, policy: OnDisturbance, ratio: f64, rng: &mut Rng) -> Made {
        let wanted = plan.maximum() as usize;
        let at_most = wanted + wanted / KEPT_PER_DISCARDED as usize;
        let noise = self.noise.draw(rng, 2 * at_most, 2);
        let effects = (self.draw)(rng, 2 * at_most);
        let seed = rng.next_u64();
        let mut made = Made { kept: Vec::with_capacity(wanted), discarded: 0 };
        // Of each subject, in time order.
        let mut evidence = [Vec::new(), Vec::new()];
        while made.kept.len() < wanted {
            let kept = u32::try_from(made.kept.len()).expect("a plan counts rounds by u32");
            let order = schedule::order(seed, kept, 2);
            let mut logs = [0.0; 2];
            for (run, &subject) in order.iter().enumerate() {
                let at = 2 * (made.kept.len() + made.discarded as usize) + run;
                let truth = if subject == 1 { ratio.ln() } else { 0.0 };
                logs[subject] = self.noise.read(noise[at] + effects[at].log + truth);
                let shown = if self.shows_time {
                    // In units of the scale of the noise, without the difference of the subjects.
                    100.0 * (noise[at] + effects[at].log)
                } else {
                    effects[at].evidence + rng.normal()
                };
                let is_blind = self.one_sided && subject == 0;
                evidence[subject].push(if is_blind { rng.normal() } else { shown });
            }
            if policy == OnDisturbance::Redo
                && redo::may_discard(kept, made.discarded, plan.minimum())
                && stands_out(&evidence)
            {
                made.discarded += 1;
            } else {
                made.kept.push(Observation {
                    baseline: logs[0],
                    candidate: logs[1],
                    candidate_first: order[0] == 1,
                    pace: [0.0; 2],
                });
            }
        }
        made
    }

    /// Makes a session and decides it.
    pub fn decide(
        &self,
        plan: &Looks,
        policy: OnDisturbance,
        ratio: f64,
        rng: &mut Rng,
    ) -> Outcome {
        plan.decide(&self.session(plan, policy, ratio, rng).kept)
    }

    /// Returns the mean half width of the interval after all rounds of `plan`, as a logarithm, and the
    /// mean number of rounds that were discarded.
    pub fn width(&self, plan: &Looks, policy: OnDisturbance, trials: u32, seed: u64) -> (f64, f64) {
        let mut rng = Rng::new(seed);
        let (mut width, mut discarded) = (0.0, 0.0);
        for _ in 0..trials {
            let made = self.session(plan, policy, 1.0, &mut rng.split());
            let estimate = paired::estimate(&made.kept, 0.05).expect("enough rounds");
            width += (estimate.high - estimate.low) / 2.0;
            discarded += f64::from(made.discarded);
        }
        (width / f64::from(trials), discarded / f64::from(trials))
    }
}

/// Says whether a value of the last round is above what was usual before it.
fn stands_out(evidence: &[Vec<f64>; 2]) -> bool {
    let rounds = evidence.each_ref().map(|of_subject| of_subject.split_last());
    let [Some((first, before)), Some((second, before_too))] = rounds else { return false };
    let usual = [before, before_too].map(|values| Usual::of(values.to_vec()));
    let [Some(usual), Some(usual_too)] = usual else { return false };
    let limits = limits_alike(&[usual, usual_too], |_| SLACK);
    *first > limits[0].1 || *second > limits[1].1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_balanced_whatever_was_discarded() {
        let plan = Looks::fixed(16, 0.0, 0.05);
        for seed in 0..50 {
            let made = SINGLE.session(&plan, OnDisturbance::Redo, 1.0, &mut Rng::new(seed));
            let candidate_first = made.kept.iter().filter(|round| round.candidate_first).count();
            assert_eq!((made.kept.len(), candidate_first), (16, 8));
            assert!(made.discarded <= 5, "{}", made.discarded);
        }
    }

    #[test]
    fn where_rounds_are_kept_none_is_discarded() {
        let plan = Looks::fixed(17, 0.0, 0.05);
        let made = MOST.session(&plan, OnDisturbance::Keep, 1.0, &mut Rng::new(1));
        assert_eq!((made.kept.len(), made.discarded), (17, 0));
    }

    #[test]
    fn without_the_disturbed_rounds_the_interval_is_narrower() {
        let plan = Looks::fixed(17, 0.0, 0.05);
        let (keep, _) = SINGLE.width(&plan, OnDisturbance::Keep, 200, 1);
        let (redo, discarded) = SINGLE.width(&plan, OnDisturbance::Redo, 200, 1);
        assert!(redo < 0.9 * keep && discarded > 2.0, "{redo} {keep} {discarded}");
    }
}
