//! Values that move in steps: a count, a clock of 10 ms, a size in pages.

use crate::center::median_of;

/// Returns the step of two samples: the smallest difference between two values of the same one, when at
/// least a quarter of all values occur more than once. Values that are nearly all different have no
/// step that matters, and the function returns 0, as it does when each sample has one value only.
pub(super) fn of(samples: [Vec<f64>; 2]) -> f64 {
    let n: usize = samples.iter().map(Vec::len).sum();
    let mut ties = 0;
    let mut smallest = |mut values: Vec<f64>| {
        values.sort_unstable_by(f64::total_cmp);
        let mut step = f64::INFINITY;
        for pair in values.windows(2) {
            match pair[1] - pair[0] {
                // Rounding of the logarithm is no step.
                gap if gap <= 1e-9 => ties += 1,
                gap => step = step.min(gap),
            }
        }
        step
    };
    let step = samples.map(&mut smallest).into_iter().fold(f64::INFINITY, f64::min);
    if step.is_finite() && 4 * ties >= n { step } else { 0.0 }
}

/// Returns the scale of values about their median, by the median absolute deviation; 0 without any.
pub(super) fn scatter(mut values: Vec<f64>) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let centre = median_of(&mut values);
    for value in &mut values {
        *value = (*value - centre).abs();
    }
    1.4826 * median_of(&mut values)
}
