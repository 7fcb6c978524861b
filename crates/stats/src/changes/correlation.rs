//! How much neighbours in a series resemble each other, and what that does to a mean.
//!
//! The noise of a machine is seldom independent from run to run: it is warm for a while, or a
//! neighbour is busy. With lag-1 correlation r the variance of a mean of n values is that of
//! independent ones times
//!
//! f(n, r) = (1 + r) / (1 - r) - 2 r (1 - r^n) / (n (1 - r)^2),
//!
//! 4 for r = 0.6 and long stretches. An estimate from n values is too small by about (1 + 3 r) / n
//! (Kendall, "Note on Bias in the Estimation of Autocorrelation", Biometrika 41, 1954), which is put
//! right; it is drawn to what earlier levels of the series showed and, weakly, to [`EXPECTED`]; and one
//! that is surely above 0 is taken one standard error higher, for a correlation that is thought too
//! small makes false alarms, and one thought too large only makes late ones.

/// Correlation that is assumed of a series before anything is known, as if from [`EXPECTED_COUNT`]
/// values.
const EXPECTED: f64 = 0.5;
const EXPECTED_COUNT: f64 = 2.0;

/// Values of earlier levels that count at most.
const PAST_COUNT: f64 = 200.0;

/// How much of what earlier levels showed is kept when one more ends.
const FADING: f64 = 0.8;

/// Standard errors above 0 at which an estimate begins to be padded, and over how many more the padding
/// grows to one whole standard error.
const SURE: f64 = 1.0;
const PADDED_OVER: f64 = 2.0;

/// Largest correlation that is believed: beyond it the series is a drift.
const LARGEST: f64 = 0.95;

/// Mean square below which scores are equal but for rounding.
const ROUNDING: f64 = 1e-20;

/// Sums over the scores of neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Correlation {
    /// Sum of the products of neighbours.
    pub products: f64,
    /// Sum of the squares.
    pub squares: f64,
    /// How many values they are from.
    pub count: f64,
}

impl Correlation {
    /// Sums over `scores`, each less their mean.
    pub(crate) fn of(scores: &[f64]) -> Self {
        let count = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / count.max(1.0);
        let (mut products, mut squares, mut last) = (0.0, 0.0, 0.0);
        for score in scores {
            let score = score - mean;
            products += score * last;
            squares += score * score;
            last = score;
        }
        Self { products, squares, count }
    }

    /// Returns what is remembered of the past when a level with the sums `ended` is over.
    pub(crate) fn after(self, ended: Self) -> Self {
        Self {
            products: self.products.mul_add(FADING, ended.products),
            squares: self.squares.mul_add(FADING, ended.squares),
            count: self.count.mul_add(FADING, ended.count),
        }
    }

    /// Returns the lag-1 correlation to be reckoned with, from 0 to 0.95, where `past` is what earlier levels of the series
    /// showed, and a further correlation is expected as if from so many values.
    pub(crate) fn coefficient(self, past: Self, (expected, expected_count): (f64, f64)) -> f64 {
        let own = self.ratio();
        let own = own + 3.0f64.mul_add(own.max(0.0), 1.0) / self.count.max(4.0);
        let past_count = past.count.min(PAST_COUNT);
        let count = self.count + past_count + EXPECTED_COUNT + expected_count;
        let sum = own * self.count
            + past.ratio() * past_count
            + EXPECTED * EXPECTED_COUNT
            + expected * expected_count;
        let r = (sum / count).clamp(0.0, LARGEST);
        let error = ((1.0 - r * r) / count).sqrt();
        let padding = ((r / error - SURE) / PADDED_OVER).clamp(0.0, 1.0);
        (r + padding * error).min(LARGEST)
    }

    fn ratio(self) -> f64 {
        // What the mean of equal scores leaves by rounding is no correlation.
        let some = self.squares > self.count * ROUNDING;
        if some { self.products / self.squares } else { 0.0 }
    }
}

/// Returns f(n, r): by how much correlation `r` multiplies the variance of a mean of `n` values.
pub(crate) fn inflation(n: usize, r: f64) -> f64 {
    let power = i32::try_from(n).map_or(0.0, |n| r.powi(n));
    let rest = 1.0 - r;
    (1.0 + r) / rest - 2.0 * r * (1.0 - power) / (n as f64 * rest * rest)
}

/// Returns the lag-1 correlation as the squares of differences tell it, from 0 to 0.95: V2 / V1 - 1, with
/// the sums V1 and V2 of the squared differences at lags 1 and 2, of which a single change of level makes one
/// and two: so many are left out, the largest ones. It scatters more than an estimate by products, but those
/// all grow with a change.
pub(crate) fn by_differences(scores: &[f64]) -> f64 {
    let (first, second) = (squares(scores, 1), squares(scores, 2));
    if first > scores.len() as f64 * ROUNDING {
        (second / first - 1.0).clamp(0.0, LARGEST)
    } else {
        0.0
    }
}

/// Returns the sum of the squared differences at a lag, without as many of the largest.
fn squares(scores: &[f64], lag: usize) -> f64 {
    let mut largest = [0.0; 2];
    let mut sum = 0.0;
    for (a, b) in scores.iter().zip(scores.iter().skip(lag)) {
        let square = (a - b) * (a - b);
        sum += square;
        if square > largest[0] {
            largest = [square, largest[0]];
        } else if square > largest[1] {
            largest[1] = square;
        }
    }
    sum - largest[..lag].iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn the_variance_of_a_mean_grows_as_the_covariances_say() {
        for (n, r) in [(1, 0.6), (2, 0.6), (5, 0.3), (40, 0.9), (7, 0.0)] {
            let mut sum = 0.0;
            for i in 0..n {
                for j in 0..n {
                    sum += f64::powi(r, i32::abs(i - j));
                }
            }
            let expected = sum / f64::from(n);
            let got = inflation(usize::try_from(n).expect("a count"), r);
            assert!((got - expected).abs() < 1e-9, "n = {n}, r = {r}: {got} is not {expected}");
        }
    }

    #[test]
    fn a_clear_correlation_is_found_and_an_absent_one_stays_small() {
        let mut rng = Rng::new(3);
        let mut last = 0.0;
        let related: Vec<f64> = (0..100)
            .map(|_| {
                last = 0.6 * last + 0.8 * rng.normal();
                last
            })
            .collect();
        let alone: Vec<f64> = (0..100).map(|_| rng.normal()).collect();
        let none = Correlation::default();
        let r = Correlation::of(&related).coefficient(none, (0.0, 0.0));
        assert!((0.45..0.85).contains(&r), "{r}");
        let r = Correlation::of(&alone).coefficient(none, (0.0, 0.0));
        assert!(r < 0.25, "{r}");
    }

    #[test]
    fn nothing_known_is_a_little_correlation() {
        let r = Correlation::default().coefficient(Correlation::default(), (0.0, 0.0));
        assert!((0.5..0.9).contains(&r), "{r}");
        assert!(
            Correlation::of(&[1.0; 50]).coefficient(Correlation::default(), (0.0, 0.0)).is_finite()
        );
    }
}
