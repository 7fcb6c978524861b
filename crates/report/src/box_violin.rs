//! A box plot and a violin of one sample, each a line of text, for readers who ask for them beside
//! the strip plot: a box hides modes, and the smoothness of a violin is artificial.

use becalm_stats::boxes::BoxFigures;
use becalm_stats::density::density;
use becalm_stats::{Sample, whole};

use crate::axis::Axis;
use crate::style::Style;

/// What is drawn beside the dots of a strip plot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// Whiskers, quartiles and median.
    Box,
    /// A smooth density.
    Violin,
}

/// Draws a sample over the axis of its dots, with this many cells.
pub(crate) fn line(
    beside: Beside,
    values: &[f64],
    axis: &Axis,
    cells: usize,
    style: &Style,
) -> Option<String> {
    let sample = Sample::new(values.to_vec()).ok()?;
    let (name, drawn) = match beside {
        Beside::Box => ("box", box_cells(&sample, axis, cells, style)),
        Beside::Violin => ("violin", violin_cells(&sample, axis, cells, style)),
    };
    let drawn: String = drawn.into_iter().collect();
    let drawn = drawn.trim_end();
    let has_room = drawn.chars().count() + 1 + name.len() <= cells;
    Some(if has_room { format!("{drawn} {name}") } else { drawn.to_owned() })
}

fn box_cells(sample: &Sample, axis: &Axis, n_cells: usize, style: &Style) -> Vec<char> {
    let figures = BoxFigures::of(sample);
    let last = n_cells.saturating_sub(1);
    let cell = |value: f64| {
        let beyond = if value < axis.low { 0 } else { last };
        axis.cell(value, n_cells).unwrap_or(beyond)
    };
    let [lower, median, upper] = figures.quartiles.map(cell);
    let (low, high) = (cell(figures.low), cell(figures.high));
    let mut cells = vec![' '; n_cells];
    cells[low..=high].fill(style.pick('─', '-'));
    cells[low] = style.pick('├', '|');
    cells[high] = style.pick('┤', '|');
    cells[lower..=upper].fill(style.pick('▒', '='));
    cells[median] = style.pick('┃', '#');
    cells
}

fn violin_cells(sample: &Sample, axis: &Axis, n_cells: usize, style: &Style) -> Vec<char> {
    let steps = style.eighths();
    let last = n_cells.saturating_sub(1).max(1) as f64;
    let width = axis.high - axis.low;
    let places: Vec<f64> = (0..n_cells).map(|cell| axis.low + width * cell as f64 / last).collect();
    let step = |height: f64| steps[whole::count((8.0 * height).ceil()).min(8) as usize];
    // Below a hundredth of the peak there is nothing to see.
    let seen = |height: f64| if height < 0.01 { 0.0 } else { height };
    density(sample, &places).into_iter().map(|height| step(seen(height))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(beside: Beside, unicode: bool) -> String {
        let values = [1.0, 1.1, 1.2, 1.2, 1.3, 1.4, 4.0, 4.1, 4.2];
        let axis = Axis::covering(values).unwrap();
        let style = Style { unicode, ..Style::PLAIN };
        line(beside, &values, &axis, 40, &style).unwrap()
    }

    #[test]
    fn a_box_has_whiskers_quartiles_and_median() {
        insta::assert_snapshot!(drawn(Beside::Box, true), @"├─▒▒┃▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒─┤");
        insta::assert_snapshot!(drawn(Beside::Box, false), @"|-==#=================================-|");
    }

    #[test]
    fn a_violin_shows_both_modes() {
        insta::assert_snapshot!(drawn(Beside::Violin, true), @"████████▇▇▇▆▆▆▅▅▄▄▄▄▃▃▃▃▃▃▃▃▃▄▄▄▄▄▄▄▅▅▅▅");
        insta::assert_snapshot!(drawn(Beside::Violin, false), @"@@@@@@@@%%%***++====---------=======++++");
    }
}
