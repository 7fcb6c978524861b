//! Whether bisections find the right commit as often as they say.
//!
//! `cargo run --release -p becalm-calibrate --example bisection` prints the whole table.

use becalm_calibrate::bisection::{HISTORIES, PLAIN, Search, summary};

/// Searches of each history; the table has more.
const SEARCHES: u32 = 100;

/// What is stated at least.
const CONFIDENCE: f64 = 0.95;

/// The bar: 64 commits, 3 % slower at a random place, 2 % noise.
#[test]
fn the_right_commit_of_64_is_found_in_95_of_100_searches() {
    let all = summary(&PLAIN, Search::Posterior(CONFIDENCE), SEARCHES, 8);
    assert!(all.right >= 95, "{all:?}");
    assert!(all.rounds < 250.0 && all.builds < 12.0, "{all:?}");
}

#[test]
fn the_size_that_is_told_is_that_of_the_change() {
    let all = summary(&PLAIN, Search::Posterior(CONFIDENCE), SEARCHES, 11);
    let named = f64::from(all.named);
    // Three errors of the mean: each search is off by 15 % or so.
    assert!((all.change / named - 1.0).abs() < 0.045, "{all:?}");
    assert!(f64::from(all.covered) / named >= FLOOR, "{all:?}");
}

/// 95 % less three standard errors of so few searches.
const FLOOR: f64 = 0.95 - 3.0 * 0.0308;

#[test]
fn a_stated_probability_is_kept_on_every_noise() {
    for history in &HISTORIES {
        let all = summary(history, Search::Posterior(CONFIDENCE), SEARCHES / 2, 9);
        let right = f64::from(all.right) / f64::from(all.named.max(1));
        assert!(right >= FLOOR, "{}: {all:?}", history.name);
        assert!(all.named >= SEARCHES / 2 * 4 / 5, "{}: {all:?}", history.name);
    }
}

#[test]
fn plain_bisection_at_the_same_cost_is_wrong_more_often() {
    let posterior = summary(&PLAIN, Search::Posterior(CONFIDENCE), SEARCHES, 10);
    let plain = summary(&PLAIN, Search::Repeats(16), SEARCHES, 10);
    assert!(plain.rounds > 0.75 * posterior.rounds, "{plain:?} {posterior:?}");
    assert!(plain.right + 5 < posterior.right, "{plain:?} {posterior:?}");
}
