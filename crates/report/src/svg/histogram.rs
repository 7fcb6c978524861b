//! Histograms of all samples, one above the other on one axis and in the same bins: only so can their tails be compared.

use becalm_stats::Histogram;

use super::frame::Frame;
use super::rows::{About, Rows};
use super::{Anchor, Svg, subject_class};
use crate::axis::Axis;
use crate::histogram::count_ticks;
use crate::quantity::Scale;
use crate::samples::Samples;

const ROW: f64 = 98.0;
/// Height of the highest bar.
const HIGHEST: f64 = 64.0;
/// A bin that is not empty is this high at least.
const SEEN: f64 = 1.5;
/// Bins, at least and at most.
const LEAST_BINS: usize = 10;
const MAX_BINS: usize = 40;

/// Draws the distribution of every sample, in the same bins. `None` without a value to draw.
pub(crate) fn histograms(samples: &Samples, id: &str) -> Option<Svg> {
    let axis = Axis::without_far_values(&samples.values())?.widened(0.02);
    let scale = Scale::of(&samples.metric.unit, [axis.low, axis.high], true);
    let about = About {
        id,
        title: &format!("Histograms of {}", samples.metric.name),
        in_words: "One histogram per subject, one above the other on the same axis and in the same bins, each with its axis \
                   of counts. The numbers are in the tables.",
        axis: &samples.metric.name,
        labels: &samples.labels(),
    };
    let mut rows = Rows::begin(&about, (&axis, &scale), ROW, 56.0);
    let all = samples.histograms(&axis, LEAST_BINS, MAX_BINS);
    for (at, (row, histogram)) in samples.rows.iter().zip(&all).enumerate() {
        let top = rows.name(at);
        let base = top + ROW - 6.0;
        draw_bars(&mut rows.svg, &rows.frame, &axis, row.style, histogram, base);
        rows.beyond(top, &axis, row, samples.each);
        rows.svg.line("axis", (rows.frame.left, base), (rows.frame.right, base));
    }
    Some(rows.svg)
}

fn draw_bars(
    svg: &mut Svg,
    frame: &Frame,
    axis: &Axis,
    subject: usize,
    histogram: &Histogram,
    base: f64,
) {
    let most = histogram.counts.iter().copied().max().unwrap_or(0).max(1);
    let height = |n: usize| n as f64 / most as f64 * HIGHEST;
    for tick in count_ticks(most, 3) {
        let y = base - height(tick);
        svg.line("grid", (frame.left, y), (frame.right, y));
        svg.text("tick", Anchor::End, (frame.left - 6.0, y + 4.0), &tick.to_string());
    }
    svg.line("axis", (frame.left, base), (frame.left, base - height(most)));
    let class = format!("bar {}", subject_class(subject));
    for (bin, &n) in histogram.counts.iter().enumerate().filter(|&(_, &n)| n > 0) {
        let left = frame.x(axis, histogram.edge(bin));
        // Gaps would make narrow bars pale.
        let right = frame.x(axis, histogram.edge(bin + 1));
        let gap = if right - left < 4.0 { 0.0 } else { 0.5 };
        svg.area(&class, (left + gap, base - height(n).max(SEEN)), (right - gap, base));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::tests::of_sizes;
    use crate::svg;

    #[test]
    fn all_samples_have_the_same_bins_and_the_picture_a_bounded_size() {
        let drawing = histograms(&of_sizes(&[3, 30, 30_000]), "h").unwrap();
        insta::assert_snapshot!(svg::within(&drawing));
        let many = histograms(&of_sizes(&[30_000; 6]), "h").unwrap();
        let size = svg::alone(&many).len();
        assert!(size < 200_000, "{size}");
    }
}
