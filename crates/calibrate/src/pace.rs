//! Simulated sessions on a core whose pace is sampled, with and without an allowance for it.

use becalm_stats::decide::paired::{self, Observation};
use becalm_stats::{Rng, schedule};

use crate::table::{Table, titles};
use crate::tally::{ALPHA, MAXIMUM, Tally, percent};
use crate::trial::{Looks, Outcome};

/// A model of what a core does to its runs, and of what the samples see of it.
#[derive(Debug, Clone, Copy)]
pub struct Core {
    /// Name in tables.
    pub name: &'static str,
    /// What it does, in one line.
    pub description: &'static str,
    /// Draws the logarithm of the pace during so many runs.
    draw: fn(&mut Rng, usize) -> Vec<f64>,
    /// Share of it that the subjects take.
    share: f64,
    /// Standard deviation of what the samples make of it.
    seen: f64,
}

/// Standard deviation of what else a run adds to the logarithm of its time.
const OWN_NOISE: f64 = 0.01;

/// Somebody who uses the other half of the core, for some share of each run.
fn neighbour(rng: &mut Rng, runs: usize) -> Vec<f64> {
    let mut is_there = rng.coin();
    (0..runs)
        .map(|_| {
            is_there ^= rng.uniform() < 0.2;
            // The whole run, or the part of it after coming or before going.
            let share =
                if rng.uniform() < 0.5 { f64::from(u8::from(is_there)) } else { rng.uniform() };
            0.5 * share
        })
        .collect()
}

/// A frequency that drifts.
fn frequency(rng: &mut Rng, runs: usize) -> Vec<f64> {
    let mut level = 0.05 * rng.normal();
    (0..runs)
        .map(|_| {
            level = 0.9 * level + 0.022 * rng.normal();
            level
        })
        .collect()
}

/// The models of the table.
pub const CORES: [Core; 5] = [
    Core {
        name: "a neighbour",
        description: "another program uses the other half of the core for a part of each run, which takes up to \
                      22 % longer; a sample takes up to 65 % longer",
        draw: neighbour,
        share: 0.4,
        seen: 0.03,
    },
    Core {
        name: "badly seen",
        description: "the same, and the samples scatter by 20 %",
        draw: neighbour,
        share: 0.4,
        seen: 0.2,
    },
    Core {
        name: "not felt",
        description: "the same, without an effect on the subjects",
        draw: neighbour,
        share: 0.0,
        seen: 0.03,
    },
    Core {
        name: "frequency",
        description: "the frequency drifts by 5 % (AR(1) 0.9), for subjects and samples alike",
        draw: frequency,
        share: 1.0,
        seen: 0.01,
    },
    Core {
        name: "nothing",
        description: "the pace is always the same, and the samples scatter by 1 %",
        draw: |_, runs| vec![0.0; runs],
        share: 0.0,
        seen: 0.01,
    },
];

impl Core {
    /// Makes a session of so many rounds; the true ratio is `ratio`. Without `allows` nobody samples.
    pub fn session(
        &self,
        rounds: u32,
        ratio: f64,
        allows: bool,
        rng: &mut Rng,
    ) -> Vec<Observation> {
        let slow = (self.draw)(rng, 2 * rounds as usize);
        let seed = rng.next_u64();
        let made = (0..rounds).map(|round| {
            let order = schedule::order(seed, round, 2);
            let (mut logs, mut pace) = ([0.0; 2], [0.0; 2]);
            for (run, &subject) in order.iter().enumerate() {
                let slow = slow[2 * round as usize + run];
                let truth = if subject == 1 { ratio.ln() } else { 0.0 };
                logs[subject] = truth + self.share * slow + OWN_NOISE * rng.normal();
                pace[subject] = slow + self.seen * rng.normal();
            }
            Observation {
                baseline: logs[0],
                candidate: logs[1],
                candidate_first: order[0] == 1,
                pace: if allows { pace } else { [0.0; 2] },
            }
        });
        made.collect()
    }

    /// Makes a session and decides it.
    pub fn decide(&self, plan: &Looks, ratio: f64, allows: bool, rng: &mut Rng) -> Outcome {
        plan.decide(&self.session(plan.maximum(), ratio, allows, rng))
    }

    /// Returns the mean half width of the interval after 17 rounds, as a logarithm.
    fn width(&self, allows: bool, (trials, seed): (u32, u64)) -> f64 {
        let mut rng = Rng::new(seed);
        let width = |rng: &mut Rng| {
            let rounds = self.session(17, 1.0, allows, rng);
            let estimate = paired::estimate(&rounds, ALPHA).expect("enough rounds");
            (estimate.high - estimate.low) / 2.0
        };
        (0..trials).map(|_| width(&mut rng.split())).sum::<f64>() / f64::from(trials)
    }

    /// Runs `trials` simulated comparisons.
    pub fn tally(&self, plan: &Looks, ratio: f64, allows: bool, trials: (u32, u64)) -> Tally {
        Tally::of_sessions(trials, |rng| self.decide(plan, ratio, allows, rng))
    }
}

/// Returns the models as a table.
pub(crate) fn models() -> Table {
    Table {
        title: "Cores".to_owned(),
        explanation:
            "What the pace of a core does to its runs, beside independent noise of 1 %, and what \
                      the samples see of it."
                .to_owned(),
        header: titles(&["core", "what it does"]),
        rows: CORES.map(|core| vec![core.name.to_owned(), core.description.to_owned()]).to_vec(),
    }
}

/// Returns what the allowance does to false alarms, power and noise floor.
pub(crate) fn table(trials: u32, seed: u64) -> Table {
    let mut seeds = Rng::new(seed);
    let fixed = Looks::fixed(17, 0.0, ALPHA);
    let sequential = Looks::sequential(MAXIMUM, 0.0, ALPHA, 1);
    let rows = CORES
        .iter()
        .map(|core| {
            let mut row = vec![core.name.to_owned()];
            for plan in [&fixed, &sequential] {
                let tally = core.tally(plan, 1.0, true, (trials, seeds.next_u64()));
                row.push(percent(tally.different()));
            }
            // The same sessions with and without.
            let of = (trials, seeds.next_u64());
            for allows in [false, true] {
                let tally = core.tally(&fixed, 1.02, allows, of);
                row.push(percent(tally.rate(tally.above)));
            }
            let floor = |allows| format!("{:.2}", 100.0 * core.width(allows, of).exp_m1());
            row.extend([floor(false), floor(true)]);
            row
        })
        .collect();
    Table {
        title: "Correcting for the pace of the core".to_owned(),
        explanation: "Share of comparisons of equal programs that say `faster` or `slower` when becalm \
                      corrects for the pace; how often 17 rounds find 2 % without and with it; and the mean noise \
                      floor (half the interval) after 17 rounds, in percent."
            .to_owned(),
        header: titles(&[
            "core",
            "false alarms, 17",
            "false alarms, sequential",
            "2 %, without",
            "2 %, with",
            "floor, without",
            "floor, with",
        ]),
        rows,
    }
}
