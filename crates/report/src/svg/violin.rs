//! Box plots in violins, one for each subject over one axis.

use becalm_stats::Sample;
use becalm_stats::boxes::BoxFigures;
use becalm_stats::density::density;

use super::frame::Frame;
use super::rows::{About, Rows};
use super::{NAME, ROWS_FROM, Svg, subject_class};
use crate::axis::Axis;
use crate::quantity::Scale;
use crate::samples::Samples;

const ROW: f64 = 76.0;
/// Half the height of a violin, and of the box inside it.
const HALF: f64 = 24.0;
const HALF_BOX: f64 = 5.0;
/// Places at which a violin has a corner.
const CORNERS: u32 = 121;

/// Draws all samples. `None` without a value to draw.
pub(crate) fn violins(samples: &Samples, id: &str) -> Option<Svg> {
    let axis = Axis::without_far_values(&samples.values())?.widened(0.02);
    let scale = Scale::of(&samples.metric.unit, [axis.low, axis.high], true);
    let about = About {
        id,
        title: &format!("Box plots in violins of {}", samples.metric.name),
        in_words: "For each subject quartiles, median, whiskers and a smooth density. The numbers are in the tables.",
        axis: &samples.metric.name,
        labels: &samples.labels(),
    };
    let mut rows = Rows::begin(&about, (&axis, &scale), ROW, ROWS_FROM);
    for (at, row) in samples.rows.iter().enumerate() {
        let middle = rows.name(at) + NAME + HALF + 4.0;
        let Rows { svg, frame, .. } = &mut rows;
        violin(svg, frame, &axis, (row.style, &row.sample), middle);
        one_box(svg, frame, &axis, &BoxFigures::of(&row.sample), middle);
    }
    Some(rows.svg)
}

fn violin(
    svg: &mut Svg,
    frame: &Frame,
    axis: &Axis,
    (subject, sample): (usize, &Sample),
    middle: f64,
) {
    let width = axis.high - axis.low;
    let place = |corner: u32| axis.low + width * f64::from(corner) / f64::from(CORNERS - 1);
    let places: Vec<f64> = (0..CORNERS).map(place).collect();
    let heights = density(sample, &places);
    let edge = |side: f64| {
        let corners = places.iter().zip(&heights);
        corners.map(move |(&at, height)| (frame.x(axis, at), middle + side * HALF * height))
    };
    let upper: Vec<(f64, f64)> = edge(-1.0).collect();
    let lower: Vec<(f64, f64)> = edge(1.0).collect();
    let corners: Vec<(f64, f64)> = upper.into_iter().chain(lower.into_iter().rev()).collect();
    svg.polygon(&format!("bar {}", subject_class(subject)), &corners);
}

fn one_box(svg: &mut Svg, frame: &Frame, axis: &Axis, figures: &BoxFigures, middle: f64) {
    let [lower, median, upper] = figures.quartiles.map(|value| frame.x(axis, value));
    let (low, high) = (frame.x(axis, figures.low), frame.x(axis, figures.high));
    svg.line("interval", (low, middle), (lower, middle));
    svg.line("interval", (upper, middle), (high, middle));
    for (x, half) in [(lower, HALF_BOX), (upper, HALF_BOX), (low, 3.0), (high, 3.0)] {
        svg.line("interval", (x, middle - half), (x, middle + half));
    }
    for y in [middle - HALF_BOX, middle + HALF_BOX] {
        svg.line("interval", (lower, y), (upper, y));
    }
    svg.line("median", (median, middle - HALF_BOX), (median, middle + HALF_BOX));
}
