//! Simulated fleets: blocks of real rounds on machines that differ, decided by Student's t over the machines.

use becalm_stats::Rng;
use becalm_stats::decide::paired;
use becalm_stats::machines::OverMachines;

use crate::noise::{self, Noise};
use crate::rate::clopper_pearson;
use crate::table::{Table, titles};
use crate::tally::{ALPHA, RATE_CONFIDENCE, percent};
use crate::trial::{Order, observe};

/// Rounds of a block.
const ROUNDS: u32 = 12;

/// Blocks on each machine.
const BLOCKS: usize = 2;

/// A type of machine, and what a change of the program does there.
#[derive(Debug, Clone, Copy)]
pub struct Type {
    /// Name in tables.
    pub name: &'static str,
    /// Standard deviation of the logarithm of what each machine adds to the ratio.
    pub effect: f64,
    /// The noise of its machines.
    pub noise: [Noise; 2],
}

/// The types of the table.
pub const TYPES: [Type; 4] = [
    Type { name: "alike", effect: 0.0, noise: [noise::INDEPENDENT; 2] },
    Type { name: "3 %", effect: 0.03, noise: [noise::INDEPENDENT; 2] },
    Type {
        name: "3 %, every other one with heavy tails",
        effect: 0.03,
        noise: [noise::INDEPENDENT, noise::HEAVY_TAILS],
    },
    Type { name: "alike, AR(1) 0.6", effect: 0.0, noise: [noise::CORRELATED_6; 2] },
];

impl Type {
    /// Returns how many of so many fleets have an interval that misses the true ratio.
    pub fn misses(&self, machines: usize, ratio: f64, (fleets, seed): (u32, u64)) -> u64 {
        let mut rng = Rng::new(seed);
        let missed = (0..fleets).filter(|_| {
            let [low, high] = self.interval(machines, ratio, &mut rng.split());
            !(low..=high).contains(&ratio.ln())
        });
        missed.count() as u64
    }

    fn interval(&self, machines: usize, ratio: f64, rng: &mut Rng) -> [f64; 2] {
        let mut squares = 0.0;
        let estimates: Vec<f64> = (0..machines)
            .map(|index| {
                let effect = self.effect * rng.normal();
                let noise = &self.noise[index % 2];
                let blocks = (0..BLOCKS).map(|_| {
                    let orders = Order::Schedule.rounds(rng, ROUNDS, 2);
                    let rounds = observe(noise, &[ratio * effect.exp()], &orders, rng);
                    let block = paired::estimate(&rounds[0], ALPHA);
                    let block = block.expect("a block has enough rounds");
                    squares += ((block.high - block.low) / 2.0 / BLOCKS as f64).powi(2);
                    block.centre
                });
                blocks.sum::<f64>() / BLOCKS as f64
            })
            .collect();
        let within = squares.sqrt() / machines as f64;
        OverMachines::of(&estimates).expect("several machines").interval(1.0 - ALPHA, within)
    }
}

/// Returns how often the interval over machines misses the truth.
pub(crate) fn table(fleets: u32, seed: u64) -> Table {
    let mut seeds = Rng::new(seed);
    let rows = TYPES
        .iter()
        .map(|one| {
            let missed = [2, 3, 5, 8].map(|machines| {
                let missed = one.misses(machines, 1.0, (fleets, seeds.next_u64()));
                percent(clopper_pearson(missed, u64::from(fleets), RATE_CONFIDENCE))
            });
            [vec![one.name.to_owned()], missed.to_vec()].concat()
        })
        .collect();
    Table {
        title: "Fleets".to_owned(),
        explanation: format!(
            "Share of fleets of equal programs that call them different, which is how often the interval over machines misses the \
             truth; {BLOCKS} blocks of {ROUNDS} rounds on each machine. What differs between the machines is the ratio itself."
        ),
        header: titles(&["machines differ by", "2 machines", "3", "5", "8"]),
        rows,
    }
}
