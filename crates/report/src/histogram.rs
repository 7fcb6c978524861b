//! The histogram in text: one line per bin, with its lower edge, count and bar, and an axis of counts below.

use std::fmt::Write as _;

use becalm_model::{Unit, place};
use becalm_stats::outlier::limits;
use becalm_stats::{Histogram, Sample};

use crate::axis::Axis;
use crate::page::caption;
use crate::quantity::{NBSP, Scale};
use crate::shared_axes::Scope;
use crate::strip::beyond;
use crate::style::Style;
use crate::width::{columns, pad_left, pad_right};

/// Draws `sample` in at most `max_bins` bins, which are those of all samples where they share some.
pub(crate) fn histogram(
    sample: &Sample,
    unit: &Unit,
    max_bins: usize,
    shared: Option<&Scope>,
    style: &Style,
) -> String {
    let own = || Axis::without_far_values(&[sample.values()]);
    let Some(axis) = shared.map(|shared| shared.axis).or_else(own) else { return String::new() };
    let histogram = if let Some(shared) = shared {
        shared.histogram(sample, max_bins)
    } else {
        // One value far out would leave all others in the first bin.
        let inside = |value: &f64| (axis.low..=axis.high).contains(value);
        let near = sample.values().iter().copied().filter(inside).collect();
        let Ok(near) = Sample::new(near) else { return String::new() };
        Histogram::of(&near, max_bins)
    };
    let range = [histogram.low, histogram.edge(histogram.counts.len())];
    let scale = Scale::of(unit, range, style.unicode);
    let scale = scale.with_decimals(decimals(&histogram, &scale));
    let edges: Vec<String> = (0..histogram.counts.len())
        .map(|bin| scale.with_unit(histogram.edge(bin)).replace(NBSP, " "))
        .collect();
    let most = histogram.counts.iter().copied().max().unwrap_or(0).max(1);
    let edge_width = edges.iter().map(|edge| columns(edge)).max().unwrap_or(0);
    let count_width = most.to_string().len();
    let room = style.width.saturating_sub(edge_width + count_width + 7).max(4);
    let mut out = String::new();
    let (low, high) = limits(sample);
    let mut in_tails = 0;
    for (bin, (edge, &n)) in edges.iter().zip(&histogram.counts).enumerate() {
        let edge = pad_left(edge, edge_width);
        let is_tail = histogram.edge(bin) > high || histogram.edge(bin + 1) < low;
        in_tails += if is_tail { n } else { 0 };
        let bar = if is_tail { tail(n, most, room, style) } else { bar(n, most, room, style) };
        let _ = writeln!(out, "  {edge}  {n:>count_width$}  {bar}");
    }
    // The last line is the upper end: without it nobody can tell how wide the last bin is.
    if histogram.width > 0.0 {
        let edge = scale.with_unit(histogram.edge(histogram.counts.len())).replace(NBSP, " ");
        let (ruler, numbers) = count_ruler(most, room, style);
        let blank = " ".repeat(count_width);
        let _ = writeln!(out, "  {}  {blank}  {ruler}", pad_left(&edge, edge_width));
        let _ = writeln!(out, "  {}  {blank}  {numbers}", " ".repeat(edge_width));
    }
    if in_tails > 0 {
        let mark = tail_mark(style);
        let tails = format!("{mark} {in_tails} of {} in a tail: outliers", sample.len());
        out.push_str(&caption(&tails, 2, style));
    }
    if let Some(note) = beyond(sample.values(), &axis, &scale) {
        out.push_str(&caption(&note, 2, style));
    }
    let mut lines: Vec<&str> = out.lines().map(str::trim_end).collect();
    lines.push("");
    lines.join("\n")
}

/// Returns round numbers of values up to the highest bar, from 0, for the axis of a histogram.
pub(crate) fn count_ticks(most: usize, n_ticks: usize) -> Vec<usize> {
    let scale = Scale::of(&Unit::Count, [most as f64], true);
    let (ticks, decimals) = Axis { low: 0.0, high: most as f64 }.ticks(n_ticks, &scale);
    // There is no half value.
    if decimals > 0 {
        return (0..=most).collect();
    }
    ticks.into_iter().map(|tick| place(tick.round())).collect()
}

/// Draws the axis of the bars, and the numbers below it.
fn count_ruler(most: usize, room: usize, style: &Style) -> (String, String) {
    let mut line = vec![style.pick('─', '-'); room + 1];
    let mut numbers = String::new();
    for tick in count_ticks(most, (room / 12).max(2)) {
        let at = tick * room / most;
        line[at] = style.pick('┴', '+');
        let text = tick.to_string();
        let start = at.saturating_sub(text.len() / 2);
        if columns(&numbers) < start || numbers.is_empty() {
            numbers = format!("{}{text}", pad_right(&numbers, start));
        }
    }
    let what = " values";
    if columns(&numbers) + columns(what) <= room + 1 {
        numbers.push_str(what);
    }
    (line.into_iter().collect(), numbers)
}

/// Returns the decimals at which neighbouring edges differ.
pub(crate) fn decimals(histogram: &Histogram, scale: &Scale) -> usize {
    let width = histogram.width / scale.factor();
    if width <= 0.0 || !width.is_finite() {
        return 3;
    }
    place((1.0 - width.log10().floor()).clamp(0.0, 9.0))
}

/// Draws a bar; a bin that is not empty always shows at least a sliver.
fn bar(n: usize, most: usize, room: usize, style: &Style) -> String {
    const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
    if n == 0 {
        return String::new();
    }
    if !style.unicode {
        return "#".repeat((n * room / most).max(1));
    }
    let eighths = (n * room * 8 / most).max(1);
    let mut bar = EIGHTHS[7].to_string().repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8 - 1]);
    }
    bar
}

/// The mark of a tail.
fn tail_mark(style: &Style) -> char {
    style.pick('░', ':')
}

/// Draws the bar of a bin that holds outliers alone.
fn tail(n: usize, most: usize, room: usize, style: &Style) -> String {
    let cells = if n == 0 { 0 } else { (n * room / most).max(1) };
    tail_mark(style).to_string().repeat(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(unicode: bool) -> String {
        let values: Vec<f64> = (0..40_u32)
            .map(|i| 0.032 + f64::from(i * i % 17) * 1e-5 + f64::from(i / 39) * 3e-4)
            .collect();
        let style = Style { width: 50, colour: false, unicode };
        histogram(&Sample::new(values).unwrap(), &Unit::Second, 8, None, &style)
    }

    #[test]
    fn every_bin_has_its_edge_count_and_bar() {
        insta::assert_snapshot!(draw(false));
    }

    #[test]
    fn unicode_bars_fill_eighths_of_a_cell() {
        insta::assert_snapshot!(draw(true));
    }

    #[test]
    fn counts_have_round_ticks_and_no_halves() {
        assert_eq!(count_ticks(1, 4), [0, 1]);
        assert_eq!(count_ticks(3, 4), [0, 1, 2, 3]);
        assert_eq!(count_ticks(47, 4), [0, 20, 40]);
    }

    #[test]
    fn equal_values_are_one_bar() {
        let sample = Sample::new(vec![0.5; 3]).unwrap();
        let text =
            histogram(&sample, &Unit::Second, 10, None, &Style { width: 40, ..Style::PLAIN });
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}
