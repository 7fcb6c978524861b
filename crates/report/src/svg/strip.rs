//! The strip plot: one dot per run, the dots of one place side by side, and the median with its
//! interval below them.

use becalm_model::Unit;

use super::frame::Frame;
use super::{Anchor, NAME, ROWS_FROM, Shape, Svg, row_names, subject_class};
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
    let height = ROW * rows.len() as f64 + 54.0;
    let mut svg = Svg::new(id, &format!("Strip plot of {name}"), in_words, height);
    let frame = Frame::new(ROWS_FROM, height);
    frame.bottom_axis(&mut svg, &axis, &scale, name);
    let labels: Vec<&str> = rows.iter().map(|row| row.label).collect();
    for ((at, row), label) in rows.iter().enumerate().zip(row_names(&labels)) {
        let top = frame.top + ROW * at as f64;
        svg.text("label", Anchor::Start, (frame.left, top + NAME), &label);
        let middle = top + NAME + REACH + 6.0;
        draw_row(&mut svg, &frame, &axis, &scale, (row.style, row.label), row.values, middle);
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
    Some(svg)
}

fn draw_row(
    svg: &mut Svg,
    frame: &Frame,
    axis: &Axis,
    scale: &Scale,
    (subject, label): (usize, &str),
    values: &[f64],
    middle: f64,
) {
    let places: Vec<f64> = values.iter().map(|&value| frame.x(axis, value)).collect();
    let offsets = side_by_side(&places);
    let most = offsets.iter().copied().fold(0.0, |most: f64, offset| most.max(offset.abs()));
    // When a row is too dense the dots overlap rather than leave their row.
    let squeeze = if most > REACH { REACH / most } else { 1.0 };
    let class = format!("dot {}", subject_class(subject));
    for ((&value, &x), &offset) in values.iter().zip(&places).zip(&offsets) {
        let tip = format!("{label}: {}", scale.with_decimals(4).with_unit(value));
        let at = (x, middle + offset * squeeze);
        svg.mark(Shape::of_subject(subject), &class, at, &tip);
    }
    let (below, above) = axis.beyond(values);
    if below > 0 {
        let at = (frame.left + 4.0, middle - REACH + 4.0);
        svg.text("note", Anchor::Start, at, &format!("\u{25c2} {below} further down"));
    }
    if above > 0 {
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let text = format!("{above} further up, to {} \u{25b8}", scale.with_unit(most));
        svg.text("note", Anchor::End, (frame.right - 4.0, middle - REACH + 4.0), &text);
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
    format!("Every run as one dot. {}.", parts.collect::<Vec<_>>().join(". "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_of_one_place_stand_side_by_side() {
        assert_eq!(side_by_side(&[10.0, 10.0, 10.0, 50.0]), [0.0, -DOT, DOT, 0.0]);
    }
}
