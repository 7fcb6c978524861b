//! Numbers in rows over one axis by ratios, with their intervals: what is drawn, and that as text.

use std::fmt::Write as _;

use crate::distinct::distinct;
use crate::page::caption;
use crate::quantity::NBSP;
use crate::scan::Ruled;
use crate::style::Style;
use crate::width::{columns, pad_right};

/// A narrower drawing shows nothing.
const NARROWEST: usize = 10;
const LONGEST_LABEL: usize = 24;

/// A row of the picture.
#[derive(Debug, Clone)]
pub(crate) struct Bar<'a> {
    pub(crate) label: &'a str,
    /// What is said of it at the right.
    pub(crate) note: String,
    pub(crate) marks: Vec<Mark>,
}

/// A number of a row.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    /// Which colour and shape it has, and its place in the legend.
    pub(crate) style: usize,
    pub(crate) value: f64,
    pub(crate) interval: Option<(f64, f64)>,
    /// Shown when the pointer rests on it.
    pub(crate) tip: String,
}

/// What the picture is about.
pub(crate) struct Bars<'a> {
    pub(crate) title: &'a str,
    pub(crate) in_words: &'a str,
    /// What the axis is called.
    pub(crate) axis: &'a str,
    /// Where bars begin; marks have no bar.
    pub(crate) from: Option<f64>,
    /// The least that the axis covers, so that nothing looks larger than it is.
    pub(crate) at_least: Option<(f64, f64)>,
    /// How a number on the axis is written.
    pub(crate) number: &'a dyn Fn(f64) -> String,
    /// What each style of a mark is; nothing where there is one alone.
    pub(crate) legend: &'a [&'a str],
    pub(crate) rows: &'a [Bar<'a>],
}

/// Says whether an axis by ratios has a place for a number.
pub(crate) fn is_drawn(value: f64) -> bool {
    value > 0.0 && value.is_finite()
}

impl Mark {
    /// Returns its interval, if both ends have a place.
    pub(crate) fn drawn_interval(&self) -> Option<(f64, f64)> {
        self.interval.filter(|(low, high)| is_drawn(*low) && is_drawn(*high))
    }
}

impl Bars<'_> {
    /// Returns an axis that covers all numbers; nothing when there is none above 0.
    pub(crate) fn across(&self) -> Option<Ruled> {
        let marks = self.rows.iter().flat_map(|row| &row.marks);
        let ends = |mark: &Mark| mark.interval.map_or([mark.value; 2], |(low, high)| [low, high]);
        let mut values: Vec<f64> =
            marks.flat_map(|mark| [mark.value, ends(mark)[0], ends(mark)[1]]).collect();
        values.retain(|value| is_drawn(*value));
        if values.is_empty() {
            return None;
        }
        values.extend(self.from);
        values.extend(self.at_least.into_iter().flat_map(|(low, high)| [low, high]));
        Some(Ruled::by_ratios(&values)?.widened(0.03))
    }
}

/// Draws all rows as text; empty when there is no number above 0.
pub(crate) fn bars_text(picture: &Bars<'_>, style: &Style) -> String {
    let Some(across) = picture.across() else { return String::new() };
    let labels: Vec<&str> = picture.rows.iter().map(|row| row.label).collect();
    let labels = distinct(&labels, LONGEST_LABEL.min(style.width * 2 / 5), style.unicode);
    let label_width = labels.iter().map(|label| columns(label)).max().unwrap_or(0);
    let width = style.width.saturating_sub(label_width + 4).max(NARROWEST);
    let last = width - 1;
    let axis = across.axis;
    let cell = |value: f64| {
        let share = (across.place(value) - axis.low) / (axis.high - axis.low);
        becalm_model::place((share * width as f64).floor().clamp(0.0, last as f64))
    };
    let shapes = style.pick(['●', '◆', '■', '▲'], ['o', 'x', '#', '+']);
    let mut out = format!("  {}\n", picture.axis);
    for (row, label) in picture.rows.iter().zip(&labels) {
        let mut line = vec![' '; width];
        if let Some(from) = picture.from {
            line[cell(from)] = style.pick('│', '|');
        }
        for mark in row.marks.iter().filter(|mark| is_drawn(mark.value)) {
            if let Some((low, high)) = mark.drawn_interval() {
                let (low, high) = (cell(low), cell(high));
                for place in &mut line[low..=high] {
                    *place = match *place {
                        ' ' => style.pick('─', '-'),
                        _ => style.pick('┼', '+'),
                    };
                }
                line[low] = style.pick('├', '[');
                line[high] = style.pick('┤', ']');
            }
            line[cell(mark.value)] = shapes[mark.style % shapes.len()];
        }
        let line: String = line.into_iter().collect();
        let _ = writeln!(out, "  {}  {}", pad_right(label, label_width), line.trim_end());
    }
    let mut ruler = vec![style.pick('─', '-'); width];
    let mut numbers = String::new();
    for tick in across.ticks() {
        let at = cell(tick);
        ruler[at] = style.pick('┴', '+');
        let number = (picture.number)(tick).replace(NBSP, " ");
        let start = at.saturating_sub(columns(&number) / 2);
        let start = start.min(width.saturating_sub(columns(&number)));
        if numbers.is_empty() || columns(&numbers) < start {
            numbers = format!("{}{number}", pad_right(&numbers, start));
        }
    }
    let blank = " ".repeat(label_width);
    let ruler: String = ruler.into_iter().collect();
    let _ = writeln!(out, "  {blank}  {ruler}\n  {blank}  {}", numbers.trim_end());
    if !picture.legend.is_empty() {
        let names = picture.legend.iter().zip(shapes);
        let names: Vec<String> = names.map(|(name, shape)| format!("{shape} {name}")).collect();
        out.push_str(&caption(&names.join("; "), label_width + 4, style));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_their_numbers_with_intervals_on_one_axis() {
        let mark = |value: f64, low: f64, high: f64| Mark {
            style: 0,
            value,
            interval: Some((low, high)),
            tip: String::new(),
        };
        let row = |label, mark| Bar { label, note: String::new(), marks: vec![mark] };
        let rows = [
            row("isolation", mark(0.2, 0.1, 0.4)),
            row("no turbo", mark(1.1, 0.8, 1.5)),
            row("nothing", mark(0.0, 0.0, 0.0)),
        ];
        let picture = Bars {
            title: "",
            in_words: "",
            axis: "spread, as a multiple",
            from: Some(1.0),
            at_least: Some((0.5, 2.0)),
            number: &|value| format!("x {value}"),
            legend: &[],
            rows: &rows,
        };
        let style = Style { width: 60, colour: false, unicode: true };
        insta::assert_snapshot!(bars_text(&picture, &style));
        assert!(bars_text(&picture, &Style::PLAIN).is_ascii());
        let rows = &rows[2..];
        assert_eq!(bars_text(&Bars { rows, ..picture }, &style), "");
    }
}
