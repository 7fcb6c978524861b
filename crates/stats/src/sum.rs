//! Sum without the rounding error that grows with the number of terms.
//!
//! Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54
//! (1974).

/// Returns the sum of `terms`, right to a few units in the last place unless the terms cancel
/// almost completely.
pub(crate) fn sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    let (mut total, mut lost) = (0.0_f64, 0.0_f64);
    for term in terms {
        let next = total + term;
        lost +=
            if total.abs() >= term.abs() { (total - next) + term } else { (term - next) + total };
        total = next;
    }
    total + lost
}

#[cfg(test)]
mod tests {
    use super::sum;

    #[test]
    fn small_terms_survive_beside_large_ones() {
        assert_eq!(sum([1e16, 1.0, 1.0, -1e16]), 2.0);
    }

    #[test]
    fn nothing_sums_to_zero() {
        assert_eq!(sum([]), 0.0);
    }
}
