//! How many regressions any gate could stop within three values.
//!
//! Say that somebody knows the level before and the noise exactly, which is normal with deviation 1. Three values after a
//! change by d are then known by their mean, of deviation 1 / sqrt(3). Of all rules that stop a change by s in at most 5 %,
//! the one that stops most larger changes stops where this mean is beyond a number (Neyman and Pearson: their likelihood
//! ratio grows with the mean), and so it stops a change by d in
//!
//! F(sqrt(3) (d - s) - z),   F the normal distribution and z its 95 % quantile.
//!
//! It does not matter whether the rule looks once or after each value, and what does not change at all is stopped less
//! often still. Neyman and Pearson, "On the Problem of the Most Efficient Tests of Statistical Hypotheses", Philosophical
//! Transactions of the Royal Society A 231 (1933).

use becalm_stats::{Rng, normal};

/// Values within which a regression is to be stopped.
const WITHIN: f64 = 3.0;

/// Share of changes that are not large enough which may be stopped.
const WRONGLY: f64 = 0.05;

/// Returns the largest share of changes by `size` that can be stopped if at most [`WRONGLY`] of those by `spared` are; in
/// deviations of the noise.
fn most(size: f64, spared: f64) -> f64 {
    normal::cdf(WITHIN.sqrt() * (size - spared) - normal::quantile(1.0 - WRONGLY))
}

/// Returns the smallest margin at which so many of the changes by twice the margin can be stopped, if those by a share of
/// it are spared.
fn finest(stopped: f64, spared: f64) -> f64 {
    let both = normal::quantile(stopped) + normal::quantile(1.0 - WRONGLY);
    both / (WITHIN.sqrt() * (2.0 - spared))
}

/// Returns the paragraph of docs/HISTORY.md.
fn paragraph() -> String {
    let percent = |margin: f64, spared: f64| 100.0 * most(2.0 * margin, spared * margin);
    let [coarse, fine, finer] = [2.0, 1.0, 0.5].map(|margin| percent(margin, 0.5));
    let [fine_whole, finer_whole] = [1.0, 0.5].map(|margin| percent(margin, 1.0));
    let [half, whole] = [0.5, 1.0].map(|spared| finest(0.95, spared));
    format!(
        "Part of what is missing at fine margins is the noise. A rule that knows the level before and the noise exactly, \
         and stops at most 5 % of changes of half the margin and so still fewer of no change, stops at most {coarse:.0} % of regressions of twice the \
         margin within three values if the margin is two deviations of independent noise, {fine:.0} % at one deviation \
         and {finer:.0} % at half a deviation. If it may stop only 5 % of changes of exactly the margin, the last two \
         are {fine_whole:.0} % and {finer_whole:.0} %. So no rule can stop 95 % of them at margins below {half:.1} \
         deviations, or {whole:.1} in the second case. What lies between {fine:.0} % and the 50 % of the table is \
         becalm's: it knows level and noise from 25 to 44 values only, takes 2.5 % on this side, and decides at every \
         commit instead of once after three."
    )
}

#[test]
fn the_bound_is_that_of_the_documentation() {
    let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/HISTORY.md");
    let document = std::fs::read_to_string(place).unwrap();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let paragraph = paragraph();
    assert!(
        words(&document).contains(&paragraph),
        "docs/HISTORY.md should have this paragraph:\n{paragraph}"
    );
}

#[test]
fn the_best_rule_stops_as_many_as_the_bound_says() {
    let mut rng = Rng::new(8);
    let mean = |rng: &mut Rng, size: f64| size + (0..3).map(|_| rng.normal()).sum::<f64>() / 3.0;
    let limit = 0.5 + normal::quantile(1.0 - WRONGLY) / WITHIN.sqrt();
    let count = 20_000;
    let mut stopped = |size: f64| {
        let found = (0..count).filter(|_| mean(&mut rng, size) > limit).count();
        found as f64 / f64::from(count)
    };
    for size in [0.0, 0.5, 1.0, 2.0] {
        let (found, expected) = (stopped(size), most(size, 0.5));
        assert!((found - expected).abs() < 0.015, "{size}: {found} is not {expected}");
    }
    let margin = finest(0.95, 0.5);
    assert!((most(2.0 * margin, 0.5 * margin) - 0.95).abs() < 1e-9);
}
