//! Whether two moods between which a series goes back and forth explain it as well as a step does.
//!
//! In each mood the values are normal around its level, and each value is in the mood of the one before with a chance of
//! 11 in 12. The levels and the deviation are fitted (Baum and Welch); what comes out is the likelihood of a hidden Markov
//! chain, which has the step as one of its paths, at the cost of all the times at which the mood did not change.
//!
//! Rabiner, "A Tutorial on Hidden Markov Models", Proceedings of the IEEE 77 (1989).

use super::exp::exp;

/// How many values a mood lasts, usually. If this were more, more steps in young series would be missed.
const LASTING: f64 = 12.0;

/// How often the levels are fitted.
const FITS: usize = 4;

/// Newest values that are looked at.
const LONGEST: usize = 250;

/// Deviations that moods are apart, at most: what is farther is a change of level. If this were more, more steps in
/// young series would be missed.
const FARTHEST: f64 = 3.5;

/// Deviations between the levels of a step from which on no fit is tried: moods that follow them are as far apart.
const CLEARLY_APART: f64 = 4.5;

/// Values between two logarithms of a product of likelihoods, of which none is beyond exp(30).
const AT_ONCE: usize = 16;
const LARGEST: f64 = 30.0;

/// Weight of the levels as they were before, against a mood without values.
const SOME: f64 = 1e-9;

/// Least share of the variance that a fit keeps.
const LEAST_KEPT: f64 = 1e-6;

/// Returns the log likelihood of two moods less that of a step at a place; nothing where they are too far apart. Where it is
/// `enough`, they are fitted no better.
pub(super) fn moods(values: &[f64], at: usize, enough: f64) -> Option<f64> {
    let skipped = values.len().saturating_sub(LONGEST);
    let (values, at) = (&values[skipped..], at.saturating_sub(skipped));
    if at < 2 || at + 2 > values.len() {
        return None;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let squares =
        |values: &[f64], mean: f64| values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    let n = values.len() as f64;
    let (before, after) = values.split_at(at);
    let (a, b) = (mean(before), mean(after));
    let variance = (squares(before, a) + squares(after, b)) / n;
    if variance <= 0.0 || (a - b).powi(2) > CLEARLY_APART.powi(2) * variance {
        return None;
    }
    let of_step = -0.5 * n * (variance.ln() + 1.0);
    // The old level may be between both moods: begin with the side of it that is away from the new one.
    let far: Vec<f64> = before.iter().copied().filter(|v| (v - a) * (b - a) <= 0.0).collect();
    let mut fit = Fit { a: if far.is_empty() { a } else { 0.5 * (a + mean(&far)) }, b, variance };
    let mut best = f64::NEG_INFINITY;
    for fits in 1..=FITS {
        let (likelihood, chances) = fit.chances(values);
        if (fit.a - fit.b).powi(2) <= FARTHEST * FARTHEST * fit.variance {
            best = best.max(likelihood);
            if best - of_step >= enough {
                break;
            }
        }
        if fits < FITS {
            fit = fit.improved(values, &chances);
        }
    }
    (best > f64::NEG_INFINITY).then_some(best - of_step)
}

/// Two moods.
struct Fit {
    a: f64,
    b: f64,
    variance: f64,
}

impl Fit {
    /// Returns the logarithm of the likelihood of a fit, and what makes a better one.
    fn chances(&self, values: &[f64]) -> (f64, Chances) {
        let scale = 0.5 / self.variance;
        let (mut likelihood, mut ratios) = (0.0, Vec::with_capacity(values.len()));
        ratios.extend(values.iter().map(|value| {
            let (of_a, of_b) = ((value - self.a).powi(2) * scale, (value - self.b).powi(2) * scale);
            likelihood -= of_a;
            exp((of_a - of_b).clamp(-LARGEST, LARGEST))
        }));
        let (by_earlier, product) = forwards(&ratios);
        likelihood += product - 0.5 * values.len() as f64 * self.variance.ln();
        (likelihood, Chances { ratios, by_earlier })
    }

    /// Returns a better fit.
    fn improved(&self, values: &[f64], chances: &Chances) -> Self {
        let Chances { ratios, by_earlier } = chances;
        let (mut weights, mut sums) = ([SOME; 2], [SOME * self.a, SOME * self.b]);
        let mut squares = 0.0;
        let by_later = backwards(ratios);
        for ((value, earlier), later) in values.iter().zip(by_earlier).zip(&by_later) {
            let (of_a, of_b) = (earlier[0] * later[0], earlier[1] * later[1]);
            let b = of_b / (of_a + of_b);
            weights[0] += 1.0 - b;
            weights[1] += b;
            sums[0] += (1.0 - b) * value;
            sums[1] += b * value;
            squares += value * value;
        }
        let n = values.len() as f64;
        let (a, b) = (sums[0] / weights[0], sums[1] / weights[1]);
        let variance = (squares - weights[0] * a * a - weights[1] * b * b) / n;
        Self { a, b, variance: variance.max(LEAST_KEPT * self.variance) }
    }
}

/// What a fit says of values.
struct Chances {
    /// How much more likely each is in mood b than in mood a.
    ratios: Vec<f64>,
    /// How likely it and the values before it are with moods a and b, but for a factor.
    by_earlier: Vec<[f64; 2]>,
}

/// Chance that the mood changes from one value to the next.
const CHANGE: f64 = 1.0 / LASTING;
const STAY: f64 = 1.0 - CHANGE;

/// Returns how likely each value and those before it are with either mood, but for a factor, and the logarithm of how likely
/// all of them are, over that of mood a.
fn forwards(ratios: &[f64]) -> (Vec<[f64; 2]>, f64) {
    let mut all = Vec::with_capacity(ratios.len());
    let (mut a, mut b, mut log) = (0.5, 0.5, 0.0);
    for some in ratios.chunks(AT_ONCE) {
        all.extend(some.iter().map(|ratio| {
            (a, b) = (STAY * a + CHANGE * b, (STAY * b + CHANGE * a) * ratio);
            [a, b]
        }));
        let sum = a + b;
        log += sum.ln();
        (a, b) = (a / sum, b / sum);
    }
    (all, log)
}

/// Returns how likely the values after each are if it is in either mood, but for a factor.
fn backwards(ratios: &[f64]) -> Vec<[f64; 2]> {
    let mut all = vec![[1.0; 2]; ratios.len()];
    let (mut a, mut b) = (1.0, 1.0);
    for (some, ratios) in all.rchunks_mut(AT_ONCE).zip(ratios.rchunks(AT_ONCE)) {
        for (place, ratio) in some.iter_mut().zip(ratios).rev() {
            *place = [a, b];
            let of_b = b * ratio;
            (a, b) = (STAY * a + CHANGE * of_b, STAY * of_b + CHANGE * a);
        }
        let sum = a + b;
        (a, b) = (a / sum, b / sum);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn moods_explain_a_series_that_goes_back_and_forth_and_no_single_step() {
        let mut rng = Rng::new(6);
        let (mut back_and_forth, mut once) = (0, 0);
        for _ in 0..100 {
            let values = |rng: &mut Rng, level: fn(usize) -> f64| -> Vec<f64> {
                (0..110).map(|t| level(t) + rng.normal()).collect()
            };
            let moods_of = values(&mut rng, |t| if t / 14 % 2 == 0 { 0.0 } else { 2.5 });
            back_and_forth +=
                u32::from(moods(&moods_of, 98, f64::INFINITY).is_some_and(|gain| gain > 0.0));
            let step = values(&mut rng, |t| if t < 95 { 0.0 } else { 2.5 });
            once += u32::from(moods(&step, 95, f64::INFINITY).is_none_or(|gain| gain < -4.0));
        }
        assert!(back_and_forth >= 90 && once >= 90, "{back_and_forth}, {once} of 100");
    }

    #[test]
    fn levels_far_apart_are_no_moods() {
        let values: Vec<f64> =
            (0..40).map(|t| f64::from(t % 3) + if t < 30 { 0.0 } else { 50.0 }).collect();
        assert_eq!(moods(&values, 30, f64::INFINITY), None);
        assert_eq!(moods(&[1.0; 20], 10, f64::INFINITY), None);
    }
}
