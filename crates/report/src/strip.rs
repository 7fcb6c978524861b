//! The strip plot in text: it shows every run. A box plot would hide two modes and the tail.

use std::fmt::Write as _;

use becalm_model::Unit;

use crate::axis::Axis;
use crate::box_violin::{self, Beside};
use crate::distinct::distinct;
use crate::page::caption;
use crate::quantity::{NBSP, Scale};
use crate::style::Style;
use crate::width::{columns, pad_right};

/// One subject on the plot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strip<'a> {
    pub(crate) label: &'a str,
    pub(crate) values: &'a [f64],
    /// Median with its interval, drawn below the dots.
    pub(crate) median: Option<Median>,
    /// What is drawn below that.
    pub(crate) beside: &'a [Beside],
}

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marks {
    /// The runs alone.
    Runs,
    /// Medians with their intervals too, and what the dots mean.
    All,
}

/// A median and, where there are enough values, its interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Median {
    pub(crate) value: f64,
    pub(crate) interval: Option<(f64, f64)>,
}

/// A narrower plot shows nothing.
const NARROWEST: usize = 10;
const LONGEST_LABEL: usize = 16;

/// Draws all strips over one axis, which makes the subjects comparable by eye.
///
/// It is `axis` if other plots share it.
pub(crate) fn strips(
    strips: &[Strip],
    unit: &Unit,
    axis: Option<Axis>,
    marks: Marks,
    style: &Style,
) -> String {
    let samples: Vec<&[f64]> = strips.iter().map(|strip| strip.values).collect();
    let Some(own) = Axis::without_far_values(&samples) else { return String::new() };
    let axis = axis.unwrap_or(own);
    let axis = axis.widened(0.02);
    let scale = Scale::of(unit, [axis.low, axis.high], style.unicode);
    let labels: Vec<&str> = strips.iter().map(|strip| strip.label).collect();
    // On a narrow terminal the dots need the room, too.
    let labels = distinct(&labels, LONGEST_LABEL.min(style.width * 2 / 5), style.unicode);
    let label_width = labels.iter().map(|label| columns(label)).max().unwrap_or(0);
    let width = style.width.saturating_sub(label_width + 4).max(NARROWEST);

    let densest =
        strips.iter().flat_map(|strip| densities(strip.values, &axis, width)).max().unwrap_or(1);
    let levels = Levels::up_to(densest);
    let mut out = String::new();
    for (strip, label) in strips.iter().zip(&labels) {
        let label = pad_right(label, label_width);
        let dots: String = densities(strip.values, &axis, width)
            .into_iter()
            .map(|density| levels.dot(density, style))
            .collect();
        let _ = writeln!(out, "  {label}  {}", dots.trim_end());
        let median = strip.median.filter(|_| marks == Marks::All);
        if let Some(line) = median.and_then(|m| median_line(&m, &axis, width, style)) {
            let blank = " ".repeat(label_width);
            let _ = writeln!(out, "  {blank}  {line}");
        }
        let blank = " ".repeat(label_width);
        for &beside in strip.beside {
            if let Some(line) = box_violin::line(beside, strip.values, &axis, width, style) {
                let _ = writeln!(out, "  {blank}  {line}");
            }
        }
        if let Some(line) = beyond(strip.values, &axis, &scale) {
            out.push_str(&caption(&line, label_width + 4, style));
        }
    }
    let (ruler, numbers) = ruler(&axis, &scale, width, style);
    let blank = " ".repeat(label_width);
    let _ = writeln!(out, "  {blank}  {ruler}\n  {blank}  {numbers}");
    if marks == Marks::All {
        out.push_str(&caption(&levels.legend(style), label_width + 4, style));
    }
    out
}

/// Counts the values in each of so many cells of an axis.
pub(crate) fn densities(values: &[f64], axis: &Axis, width: usize) -> Vec<usize> {
    let mut cells = vec![0; width];
    for &value in values {
        if let Some(cell) = axis.cell(value, width) {
            cells[cell] += 1;
        }
    }
    cells
}

/// How many runs each of the three dots stands for.
#[derive(Debug, Clone, Copy)]
struct Levels {
    medium: usize,
    heavy: usize,
}

impl Levels {
    /// One run is always the light dot; the heavy one begins at half the densest column.
    fn up_to(densest: usize) -> Self {
        let medium = (densest / 5).max(2);
        Self { medium, heavy: (densest / 2).max(medium + 1) }
    }

    fn dot(self, density: usize, style: &Style) -> char {
        let [light, medium, heavy] = Self::dots(style);
        match density {
            0 => ' ',
            d if d < self.medium => light,
            d if d < self.heavy => medium,
            _ => heavy,
        }
    }

    fn dots(style: &Style) -> [char; 3] {
        style.pick(['·', '•', '●'], ['.', 'o', '@'])
    }

    fn legend(self, style: &Style) -> String {
        let [light, medium, heavy] = Self::dots(style);
        let span = |low: usize, high: usize| {
            if low == high { low.to_string() } else { format!("{low}-{high}") }
        };
        format!(
            "{light} {}, {medium} {}, {heavy} {} or more runs",
            span(1, self.medium - 1),
            span(self.medium, self.heavy - 1),
            self.heavy
        )
    }
}

/// Draws the median as a cross on the line of its interval.
fn median_line(median: &Median, axis: &Axis, width: usize, style: &Style) -> Option<String> {
    let at = axis.cell(median.value, width)?;
    let mut cells = vec![' '; width];
    if let Some((low, high)) = median.interval {
        let low = axis.cell(low, width).unwrap_or(0);
        let high = axis.cell(high, width).unwrap_or(width - 1);
        for cell in &mut cells[low.min(at)..=high.max(at)] {
            *cell = style.pick('─', '-');
        }
        if low < at {
            cells[low] = style.pick('├', '|');
        }
        if at < high {
            cells[high] = style.pick('┤', '|');
        }
    }
    cells[at] = style.pick('┼', '+');
    let line: String = cells.into_iter().collect();
    let line = line.trim_end().to_owned();
    // A word beside the first marker would crowd it where the line is full.
    Some(if columns(&line) + 8 <= width { format!("{line} median") } else { line })
}

/// Says how many values are beyond the axis, and how far the farthest is.
pub(crate) fn beyond(values: &[f64], axis: &Axis, scale: &Scale) -> Option<String> {
    let (below, above) = axis.beyond(values);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut parts = Vec::new();
    if below > 0 {
        parts.push(format!("{below} further down, to {}", scale.with_unit(least)));
    }
    if above > 0 {
        parts.push(format!("{above} further up, to {}", scale.with_unit(most)));
    }
    if parts.is_empty() { None } else { Some(format!("({})", parts.join("; "))) }
}

/// Draws a ruler with round numbers below it; the last number carries the unit.
pub(crate) fn ruler(axis: &Axis, scale: &Scale, width: usize, style: &Style) -> (String, String) {
    let (ticks, decimals) = axis.ticks((width / 14).max(3), scale);
    let scale = scale.with_decimals(decimals);
    let mut line = vec![style.pick('─', '-'); width];
    let mut numbers = String::new();
    for (index, &tick) in ticks.iter().enumerate() {
        let Some(at) = axis.cell(tick, width) else { continue };
        line[at] = style.pick('┴', '+');
        let last = index + 1 == ticks.len();
        let text = if last { scale.with_unit(tick) } else { scale.number(tick) };
        let text = text.replace(NBSP, " ");
        let start = at.saturating_sub(columns(&scale.number(tick)) / 2);
        let start = start.min(width.saturating_sub(columns(&text)));
        if columns(&numbers) < start || numbers.is_empty() {
            numbers = format!("{}{text}", pad_right(&numbers, start));
        }
    }
    (line.into_iter().collect(), numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 12] = [
        0.0320, 0.0321, 0.0321, 0.0322, 0.0320, 0.0323, 0.0321, 0.0320, 0.0319, 0.0321, 0.0322,
        0.0900,
    ];
    const B: [f64; 6] = [0.0328, 0.0327, 0.0328, 0.0329, 0.0327, 0.0328];

    fn draw(style: &Style) -> String {
        let median = |value, low, high| Some(Median { value, interval: Some((low, high)) });
        strips(
            &[
                Strip {
                    label: "old",
                    values: &A,
                    median: median(0.0321, 0.0320, 0.0322),
                    beside: &[],
                },
                Strip {
                    label: "new",
                    values: &B,
                    median: median(0.0328, 0.0327, 0.0329),
                    beside: &[],
                },
            ],
            &Unit::Second,
            None,
            Marks::All,
            style,
        )
    }

    #[test]
    fn subjects_share_one_axis_and_far_values_are_counted() {
        insta::assert_snapshot!(draw(&Style { width: 60, colour: false, unicode: true }));
    }

    #[test]
    fn ascii_says_the_same() {
        let text = draw(&Style { width: 60, ..Style::PLAIN });
        assert!(text.is_ascii(), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn no_values_give_no_plot() {
        let empty = Strip { label: "a", values: &[], median: None, beside: &[] };
        assert_eq!(strips(&[empty], &Unit::Second, None, Marks::All, &Style::PLAIN), "");
    }
}
