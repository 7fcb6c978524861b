//! Models of what a machine adds to a run, as logarithms over runs in time order.
//!
//! Each is a caricature of something that real benchmarks show; sizes are near those of a noisy
//! virtual machine. A model knows nothing of the subjects, so that at a true ratio of 1 every
//! difference that a rule finds is false.

use becalm_stats::Rng;

/// A model of noise.
#[derive(Debug, Clone, Copy)]
pub struct Noise {
    /// Name in tables.
    pub name: &'static str,
    /// What it does, in one line.
    pub description: &'static str,
    /// Draws so many runs, of which each round has so many.
    draw: fn(&mut Rng, usize, usize) -> Vec<f64>,
    /// Step of the clock that reads the value, as a share of it; 0 for none.
    step: f64,
}

impl Noise {
    /// Returns the logarithms that the machine adds to `runs` runs in time order, with `per_round`
    /// runs in each round.
    pub fn draw(&self, rng: &mut Rng, runs: usize, per_round: usize) -> Vec<f64> {
        let mut values = (self.draw)(rng, runs, per_round);
        if self.step > 0.0 {
            // Where between two ticks the true value lies is chance.
            let phase = self.step * rng.uniform();
            for value in &mut values {
                *value += phase;
            }
        }
        values
    }

    /// Returns the logarithm of what is read where the logarithm of the truth is `log`.
    pub fn read(&self, log: f64) -> f64 {
        if self.step > 0.0 { ((log.exp() / self.step).round() * self.step).ln() } else { log }
    }
}

/// Standard deviation of a run where nothing else is said.
const DEVIATION: f64 = 0.01;

/// Distance between two modes.
const MODES_APART: f64 = 0.03;

/// Runs that do not know of each other.
pub const INDEPENDENT: Noise = Noise {
    name: "independent",
    description: "normal, 1 %, each run by itself",
    draw: |rng, runs, _| independent(rng, runs, DEVIATION),
    step: 0.0,
};

/// Weakly correlated neighbours; only for the comparison of schedules.
pub const CORRELATED_5: Noise = Noise {
    name: "AR(1) 0.5",
    description: "normal, lag-1 correlation 0.5, innovations 1 %",
    draw: |rng, runs, _| correlated(rng, runs, 0.5),
    step: 0.0,
};

/// Correlated neighbours.
pub const CORRELATED_6: Noise = Noise {
    name: "AR(1) 0.6",
    description: "normal, lag-1 correlation 0.6, innovations 1 %",
    draw: |rng, runs, _| correlated(rng, runs, 0.6),
    step: 0.0,
};

/// Strongly correlated neighbours.
pub const CORRELATED_95: Noise = Noise {
    name: "AR(1) 0.95",
    description: "normal, lag-1 correlation 0.95, innovations 1 %",
    draw: |rng, runs, _| correlated(rng, runs, 0.95),
    step: 0.0,
};

/// Drift without a home.
pub const RANDOM_WALK: Noise = Noise {
    name: "random walk",
    description: "each run differs by 1 % from the one before",
    draw: |rng, runs, _| {
        let mut level = 0.0;
        let walk = |change| {
            level += change;
            level
        };
        independent(rng, runs, DEVIATION).into_iter().map(walk).collect()
    },
    step: 0.0,
};

/// A neighbour that starts.
pub const SMALL_STEP: Noise = Noise {
    name: "step 3 %",
    description: "normal, 0.5 %, and everything 3 % slower from a random run on",
    draw: |rng, runs, _| stepped(rng, runs, 0.03),
    step: 0.0,
};

/// Throttling that sets in.
pub const LARGE_STEP: Noise = Noise {
    name: "step 10 %",
    description: "normal, 0.5 %, and everything 10 % slower from a random run on",
    draw: |rng, runs, _| stepped(rng, runs, 0.1),
    step: 0.0,
};

/// Interruptions.
pub const SPIKES: Noise = Noise {
    name: "spikes",
    description: "normal, 1 %, and 5 % of the runs take 20 to 100 % longer",
    draw: |rng, runs, _| {
        let mut values = independent(rng, runs, DEVIATION);
        for value in &mut values {
            if rng.uniform() < 0.05 {
                *value += (0.2 + 0.8 * rng.uniform()).ln_1p();
            }
        }
        values
    },
    step: 0.0,
};

/// Two layouts, drawn anew by each run.
pub const BIMODAL: Noise = Noise {
    name: "two modes",
    description: "two modes 3 % apart, each run in either, 0.2 % around them",
    draw: |rng, runs, _| modes(rng, runs, 0.5),
    step: 0.0,
};

/// Two layouts, of which one is rare.
pub const BIMODAL_RARE: Noise = Noise {
    name: "two modes 90:10",
    description: "two modes 3 % apart, one run in ten in the upper, 0.2 % around them",
    draw: |rng, runs, _| modes(rng, runs, 0.1),
    step: 0.0,
};

/// Two states that last.
pub const BIMODAL_STICKY: Noise = Noise {
    name: "two modes, sticky",
    description: "two modes 3 % apart, changing at one run in ten, 0.2 % around them",
    draw: |rng, runs, _| {
        let mut upper = rng.coin();
        let mut values = independent(rng, runs, 0.2 * DEVIATION);
        for value in &mut values {
            upper ^= rng.uniform() < 0.1;
            *value += if upper { MODES_APART } else { 0.0 };
        }
        values
    },
    step: 0.0,
};

/// A clock that is finer than the noise.
pub const FINE_CLOCK: Noise = Noise {
    name: "clock 0.5 %",
    description: "normal, 1 %, read in steps of 0.5 %",
    draw: |rng, runs, _| independent(rng, runs, DEVIATION),
    step: 0.005,
};

/// A clock that is coarser than the noise.
pub const COARSE_CLOCK: Noise = Noise {
    name: "clock 3 %",
    description: "normal, 1 %, read in steps of 3 %",
    draw: |rng, runs, _| independent(rng, runs, DEVIATION),
    step: 0.03,
};

/// What the run before leaves in the caches.
pub const POSITION: Noise = Noise {
    name: "position",
    description: "normal, 0.5 %, and the later runs of a round take 1 % longer",
    draw: |rng, runs, per_round| {
        let mut values = independent(rng, runs, 0.5 * DEVIATION);
        for (index, value) in values.iter_mut().enumerate() {
            *value += if index % per_round > 0 { 0.01 } else { 0.0 };
        }
        values
    },
    step: 0.0,
};

/// Delays that only ever add.
pub const LOGNORMAL: Noise = Noise {
    name: "lognormal",
    description: "a lognormal delay on top, 2 % in the middle, 24 % at the 95th percentile",
    draw: |rng, runs, _| (0..runs).map(|_| (1.5 * rng.normal() - 4.0).exp().ln_1p()).collect(),
    step: 0.0,
};

/// Outliers on both sides, without a variance.
pub const HEAVY_TAILS: Noise = Noise {
    name: "heavy tails",
    description: "Student's t with 2 degrees of freedom, scale 1 %",
    draw: |rng, runs, _| {
        // A chi-squared with 2 degrees of freedom over 2 is exponential with mean 1.
        (0..runs).map(|_| DEVIATION * rng.normal() / rng.exponential().sqrt()).collect()
    },
    step: 0.0,
};

/// All models of the published tables.
pub const ALL: [Noise; 15] = [
    INDEPENDENT,
    CORRELATED_6,
    CORRELATED_95,
    RANDOM_WALK,
    SMALL_STEP,
    LARGE_STEP,
    SPIKES,
    BIMODAL,
    BIMODAL_RARE,
    BIMODAL_STICKY,
    FINE_CLOCK,
    COARSE_CLOCK,
    POSITION,
    LOGNORMAL,
    HEAVY_TAILS,
];

fn independent(rng: &mut Rng, runs: usize, deviation: f64) -> Vec<f64> {
    (0..runs).map(|_| deviation * rng.normal()).collect()
}

/// A stationary autoregression of first order.
fn correlated(rng: &mut Rng, runs: usize, correlation: f64) -> Vec<f64> {
    let mut value = DEVIATION * rng.normal() / (1.0 - correlation * correlation).sqrt();
    (0..runs)
        .map(|_| {
            let now = value;
            value = correlation * value + DEVIATION * rng.normal();
            now
        })
        .collect()
}

fn stepped(rng: &mut Rng, runs: usize, height: f64) -> Vec<f64> {
    let mut values = independent(rng, runs, 0.5 * DEVIATION);
    let first = 1 + rng.below(runs.max(2) - 1);
    values.iter_mut().skip(first).for_each(|value| *value += height);
    values
}

fn modes(rng: &mut Rng, runs: usize, upper_share: f64) -> Vec<f64> {
    let mut values = independent(rng, runs, 0.2 * DEVIATION);
    for value in &mut values {
        *value += if rng.uniform() < upper_share { MODES_APART } else { 0.0 };
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_draws_finite_values_and_its_seed_decides_them() {
        for noise in ALL {
            let draw = |seed| noise.draw(&mut Rng::new(seed), 200, 2);
            let values = draw(1);
            assert_eq!(values.len(), 200);
            assert!(values.iter().all(|&x| noise.read(x).is_finite()), "{}", noise.name);
            assert!(draw(1) == values && draw(2) != values, "{}", noise.name);
        }
    }

    #[test]
    fn neighbours_are_correlated_as_named() {
        for (noise, correlation) in
            [(CORRELATED_5, 0.5), (CORRELATED_6, 0.6), (CORRELATED_95, 0.95)]
        {
            let values = noise.draw(&mut Rng::new(3), 100_000, 2);
            let product = |lag: usize| -> f64 {
                values.iter().zip(&values[lag..]).map(|(a, b)| a * b).sum::<f64>()
            };
            assert!((product(1) / product(0) - correlation).abs() < 0.02, "{}", noise.name);
        }
    }

    #[test]
    fn a_clock_reads_multiples_of_its_step() {
        let read = COARSE_CLOCK.read(1.004_f64.ln()).exp();
        assert!((read - 0.99).abs() < 1e-12, "{read}");
    }
}
