//! Series whose level never changes, by what their noise does.

use becalm_stats::Rng;

/// A kind of series whose level never changes.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Name in tables.
    pub name: &'static str,
    /// Largest share of series with a confirmed change of level that is asked for, at each of [`super::LENGTHS`].
    pub most: [f64; 3],
    /// Whether its level does not stay, so that `unstable` or a trend is a right answer.
    pub is_restless: bool,
    /// Draws so many values around 0.
    draw: fn(&mut Rng, usize) -> Vec<f64>,
}

impl Kind {
    /// Draws so many values around 100.
    pub fn draw(&self, rng: &mut Rng, n: usize) -> Vec<f64> {
        (self.draw)(rng, n).into_iter().map(|value| 100.0 + value).collect()
    }
}

const FEW: [f64; 3] = [0.05; 3];
const SOME: [f64; 3] = [0.1; 3];

const fn kind(name: &'static str, most: [f64; 3], draw: fn(&mut Rng, usize) -> Vec<f64>) -> Kind {
    Kind { name, most, is_restless: false, draw }
}

const fn restless(
    name: &'static str,
    most: [f64; 3],
    draw: fn(&mut Rng, usize) -> Vec<f64>,
) -> Kind {
    Kind { name, most, is_restless: true, draw }
}

/// Independent, normal, deviation 1.
pub(super) const INDEPENDENT: Kind = kind("independent", FEW, |rng, n| each(rng, n, Rng::normal));

/// Neighbours with a correlation of 0.6.
pub(super) const CORRELATED: Kind = kind("AR(1) 0.6", FEW, |rng, n| correlated(rng, n, 0.6));

/// All kinds, in the order of the table.
pub const KINDS: [Kind; 18] = [
    INDEPENDENT,
    kind("Student's t, 3 degrees", FEW, |rng, n| each(rng, n, student)),
    kind("skewed, 3 % spikes", FEW, |rng, n| each(rng, n, spiky)),
    kind("two modes, 2 apart", FEW, |rng, n| {
        each(rng, n, |rng| 0.5 * rng.normal() + if rng.coin() { 2.0 } else { 0.0 })
    }),
    kind("one run in ten 3 higher", FEW, |rng, n| {
        each(rng, n, |rng| 0.3 * rng.normal() + if rng.uniform() < 0.1 { 3.0 } else { 0.0 })
    }),
    kind("in steps of 1", FEW, |rng, n| each(rng, n, |rng| rng.normal().round())),
    kind("in steps of 2.5", FEW, |rng, n| each(rng, n, |rng| (0.4 * rng.normal()).round())),
    kind("0 or 1, share 0.3", FEW, |rng, n| each(rng, n, |rng| binary(rng, 0.3))),
    kind("AR(1) 0.3", FEW, |rng, n| correlated(rng, n, 0.3)),
    CORRELATED,
    kind("spread x2 in the middle", FEW, |rng, n| spread(rng, n, 2.0)),
    kind("spread x3 in the middle", FEW, |rng, n| spread(rng, n, 3.0)),
    kind("spread x5 in the middle", FEW, |rng, n| spread(rng, n, 5.0)),
    kind("spread / 3 in the middle", FEW, |rng, n| spread(rng, n, 1.0 / 3.0)),
    kind("spread waxes and wanes x5", FEW, |rng, n| {
        let phase = std::f64::consts::TAU * rng.uniform();
        let spread = |i: usize| (0.8 * (i as f64 / 20.0 + phase).sin()).exp();
        (0..n).map(|i| spread(i) * rng.normal()).collect()
    }),
    restless("AR(1) 0.9", SOME, |rng, n| correlated(rng, n, 0.9)),
    restless("two moods, 2 apart, for 15", SOME, |rng, n| {
        let mut upper = rng.coin();
        let each = |_| {
            upper ^= rng.uniform() < 1.0 / 15.0;
            rng.normal() + if upper { 2.0 } else { 0.0 }
        };
        (0..n).map(each).collect()
    }),
    restless("walk of 0.05", [0.05, 0.1, 0.15], |rng, n| {
        let mut level = 0.0;
        let each = |_| {
            level += 0.05 * rng.normal();
            level + rng.normal()
        };
        (0..n).map(each).collect()
    }),
];

/// Draws values, each without regard to the others.
pub fn each(rng: &mut Rng, n: usize, draw: fn(&mut Rng) -> f64) -> Vec<f64> {
    (0..n).map(|_| draw(rng)).collect()
}

/// Draws values of deviation 1 whose neighbours have the correlation `r`.
pub fn correlated(rng: &mut Rng, n: usize, r: f64) -> Vec<f64> {
    let mut last = rng.normal();
    let next = |_| {
        last = r * last + (1.0 - r * r).sqrt() * rng.normal();
        last
    };
    (0..n).map(next).collect()
}

fn spread(rng: &mut Rng, n: usize, times: f64) -> Vec<f64> {
    (0..n).map(|i| rng.normal() * if 2 * i < n { 1.0 } else { times }).collect()
}

fn student(rng: &mut Rng) -> f64 {
    let square: f64 = (0..3).map(|_| rng.normal().powi(2)).sum();
    rng.normal() / (square / 3.0).sqrt()
}

/// Draws a skewed value, and a spike in three of a hundred.
pub fn spiky(rng: &mut Rng) -> f64 {
    let usual = (0.6 * rng.normal()).exp() - 1.0;
    usual + if rng.uniform() < 0.03 { 5.0 + 20.0 * rng.uniform() } else { 0.0 }
}

/// 1 with the given chance, or 0.
pub(super) fn binary(rng: &mut Rng, share: f64) -> f64 {
    if rng.uniform() < share { 1.0 } else { 0.0 }
}
