//! Made-up series of iterations whose truth is known.

use becalm_stats::Rng;
use becalm_stats::steady::Class;

use super::{Answer, Series};

/// One made-up series.
#[derive(Debug, Clone, PartialEq)]
pub struct Made {
    /// What kind it is of.
    pub kind: &'static str,
    /// What it is.
    pub truth: Answer,
    /// Its iterations.
    pub series: Series,
}

/// Draws a series with its truth.
type Draw = fn(&mut Rng) -> (Answer, Series);

/// The kinds, with how a series of one is drawn.
const KINDS: [(&str, Draw); 10] = [
    ("flat", |rng| noisy(&flat(500), rng, Noise::White)),
    ("exponential approach", |rng| {
        let shape = approach(rng);
        noisy(&shape, rng, Noise::White)
    }),
    ("JIT steps", |rng| {
        let shape = steps(rng);
        noisy(&shape, rng, Noise::White)
    }),
    ("step after 160 s", |rng| {
        let shape = late_step(rng);
        noisy(&shape, rng, Noise::White)
    }),
    ("slow-down", |rng| {
        let shape = slow_down(rng);
        noisy(&shape, rng, Noise::White)
    }),
    ("collections of garbage", |rng| {
        let shape = if rng.coin() { flat(500) } else { steps(rng) };
        noisy(&shape, rng, Noise::Spikes)
    }),
    ("two modes", |rng| {
        let shape = if rng.coin() { flat(500) } else { steps(rng) };
        noisy(&shape, rng, Noise::Modes)
    }),
    ("autocorrelated", |rng| {
        let shape = if rng.coin() { flat(500) } else { steps(rng) };
        noisy(&shape, rng, Noise::Correlated)
    }),
    ("neighbours come and go", |rng| {
        let shape = match rng.below(4) {
            0 => flat(500),
            1 => steps(rng),
            2 => slow_down(rng),
            _ => unsettled(rng),
        };
        let (truth, series) = noisy(&shape, rng, Noise::White);
        (truth, beside_neighbours(series, rng))
    }),
    ("never steady", |rng| {
        let shape = unsettled(rng);
        noisy(&shape, rng, Noise::White)
    }),
];

/// Draws `each` series of every kind.
pub fn all(each: usize, seed: u64) -> Vec<Made> {
    let mut rng = Rng::new(seed);
    let mut made = Vec::new();
    for (kind, draw) in KINDS {
        for _ in 0..each {
            let (truth, series) = draw(&mut rng.split());
            made.push(Made { kind, truth, series });
        }
    }
    made
}

/// Levels around 1 in units of `second`, and what they amount to.
struct Shape {
    levels: Vec<f64>,
    truth: Answer,
    second: f64,
}

fn between(rng: &mut Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * rng.uniform()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of n")]
fn place(rng: &mut Rng, n: usize, low: f64, high: f64) -> usize {
    (between(rng, low, high) * n as f64) as usize
}

fn shape(levels: Vec<f64>, truth: Answer) -> Shape {
    Shape { levels, truth, second: 2e-3 }
}

fn flat(n: usize) -> Shape {
    shape(vec![1.0; n], Answer { class: Class::Flat, from: 0 })
}

fn approach(rng: &mut Rng) -> Shape {
    let n = 500;
    let (height, length) = (between(rng, 0.5, 9.0), between(rng, 5.0, 40.0));
    let levels: Vec<f64> = (0..n).map(|i| 1.0 + height * (-(i as f64) / length).exp()).collect();
    // Steady where less than 2 % are left.
    let from = levels.iter().position(|&level| level < 1.02).unwrap_or(n);
    shape(levels, Answer { class: Class::WarmUp, from })
}

/// One to three tiers, each faster than the one before.
fn steps(rng: &mut Rng) -> Shape {
    let n = 500;
    let from = place(rng, n, 0.04, 0.65);
    let mut levels = vec![1.0; n];
    let (mut end, mut level) = (from, 1.0);
    for _ in 0..=rng.below(3) {
        level *= between(rng, 1.08, 2.5);
        levels[..end].fill(level);
        end = (end / 3).max(2);
    }
    shape(levels, Answer { class: Class::WarmUp, from })
}

/// Iterations of 0.4 s or so of which the last step comes after 160 s.
fn late_step(rng: &mut Rng) -> Shape {
    let second = between(rng, 0.25, 0.6);
    let mut levels = Vec::new();
    let (ratio, first) = (between(rng, 1.08, 1.5), between(rng, 1.2, 3.0));
    let (mut time, mut from) = (0.0, 0);
    while time < 160.0 {
        levels.push(if time < 12.0 { ratio * first } else { ratio });
        time += second * levels[levels.len() - 1];
        from += 1;
    }
    levels.resize(from * 8 / 5, 1.0);
    Shape { levels, truth: Answer { class: Class::WarmUp, from }, second }
}

fn slow_down(rng: &mut Rng) -> Shape {
    let n = 500;
    let from = place(rng, n, 0.08, 0.65);
    let mut levels = vec![1.0; n];
    levels[..from].fill(1.0 / between(rng, 1.1, 2.5));
    if rng.coin() {
        levels[..from / 4].fill(between(rng, 1.1, 3.0));
    }
    shape(levels, Answer { class: Class::SlowDown, from })
}

/// Turns, growth, or a change in the last fifth.
fn unsettled(rng: &mut Rng) -> Shape {
    let n = 500;
    let mut levels = vec![1.0; n];
    match rng.below(3) {
        0 => {
            let (length, other) = (place(rng, n, 0.06, 0.2), between(rng, 1.15, 3.0));
            for (i, level) in levels.iter_mut().enumerate() {
                *level = if (i / length).is_multiple_of(2) { 1.0 } else { other };
            }
        }
        1 => {
            let growth = between(rng, 0.5, 5.0);
            for (i, level) in levels.iter_mut().enumerate() {
                *level += growth * i as f64 / n as f64;
            }
        }
        _ => {
            let from = place(rng, n, 0.8, 0.95);
            let ratio = between(rng, 1.15, 3.0);
            levels[..from].fill(if rng.coin() { ratio } else { 1.0 / ratio });
        }
    }
    shape(levels, Answer::none(n))
}

/// What is added to the levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noise {
    White,
    Spikes,
    Modes,
    Correlated,
}

/// Adds noise of 0.3 to 3 %.
fn noisy(shape: &Shape, rng: &mut Rng, noise: Noise) -> (Answer, Series) {
    let deviation = between(rng, 0.003, 0.03);
    let (every, spike) = (8 + rng.below(40), between(rng, 0.3, 3.0));
    let (second_mode, share) = (between(rng, 0.05, 0.5), between(rng, 0.2, 0.8));
    let mut memory = rng.normal();
    let seconds = shape.levels.iter().enumerate().map(|(i, level)| {
        let mut value = 1.0 + deviation * rng.normal();
        match noise {
            Noise::Spikes if i % every == every - 1 => value += spike,
            Noise::Modes if rng.uniform() < share => value += second_mode,
            Noise::White | Noise::Spikes | Noise::Modes => {}
            Noise::Correlated => {
                memory = 0.7 * memory + 0.51_f64.sqrt() * rng.normal();
                value = 1.0 + deviation * memory;
            }
        }
        shape.second * level * value.max(0.1)
    });
    let seconds: Vec<f64> = seconds.collect();
    let waited = vec![0.0; seconds.len()];
    (shape.truth, Series { seconds, waited })
}

/// Adds neighbours that come and go: while they are there an iteration loses its CPU once in some milliseconds, waits
/// about as long each time, and has caches to fill again afterwards, which nobody counts.
fn beside_neighbours(mut series: Series, rng: &mut Rng) -> Series {
    let n = series.seconds.len();
    let (mut at, mut is_there) = (0, rng.coin());
    let (slice, refill) = (between(rng, 1e-3, 4e-3), between(rng, 0.0, 0.02));
    while at < n {
        let end = (at + place(rng, n, 0.03, 0.25).max(1)).min(n);
        if is_there {
            for i in at..end {
                let work = series.seconds[i];
                let (mut done, mut waited) = (slice * rng.exponential(), 0.0);
                while done < work {
                    waited += slice * rng.exponential();
                    done += slice * rng.exponential();
                }
                series.waited[i] = waited;
                series.seconds[i] = work * (1.0 + refill * rng.uniform()) + waited;
            }
        }
        (at, is_there) = (end, !is_there);
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_series_and_their_truth_lies_inside() {
        let made = all(3, 1);
        assert_eq!(made, all(3, 1));
        assert_eq!(made.len(), 30);
        for one in &made {
            let n = one.series.seconds.len();
            assert_eq!(one.series.waited.len(), n);
            assert_eq!(
                one.truth.from == n,
                one.truth.class == Class::NoSteadyState,
                "{}",
                one.kind
            );
            assert!(one.series.seconds.iter().zip(&one.series.waited).all(|(s, w)| s > w));
        }
    }

    #[test]
    fn the_late_step_comes_after_160_seconds() {
        for one in all(5, 2).iter().filter(|one| one.kind == "step after 160 s") {
            let before: f64 = one.series.seconds[..one.truth.from].iter().sum();
            assert!((155.0..166.0).contains(&before), "{before}");
        }
    }
}
