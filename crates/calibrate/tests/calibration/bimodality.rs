//! Calibration of the bimodality rule: how often one mode is called two, and how often two are
//! found.
//!
//! `cargo test -p becalm-calibrate --release bimodality -- --ignored --nocapture`
//! prints the whole table.

use becalm_stats::{Bimodality, Rng, Sample};

type Draw = fn(&mut Rng) -> f64;

fn mixture(rng: &mut Rng, upper_share: f64, distance: f64) -> f64 {
    let shift = if rng.uniform() < upper_share { distance } else { 0.0 };
    shift + rng.normal()
}

/// Shapes with one mode, as benchmarks show them.
const ONE_MODE: [(&str, Draw); 13] = [
    ("normal", Rng::normal),
    ("lognormal 0.3", |r| (0.3 * r.normal()).exp()),
    ("lognormal 0.5", |r| (0.5 * r.normal()).exp()),
    ("lognormal 1", |r| r.normal().exp()),
    ("exponential", Rng::exponential),
    ("normal + 0.5 exponential", |r| r.normal() + 0.5 * r.exponential()),
    ("normal + 2 exponential", |r| r.normal() + 2.0 * r.exponential()),
    ("normal + 5 exponential", |r| r.normal() + 5.0 * r.exponential()),
    ("gamma 2", |r| r.exponential() + r.exponential()),
    ("uniform", Rng::uniform),
    ("normal with 5 % spikes", |r| {
        r.normal() + if r.uniform() < 0.05 { 8.0 * r.exponential() } else { 0.0 }
    }),
    ("normal in steps of sd / 2", |r| (2.0 * r.normal()).round()),
    ("normal in steps of sd", |r| r.normal().round()),
];

/// Two modes; distances in standard deviations of one mode.
const TWO_MODES: [(&str, Draw); 8] = [
    ("70/30, 3 apart", |r| mixture(r, 0.3, 3.0)),
    ("30/70, 3 apart", |r| mixture(r, 0.7, 3.0)),
    ("50/50, 3 apart", |r| mixture(r, 0.5, 3.0)),
    ("70/30, 4 apart", |r| mixture(r, 0.3, 4.0)),
    ("50/50, 4 apart", |r| mixture(r, 0.5, 4.0)),
    ("70/30, 5 apart", |r| mixture(r, 0.3, 5.0)),
    ("70/30, 6 apart", |r| mixture(r, 0.3, 6.0)),
    ("70/30, 6 apart, upper twice as wide", |r| {
        if r.uniform() < 0.3 { 6.0 + 2.0 * r.normal() } else { r.normal() }
    }),
];

fn found(draw: Draw, n: usize, samples: u32, seed: u64) -> f64 {
    let mut rng = Rng::new(seed);
    let bimodal = (0..samples).filter(|_| {
        let sample = Sample::new((0..n).map(|_| draw(&mut rng)).collect()).unwrap();
        Bimodality::of(&sample).unwrap().modes.is_some()
    });
    bimodal.count() as f64 / f64::from(samples)
}

#[test]
fn one_mode_is_called_two_in_at_most_5_percent() {
    for (name, draw) in ONE_MODE {
        let rate = found(draw, 50, 200, 31);
        // 5 % plus three standard errors of 200 samples; the recorded table has 2 500.
        assert!(rate <= 0.05 + 0.046, "{name}: {rate}");
    }
}

#[test]
fn two_modes_four_apart_are_found_in_most_samples() {
    assert!(found(|r| mixture(r, 0.3, 4.0), 50, 100, 32) > 0.7);
    assert!(found(|r| mixture(r, 0.3, 6.0), 50, 100, 32) > 0.9);
}

#[test]
fn two_modes_three_apart_are_found_in_most_samples_of_100() {
    assert!(found(|r| mixture(r, 0.3, 3.0), 100, 100, 33) > 0.5);
}

#[test]
#[ignore = "prints the calibration table; run in release"]
#[expect(clippy::print_stdout, reason = "the table is the purpose")]
fn table() {
    for (name, draw) in ONE_MODE.into_iter().chain(TWO_MODES) {
        let rates = [20, 30, 50, 100, 200, 500].map(|n| {
            let samples = if n > 100 { 300 } else { 2500 };
            format!("{:6.3}", found(draw, n, samples, 34))
        });
        println!("{name:36} {}", rates.join(" "));
    }
}
