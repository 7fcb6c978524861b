//! What must hold for every sample: invariances, bounds, and an answer without a panic.

#![expect(clippy::float_cmp, reason = "some results must be equal to the last bit")]

use becalm_stats::mean_interval::mean_interval;
use becalm_stats::median_interval::median_interval;
use becalm_stats::{
    Bimodality, Drift, Histogram, Rng, Sample, SequenceCheck, Step, Summary, bimodality, center,
    holm, outlier, quantile, spread, warmup, yuen,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Any sample at all: ordinary, tied, constant, tiny, huge, of mixed sizes.
fn any_sample() -> impl Strategy<Value = Vec<f64>> {
    let extreme = prop_oneof![
        -1e300..1e300,
        Just(1e300),
        Just(-1e300),
        Just(0.0),
        Just(-0.0),
        Just(f64::MIN_POSITIVE / 8.0),
        Just(5e-324),
        Just(-5e-324),
        -1.0..1.0,
    ];
    prop_oneof![
        vec(-1e6..1e6, 1..60),
        vec((0..5_i32).prop_map(f64::from), 1..60),
        (any_value(), 1..60_usize).prop_map(|(x, n)| vec![x; n]),
        vec(extreme, 1..60),
    ]
}

fn any_value() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1e300), Just(5e-324), Just(0.1), -1e9..1e9]
}

/// Values on a grid of 1/8, so that shifts and powers of two are exact.
fn grid_sample(fewest: usize) -> impl Strategy<Value = Vec<f64>> {
    vec((-4000..4000_i32).prop_map(|x| f64::from(x) / 8.0), fewest..50)
}

fn sample(values: impl IntoIterator<Item = f64>) -> Sample {
    Sample::new(values.into_iter().collect()).unwrap()
}

fn is_p(p: f64) -> bool {
    (0.0..=1.0).contains(&p)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-10 * a.abs().max(b.abs()).max(1.0)
}

const CENTERS: [fn(&Sample) -> f64; 3] =
    [center::mean, center::median, |s| center::trimmed_mean(s, 0.25)];
const SPREADS: [fn(&Sample) -> f64; 4] = [
    |s| spread::standard_deviation(s).unwrap(),
    spread::mad,
    spread::interquartile_range,
    |s| spread::winsorised_deviation(s, 0.2).unwrap(),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_finite_sample_panics_and_every_answer_is_in_its_bounds(
        values in any_sample(),
    ) {
        let x = sample(values);
        let summary = Summary::of(&x, 0.95);
        prop_assert!(summary.minimum <= summary.median && summary.median <= summary.maximum);
        prop_assert!(summary.minimum <= summary.mean && summary.mean <= summary.maximum);
        for center in CENTERS {
            prop_assert!(x.minimum() <= center(&x) && center(&x) <= x.maximum());
        }
        prop_assert!(summary.percentiles.is_sorted_by_key(|p| p.value));
        prop_assert!(summary.mad >= 0.0 && summary.mad.is_finite());
        prop_assert!(summary.standard_deviation.is_none_or(|s| s >= 0.0 && s.is_finite()));
        if let Some(interval) = summary.median_interval {
            prop_assert!(interval.low <= interval.estimate && interval.estimate <= interval.high);
        }
        if let Some(interval) = summary.mean_interval {
            prop_assert!(interval.low <= interval.estimate && interval.estimate <= interval.high);
        }
        prop_assert!(summary.outliers.len() <= x.len() / 2);
        let histogram = Histogram::of(&x, 40);
        prop_assert!((1..=40).contains(&histogram.counts.len()));
        prop_assert_eq!(histogram.counts.iter().sum::<usize>(), x.len());

        for p in [
            yuen(&x, 0.2, 0.95).map(|y| y.p),
            Drift::of(&x).map(|d| d.p),
            Step::of(&x).map(|s| s.p),
        ] {
            prop_assert!(p.is_err() || p.is_ok_and(is_p), "{:?}", p);
        }
        if let Ok(check) = SequenceCheck::of(&x) {
            prop_assert!(check.lag1.abs() <= 1.0);
        }
        if let Ok(found) = Bimodality::of(&x) {
            prop_assert!(!found.evidence.is_nan());
            if let Some(modes) = found.modes {
                prop_assert!(modes.lower <= modes.split && modes.split <= modes.upper);
                prop_assert!((0.0..=1.0).contains(&modes.lower_share));
            }
        }
    }

    #[test]
    fn centers_and_intervals_move_with_a_shift_and_spreads_do_not(
        values in grid_sample(2),
        shift in -1000..1000_i32,
    ) {
        let x = sample(values.iter().copied());
        let shift = f64::from(shift);
        let y = sample(values.iter().map(|v| v + shift));
        for center in CENTERS {
            prop_assert!(near(center(&x) + shift, center(&y)));
        }
        for spread in SPREADS {
            prop_assert!(near(spread(&x), spread(&y)));
        }
        for interval in [median_interval, mean_interval] {
            if let (Some(a), Some(b)) = (interval(&x, 0.9), interval(&y, 0.9)) {
                prop_assert!(near(a.low + shift, b.low) && near(a.high + shift, b.high));
            }
        }
        prop_assert_eq!(outlier::outliers(&x), outlier::outliers(&y));
    }

    #[test]
    fn everything_scales_with_the_unit(values in grid_sample(3), power in -20..20_i32) {
        let x = sample(values.iter().copied());
        let unit = 2.0_f64.powi(power);
        let y = sample(values.iter().map(|v| v * unit));
        for estimator in CENTERS.into_iter().chain(SPREADS) {
            prop_assert!(near(estimator(&x), estimator(&y) / unit));
        }
        prop_assert_eq!(outlier::outliers(&x), outlier::outliers(&y));
        prop_assert_eq!(Histogram::of(&x, 30).counts, Histogram::of(&y, 30).counts);
        prop_assert_eq!(Drift::of(&x).unwrap().p, Drift::of(&y).unwrap().p);
        prop_assert_eq!(warmup::slow_start(&x), warmup::slow_start(&y));
    }

    #[test]
    fn order_does_not_matter_where_time_is_not_asked(values in grid_sample(2), seed: u64) {
        let x = sample(values.iter().copied());
        let mut shuffled = values;
        Rng::new(seed).shuffle(&mut shuffled);
        let y = sample(shuffled);
        for estimator in CENTERS.into_iter().chain(SPREADS) {
            prop_assert_eq!(estimator(&x), estimator(&y));
        }
        prop_assert_eq!(quantile::quantile(&x, 0.37), quantile::quantile(&y, 0.37));
        prop_assert_eq!(yuen(&x, 0.2, 0.95), yuen(&y, 0.2, 0.95));
    }

    #[test]
    fn a_p_below_alpha_and_an_interval_without_zero_are_the_same_thing(values in grid_sample(5)) {
        let Ok(result) = yuen(&sample(values), 0.1, 0.95) else { return Ok(()) };
        prop_assume!((result.p - 0.05).abs() > 1e-8);
        prop_assert_eq!(result.p < 0.05, !result.trimmed_mean.contains(0.0));
    }

    #[test]
    fn holm_only_raises_p_and_keeps_the_order(p in vec(0.0..=1.0, 0..12)) {
        let corrected = holm(&p, 0.95);
        for (i, h) in corrected.iter().enumerate() {
            prop_assert!(h.adjusted_p >= p[i] && h.adjusted_p <= 1.0 && h.confidence >= 0.95);
            let smaller = (0..p.len()).filter(|&j| p[j] <= p[i]);
            prop_assert!(smaller.into_iter().all(|j| corrected[j].adjusted_p <= h.adjusted_p));
        }
    }

    #[test]
    fn the_bimodality_rule_ignores_the_unit(values in grid_sample(bimodality::FEWEST_VALUES)) {
        let x = Bimodality::of(&sample(values.iter().copied())).unwrap();
        let y = Bimodality::of(&sample(values.iter().map(|v| v * 64.0))).unwrap();
        prop_assert!(near(x.evidence, y.evidence));
    }
}
