//! Whether the values after a split stand on another level than those before it.
//!
//! Three statistics have to agree, each all but standard normal under no change, and the smallest one counts:
//!
//! - that of the ranks ([`super::tilt`]): the normal scores of the values of both sides among each other, with the chance
//!   of their means under any exchange of the values, ties and all. For independent values it does not depend on how the
//!   noise is distributed;
//! - that of the values ([`super::noisier`]): whether another level explains them better than more scatter does;
//! - that of their order ([`super::wander`]): whether a step explains them better than noise that wanders. It takes most
//!   time, and is asked last, by the detector.
//!
//! The boundary is what they must reach. It is no quantile of one test: it accounts for the split being the best of many
//! and for looking again after every run, by simulation (`Rules::false_alarms`). It is nearer in a young level and farther
//! in a grown one ([`super::age`]); nearer still for a sharp step among few values ([`super::jump`]); farther for many
//! values on the shorter side, where a slow drift makes chance results likelier. Where most values are equal, so that
//! single ones say little, a few values need more and many need less.

use super::age::{Age, FEW};
use super::correlation::Correlation;
use super::jump;
use super::noisier::beyond_scatter;
use super::pool::Pool;
use super::split::{Split, deviation, deviation_of_sorted, is_below, range};
use super::tilt::{LARGEST_GAIN, separated};
use crate::center::median_of_sorted;

/// A step is sharp from this jump on.
const SHARP: f64 = 2.8;

/// Correlation that is expected at a sharp step and at any other before enough values are known, and how many values it
/// counts as in the shortest level.
const EXPECTED_SHARP: (f64, f64) = (0.1, 25.0);
const EXPECTED: (f64, f64) = (0.5, 40.0);

/// Values from which the level tells its correlation itself.
const KNOWN: f64 = 100.0;

/// Deviations that each of so few values is away from the middle of the others, at least: fewer than six values do not
/// tell their scatter. In a young level, and in a grown one.
const FEWEST_BEYOND: [(f64, f64); 8] = [
    (6.0, 6.0),
    (6.0, 6.0),
    (5.0, 5.0),
    (3.55, 3.7),
    (2.0, 3.0),
    (2.2, 2.2),
    (1.2, 1.2),
    (0.5, 0.5),
];

/// Share of the others that may be as far as the nearest of few values: what is that frequent happens three times in a
/// row without a change.
const AS_FAR: f64 = 0.02;

/// How much nearer the boundary is for a sharp step among so few values, and up to how many; never by more than the last.
const SHARP_DISCOUNT: f64 = 1.0;
const YOUNG: f64 = 60.0;
const LARGEST_DISCOUNT: f64 = 0.42;

/// Surcharge for a shorter side of many values, from the first number on up to the second: only a drift is found so late.
const MANY_SURCHARGE: f64 = 1.4;
const MANY: (f64, f64) = (20.0, 60.0);

/// Where most values of the longer side are equal: the surcharge for few values on the shorter side, the discount for many,
/// and how many these are.
const COARSE_SURCHARGE: f64 = 0.6;
pub(super) const COARSE_DISCOUNT: f64 = 0.36;
const COARSE: (f64, f64) = (8.0, 30.0);

/// Values nearest to the split whose scatter counts if it is larger: twice the shorter side within these.
const NEAREST: (usize, usize) = (16, 40);

/// How much larger it has to be.
const NEAREST_SHARE: f64 = 0.8;

/// What is found of a split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Judgement {
    /// Standard normal under no change; above 0 where the level rose.
    pub(super) z: f64,
    /// By how much z is beyond the boundary; below 0 where it is not.
    pub(super) excess: f64,
    /// Median before the split and after it.
    pub(super) before: f64,
    pub(super) after: f64,
    /// Correlation of neighbours, as the values before the split and earlier levels tell it.
    pub(super) correlation: f64,
    /// Robust deviation of the longer side; 0 where its values are equal.
    pub(super) scale: f64,
    /// Whether most values of the longer side are equal.
    pub(super) is_coarse: bool,
}

/// A split whose values were looked at, and whose ranks were not.
pub(super) struct Sides<'a> {
    split: Split<'a>,
    /// Whether those before it are the longer side.
    is_short: bool,
    longer: (usize, usize),
    shorter: (usize, usize),
    /// Medians of the longer side and of the shorter one.
    middle: f64,
    level: f64,
    scale: f64,
    is_coarse: bool,
    /// What the values say of the split, and the chance if it is known exactly.
    by_values: f64,
    separated: Option<f64>,
}

/// A split of which all is known but what takes longest: how far beyond chance its ranks are.
pub(super) struct Ranked<'a> {
    sides: Sides<'a>,
    pool: Pool,
}

impl<'a> Sides<'a> {
    /// Looks at a split of which neither side is empty and whose sides are these in ascending order; nothing where it is soon
    /// clear that |z| is below `least`.
    pub(super) fn of(split: Split<'a>, sorted: [&[f64]; 2], least: f64) -> Option<Self> {
        let length = |(from, to): (usize, usize)| to - from;
        let is_short = length(split.before) >= length(split.after);
        let (longer, shorter) =
            if is_short { (split.before, split.after) } else { (split.after, split.before) };
        let reference = &split.values[longer.0..longer.1];
        let other = &split.values[shorter.0..shorter.1];
        let (n, m) = (reference.len(), other.len());
        if m <= FEW && !are_rare(reference, other) {
            return None;
        }
        let separated = are_separate(sorted).then(|| separated(n + m, m));
        if separated.is_some_and(|separated| separated < least) {
            return None;
        }
        let [longest, shortest] = if is_short { sorted } else { [sorted[1], sorted[0]] };
        let (middle, level) = (median_of_sorted(longest), median_of_sorted(shortest));
        let scale = deviation_of_sorted(longest, middle);
        let scale = nearby(reference, middle, m, is_short, scale);
        let equal = reference.iter().filter(|value| (*value - middle).abs() <= 0.0).count();
        let is_coarse = 2 * equal > n && scale > 0.0;
        let by_values = beyond_scatter(reference, middle, (other, level), scale, is_coarse);
        (by_values >= least).then_some(Self {
            split,
            is_short,
            longer,
            shorter,
            middle,
            level,
            scale,
            is_coarse,
            by_values,
            separated,
        })
    }

    /// Returns what |z| is at most, as far as the values tell.
    pub(super) fn most(&self) -> f64 {
        self.by_values.min(self.separated.unwrap_or(f64::INFINITY))
    }

    /// Looks at the ranks of the values of a level of this age; nothing where it is soon clear that |z| is below `least`.
    pub(super) fn ranked(self, age: Age, least: f64) -> Option<Ranked<'a>> {
        let Self { split, longer, shorter, middle, scale, .. } = self;
        let pool = Pool::of(&split, longer, shorter);
        let other = &split.values[shorter.0..shorter.1];
        let z = pool.z();
        let may_do =
            z.abs() * LARGEST_GAIN >= least && are_beyond(middle, other, z.signum(), scale, age);
        may_do.then_some(Ranked { sides: self, pool })
    }
}

impl Ranked<'_> {
    /// Returns what |z| is at most.
    pub(super) fn most(&self) -> f64 {
        let by_ranks = self.sides.separated.unwrap_or(self.pool.z().abs() * LARGEST_GAIN);
        by_ranks.min(self.sides.by_values)
    }

    /// Judges the split; nothing where |z| is below `least`, or without that below the boundary with all surcharges.
    pub(super) fn judge(
        &self,
        past: Correlation,
        age: Age,
        boundary: f64,
        least: Option<f64>,
    ) -> Option<Judgement> {
        let sides = &self.sides;
        let Sides { split, is_short, longer, shorter, is_coarse, by_values, .. } = *sides;
        let m = shorter.1 - shorter.0;
        let start = split.before.0;
        let is_sharp =
            jump::is_beyond(&split.values[start..split.after.1], split.after.0 - start, SHARP);
        let share = |(from, to): (f64, f64)| ((m as f64 - from) / (to - from)).clamp(0.0, 1.0);
        let surcharge = if is_coarse {
            COARSE_SURCHARGE - share(COARSE) * (COARSE_SURCHARGE + COARSE_DISCOUNT)
        } else {
            let count = longer.1 - longer.0 + m;
            MANY_SURCHARGE * share(MANY)
                - if is_sharp && m >= FEW { sharp_discount(count) } else { 0.0 }
        };
        let beyond = |z: f64| z - boundary - age.surcharge(m, is_coarse) - surcharge;
        let is_enough = |z: f64| match least {
            Some(least) => z >= least,
            None => beyond(z) >= 0.0,
        };
        if !is_enough(by_values) {
            return None;
        }
        let by_ranks = sides.separated.unwrap_or_else(|| self.pool.signed_root(by_values).abs());
        let z = by_ranks.min(by_values);
        if !is_enough(z) {
            return None;
        }
        let level_only = if is_short { 0..longer.1 } else { longer.0..longer.1 };
        let correlation = correlation(&split.scores[level_only], past, is_sharp);
        let side = self.pool.z().signum();
        let (before, after, side) = if is_short {
            (sides.middle, sides.level, side)
        } else {
            (sides.level, sides.middle, -side)
        };
        let (excess, scale) = (beyond(z), sides.scale);
        Some(Judgement { z: side * z, excess, before, after, correlation, scale, is_coarse })
    }
}

/// Says whether few values, beyond the others on this side, are as far away from them as so few have to be.
fn are_beyond(middle: f64, few: &[f64], side: f64, scale: f64, age: Age) -> bool {
    let Some((young, grown)) = FEWEST_BEYOND.get(few.len()) else { return true };
    let times = young + age.grown_beside_few() * (grown - young);
    let away = |value: &f64| (value - middle) * side;
    let nearest = few.iter().map(away).fold(f64::INFINITY, f64::min);
    scale <= 0.0 || nearest > times * scale
}

/// Says whether hardly any of the other values are as far out as the nearest of few.
fn are_rare(others: &[f64], few: &[f64]) -> bool {
    let (low, high) = range(few);
    let most = AS_FAR.mul_add(others.len() as f64, 0.5);
    let above = others.iter().map(|value| u32::from(*value >= low)).sum::<u32>();
    let below = others.iter().map(|value| u32::from(*value <= high)).sum::<u32>();
    f64::from(above.min(below)) <= most
}

/// Returns how much nearer the boundary is for a sharp step among so many values.
pub(super) fn sharp_discount(count: usize) -> f64 {
    (SHARP_DISCOUNT * (1.0 - count as f64 / YOUNG)).clamp(0.0, LARGEST_DISCOUNT)
}

/// Returns the correlation to be reckoned with at a split.
fn correlation(scores: &[f64], past: Correlation, is_sharp: bool) -> f64 {
    let own = Correlation::of(scores);
    let (expected, count) = if is_sharp { EXPECTED_SHARP } else { EXPECTED };
    let unknown = (1.0 - (own.count + past.count) / KNOWN).max(0.0);
    own.coefficient(past, (expected, count * unknown))
}

/// Returns a robust deviation, or that of the values of the longer side next to the split if it is larger.
fn nearby(reference: &[f64], middle: f64, shorter: usize, is_before: bool, scale: f64) -> f64 {
    let nearest = (2 * shorter).clamp(NEAREST.0, NEAREST.1).min(reference.len());
    let local =
        if is_before { &reference[reference.len() - nearest..] } else { &reference[..nearest] };
    if is_below(local, middle, scale / NEAREST_SHARE) {
        return scale;
    }
    scale.max(NEAREST_SHARE * deviation(local, middle))
}

/// Says whether all values of one side are beyond all of the other.
fn are_separate([a, b]: [&[f64]; 2]) -> bool {
    a[a.len() - 1] < b[0] || b[b.len() - 1] < a[0]
}
