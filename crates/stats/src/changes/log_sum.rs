//! The logarithm of a sum of numbers of which the logarithms are known.

/// Returns log(sum of exp(x)) of numbers of which there is at least one, without leaving the range of numbers.
pub(super) fn log_sum(logs: &[f64]) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + logs.iter().map(|log| (log - largest).exp()).sum::<f64>().ln()
}
