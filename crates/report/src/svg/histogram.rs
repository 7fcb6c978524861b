//! Histograms of all subjects, one above the other on one axis.

use becalm_model::Record;
use becalm_stats::{Histogram, Sample};

use super::frame::Frame;
use super::{Anchor, NAME, Svg, row_names, subject_class};
use crate::axis::Axis;
use crate::histogram::count_ticks;
use crate::labels::Labels;
use crate::quantity::{Scale, count};
use crate::shown;

const ROW: f64 = 98.0;
/// Height of the highest bar.
const HIGHEST: f64 = 64.0;
const MAX_BINS: usize = 40;

/// Draws the distribution of every subject. Returns nothing when there is no value to draw.
pub(crate) fn histogram(record: &Record, labels: &Labels, metric: usize, id: &str) -> Option<Svg> {
    let samples: Vec<(usize, Sample)> = (0..record.subjects.len())
        .filter_map(|subject| Some((subject, shown::sample(record, subject, metric)?)))
        .collect();
    let values: Vec<&[f64]> = samples.iter().map(|(_, sample)| sample.values()).collect();
    let axis = Axis::without_far_values(&values)?.widened(0.02);
    let description = shown::metric_at(record, metric);
    let scale = Scale::of(&description.unit, [axis.low, axis.high], true);

    let height = ROW * samples.len() as f64 + 54.0;
    let title = format!("Histograms of {}", description.name);
    let words = "One histogram per subject, one above the other on the same axis, each with its axis of counts. \
                 The numbers are in the tables.";
    let mut svg = Svg::new(id, &title, words, height);
    let frame = Frame::new(56.0, height);
    frame.bottom_axis(&mut svg, &axis, &scale, &description.name);
    let names: Vec<&str> = samples.iter().map(|(subject, _)| labels.get(*subject)).collect();
    for ((row, (subject, sample)), name) in samples.iter().enumerate().zip(row_names(&names)) {
        let base = frame.top + ROW * (row + 1) as f64 - 6.0;
        let above = base - ROW + 6.0 + NAME;
        svg.text("label", Anchor::Start, (frame.left, above), &name);
        // Values beyond a cut axis would stretch the bins; the strip plot counts them.
        let inside: Vec<f64> =
            sample.values().iter().copied().filter(|&v| axis.position(v).is_some()).collect();
        let n_left_out = sample.len() - inside.len();
        let Ok(inside) = Sample::new(inside) else { continue };
        draw_bars(&mut svg, &frame, &axis, *subject, &Histogram::of(&inside, MAX_BINS), base);
        if n_left_out > 0 {
            let note = format!("{} beyond the axis", count(n_left_out, "run"));
            svg.text("note", Anchor::End, (frame.right - 4.0, above), &note);
        }
        svg.line("axis", (frame.left, base), (frame.right, base));
    }
    Some(svg)
}

fn draw_bars(
    svg: &mut Svg,
    frame: &Frame,
    axis: &Axis,
    subject: usize,
    histogram: &Histogram,
    base: f64,
) {
    let most = histogram.counts.iter().copied().max().unwrap_or(0).max(1);
    let height = |n: usize| n as f64 / most as f64 * HIGHEST;
    for tick in count_ticks(most, 3) {
        let y = base - height(tick);
        svg.line("grid", (frame.left, y), (frame.right, y));
        svg.text("tick", Anchor::End, (frame.left - 6.0, y + 4.0), &tick.to_string());
    }
    svg.line("axis", (frame.left, base), (frame.left, base - height(most)));
    let class = format!("bar {}", subject_class(subject));
    for (bin, &n) in histogram.counts.iter().enumerate().filter(|&(_, &n)| n > 0) {
        let left = frame.x(axis, histogram.edge(bin));
        // Equal values give a bin without width, which still has to be seen; gaps would make narrow bars pale.
        let right = frame.x(axis, histogram.edge(bin + 1)).max(left + 2.5);
        let gap = if right - left < 4.0 { 0.0 } else { 0.5 };
        svg.area(&class, (left + gap, base - height(n)), (right - gap, base));
    }
}
