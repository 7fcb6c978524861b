//! Cumulative distribution and percentile spectrum in text: a line for each percentile, with the place of each sample on it.

use std::fmt::Write as _;

use crate::axis::Axis;
use crate::distinct::distinct;
use crate::page::caption;
use crate::quantity::{NBSP, Scale};
use crate::samples::{Row, Samples};
use crate::scan::Ruled;
use crate::strip::{beyond, ruler};
use crate::style::Style;
use crate::svg::percentile;
use crate::width::pad_left;

/// Lines of a cumulative distribution, from the top.
const SHARES: [f64; 12] = [1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05];

/// Lines of a spectrum, from the top.
const NINES: [f64; 7] = [0.999_999, 0.99999, 0.9999, 0.999, 0.99, 0.9, 0.5];

/// Letters of the share or percentile before a line.
const BEFORE: usize = 8;

/// A narrower plot shows nothing.
const NARROWEST: usize = 10;

const LONGEST_LABEL: usize = 40;

/// Draws the value up to which each share of the runs lies.
pub(crate) fn ecdf(samples: &Samples, style: &Style) -> String {
    let Some(axis) = Axis::without_far_values(&samples.values()) else { return String::new() };
    let lines = SHARES.map(|share| (format!("{:.0}{NBSP}%", share * 100.0), share));
    let cell = |value: f64, cells| axis.cell(value, cells);
    let value_at = |row: &Row, share: f64| Some(row.at_most(share));
    let mut out = lines_of(samples, &lines, value_at, cell, style);
    let scale = Scale::of(&samples.metric.unit, [axis.low, axis.high], style.unicode);
    let (line, numbers) = ruler(&axis, &scale, room(style), style);
    let blank = " ".repeat(BEFORE);
    let _ = writeln!(out, "  {blank}  {line}\n  {blank}  {}", numbers.trim_end());
    out.push_str(&legend(samples, style));
    for (index, row) in samples.rows.iter().enumerate() {
        if let Some(said) = beyond(row.sample.values(), &axis, &scale) {
            let said = format!("{} {said}", mark(index));
            out.push_str(&caption(&said.replace(NBSP, " "), BEFORE + 4, style));
        }
    }
    out
}

/// Draws the value at each percentile that a sample has runs for, and its largest.
pub(crate) fn spectrum(samples: &Samples, style: &Style) -> String {
    let Some(up) = Ruled::by_span(&samples.values().concat()) else { return String::new() };
    let longest = samples.rows.iter().map(|row| row.sample.len()).max().unwrap_or(0);
    let has = |q: &f64| (1.0 - q) * longest as f64 >= 1.0 - 1e-9;
    let top = std::iter::once(("largest".to_owned(), 1.0));
    let below = NINES.into_iter().filter(has).map(|q| (percentile(q), q));
    let lines: Vec<(String, f64)> = top.chain(below).collect();
    let cell = |value: f64, cells| up.axis.cell(up.place(value), cells);
    let mut out = lines_of(samples, &lines, value_at, cell, style);
    let scale = up.scale(&samples.metric.unit);
    let blank = " ".repeat(BEFORE);
    if up.is_logarithmic {
        let [low, high] = [up.axis.low, up.axis.high].map(|end| {
            let value = up.value(end);
            Scale::of(&samples.metric.unit, [value], style.unicode).with_unit(value)
        });
        let line = style.pick("─", "-").repeat(room(style));
        let gap = room(style).saturating_sub(low.chars().count());
        let ends = format!("{low}{}", pad_left(&high, gap)).replace(NBSP, " ");
        let _ = writeln!(out, "  {blank}  {line}\n  {blank}  {ends}");
        out.push_str(&caption("equal distances are equal ratios", BEFORE + 4, style));
    } else {
        let (line, numbers) = ruler(&up.axis, &scale, room(style), style);
        let _ = writeln!(out, "  {blank}  {line}\n  {blank}  {}", numbers.trim_end());
    }
    out.push_str(&legend(samples, style));
    out
}

fn room(style: &Style) -> usize {
    style.width.saturating_sub(BEFORE + 4).max(NARROWEST)
}

/// Draws a line for each share. A sample with too few runs for a share has no mark there.
fn lines_of(
    samples: &Samples,
    lines: &[(String, f64)],
    value_at: impl Fn(&Row, f64) -> Option<f64>,
    cell: impl Fn(f64, usize) -> Option<usize>,
    style: &Style,
) -> String {
    let mut out = String::new();
    for (name, share) in lines {
        let mut cells = vec![' '; room(style)];
        for (index, row) in samples.rows.iter().enumerate() {
            let Some(at) = value_at(row, *share).and_then(|value| cell(value, cells.len())) else {
                continue;
            };
            cells[at] = if cells[at] == ' ' { mark(index) } else { '*' };
        }
        let cells: String = cells.into_iter().collect();
        let name = pad_left(&name.replace(NBSP, " "), BEFORE);
        let _ = writeln!(out, "{}", format!("  {name}  {cells}").trim_end());
    }
    out
}

/// Returns what the share of the runs takes at most, if there are runs above it.
fn value_at(row: &Row, share: f64) -> Option<f64> {
    let above = (1.0 - share) * row.sample.len() as f64;
    (share >= 1.0 || above >= 1.0 - 1e-9).then(|| row.at_most(share))
}

/// Returns the mark of a sample: a letter, which any terminal shows in one colour.
fn mark(index: usize) -> char {
    char::from(b'a' + u8::try_from(index % 26).unwrap_or(0))
}

fn legend(samples: &Samples, style: &Style) -> String {
    let names = distinct(&samples.labels(), LONGEST_LABEL, style.unicode);
    let mut parts: Vec<String> =
        names.iter().enumerate().map(|(index, name)| format!("{} {name}", mark(index))).collect();
    if parts.len() > 1 {
        parts.push("* several".to_owned());
    }
    caption(&parts.join(", "), BEFORE + 4, style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::tests::of_sizes;

    const NARROW: Style = Style { width: 60, colour: false, unicode: true };

    #[test]
    fn shares_are_lines_with_the_place_of_each_sample() {
        insta::assert_snapshot!(ecdf(&of_sizes(&[30, 40]), &NARROW));
        assert!(ecdf(&of_sizes(&[30, 40]), &Style::PLAIN).is_ascii());
    }

    #[test]
    fn percentiles_reach_as_far_as_there_are_runs() {
        insta::assert_snapshot!(spectrum(&of_sizes(&[3, 30_000]), &NARROW));
    }
}
