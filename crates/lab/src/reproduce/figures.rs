//! From values to the figures of a row. Pure.

use std::collections::BTreeMap;

use becalm_stats::center::{mean, median};
use becalm_stats::spread::{coefficient_of_variation, standard_deviation};
use becalm_stats::{Sample, Violation};

use super::article::{Figure, Values};

/// Returns the figures of runs of seconds (or ticks), as far as there are enough values.
pub(super) fn figures(
    wanted: &[Figure],
    values: Values,
    runs: &[Vec<f64>],
) -> Result<BTreeMap<Figure, f64>, Violation> {
    let samples: Vec<Sample> =
        runs.iter().map(|run| Sample::new(run.clone())).collect::<Result<_, _>>()?;
    let sample = match values {
        Values::MiddleRun => middle(&samples).cloned(),
        Values::RunMeans => Sample::new(samples.iter().map(mean).collect()).ok(),
        Values::Pooled => Sample::new(runs.concat()).ok(),
    };
    let Some(sample) = sample else {
        return Ok(BTreeMap::new());
    };
    let figure = |figure: &Figure| Some((*figure, one(*figure, &sample, &samples)?));
    Ok(wanted.iter().filter_map(figure).collect())
}

/// The run whose CV is in the middle, the lower one of two.
fn middle(samples: &[Sample]) -> Option<&Sample> {
    let mut with_cv: Vec<(f64, &Sample)> = samples
        .iter()
        .filter_map(|sample| Some((coefficient_of_variation(sample)?, sample)))
        .collect();
    with_cv.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let middle = with_cv.len().checked_sub(1)? / 2;
    with_cv.get(middle).map(|(_, sample)| *sample)
}

fn one(figure: Figure, sample: &Sample, runs: &[Sample]) -> Option<f64> {
    match figure {
        Figure::Mean => Some(mean(sample)),
        Figure::Median => Some(median(sample)),
        Figure::Deviation => standard_deviation(sample).ok(),
        Figure::Cv => coefficient_of_variation(sample),
        // Known only when the first row is.
        Figure::RelativeCv | Figure::RelativeExcess => None,
        Figure::Minimum => Some(sample.minimum()),
        Figure::Maximum => Some(sample.maximum()),
        Figure::Range => Some(sample.maximum() - sample.minimum()),
        Figure::Excess => Some(sample.maximum() / median(sample) - 1.0),
        Figure::CvOfMinimums => {
            let minimums = runs.iter().map(Sample::minimum).collect();
            coefficient_of_variation(&Sample::new(minimums).ok()?)
        }
    }
    .filter(|value| value.is_finite())
}

/// Figures, and what stands for each over that of the first row.
pub(super) const RELATIVE: [(Figure, Figure); 2] =
    [(Figure::Cv, Figure::RelativeCv), (Figure::Excess, Figure::RelativeExcess)];

/// Adds the CV and the excess of each row over those of the first, where both have one and nothing states it already.
pub(super) fn relate(rows: &mut [BTreeMap<Figure, f64>]) {
    for (figure, relative) in RELATIVE {
        let Some(first) = rows.first().and_then(|row| row.get(&figure)).copied() else { continue };
        for row in rows.iter_mut() {
            let ratio = row.get(&figure).map(|value| value / first);
            if let Some(ratio) = ratio.filter(|ratio| ratio.is_finite()) {
                row.entry(relative).or_insert(ratio);
            }
        }
    }
}

/// Returns the mean; `None` of nothing.
pub(super) fn average(values: &[f64]) -> Option<f64> {
    Sample::new(values.to_vec()).ok().map(|sample| mean(&sample))
}

/// Returns the standard error of the mean, relative to the mean: what `perf stat -r` prints as `+-`.
pub(super) fn relative_error(values: &[f64]) -> Option<f64> {
    let sample = Sample::new(values.to_vec()).ok()?;
    let deviation = standard_deviation(&sample).ok()?;
    let error = deviation / (sample.len() as f64).sqrt() / mean(&sample).abs();
    // No event in any run: there is nothing to differ.
    if deviation == 0.0 { Some(0.0) } else { Some(error).filter(|error| error.is_finite()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: Values, figure: Figure, expect: Option<f64>) {
        // Runs of CV 0.1, 0.0 and 0.3, with means 10, 20 and 30.
        let runs = [vec![9.0, 10.0, 11.0], vec![20.0; 3], vec![21.0, 30.0, 39.0]];
        let found = figures(&[figure], values, &runs).unwrap();
        let close = |found: f64, expect: f64| (found - expect).abs() < 1e-12;
        match (found.get(&figure), expect) {
            (Some(&found), Some(expect)) => assert!(close(found, expect), "{found} {expect}"),
            (found, expect) => assert_eq!(found, expect.as_ref()),
        }
    }

    #[test]
    fn the_run_in_the_middle_speaks_for_all_but_the_minimums() {
        check(Values::MiddleRun, Figure::Cv, Some(0.1));
        check(Values::MiddleRun, Figure::Range, Some(2.0));
        // The minimums are 9, 20 and 21.
        check(
            Values::MiddleRun,
            Figure::CvOfMinimums,
            Some(44.333_333_333_333_33_f64.sqrt() / 16.666_666_666_666_668),
        );
    }

    #[test]
    fn means_of_runs_and_pooled_values_are_other_samples() {
        check(Values::RunMeans, Figure::Mean, Some(20.0));
        check(Values::RunMeans, Figure::Deviation, Some(10.0));
        check(Values::Pooled, Figure::Median, Some(20.0));
        check(Values::Pooled, Figure::Excess, Some(0.95));
    }

    #[test]
    fn one_value_has_no_spread() {
        let found = figures(&[Figure::Mean, Figure::Cv], Values::Pooled, &[vec![1.0]]).unwrap();
        assert_eq!(found, BTreeMap::from([(Figure::Mean, 1.0)]));
        assert!(figures(&[Figure::Cv], Values::MiddleRun, &[vec![1.0]]).unwrap().is_empty());
    }

    #[test]
    fn spreads_are_related_to_that_of_the_first_row() {
        let row = |cv| BTreeMap::from([(Figure::Cv, cv)]);
        let stated = BTreeMap::from([(Figure::RelativeCv, 10.0)]);
        let mut rows = [row(0.04), row(0.01), BTreeMap::new(), stated.clone()];
        relate(&mut rows);
        assert_eq!(rows[1].get(&Figure::RelativeCv), Some(&0.25));
        assert_eq!(rows[2], BTreeMap::new());
        assert_eq!(rows[3], stated);
    }

    #[test]
    fn the_relative_error_is_that_of_perf_stat() {
        let close = |found: Option<f64>, expect: f64| (found.unwrap() - expect).abs() < 1e-12;
        assert!(close(relative_error(&[9.0, 10.0, 11.0]), 0.1 / 3.0_f64.sqrt()));
        assert_eq!(relative_error(&[0.0, 0.0]), Some(0.0));
        assert_eq!(relative_error(&[1.0]), None);
    }
}
