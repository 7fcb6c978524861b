//! Calibration of the change points: how often an unchanged series has one, and how often a step is
//! found.
//!
//! `cargo test -p becalm-calibrate --release changes -- --ignored --nocapture` prints the
//! tables of `docs/methodology/change-points.md`, with other detectors beside.

use becalm_calibrate::levels::{correlated, each, spiky};
use becalm_stats::Rng;
use becalm_stats::changes::engines::{EDPELT_DISTANCE, Otava, edpelt, otava};
use becalm_stats::changes::{DEFAULT_FALSE_ALARMS, Rules, detect};

type Draw = fn(&mut Rng, usize) -> Vec<f64>;

const NOISES: [(&str, Draw); 7] = [
    ("independent", |rng, n| each(rng, n, Rng::normal)),
    ("skewed, 3 % spikes", |rng, n| each(rng, n, spiky)),
    ("two modes, 2 apart", |rng, n| {
        each(rng, n, |r| if r.coin() { 2.0 } else { 0.0 } + 0.5 * r.normal())
    }),
    ("in steps of 1", |rng, n| each(rng, n, |r| r.normal().round())),
    ("AR(1) 0.3", |rng, n| correlated(rng, n, 0.3)),
    ("AR(1) 0.6", |rng, n| correlated(rng, n, 0.6)),
    ("independent + walk of 0.02", |rng, n| {
        let mut level = 0.0;
        each(rng, n, Rng::normal)
            .into_iter()
            .map(|value| {
                level += 0.02 * rng.normal();
                level + value
            })
            .collect()
    }),
];

type Engine = fn(&[f64]) -> Vec<usize>;

const ENGINES: [(&str, Engine); 4] = [
    ("becalm", ours),
    ("Otava, default", |values| otava(values, Otava::default())),
    ("Otava, p = 1e-5", |values| otava(values, Otava { p: 1e-5, ..Otava::default() })),
    ("ED-PELT, distance 10", |values| edpelt(values, EDPELT_DISTANCE)),
];

fn ours(values: &[f64]) -> Vec<usize> {
    let found = detect(values.iter().copied(), Rules::default());
    found.confirmed.iter().map(|change| change.index).collect()
}

/// A series of level 100 with a step of so many deviations before the last `after` values.
fn series(rng: &mut Rng, draw: Draw, n: usize, step: f64, after: usize) -> Vec<f64> {
    let mut values: Vec<f64> = draw(rng, n).into_iter().map(|value| 100.0 + value).collect();
    values[n - after..].iter_mut().for_each(|value| *value += step);
    values
}

/// Share of unchanged series with a change.
fn false_alarms(engine: Engine, draw: Draw, n: usize, count: u32) -> f64 {
    let mut rng = Rng::new(17);
    let alarms = (0..count).filter(|_| !engine(&series(&mut rng, draw, n, 0.0, 0)).is_empty());
    alarms.count() as f64 / f64::from(count)
}

/// Share of steps that are found within 5 values of where they are.
fn power(engine: Engine, draw: Draw, n: usize, step: f64, after: usize, count: u32) -> f64 {
    let mut rng = Rng::new(18);
    let found = (0..count).filter(|_| {
        let values = series(&mut rng, draw, n, step, after);
        engine(&values).iter().any(|index| index.abs_diff(n - after) <= 5)
    });
    found.count() as f64 / f64::from(count)
}

#[test]
fn unchanged_series_have_a_change_as_seldom_as_is_said() {
    // Standard error of 5 % in 600: 0.9 %.
    for (name, draw) in &NOISES[..4] {
        let rate = false_alarms(ours, *draw, 500, 600);
        assert!(rate <= 0.05, "{name}: {rate}");
    }
    let rate = false_alarms(ours, NOISES[5].1, 500, 600);
    assert!(rate <= 0.085, "{}: {rate}", NOISES[5].0);
}

#[test]
fn steps_are_found() {
    // The boundary is farther in a grown level: there the same step takes a few values more.
    for (n, [two, three, five]) in [(100, [0.8, 0.97, 0.99]), (500, [0.62, 0.89, 0.97])] {
        for (step, least) in [(2.0, two), (3.0, three), (5.0, five)] {
            let found = power(ours, NOISES[0].1, n, step, 10, 600);
            assert!(found >= least, "{step} deviations at the end of {n}: {found}");
        }
    }
}

#[test]
fn the_rate_asked_for_is_kept() {
    for rate in [0.1, 0.05, 0.01, 0.001] {
        let mut rng = Rng::new(19);
        let alarms = (0..600).filter(|_| {
            let values = series(&mut rng, NOISES[0].1, 500, 0.0, 0);
            !detect(values, Rules::new(rate, 0.0)).confirmed.is_empty()
        });
        let alarms = alarms.count() as f64 / 600.0;
        assert!(alarms <= rate + 3.0 * (rate / 600.0).sqrt(), "{rate}: {alarms}");
    }
    assert!(Rules::default() == Rules::new(DEFAULT_FALSE_ALARMS, 0.0));
}

#[test]
#[ignore = "prints tables, takes minutes"]
#[expect(clippy::print_stdout, reason = "the tables")]
fn tables() {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    println!("Unchanged series with a change, n = 100 and n = 500:\n");
    print!("| noise |");
    print!(" {} |", ENGINES.map(|(name, _)| name).join(" | "));
    println!("\n| --- |{}", " --- |".repeat(ENGINES.len()));
    for (noise, draw) in NOISES {
        print!("| {noise} |");
        for (name, engine) in ENGINES {
            let count = if name == "becalm" { 10_000 } else { 400 };
            let [a, b] = [100, 500].map(|n| percent(false_alarms(engine, draw, n, count)));
            print!(" {a}, {b} |");
        }
        println!();
    }
    for (noise, draw) in [NOISES[0], NOISES[1], NOISES[5]] {
        println!("\nSteps found, {noise}, n = 100 and n = 500:\n");
        print!("| step, runs after it |");
        print!(" {} |", ENGINES.map(|(name, _)| name).join(" | "));
        println!("\n| --- |{}", " --- |".repeat(ENGINES.len()));
        for after in [3, 5, 10, 50] {
            for step in [1.0, 2.0, 3.0, 5.0] {
                print!("| {step}, {after} |");
                for (name, engine) in ENGINES {
                    let count = if name == "becalm" { 4000 } else { 400 };
                    let [a, b] =
                        [100, 500].map(|n| percent(power(engine, draw, n, step, after, count)));
                    print!(" {a}, {b} |");
                }
                println!();
            }
        }
    }
}
