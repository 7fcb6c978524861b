//! How often the intervals of ratios of spreads hold the truth, on noise as timings have it, and
//! how small a change of spread they find.
//!
//! `cargo test -p becalm-calibrate --release spread_ratio -- --ignored --nocapture`
//! prints the tables by which measure and trim were chosen.

use becalm_stats::spread_ratio::{Measure, by_block, of_runs};
use becalm_stats::{Rng, Sample, yuen};

/// One block of values of one subject; the spread is multiplied by `scale`.
type Draw = fn(&mut Rng, &mut Block, f64) -> f64;

/// What a block has in common for both subjects, and what goes on inside one of its runs.
struct Block {
    /// Multiplies every spread of the block: the weather.
    weather: f64,
    /// Memory of autocorrelated noise.
    memory: f64,
    /// Whether this run alone was hit by something.
    hit: bool,
}

/// Noise of timings, with a CV near 2 % where it has one.
const NOISE: [(&str, Draw); 7] = [
    ("normal", |r, b, s| 1.0 + 0.02 * s * b.weather * r.normal()),
    ("lognormal, sigma 0.6", |r, b, s| 1.0 + 0.02 * s * b.weather * (0.6 * r.normal()).exp()),
    ("exponential", |r, b, s| 1.0 + 0.02 * s * b.weather * r.exponential()),
    ("2 % spikes of 10 sd", |r, b, s| {
        let spike = if r.uniform() < 0.02 { 10.0 * r.exponential() } else { 0.0 };
        1.0 + 0.02 * s * b.weather * (r.normal() + spike)
    }),
    ("Pareto tail, index 2.5", |r, b, s| {
        1.0 + 0.02 * s * b.weather * (1.0 - r.uniform()).powf(-1.0 / 2.5)
    }),
    ("autocorrelated, 0.7", |r, b, s| {
        b.memory = 0.7 * b.memory + 0.51_f64.sqrt() * r.normal();
        1.0 + 0.02 * s * b.weather * b.memory
    }),
    ("one run in ten disturbed, 5 times as wide", |r, b, s| {
        let width = if b.hit { 5.0 } else { 1.0 };
        1.0 + 0.02 * s * b.weather * width * r.normal()
    }),
];

/// Trials of a test; the tables have more.
const TRIALS: u32 = 250;

/// 95 % less three standard errors of [`TRIALS`], and one point for a trimmed mean of few blocks.
const FLOOR: f64 = 0.90;

const MEASURES: [Measure; 4] = [
    Measure::MedianDeviation,
    Measure::Range90,
    Measure::MeanDeviation,
    Measure::StandardDeviation,
];

fn run(rng: &mut Rng, draw: Draw, weather: f64, scale: f64, n: usize) -> Sample {
    let mut block = Block { weather, memory: rng.normal(), hit: rng.uniform() < 0.1 };
    Sample::new((0..n).map(|_| draw(rng, &mut block, scale)).collect()).unwrap()
}

/// Blocks of both subjects, the weather of a block varying by a factor of two.
fn blocks(
    rng: &mut Rng,
    draw: Draw,
    count: usize,
    n: usize,
    scale: f64,
) -> (Vec<Sample>, Vec<Sample>) {
    (0..count)
        .map(|_| {
            let weather = (0.7 * rng.normal()).exp();
            (run(rng, draw, weather, 1.0, n), run(rng, draw, weather, scale, n))
        })
        .unzip()
}

#[derive(Default)]
struct Tally {
    trials: u32,
    held: u32,
    found: u32,
    log_width: f64,
}

impl Tally {
    fn count(&mut self, low: f64, high: f64, truth: f64) {
        self.trials += 1;
        self.held += u32::from(low <= truth && truth <= high);
        self.found += u32::from(high < 1.0 || low > 1.0);
        self.log_width += (high / low).ln();
    }

    fn coverage(&self) -> f64 {
        f64::from(self.held) / f64::from(self.trials)
    }

    fn cell(&self) -> String {
        format!(
            "{:5.1} {:5.1} x{:4.2}",
            100.0 * self.coverage(),
            100.0 * f64::from(self.found) / f64::from(self.trials),
            (self.log_width / f64::from(self.trials) / 2.0).exp()
        )
    }
}

fn in_blocks(draw: Draw, count: usize, scale: f64) -> Tally {
    let mut rng = Rng::new(51);
    let mut tally = Tally::default();
    for _ in 0..TRIALS {
        let (base, other) = blocks(&mut rng, draw, count, 40, scale);
        let ratio = by_block(&base, &other, Measure::MeanDeviation, 0.95).unwrap().ratio;
        tally.count(ratio.low, ratio.high, scale);
    }
    tally
}

/// Runs of both subjects, one of each in a block in random order, on one machine: what a run leaves behind the next
/// one finds, whosever it is.
fn runs(rng: &mut Rng, draw: Draw, n: usize, scale: f64) -> (Sample, Sample) {
    let mut machine = Block { weather: 1.0, memory: rng.normal(), hit: false };
    let mut pair = || {
        machine.weather = (0.7 * rng.normal()).exp();
        let mut scales = [1.0, scale];
        let is_turned = rng.uniform() < 0.5;
        if is_turned {
            scales.reverse();
        }
        let mut values = scales.map(|scale| {
            machine.hit = rng.uniform() < 0.1;
            draw(rng, &mut machine, scale)
        });
        if is_turned {
            values.reverse();
        }
        (values[0], values[1])
    };
    let (base, other): (Vec<f64>, Vec<f64>) = (0..n).map(|_| pair()).unzip();
    (Sample::new(base).unwrap(), Sample::new(other).unwrap())
}

fn of_single_runs(draw: Draw, n: usize, scale: f64, measure: Measure, trials: u32) -> Tally {
    let mut rng = Rng::new(52);
    let mut tally = Tally::default();
    for _ in 0..trials {
        let (base, other) = runs(&mut rng, draw, n, scale);
        let ratio = of_runs(&base, &other, measure, 0.95).unwrap().ratio;
        tally.count(ratio.low, ratio.high, scale);
    }
    tally
}

#[test]
fn intervals_in_blocks_hold_the_truth_on_every_noise() {
    for (name, draw) in NOISE {
        for (count, scale) in [(5, 1.0), (5, 0.5), (12, 1.0), (12, 0.5)] {
            let tally = in_blocks(draw, count, scale);
            assert!(tally.coverage() >= FLOOR, "{name}, {count} blocks: {}", tally.cell());
        }
    }
}

#[test]
fn half_the_spread_is_found_in_a_dozen_blocks_on_every_noise() {
    for (name, draw) in NOISE {
        let tally = in_blocks(draw, 12, 0.5);
        assert!(tally.found >= TRIALS * 9 / 10, "{name}: {}", tally.cell());
    }
}

#[test]
fn intervals_of_single_runs_hold_the_truth_on_every_noise() {
    for (name, draw) in NOISE {
        for (n, scale) in [(12, 1.0), (31, 1.0), (31, 0.5), (100, 0.2)] {
            let tally = of_single_runs(draw, n, scale, Measure::MeanDeviation, TRIALS);
            assert!(tally.coverage() >= FLOOR, "{name}, {n} runs at {scale}: {}", tally.cell());
        }
    }
}

#[test]
fn a_third_of_the_spread_is_found_in_60_single_runs_on_every_noise() {
    for (name, draw) in NOISE {
        let tally = of_single_runs(draw, 60, 1.0 / 3.0, Measure::MeanDeviation, TRIALS);
        assert!(tally.found >= TRIALS * 8 / 10, "{name}: {}", tally.cell());
    }
}

#[test]
#[ignore = "prints the tables; run in release"]
#[expect(clippy::print_stdout, reason = "the tables are the purpose")]
fn tables() {
    println!("percent covered, percent that exclude 1, half-width as a factor\n");
    println!("by block with trim 0, 0.1 and 0.2, at ratio 1 and then 0.5");
    for (name, draw) in NOISE {
        for measure in MEASURES {
            for (count, n) in [(5, 60), (10, 60), (20, 60), (10, 20)] {
                let cells = [1.0, 0.5].map(|scale| {
                    by_trim(draw, (count, n), scale, measure, 1000).map(|tally| tally.cell())
                });
                println!(
                    "{name:42} {measure:17?} {count:3} x {n:3}  {}",
                    cells.concat().join("  ")
                );
            }
        }
    }
    println!("\nof single runs, at ratio 1 and then 0.5");
    for (name, draw) in NOISE {
        for measure in [Measure::MedianDeviation, Measure::MeanDeviation] {
            for n in [12, 20, 31, 100] {
                let cells =
                    [1.0, 0.5].map(|scale| of_single_runs(draw, n, scale, measure, 1000).cell());
                println!("{name:42} {measure:17?} {n:3}  {}", cells.join("  "));
            }
        }
    }
}

fn by_trim(
    draw: Draw,
    (count, n): (usize, usize),
    scale: f64,
    measure: Measure,
    trials: u32,
) -> [Tally; 3] {
    let mut rng = Rng::new(53);
    let mut tallies = [Tally::default(), Tally::default(), Tally::default()];
    for _ in 0..trials {
        let (base, other) = blocks(&mut rng, draw, count, n, scale);
        let d = base
            .iter()
            .zip(&other)
            .map(|(b, o)| (measure.of(o).unwrap() / measure.of(b).unwrap()).ln());
        let d = Sample::new(d.collect()).unwrap();
        for (tally, trim) in tallies.iter_mut().zip([0.0, 0.1, 0.2]) {
            let ratio = yuen(&d, trim, 0.95).unwrap().trimmed_mean.map(f64::exp);
            tally.count(ratio.low, ratio.high, scale);
        }
    }
    tallies
}
