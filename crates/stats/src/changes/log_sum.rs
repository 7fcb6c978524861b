//! The logarithm of a sum of numbers of which the logarithms are known.

/// The logarithm of a share of a sum that is less than its rounding errors, even a dozen times.
const NEGLIGIBLE: f64 = -40.0;

/// Returns log(sum of exp(x)) of numbers of which there is at least one, without leaving the range of numbers.
pub(super) fn log_sum(logs: &[f64]) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    // What is so much less than the largest changes no bit of the sum.
    let share = |log: &f64| if log - largest < NEGLIGIBLE { 0.0 } else { (log - largest).exp() };
    largest + logs.iter().map(share).sum::<f64>().ln()
}
