//! From the interval of a ratio to an answer, and whether measuring on could change it.
//!
//! Bounds are of the ratio itself, not of its logarithm, because that is what a margin is said of.

/// What an interval says about a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The ratio lies inside the margin.
    Equivalent,
    /// The ratio is above 1.
    Above,
    /// The ratio is below 1.
    Below,
    /// The interval holds 1 and does not fit inside the margin.
    Inconclusive,
}

/// Returns the answer of the interval from `low` to `high`: inside the margin, else by the side of
/// 1 on which it lies. A margin of 0 asks for a difference only.
pub fn answer(low: f64, high: f64, margin: f64) -> Answer {
    if fits(low, high, margin) {
        Answer::Equivalent
    } else if low > 1.0 {
        Answer::Above
    } else if high < 1.0 {
        Answer::Below
    } else {
        Answer::Inconclusive
    }
}

/// Says whether measuring on would not change the answer: the interval left the margin to one side
/// or fits inside it. Without a margin, leaving 1 is enough.
pub fn is_settled(low: f64, high: f64, margin: f64) -> bool {
    fits(low, high, margin) || low > 1.0 + margin || high < 1.0 - margin
}

fn fits(low: f64, high: f64, margin: f64) -> bool {
    margin > 0.0 && 1.0 - margin <= low && high <= 1.0 + margin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_decides_among_four_answers() {
        assert_eq!(answer(1.002, 1.04, 0.01), Answer::Above);
        assert_eq!(answer(0.95, 0.999, 0.01), Answer::Below);
        assert_eq!(answer(1.001, 1.009, 0.01), Answer::Equivalent);
        assert_eq!(answer(0.98, 1.009, 0.01), Answer::Inconclusive);
        assert_eq!(answer(1.0, 1.0, 0.0), Answer::Inconclusive);
    }

    #[test]
    fn an_answer_whose_size_is_open_is_not_settled() {
        assert!(!is_settled(1.002, 1.04, 0.01));
        assert!(is_settled(1.011, 1.04, 0.01) && is_settled(0.9, 0.98, 0.01));
        assert!(is_settled(0.995, 1.005, 0.01));
        assert!(is_settled(1.002, 1.04, 0.0) && !is_settled(0.999, 1.001, 0.0));
    }
}
