//! Histograms of several samples over the same bins, next to each other.

use std::fmt::Write as _;

use becalm_model::Unit;

use crate::axis::Axis;
use crate::distinct::distinct;
use crate::page::caption;
use crate::quantity::{NBSP, Scale};
use crate::style::Style;
use crate::width::{columns, pad_left, pad_right};

/// Bins, as few as a glance can take in.
const BINS: usize = 10;

/// Draws named samples. A few values that lie far above all others are counted below.
pub(super) fn side_by_side(samples: &[(&str, Vec<f64>)], unit: &Unit, style: &Style) -> String {
    let slices: Vec<&[f64]> = samples.iter().map(|(_, values)| values.as_slice()).collect();
    let Some(axis) = Axis::without_far_values(&slices) else { return String::new() };
    let counts: Vec<Vec<usize>> = slices.iter().map(|values| counts(values, &axis)).collect();
    let most = counts.iter().flatten().copied().max().unwrap_or(0).max(1);
    let width = (axis.high - axis.low) / BINS as f64;
    let scale = Scale::of(unit, [axis.low, axis.high], style.unicode);
    let edges: Vec<String> = (0..=BINS)
        .map(|bin| scale.with_unit(axis.low + width * bin as f64).replace(NBSP, " "))
        .collect();
    let edge_width = edges.iter().map(|edge| columns(edge)).max().unwrap_or(0);
    let count_width = most.to_string().len();
    let each = style.width.saturating_sub(edge_width + 2) / samples.len().max(1);
    let room = each.saturating_sub(count_width + 5).max(4);
    let mut out = format!("  {}", " ".repeat(edge_width));
    let names: Vec<&str> = samples.iter().map(|(name, _)| *name).collect();
    let room_for_name = each.saturating_sub(2).max(1);
    for name in distinct(&names, room_for_name, style.unicode) {
        let _ = write!(out, "  {}", pad_right(&name, room_for_name));
    }
    let mut lines = vec![out];
    for bin in 0..BINS {
        let mut line = format!("  {}", pad_left(&edges[bin], edge_width));
        for counts in &counts {
            let n = counts[bin];
            let bar = style.pick("█", "#").repeat(length(n, most, room));
            let _ = write!(
                line,
                "  {n:>count_width$} {}",
                pad_right(&bar, each.saturating_sub(count_width + 3))
            );
        }
        lines.push(line);
    }
    lines.push(format!("  {}", pad_left(&edges[BINS], edge_width)));
    let mut text = String::new();
    for line in &lines {
        let _ = writeln!(text, "{}", line.trim_end());
    }
    for (name, values) in samples {
        let (below, above) = axis.beyond(values);
        if below + above > 0 {
            let all = values.len();
            let largest = values.iter().copied().fold(f64::MIN, f64::max);
            let note = format!(
                "{name}: {} of {all} values are beyond these bins; the largest is {}",
                below + above,
                scale.with_unit(largest).replace(NBSP, " ")
            );
            text.push_str(&caption(&note, 2, style));
        }
    }
    text
}

fn counts(values: &[f64], axis: &Axis) -> Vec<usize> {
    let mut counts = vec![0; BINS];
    for bin in values.iter().filter_map(|&value| axis.cell(value, BINS)) {
        counts[bin] += 1;
    }
    counts
}

/// A bin that is not empty shows at least one mark.
fn length(n: usize, most: usize, room: usize) -> usize {
    if n == 0 { 0 } else { (n * room / most).max(1) }
}
