//! The strip plot: one dot per run, the dots of one place side by side, and the median with its interval below them. Of very
//! many runs, those of a place are a bar, as high as they are many.

use becalm_model::Unit;

use super::frame::Frame;
use super::rows::{About, Rows};
use super::spans::MOST_MARKS;
use super::{Anchor, NAME, ROWS_FROM, Shape, Svg, subject_class};
use crate::axis::Axis;
use crate::quantity::Scale;
use crate::samples::{Row, Samples};
use crate::strip::Median;

/// Height of a row, with its name above the dots, where the longest has room.
const ROW: f64 = 80.0;
/// Room for dots above the middle line of a row.
const REACH: f64 = 21.0;
/// Distance at which two dots no longer overlap.
const DOT: f64 = 6.5;
/// Width of a bar, and half its least height: the bar of a single run is seen.
const BAR: f64 = 4.0;
const SEEN: f64 = 2.5;

/// One row of the plot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StripRow<'a> {
    /// Which colour and shape its dots have.
    pub(crate) style: usize,
    pub(crate) label: &'a str,
    pub(crate) values: &'a [f64],
    pub(crate) median: Median,
}

/// Draws all samples on one axis. `None` without a value to draw.
pub(crate) fn strip(samples: &Samples, id: &str) -> Option<Svg> {
    let rows: Vec<StripRow<'_>> = (samples.rows.iter())
        .map(|row| StripRow {
            style: row.style,
            label: &row.label,
            values: row.sample.values(),
            median: row.median,
        })
        .collect();
    strip_of(&rows, &samples.metric.unit, &samples.metric.name, &in_words(samples), id)
}

/// Draws rows on one axis, which is called `name`; `in_words` is for readers who cannot see it.
/// `None` without a value to draw.
pub(crate) fn strip_of(
    rows: &[StripRow<'_>],
    unit: &Unit,
    name: &str,
    in_words: &str,
    id: &str,
) -> Option<Svg> {
    let values: Vec<&[f64]> = rows.iter().map(|row| row.values).collect();
    let axis = Axis::without_far_values(&values)?.widened(0.02);
    let scale = Scale::of(unit, [axis.low, axis.high], true);
    let labels: Vec<&str> = rows.iter().map(|row| row.label).collect();
    let title = &format!("Strip plot of {name}");
    let about = About { id, title, in_words, axis: name, labels: &labels };
    let mut drawn = Rows::begin(&about, (&axis, &scale), ROW, ROWS_FROM);
    let is_crowded = values.iter().map(|values| values.len()).sum::<usize>() > MOST_MARKS;
    for (at, row) in rows.iter().enumerate() {
        let middle = drawn.name(at) + NAME + REACH + 6.0;
        let Rows { svg, frame, .. } = &mut drawn;
        if is_crowded {
            bars(svg, frame, &axis, row, middle);
        } else {
            dots(svg, frame, &axis, &scale, row, middle);
        }
        beyond(svg, frame, &axis, &scale, row.values, middle - REACH + 4.0);
        let y = middle + REACH + 8.0;
        if let Some((low, high)) = row.median.interval {
            let (low, high) = (frame.x(&axis, low), frame.x(&axis, high));
            svg.line("interval", (low, y), (high, y));
            svg.line("interval", (low, y - 3.0), (low, y + 3.0));
            svg.line("interval", (high, y - 3.0), (high, y + 3.0));
        }
        let x = frame.x(&axis, row.median.value);
        svg.line("median", (x, y - 6.0), (x, y + 6.0));
    }
    Some(drawn.svg)
}

fn dots(svg: &mut Svg, frame: &Frame, axis: &Axis, scale: &Scale, row: &StripRow<'_>, middle: f64) {
    let places: Vec<f64> = row.values.iter().map(|&value| frame.x(axis, value)).collect();
    let offsets = side_by_side(&places);
    let most = offsets.iter().copied().fold(0.0, |most: f64, offset| most.max(offset.abs()));
    // When a row is too dense the dots overlap rather than leave their row.
    let squeeze = if most > REACH { REACH / most } else { 1.0 };
    let class = format!("dot {}", subject_class(row.style));
    for ((&value, &x), &offset) in row.values.iter().zip(&places).zip(&offsets) {
        let tip = format!("{}: {}", row.label, scale.with_decimals(4).with_unit(value));
        let at = (x, middle + offset * squeeze);
        svg.mark(Shape::of_subject(row.style), &class, at, &tip);
    }
}

/// Draws for each place a bar from the smallest to the largest run there, as high as they are many.
fn bars(svg: &mut Svg, frame: &Frame, axis: &Axis, row: &StripRow<'_>, middle: f64) {
    let mut places: Vec<f64> = row.values.iter().map(|&value| frame.x(axis, value)).collect();
    places.sort_by(f64::total_cmp);
    let bars: Vec<&[f64]> = places.chunk_by(|a, b| bar_of(*a) == bar_of(*b)).collect();
    let most = bars.iter().map(|bar| bar.len()).max().unwrap_or(1);
    let class = format!("span {}", subject_class(row.style));
    for bar in bars {
        let ([first, ..], [.., last]) = (bar, bar) else { continue };
        let half = (REACH * bar.len() as f64 / most as f64).max(SEEN);
        svg.area(&class, (first - 0.8, middle - half), (last + 0.8, middle + half));
    }
}

/// Returns the number of the bar of a place.
fn bar_of(x: f64) -> usize {
    becalm_model::place((x / BAR).floor())
}

/// Counts what lies beyond the axis.
fn beyond(svg: &mut Svg, frame: &Frame, axis: &Axis, scale: &Scale, values: &[f64], y: f64) {
    let (below, above) = axis.beyond(values);
    if below > 0 {
        let text = format!("\u{25c2} {below} further down");
        svg.text("note", Anchor::Start, (frame.left + 4.0, y), &text);
    }
    if above > 0 {
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let text = format!("{above} further up, to {} \u{25b8}", scale.with_unit(most));
        svg.text("note", Anchor::End, (frame.right - 4.0, y), &text);
    }
}

/// Returns how far up or down each dot moves so that neighbours do not overlap: the first dot of
/// a place stays on the line, the next ones go above and below in turn.
fn side_by_side(places: &[f64]) -> Vec<f64> {
    let mut stacks = std::collections::BTreeMap::<i64, u32>::new();
    places
        .iter()
        .map(|&x| {
            #[expect(clippy::cast_possible_truncation, reason = "a place on a plot is below 1000")]
            let stack = stacks.entry((x / DOT).floor() as i64).or_default();
            let step = f64::from(stack.div_ceil(2));
            let offset = if stack.is_multiple_of(2) { step } else { -step };
            *stack += 1;
            offset * DOT
        })
        .collect()
}

/// Says what the plot shows, for readers who cannot see it.
fn in_words(samples: &Samples) -> String {
    let parts = samples.rows.iter().map(|Row { label, sample, .. }| {
        let scale = Scale::of(&samples.metric.unit, [sample.maximum()], true);
        format!(
            "{label}: {} from {}, median {}",
            becalm_model::counted(sample.len(), "run"),
            scale.range(sample.minimum(), sample.maximum()),
            scale.with_unit(becalm_stats::center::median(sample))
        )
    });
    let n: usize = samples.rows.iter().map(|row| row.sample.len()).sum();
    let each = if n > MOST_MARKS { "Bars that have every run" } else { "Every run as one dot" };
    format!("{each}. {}.", parts.collect::<Vec<_>>().join(". "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::tests::of_sizes;
    use crate::svg::{self, Form, Place};

    #[test]
    fn dots_of_one_place_stand_side_by_side() {
        assert_eq!(side_by_side(&[10.0, 10.0, 10.0, 50.0]), [0.0, -DOT, DOT, 0.0]);
    }

    #[test]
    fn many_runs_are_bars_that_hide_none_and_the_picture_has_a_bounded_size() {
        let few = strip(&of_sizes(&[30, 3]), "s").unwrap();
        assert_eq!((few.count_of("dot"), few.count_of("span")), (33, 0));
        let samples = of_sizes(&[30_000, 30_000, 3]);
        let many = strip(&samples, "s").unwrap();
        assert_eq!(many.count_of("dot"), 0);
        let bars: Vec<(Place, Place)> = (many.elements.iter())
            .filter(|element| element.class.starts_with("span"))
            .map(|element| match element.form {
                Form::Area(from, to) => (from, to),
                _ => panic!("{element:?}"),
            })
            .collect();
        let axis = Axis::without_far_values(&samples.values()).unwrap().widened(0.02);
        let frame = Frame::new(ROWS_FROM, many.height);
        for row in &samples.rows {
            for value in row.sample.values() {
                let x = frame.x(&axis, *value);
                assert!(bars.iter().any(|(from, to)| (from.0..=to.0).contains(&x)), "{value}");
            }
        }
        let size = svg::alone(&strip(&of_sizes(&[30_000; 6]), "s").unwrap()).len();
        assert!(size < 200_000, "{size}");
    }
}
