//! What values that never differ do not show.
//!
//! A program that prints `0.10` in every run may take anything that is rounded to that. Where a subject has one
//! value only, nothing but its digits tells how fine it is: a unit of the last digit may be hidden in it.

use super::pairs::{PairedRound, same_in_all};

/// Returns what a unit of the last digit makes of the log ratio, where each subject shows the same value in every
/// round.
pub(super) fn hidden(rounds: &[PairedRound]) -> Option<f64> {
    let (baseline, candidate) = same_in_all(rounds).filter(|_| rounds.len() > 1)?;
    let smallest = baseline.min(candidate);
    if smallest <= 0.0 {
        return None;
    }
    let digits = decimals(baseline).max(decimals(candidate));
    Some((0.1_f64.powi(digits) / smallest).ln_1p())
}

/// Returns the decimals with which a value is written shortest.
fn decimals(value: f64) -> i32 {
    let text = format!("{value}");
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    i32::try_from(decimals).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(baseline: f64, candidate: f64) -> Option<f64> {
        let round = PairedRound {
            baseline,
            candidate,
            candidate_first: false,
            layout: None,
            pace: [0.0; 2],
        };
        hidden(&[round; 8])
    }

    #[test]
    fn the_last_digit_tells_how_fine_a_value_is() {
        assert!((of(0.1, 0.11).unwrap() - 0.1_f64.ln_1p()).abs() < 1e-12);
        assert!((of(100.0, 110.0).unwrap() - 0.01_f64.ln_1p()).abs() < 1e-12);
        assert!(of(14_311_424.0, 14_311_424.0).unwrap() < 1e-7);
        assert!(of(1e-9, 2e-9).unwrap() > 0.6, "one digit each");
        assert_eq!(of(0.0, 1.0), None);
    }

    #[test]
    fn values_that_differ_speak_for_themselves() {
        let round = |candidate| PairedRound {
            baseline: 1.0,
            candidate,
            candidate_first: false,
            layout: None,
            pace: [0.0; 2],
        };
        assert_eq!(hidden(&[round(1.0), round(1.1)]), None);
    }
}
