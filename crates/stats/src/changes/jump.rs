//! How sharp a step is: what no drift, mood or correlation imitates.
//!
//! From the mean of the two values before a place to that of the two after it a step of the level is as large as it is
//! anywhere, and correlated noise moves no more than it always does from two values to the next two. So this difference
//! over the usual one tells a step from noise that wanders, before there are enough values to tell by how much
//! neighbours resemble each other.
//!
//! Wallace, "Bounds on Normal Approximations to Student's and the Chi-Square Distributions", Annals of Mathematical
//! Statistics 30 (1959).

use crate::center::median_of;

/// Values on each side whose differences are the usual ones.
const REACH: usize = 40;

/// Usual differences at which larger ones are clipped.
const FARTHEST: f64 = 3.0;

/// Returns how far beyond the usual the step at a place is, as a standard normal value; 0 where too little is known.
pub(super) fn jump(values: &[f64], at: usize) -> f64 {
    if at < 2 || at + 2 > values.len() {
        return 0.0;
    }
    let step = |four: &[f64]| ((four[2] + four[3] - four[0] - four[1]) / 2.0).abs();
    let (before, after) = values.split_at(at);
    let before = &before[before.len().saturating_sub(REACH)..];
    let after = &after[..after.len().min(REACH)];
    let mut usual: Vec<f64> = before.windows(4).chain(after.windows(4)).map(step).collect();
    if usual.len() < 3 {
        return 0.0;
    }
    let this = step(&values[at - 2..at + 2]);
    let limit = FARTHEST * 1.4826 * median_of(&mut usual);
    let count = usual.len() as f64;
    let square = usual.iter().map(|size| size.min(limit).powi(2)).sum::<f64>() / count;
    if square <= 0.0 {
        return if this > 0.0 { f64::INFINITY } else { 0.0 };
    }
    // Neighbouring differences share values: half of them tell something new.
    normal_value(this * this / square, count / 2.0)
}

/// Returns the standard normal value that is as unlikely as the square of Student's t is.
fn normal_value(square: f64, free: f64) -> f64 {
    (free * (square / free).ln_1p()).sqrt() * (8.0 * free + 1.0) / (8.0 * free + 3.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn students_t_becomes_the_normal_value_of_the_same_chance() {
        // Two-sided chances of 0.001: t of 5 and of 30 degrees, and the normal value.
        for (t, free) in [(6.869f64, 5.0), (3.646, 30.0)] {
            assert!((normal_value(t * t, free) - 3.291).abs() < 0.03, "{free} degrees");
        }
    }

    #[test]
    fn a_step_is_sharp_and_a_walk_is_not() {
        let mut rng = Rng::new(4);
        let (mut sharp, mut walking) = (0, 0);
        for _ in 0..200 {
            let step: Vec<f64> =
                (0..40).map(|i| rng.normal() + if i < 30 { 0.0 } else { 5.0 }).collect();
            let mut level = 0.0;
            let walk: Vec<f64> = (0..40)
                .map(|_| {
                    level += rng.normal();
                    level
                })
                .collect();
            sharp += usize::from(jump(&step, 30) > 2.5);
            walking += usize::from(jump(&walk, 30) > 2.5);
        }
        assert!(sharp > 170 && walking < 10, "{sharp}, {walking} of 200");
        assert_eq!(jump(&[1.0; 20], 10), 0.0);
        assert_eq!(jump(&[1.0, 2.0, 3.0], 1), 0.0);
    }
}
