//! Figures that files have beside the values.

pub(super) use crate::imported::median;

/// Returns the arithmetic mean; `None` of nothing.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    let share = 1.0 / values.len() as f64;
    // Each is divided before it is added: the sum of large values may be infinite.
    let mean = values.iter().map(|value| value * share).sum();
    (!values.is_empty()).then_some(mean)
}

/// Returns the standard deviation of a sample (n - 1); `None` of fewer than two values.
pub(super) fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let variance = squares / (values.len() as f64 - 1.0);
    Some(variance.sqrt()).filter(|deviation| values.len() > 1 && deviation.is_finite())
}

/// Returns the smallest and the largest value; `None` of nothing.
pub(super) fn range(values: &[f64]) -> Option<(f64, f64)> {
    let smallest = values.iter().copied().reduce(f64::min)?;
    let largest = values.iter().copied().reduce(f64::max)?;
    Some((smallest, largest))
}
