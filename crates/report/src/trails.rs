//! Ridges in text: a low histogram of each sample over one axis, and its runs as dots below.

use std::fmt::Write as _;

use crate::axis::Axis;
use crate::distinct::distinct;
use crate::page::caption;
use crate::quantity::Scale;
use crate::samples::Samples;
use crate::strip::{beyond, densities, ruler};
use crate::style::Style;
use crate::width::{columns, pad_right};

/// A narrower plot shows nothing.
const NARROWEST: usize = 10;
const LONGEST_LABEL: usize = 24;
/// Bins of a ridge, at least.
const FEWEST_BINS: usize = 12;

/// Draws all samples, from top to bottom in their order.
pub(crate) fn trails(samples: &Samples, style: &Style) -> String {
    let Some(axis) = Axis::without_far_values(&samples.values()) else { return String::new() };
    let scale = Scale::of(&samples.metric.unit, [axis.low, axis.high], style.unicode);
    let room = LONGEST_LABEL.min(style.width * 2 / 5);
    let labels = distinct(&samples.labels(), room, style.unicode);
    let label_width = labels.iter().map(|label| columns(label)).max().unwrap_or(0);
    let width = style.width.saturating_sub(label_width + 4).max(NARROWEST);
    let blank = " ".repeat(label_width);
    let mut out = String::new();
    for ((row, histogram), label) in
        samples.rows.iter().zip(samples.histograms(&axis, FEWEST_BINS, width)).zip(&labels)
    {
        let most = histogram.counts.iter().copied().max().unwrap_or(0).max(1);
        let bins = histogram.counts.len();
        let ridge: String = (0..width)
            .map(|cell| height(histogram.counts[cell * bins / width], most, style))
            .collect();
        let _ = writeln!(out, "  {}  {}", pad_right(label, label_width), ridge.trim_end());
        let dots = densities(row.sample.values(), &axis, width);
        let dots: String =
            dots.into_iter().map(|n| if n == 0 { ' ' } else { style.pick('·', '.') }).collect();
        let _ = writeln!(out, "  {blank}  {}", dots.trim_end());
        if let Some(line) = beyond(row.sample.values(), &axis, &scale) {
            out.push_str(&caption(&line, label_width + 4, style));
        }
    }
    let (line, numbers) = ruler(&axis, &scale, width, style);
    let _ = writeln!(out, "  {blank}  {line}\n  {blank}  {}", numbers.trim_end());
    let dot = style.pick('·', '.');
    let said = format!("each as high as its own fullest bin; {dot} a run or several");
    out.push_str(&caption(&said, label_width + 4, style));
    out
}

/// Returns the character of a bin; one that is not empty is never blank.
fn height(n: usize, most: usize, style: &Style) -> char {
    style.eighths()[(n * 8).div_ceil(most).min(8)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::tests::of_sizes;

    #[test]
    fn every_sample_has_a_ridge_and_its_runs() {
        let style = Style { width: 60, colour: false, unicode: true };
        insta::assert_snapshot!(trails(&of_sizes(&[3, 30, 300]), &style));
        assert!(trails(&of_sizes(&[3, 30]), &Style::PLAIN).is_ascii());
    }
}
