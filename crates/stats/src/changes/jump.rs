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

/// Deviations of normal values in their median distance from the middle.
const DEVIATIONS: f64 = 1.4826;

/// The step at a place, and what neighbouring steps are.
struct Step {
    this: f64,
    usual: Vec<f64>,
}

impl Step {
    /// Looks at the step at a place; nothing where too little is known.
    fn at(values: &[f64], at: usize) -> Option<Self> {
        if at < 2 || at + 2 > values.len() {
            return None;
        }
        let step = |four: &[f64]| ((four[2] + four[3] - four[0] - four[1]) / 2.0).abs();
        let (before, after) = values.split_at(at);
        let before = &before[before.len().saturating_sub(REACH)..];
        let after = &after[..after.len().min(REACH)];
        let mut usual = Vec::with_capacity(2 * REACH);
        for side in [before, after] {
            usual.extend(side.windows(4).map(step));
        }
        (usual.len() >= 3).then(|| Self { this: step(&values[at - 2..at + 2]), usual })
    }

    /// Returns the mean square of the usual steps, those beyond a limit clipped.
    fn square(&self, limit: f64) -> f64 {
        let squares = self.usual.iter().map(|size| if *size < limit { *size } else { limit });
        squares.map(|size| size * size).sum::<f64>() / self.usual.len() as f64
    }

    /// Says whether it surely is not beyond a normal value: the mean square is not small even if larger steps are clipped
    /// at this one, which is nearer than their limit if most are not small. That is counted in a fraction of the time
    /// that a median takes.
    fn is_below(&self, least: f64) -> bool {
        let small = self.this / (FARTHEST * DEVIATIONS);
        let others = self.usual.iter().map(|size| u32::from(*size > small)).sum::<u32>();
        let count = self.usual.len();
        // The normal value is less than the root of the ratio of the squares.
        2 * others as usize >= count + 2
            && self.this * self.this < 0.999_999 * least * least * self.square(self.this)
    }

    /// Returns how far beyond the usual it is, as a standard normal value.
    fn beyond(mut self) -> f64 {
        let limit = FARTHEST * DEVIATIONS * median_of(&mut self.usual);
        let square = self.square(limit);
        if square <= 0.0 {
            return if self.this > 0.0 { f64::INFINITY } else { 0.0 };
        }
        // Neighbouring differences share values: half of them tell something new.
        normal_value(self.this * self.this / square, self.usual.len() as f64 / 2.0)
    }
}

/// Says whether the step at a place is farther beyond the usual than a standard normal value; not where too little is known.
pub(super) fn is_beyond(values: &[f64], at: usize, least: f64) -> bool {
    Step::at(values, at).is_some_and(|step| !step.is_below(least) && step.beyond() > least)
}

/// Returns the standard normal value that is as unlikely as the square of Student's t is.
fn normal_value(square: f64, free: f64) -> f64 {
    (free * (square / free).ln_1p()).sqrt() * (8.0 * free + 1.0) / (8.0 * free + 3.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn jump(values: &[f64], at: usize) -> f64 {
        Step::at(values, at).map_or(0.0, Step::beyond)
    }

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

    #[test]
    fn a_step_is_below_what_it_is_said_to_be_below() {
        let mut rng = Rng::new(5);
        let mut are_below = 0;
        for i in 0..2000 {
            let digits = if i % 2 == 0 { 1.0 } else { 1e6 };
            let n = 10 + i % 80;
            let step = 6.0 * rng.uniform();
            let at = n / 2 + i % 5;
            let values: Vec<f64> = (0..n)
                .map(|t| rng.normal() + if t < at { 0.0 } else { step })
                .map(|value| (value * digits).round() / digits)
                .collect();
            let Some(step) = Step::at(&values, at) else { continue };
            let is_said = step.is_below(2.8);
            are_below += u32::from(is_said);
            let beyond = step.beyond();
            assert!(!is_said || beyond < 2.8, "{values:?}: {beyond}");
            assert_eq!(is_beyond(&values, at, 2.8), beyond > 2.8, "{values:?}");
        }
        assert!(are_below > 500, "{are_below}");
    }
}
