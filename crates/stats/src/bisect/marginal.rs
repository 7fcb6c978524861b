//! From log weights of pairs to probabilities of the second of them.

/// Adds up log weights over the rows, and returns what each column has of all of them.
pub(crate) fn marginal(log_weights: &[Vec<f64>]) -> Vec<f64> {
    let top = log_weights.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut columns = vec![0.0; log_weights.first().map_or(0, Vec::len)];
    for weights in log_weights {
        for (column, weight) in columns.iter_mut().zip(weights) {
            *column += (weight - top).exp();
        }
    }
    let all: f64 = columns.iter().sum();
    columns.into_iter().map(|weight| weight / all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_added_up_and_their_sum_is_one_however_small_they_are() {
        let of = |below: f64| {
            marginal(&[vec![-below, 1.0_f64.ln() - below], vec![-below, 3.0_f64.ln() - below]])
        };
        for below in [0.0, 5000.0] {
            let found = of(below);
            assert!(
                (found[0] - 1.0 / 3.0).abs() < 1e-9 && (found[1] - 2.0 / 3.0).abs() < 1e-9,
                "{found:?}"
            );
        }
    }
}
