//! A scan on a terminal: what each subject takes, from below to above, against the parameter, from left to right.

use std::fmt::Write as _;

use becalm_model::Record;

use super::ruled::Ruled;
use super::{Point, Scan};
use crate::distinct::distinct;
use crate::page::caption;
use crate::quantity::{NBSP, Scale};
use crate::shown;
use crate::style::Style;
use crate::width::{columns, pad_left, pad_right};

const ROWS: usize = 12;

/// Draws the medians of a metric. Returns nothing when fewer than two subjects have values.
pub(crate) fn text(record: &Record, scan: &Scan, metric: usize, style: &Style) -> String {
    let all: Vec<Vec<Point>> =
        scan.series.iter().map(|series| series.points(record, metric)).collect();
    let points = || all.iter().flatten();
    if points().count() < 2 {
        return String::new();
    }
    let at: Vec<f64> = points().map(|point| point.at).collect();
    let medians: Vec<f64> = points().map(|point| point.median.value).collect();
    let Some(across) = Ruled::by_steps(&at) else { return String::new() };
    let Some(up) = Ruled::beside(&across, &medians) else { return String::new() };

    let unit = shown::metric_at(record, metric).unit;
    let number =
        |value: f64| Scale::of(&unit, [value], style.unicode).with_unit(value).replace(NBSP, " ");
    let [bottom, top] = [up.axis.low, up.axis.high].map(|end| number(up.value(end)));
    let margin = columns(&top).max(columns(&bottom));
    let room = style.width.saturating_sub(margin + 4).max(8);
    let mut grid = vec![vec![' '; room]; ROWS];
    for (index, points) in all.iter().enumerate() {
        for point in points {
            let row = up.axis.cell(up.place(point.median.value), ROWS).unwrap_or(0);
            let column = across.axis.cell(across.place(point.at), room).unwrap_or(0);
            grid[ROWS - 1 - row][column] = mark(index, style);
        }
    }
    let mut out = String::new();
    for (index, row) in grid.iter().enumerate() {
        let label = match index {
            0 => &top,
            i if i + 1 == ROWS => &bottom,
            _ => "",
        };
        let line: String = row.iter().collect();
        let bar = style.pick('│', '|');
        let _ = writeln!(out, "  {} {bar}{}", pad_left(label, margin), line.trim_end());
    }
    let mut values = at;
    values.sort_by(f64::total_cmp);
    values.dedup();
    let _ = writeln!(out, "  {}  {}", " ".repeat(margin), numbers(&values, &across, room));
    out.push_str(&caption(&said(scan, &across, &up), margin + 4, style));
    if scan.series.len() > 1 {
        let names: Vec<&str> = scan.series.iter().map(|series| series.name.as_str()).collect();
        let names = distinct(&names, style.width.saturating_sub(margin + 6), style.unicode);
        for (index, name) in names.iter().enumerate() {
            let line = format!("{} {name}", mark(index, style));
            out.push_str(&caption(&line, margin + 4, style));
        }
    }
    out
}

fn said(scan: &Scan, across: &Ruled, up: &Ruled) -> String {
    let axes = match (across.is_logarithmic, up.is_logarithmic) {
        (true, true) => "; both axes are logarithmic",
        (true, false) => "; that axis is logarithmic",
        (false, true) => "; the axis of values is logarithmic",
        (false, false) => "",
    };
    format!("{}, from left to right; medians{axes}", scan.parameter)
}

fn mark(series: usize, style: &Style) -> char {
    style.pick(['●', '◆', '■', '▲'], ['o', 'x', '#', '+'])[series % 4]
}

/// Writes those values of the parameter that have room.
fn numbers(values: &[f64], across: &Ruled, room: usize) -> String {
    let mut out = String::new();
    for &value in values {
        let text = value.to_string();
        let Some(at) = across.axis.cell(across.place(value), room) else { continue };
        let start = at.saturating_sub(text.len() / 2).min(room.saturating_sub(text.len()));
        if out.is_empty() || columns(&out) < start {
            out = format!("{}{text}", pad_right(&out, start));
        }
    }
    out
}
