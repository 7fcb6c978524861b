//! The run-sequence plot in text: values over time, which shows drift, steps and warm-up.

use std::fmt::Write as _;

use becalm_model::Unit;

use crate::axis::Axis;
use crate::page::caption;
use crate::quantity::{NBSP, Scale};
use crate::strip;
use crate::style::Style;
use crate::width::{columns, pad_left};

/// One run on the plot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) value: f64,
    pub(crate) kind: PointKind,
}

/// What the reader has to know about a run when looking at its value. If two runs fall on the same
/// place, the later one in this order is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PointKind {
    /// Belongs to a warm-up round.
    Warmup,
    /// Of a round that was disturbed and repeated.
    Discarded,
    /// Nothing unusual.
    Plain,
    /// Labelled by the evidence.
    Disturbed,
    /// Cut off at the timeout: the value is a lower bound.
    Censored,
}

const ROWS: usize = 9;

/// What the points are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) plain: &'static str,
    pub(crate) warmup: &'static str,
    pub(crate) disturbed: &'static str,
    /// One point on the axis of time.
    pub(crate) one: &'static str,
}

const RUNS: Words = Words { plain: "run", warmup: "warm-up", disturbed: "disturbed", one: "run" };

/// Draws one subject's runs from left to right in time order. The axis of values is `axis` if other
/// plots share it.
pub(crate) fn sequence(points: &[Point], unit: &Unit, axis: Option<Axis>, style: &Style) -> String {
    sequence_in(points, unit, &RUNS, axis, style)
}

/// Draws values from left to right in time order, under these names.
pub(crate) fn sequence_in(
    points: &[Point],
    unit: &Unit,
    words: &Words,
    axis: Option<Axis>,
    style: &Style,
) -> String {
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let Some(own) = Axis::without_far_values(&[&values]) else { return String::new() };
    let axis = axis.unwrap_or(own);
    let scale = Scale::of(unit, [axis.low, axis.high], style.unicode);
    let (top, bottom) = (with_unit(&scale, axis.high), with_unit(&scale, axis.low));
    let margin = columns(&top).max(columns(&bottom));
    let room = style.width.saturating_sub(margin + 4).max(8);
    let n_columns = points.len().min(room);

    let mut grid: Vec<Vec<Option<PointKind>>> = vec![vec![None; n_columns]; ROWS];
    for (index, point) in points.iter().enumerate() {
        let column = index * n_columns / points.len();
        // A value beyond a cut axis stays on the plot, at its edge.
        let value = point.value.clamp(axis.low, axis.high);
        let Some(row) = axis.cell(value, ROWS) else { continue };
        let cell = &mut grid[ROWS - 1 - row][column];
        *cell = (*cell).max(Some(point.kind));
    }
    let mut out = String::new();
    for (index, row) in grid.iter().enumerate() {
        let label = match index {
            0 => &top,
            i if i + 1 == ROWS => &bottom,
            _ => "",
        };
        let line: String = row.iter().map(|&cell| mark(cell, style)).collect();
        let bar = style.pick('│', '|');
        let _ = writeln!(out, "  {} {bar}{}", pad_left(label, margin), line.trim_end());
    }
    let _ = writeln!(out, "  {}  {}", " ".repeat(margin), numbers(points.len(), n_columns, words));
    out.push_str(&caption(&legend(points, words, style), margin + 4, style));
    if let Some(note) = strip::beyond(&values, &axis, &scale) {
        out.push_str(&caption(&note, margin + 4, style));
    }
    out
}

fn with_unit(scale: &Scale, value: f64) -> String {
    scale.with_unit(value).replace(NBSP, " ")
}

fn mark(cell: Option<PointKind>, style: &Style) -> char {
    match cell {
        None => ' ',
        Some(PointKind::Warmup) => style.pick('○', 'w'),
        Some(PointKind::Discarded) => style.pick('⊗', 'd'),
        Some(PointKind::Plain) => style.pick('•', 'o'),
        Some(PointKind::Disturbed) => style.pick('×', 'x'),
        Some(PointKind::Censored) => style.pick('▲', '^'),
    }
}

fn legend(points: &[Point], words: &Words, style: &Style) -> String {
    let words = [
        (PointKind::Plain, words.plain),
        (PointKind::Warmup, words.warmup),
        (PointKind::Disturbed, words.disturbed),
        (PointKind::Discarded, "discarded"),
        (PointKind::Censored, "cut off (at least)"),
    ];
    let parts: Vec<String> = words
        .into_iter()
        .filter(|(kind, _)| points.iter().any(|point| point.kind == *kind))
        .map(|(kind, word)| format!("{}{NBSP}{word}", mark(Some(kind), style)))
        .collect();
    parts.join(", ")
}

fn numbers(n_points: usize, n_columns: usize, words: &Words) -> String {
    let last = n_points.to_string();
    if n_columns > last.len() + 2 {
        format!("1{}{last}", " ".repeat(n_columns - last.len() - 1))
    } else {
        format!("{}s 1 to {last}", words.one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> Vec<Point> {
        (0..48_u32)
            .map(|i| Point {
                value: 0.032 + f64::from(i * 7 % 5) * 1e-4 + f64::from(i) * 1e-5,
                kind: match i {
                    0..3 => PointKind::Warmup,
                    20 => PointKind::Disturbed,
                    _ => PointKind::Plain,
                },
            })
            .collect()
    }

    #[test]
    fn time_goes_from_left_to_right() {
        insta::assert_snapshot!(sequence(
            &points(),
            &Unit::Second,
            None,
            &Style { width: 70, colour: false, unicode: true }
        ));
    }

    #[test]
    fn more_runs_than_columns_still_fit() {
        let many: Vec<Point> = points().repeat(20);
        let text = sequence(&many, &Unit::Second, None, &Style { width: 40, ..Style::PLAIN });
        assert!(text.lines().all(|line| columns(line) <= 40), "{text}");
        assert!(text.is_ascii());
    }
}
