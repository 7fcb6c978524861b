//! How often the intervals hold the truth, by simulation.

use becalm_calibrate::rate;
use becalm_stats::mean_interval::mean_interval;
use becalm_stats::median_interval::median_interval;
use becalm_stats::{Interval, Rng, Sample, yuen};

const SAMPLES: u32 = 4000;

/// Three standard errors of a share near 0.95 among [`SAMPLES`].
const SLACK: f64 = 0.0104;

fn coverage(
    truth: f64,
    n: usize,
    draw: fn(&mut Rng) -> f64,
    interval: fn(&Sample) -> Interval,
) -> f64 {
    let mut rng = Rng::new(41);
    let held = (0..SAMPLES).filter(|_| {
        let sample = Sample::new((0..n).map(|_| draw(&mut rng)).collect()).unwrap();
        interval(&sample).contains(truth)
    });
    held.count() as f64 / f64::from(SAMPLES)
}

#[test]
fn the_median_interval_covers_at_least_its_level_for_any_distribution() {
    let median = |s: &Sample| median_interval(s, 0.95).unwrap();
    for n in [6, 10, 25, 60] {
        let normal = coverage(0.0, n, Rng::normal, median);
        let skewed = coverage(std::f64::consts::LN_2, n, Rng::exponential, median);
        assert!(normal >= 0.95 - SLACK && skewed >= 0.95 - SLACK, "n = {n}: {normal} {skewed}");
    }
}

#[test]
fn the_median_interval_covers_exactly_what_its_ranks_say() {
    // n = 10 at 95 %: ranks 2 and 9, 1 - 2 (1 + 10) / 1024 = 0.9785.
    let share = coverage(0.0, 10, Rng::normal, |s| median_interval(s, 0.95).unwrap());
    assert!((share - 0.9785).abs() < 0.007, "{share}");
}

#[test]
fn the_mean_interval_covers_its_level_on_normal_data() {
    for n in [2, 5, 20] {
        let share = coverage(0.0, n, Rng::normal, |s| mean_interval(s, 0.95).unwrap());
        assert!((share - 0.95).abs() < SLACK, "n = {n}: {share}");
    }
}

#[test]
fn the_mean_interval_falls_short_on_few_skewed_values_as_documented() {
    let share = coverage(1.0, 10, Rng::exponential, |s| mean_interval(s, 0.95).unwrap());
    assert!((0.87..0.93).contains(&share), "{share}");
}

#[test]
fn the_trimmed_interval_covers_its_level_with_spikes_on_both_sides() {
    let spiky = |r: &mut Rng| if r.uniform() < 0.1 { 20.0 * r.normal() } else { r.normal() };
    let share = coverage(0.0, 20, spiky, |s| yuen(s, 0.2, 0.95).unwrap().trimmed_mean);
    assert!((0.95 - SLACK..0.975).contains(&share), "{share}");
}

#[test]
fn clopper_and_pearson_cover_every_rate() {
    for true_rate in [0.01, 0.05, 0.3, 0.5] {
        let trials = 40;
        let held: f64 = (0..=trials)
            .filter(|&k| rate::clopper_pearson(k, trials, 0.95).contains(true_rate))
            .map(|k| {
                rate::at_most(k, trials, true_rate)
                    - if k > 0 { rate::at_most(k - 1, trials, true_rate) } else { 0.0 }
            })
            .sum();
        assert!(held >= 0.95, "{true_rate}: {held}");
    }
}
