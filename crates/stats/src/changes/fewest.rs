//! How many values a series needs before a change in it can be confirmed.
//!
//! Scores are ranks: among few values even the largest step has a small one, whatever its size. So the answer is
//! found by trying, with a step that nobody would miss: between two calm levels of as many values, without equal ones.
//! (One that leaves most values on one side may be confirmed a little sooner.)

use super::{Rules, SHORTEST, detect};

/// Longest series that is tried. Every boundary that [`Rules::new`] gives is reached sooner.
const LONGEST: usize = 200;

/// Returns the fewest values of which the largest step, in the middle, would be confirmed.
pub fn fewest_values(rules: Rules) -> usize {
    (2 * SHORTEST..LONGEST).find(|&n| can_confirm(n, rules)).unwrap_or(LONGEST)
}

fn can_confirm(n: usize, rules: Rules) -> bool {
    // Golden section: no two values are equal, and neighbours are not alike.
    let noise = |i: usize| (i as f64 * 0.618_033_988_749_895).fract();
    let values = (0..n).map(|i| noise(i) + if i < n / 2 { 0.0 } else { 1e6 });
    !detect(values, Rules { margin: 0.0, ..rules }).confirmed.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_values_never_confirm_and_so_many_do() {
        for share in [0.001, 0.01, 0.03, 0.1] {
            let rules = Rules::new(share, 0.0);
            let fewest = fewest_values(rules);
            assert!((2 * SHORTEST..LONGEST).contains(&fewest), "{share}: {fewest}");
            assert!(!can_confirm(fewest - 1, rules) && can_confirm(fewest, rules));
        }
        let by_share = [0.001, 0.01, 0.03, 0.1].map(|share| fewest_values(Rules::new(share, 0.0)));
        assert!(by_share.is_sorted_by(|a, b| a >= b), "{by_share:?}");
    }

    #[test]
    fn a_margin_asks_for_no_more_values() {
        assert_eq!(fewest_values(Rules::new(0.03, 0.5)), fewest_values(Rules::default()));
    }
}
