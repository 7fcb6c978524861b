//! From an interval to one of four words.

use becalm_model::{Comparison, Direction, RatioInterval, Verdict, whole};
use becalm_stats::decide::margin::{self, Answer};

/// Returns the verdict of an interval: the answer about the ratio in the words of the metric.
pub fn verdict(ratio: &RatioInterval, margin: f64, direction: Direction) -> Verdict {
    match (margin::answer(ratio.low, ratio.high, margin), direction) {
        (Answer::Equivalent, _) => Verdict::Equivalent,
        (Answer::Inconclusive, _) => Verdict::Inconclusive,
        (Answer::Above, Direction::Lower) | (Answer::Below, Direction::Higher) => Verdict::Slower,
        (Answer::Below, Direction::Lower) | (Answer::Above, Direction::Higher) => Verdict::Faster,
    }
}

/// Returns the verdict where values are exact: any difference is real.
#[expect(clippy::float_cmp, reason = "the ratio of equal values is 1 to the last bit")]
pub(crate) fn exact_verdict(ratio: f64, margin: f64, direction: Direction) -> Verdict {
    let point = RatioInterval { estimate: ratio, low: ratio, high: ratio };
    if ratio == 1.0 { Verdict::Equivalent } else { verdict(&point, margin, direction) }
}

/// Returns the ratio of exact values, if they have one: to zero and from zero there is a direction, if no factor;
/// below zero a ratio says nothing.
#[expect(clippy::float_cmp, reason = "exact values are equal to the last bit or differ")]
pub(crate) fn ratio_of_exact(baseline: f64, candidate: f64) -> Option<f64> {
    if baseline == candidate {
        return Some(1.0);
    }
    Some(candidate / baseline).filter(|_| baseline >= 0.0 && candidate >= 0.0)
}

/// Says whether measuring on would not change the answer: the interval left the margin to one side
/// or fits inside it. Without a margin, leaving 1 is enough. What fits by lower bounds alone fits nothing.
pub fn is_settled(comparison: &Comparison, margin: f64) -> bool {
    comparison.verdict != Verdict::Inconclusive
        && comparison.ratio.is_some_and(|ratio| margin::is_settled(ratio.low, ratio.high, margin))
}

/// Returns how many more rounds would settle an undecided comparison whose estimate stays where it
/// is: the half width falls with the square root of the rounds. `None` when the estimate lies so
/// close to the edge of the margin that no number can be told.
pub(crate) fn rounds_needed(ratio: &RatioInterval, rounds: u32, margin: f64) -> Option<u64> {
    /// Beyond this factor the forecast is not worth printing.
    const LARGEST_FACTOR: f64 = 1e4;
    let half_width = (ratio.high / ratio.low).ln() / 2.0;
    let distance = ratio.estimate.ln().abs();
    // To fit inside the margin the interval needs the room that is left; to leave 1 out, the
    // distance itself. The nearer goal counts.
    let room = (1.0 + margin).ln() - distance;
    let target = room.max(distance);
    if !half_width.is_finite() || target <= 0.0 {
        return None;
    }
    let factor = (half_width / target).powi(2);
    if !(1.0..=LARGEST_FACTOR).contains(&factor) {
        return None;
    }
    Some(whole(((factor - 1.0) * f64::from(rounds)).ceil().max(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: f64, estimate: f64, high: f64) -> RatioInterval {
        RatioInterval { estimate, low, high }
    }

    #[test]
    fn the_interval_decides_among_four_words() {
        let of = |low, high| verdict(&interval(low, 1.0, high), 0.01, Direction::Lower);
        assert_eq!(of(1.002, 1.04), Verdict::Slower);
        assert_eq!(of(0.95, 0.999), Verdict::Faster);
        assert_eq!(of(0.995, 1.008), Verdict::Equivalent);
        assert_eq!(of(1.001, 1.009), Verdict::Equivalent);
        assert_eq!(of(0.98, 1.009), Verdict::Inconclusive);
        assert_eq!(verdict(&interval(1.1, 1.2, 1.3), 0.0, Direction::Higher), Verdict::Faster);
    }

    #[test]
    fn without_a_margin_nothing_is_equivalent_but_exact_equality() {
        assert_eq!(
            verdict(&interval(0.9999, 1.0, 1.0001), 0.0, Direction::Lower),
            Verdict::Inconclusive
        );
        assert_eq!(exact_verdict(1.0, 0.0, Direction::Lower), Verdict::Equivalent);
        assert_eq!(exact_verdict(1.001, 0.0, Direction::Lower), Verdict::Slower);
        assert_eq!(exact_verdict(1.001, 0.01, Direction::Lower), Verdict::Equivalent);
    }

    #[test]
    fn four_times_the_rounds_halve_the_interval() {
        let needed = rounds_needed(&interval(0.98, 1.0, 1.0 / 0.98), 10, 0.01).unwrap();
        assert!((30..=33).contains(&needed), "{needed}");
        assert_eq!(rounds_needed(&interval(0.0, 1.0, f64::INFINITY), 10, 0.01), None);
    }
}
