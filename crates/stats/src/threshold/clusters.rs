//! How likely a number of hits is that come in clusters.
//!
//! A Poisson number of clusters whose sizes are exponential with mean `s`; `m` hits are expected:
//!
//! ```text
//! P(0) = exp(-m / s)
//! f(k) = exp(-m / s - k / s) sqrt(m / k) / s  I1(2 sqrt(m k) / s),   k > 0
//! ```
//!
//! the Tweedie distribution of power 3/2 (Jorgensen 1987, *Exponential dispersion models*, Journal of the Royal Statistical
//! Society B 49), of variance `2 s m`. Requests that wait long in a queue wait beside others that do: a cluster is a time in
//! which the queue is long, and queues that are emptied often have such times at random (Aldous 1989, *Probability
//! approximations via the Poisson clumping heuristic*).

/// Returns the log likelihood of so many hits, if `expected` are expected in clusters of mean size `size`.
pub(super) fn log_likelihood(hits: f64, expected: f64, size: f64) -> f64 {
    let clusters = expected / size;
    if hits <= 0.0 {
        return -clusters;
    }
    let x = 2.0 * (clusters * hits / size).sqrt();
    // exp(x) is taken out of I1: -clusters - hits / size + x is a square.
    let apart = clusters.sqrt() - (hits / size).sqrt();
    0.5f64.mul_add((expected / hits).ln(), -apart * apart) - size.ln() + scaled_bessel(x).ln()
}

/// Returns `exp(-x) I1(x)` for `x >= 0`, to seven digits (Abramowitz and Stegun 1964, 9.8.3 and 9.8.4).
fn scaled_bessel(x: f64) -> f64 {
    let horner = |t: f64, of: &[f64]| of.iter().rev().fold(0.0, |sum, one| t.mul_add(sum, *one));
    if x < 3.75 {
        const SMALL: [f64; 7] = [
            0.5,
            0.878_905_94,
            0.514_988_69,
            0.150_849_34,
            0.026_587_33,
            0.003_015_32,
            0.000_324_11,
        ];
        // Not 0, so that its logarithm is a number.
        (x * horner((x / 3.75).powi(2), &SMALL) * (-x).exp()).max(f64::MIN_POSITIVE)
    } else {
        const LARGE: [f64; 9] = [
            0.398_942_28,
            -0.039_880_24,
            -0.003_620_18,
            0.001_638_01,
            -0.010_315_55,
            0.022_829_67,
            -0.028_953_12,
            0.017_876_54,
            -0.004_200_59,
        ];
        horner(3.75 / x, &LARGE) / x.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_add_up_to_one_and_have_mean_and_variance() {
        for (expected, size) in [(3.0, 1.0), (20.0, 5.0), (200.0, 20.0), (5.0, 50.0)] {
            let none = log_likelihood(0.0, expected, size).exp();
            let step = size / 200.0;
            let (mut all, mut mean, mut squares) = (none, 0.0, 0.0);
            for index in 0..200_000 {
                let hits = (f64::from(index) + 0.5) * step;
                let p = log_likelihood(hits, expected, size).exp() * step;
                all += p;
                mean += p * hits;
                squares += p * hits * hits;
            }
            assert!((all - 1.0).abs() < 1e-3, "{expected} {size}: {all}");
            assert!((mean / expected - 1.0).abs() < 2e-3, "{mean}");
            let variance = squares - mean * mean;
            assert!((variance / (2.0 * size * expected) - 1.0).abs() < 0.01, "{variance}");
        }
    }

    #[test]
    fn the_bessel_function_has_its_values() {
        // I1(1), I1(2), I1(5) and I1(10), times exp(-x).
        for (x, value) in
            [(1.0, 0.207_910_42), (2.0, 0.215_269_29), (5.0, 0.163_972_27), (10.0, 0.121_262_68)]
        {
            assert!((scaled_bessel(x) - value).abs() < 1e-6, "{x}: {}", scaled_bessel(x));
        }
        assert!(scaled_bessel(0.0).ln().is_finite() && scaled_bessel(1e6) > 0.0);
    }
}
