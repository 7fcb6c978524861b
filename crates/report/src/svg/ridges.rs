//! Ridges, also called frequency trails: a low histogram of each sample, below each other over one axis and in the same
//! bins. Nothing is smoothed, nothing overlaps, and every run is a line below its ridge.

use becalm_stats::Histogram;

use super::frame::Frame;
use super::rows::{About, Rows};
use super::{Place, ROWS_FROM, Svg, subject_class};
use crate::axis::Axis;
use crate::quantity::{Scale, percent};
use crate::samples::{Row, Samples};

const ROW: f64 = 62.0;
/// Height of the fullest bin.
const HIGHEST: f64 = 28.0;
/// A bin that is not empty is this high at least.
const SEEN: f64 = 1.5;
/// Height of the lines of the runs.
const RUG: f64 = 7.0;
const BINS: (usize, usize) = (12, 110);
/// Runs that are closer than this share a line.
const CELL: f64 = 0.5;

/// Draws all samples, from top to bottom in their order. `None` without a value to draw.
pub(crate) fn ridges(samples: &Samples, id: &str) -> Option<Svg> {
    let axis = Axis::without_far_values(&samples.values())?.widened(0.02);
    let scale = Scale::of(&samples.metric.unit, [axis.low, axis.high], true);
    let histograms = samples.histograms(&axis, BINS.0, BINS.1);
    let about = About {
        id,
        title: &format!("Ridges of {}", samples.metric.name),
        in_words: &in_words(samples, &histograms, &scale),
        axis: &samples.metric.name,
        labels: &samples.labels(),
    };
    let mut rows = Rows::begin(&about, (&axis, &scale), ROW, ROWS_FROM);
    for (at, (row, histogram)) in samples.rows.iter().zip(&histograms).enumerate() {
        let top = rows.name(at);
        let base = top + ROW - RUG - 6.0;
        ridge(&mut rows.svg, &rows.frame, &axis, row, histogram, base);
        rows.beyond(top, &axis, row, samples.each);
    }
    Some(rows.svg)
}

fn ridge(svg: &mut Svg, frame: &Frame, axis: &Axis, row: &Row, histogram: &Histogram, base: f64) {
    let most = histogram.counts.iter().copied().max().unwrap_or(0).max(1);
    let mut corners: Vec<Place> = vec![(frame.left, base)];
    for (bin, &n) in histogram.counts.iter().enumerate() {
        let height = n as f64 / most as f64 * HIGHEST;
        let y = if n == 0 { base } else { base - height.max(SEEN) };
        let [left, right] = [bin, bin + 1].map(|edge| frame.x(axis, histogram.edge(edge)));
        if corners.last().is_some_and(|last| (last.1 - y).abs() > 1e-9) {
            corners.push((left, y));
        } else if corners.len() > 1 {
            corners.pop();
        }
        corners.push((right, y));
    }
    corners.push((frame.right, base));
    svg.polygon(&format!("bar {}", subject_class(row.style)), &corners);
    svg.line("axis", (frame.left, base), (frame.right, base));
    svg.ticks("rug", rug(&row.sample, axis, frame), (base + 1.5, base + 1.5 + RUG));
    let middle = frame.x(axis, row.median.value);
    svg.line("median", (middle, base - 4.0), (middle, base + RUG + 3.0));
}

/// Returns where the lines of the runs are that the axis shows.
fn rug(sample: &becalm_stats::Sample, axis: &Axis, frame: &Frame) -> Vec<f64> {
    let inside = sample.sorted().iter().filter(|value| axis.position(**value).is_some());
    let mut places: Vec<f64> = inside.map(|value| frame.x(axis, *value)).collect();
    places.dedup_by(|next, last| *next - *last < CELL);
    places
}

fn in_words(samples: &Samples, histograms: &[Histogram], scale: &Scale) -> String {
    let rows = samples.rows.iter().zip(histograms).map(|(row, histogram)| {
        let n = row.sample.len();
        let full = histogram.counts.iter().enumerate().max_by_key(|(_, count)| **count);
        let fullest = full.map_or(String::new(), |(bin, &most)| {
            let range = scale.range(histogram.edge(bin), histogram.edge(bin + 1));
            format!(", {} of them from {range}", percent(most as f64 / n as f64))
        });
        let median = scale.with_unit(row.median.value);
        format!(
            "{}: {}, median {median}{fullest}.",
            row.label,
            becalm_model::counted(n, samples.each)
        )
    });
    format!("A histogram of each in the same bins. {}", rows.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::tests::of_sizes;
    use crate::svg;

    #[test]
    fn every_sample_is_a_ridge_with_its_runs_below() {
        insta::assert_snapshot!(svg::within(&ridges(&of_sizes(&[3, 30]), "r").unwrap()));
    }

    #[test]
    fn the_ridge_of_many_runs_is_that_of_few_and_its_size_is_bounded() {
        let few = ridges(&of_sizes(&[30, 30, 30]), "r").unwrap();
        let many = ridges(&of_sizes(&[30_000, 30_000, 30_000]), "r").unwrap();
        let parts = |svg: &Svg| ["bar", "rug", "median"].map(|class| svg.count_of(class));
        assert_eq!(parts(&few), parts(&many));
        let size = svg::alone(&many).len();
        assert!(size < 200_000, "{size}");
    }

    #[test]
    fn no_run_is_without_a_line_of_its_own_place() {
        let samples = of_sizes(&[200]);
        let axis = Axis::without_far_values(&samples.values()).unwrap().widened(0.02);
        let frame = Frame::new(ROWS_FROM, 100.0);
        let places = rug(&samples.rows[0].sample, &axis, &frame);
        for value in samples.rows[0].sample.values() {
            let at = frame.x(&axis, *value);
            assert!(places.iter().any(|place| (at - place).abs() < CELL), "{value}");
        }
    }
}
