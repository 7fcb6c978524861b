//! The cumulative distribution: for every value the share of the runs that do not exceed it, as steps.

use super::frame::Frame;
use super::rows::{legend, with_legend};
use super::{Anchor, Place, Shape, Svg, curve_class, subject_class};
use crate::axis::Axis;
use crate::quantity::Scale;
use crate::samples::{Row, Samples};

/// With less, the lowest names of the left axis touch on a narrow screen.
const HEIGHT: f64 = 340.0;
/// Shares that the left axis names.
const SHARES: [f64; 7] = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0];

/// Draws all samples on one axis. `None` without a value to draw.
pub(crate) fn ecdf(samples: &Samples, id: &str) -> Option<Svg> {
    let axis = Axis::without_far_values(&samples.values())?.widened(0.02);
    let scale = Scale::of(&samples.metric.unit, [axis.low, axis.high], true);
    let title = format!("Cumulative distribution of {}", samples.metric.name);
    let height = with_legend(HEIGHT, samples);
    let mut svg = Svg::new(id, &title, &in_words(samples, &scale), height);
    // As wide as `100 %` is on a narrow screen.
    let frame = Frame::new(66.0, HEIGHT);
    let shares = Axis { low: 0.0, high: 1.0 };
    for share in SHARES {
        let y = frame.y(&shares, share);
        svg.line("grid", (frame.left, y), (frame.right, y));
        let at = (frame.left - 6.0, y + 4.0);
        svg.text("tick", Anchor::End, at, &format!("{:.0} %", share * 100.0));
    }
    svg.line("axis", (frame.left, frame.top), (frame.left, frame.bottom));
    frame.bottom_axis(&mut svg, &axis, &scale, &samples.metric.name);
    let cell = cell(samples.rows.len());
    for row in &samples.rows {
        let place = |value: f64, share: f64| (frame.x(&axis, value), frame.y(&shares, share));
        let (exact, bounds) = steps(row, &axis, place, cell);
        svg.path(&curve_class(row.style), exact);
        svg.path(&format!("{} at-least", curve_class(row.style)), bounds);
        let class = format!("dot {}", subject_class(row.style));
        for share in read_off(row.sample.len()) {
            let value = row.at_most(*share);
            // The curve passes below or above what lies beyond the axis.
            if axis.position(value).is_some() {
                let tip = format!("{}: {}", row.label, at_most(row, *share, &scale));
                svg.mark(Shape::of_subject(row.style), &class, place(value, *share), &tip);
            }
        }
    }
    legend(&mut svg, &frame, HEIGHT, samples, |row| beyond(row, &axis, &scale));
    Some(svg)
}

/// With fewer runs a curve has a mark in the middle alone.
pub(crate) const FEW_RUNS: usize = 10;

/// Shares at which curves have a mark.
fn read_off(n: usize) -> &'static [f64] {
    if n < FEW_RUNS { &[0.5] } else { &[0.1, 0.25, 0.5, 0.75, 0.9] }
}

/// Returns how close to each other steps may be: many curves have fewer each.
fn cell(n_rows: usize) -> f64 {
    match n_rows {
        0..=6 => 0.5,
        7..=20 => 1.0,
        _ => 2.0,
    }
}

/// Returns the corners of a curve, and those of the part from which on values are lower bounds. Steps that are closer than
/// `cell` are one.
fn steps(
    row: &Row,
    axis: &Axis,
    place: impl Fn(f64, f64) -> Place,
    cell: f64,
) -> (Vec<Place>, Vec<Place>) {
    let sorted = row.sample.sorted();
    let n = sorted.len() as f64;
    let below = sorted.partition_point(|value| *value < axis.low);
    let mut share = below as f64 / n;
    let mut exact = vec![place(axis.low, share)];
    let mut bounds: Vec<Place> = Vec::new();
    let mut next = below;
    while next < sorted.len() && sorted[next] <= axis.high {
        let value = sorted[next];
        let (x, before) = place(value, share);
        // All values of this place.
        while next < sorted.len()
            && place(sorted[next], 0.0).0 < x + cell
            && sorted[next] <= axis.high
        {
            next += 1;
        }
        share = next as f64 / n;
        let is_bound = row.cut_off.is_some_and(|cut_off| value >= cut_off);
        let corners = [(x, before), place(value, share)];
        if is_bound && bounds.is_empty() {
            exact.push(corners[0]);
        }
        if is_bound { &mut bounds } else { &mut exact }.extend(corners);
    }
    let end = place(axis.high, share);
    if bounds.is_empty() { &mut exact } else { &mut bounds }.push(end);
    (exact, bounds)
}

/// Says how much of a curve is not drawn.
fn beyond(row: &Row, axis: &Axis, scale: &Scale) -> String {
    let most = scale.with_unit(row.sample.maximum());
    match axis.beyond(row.sample.values()) {
        (0, 0) => String::new(),
        (0, above) => format!(", {above} further up, to {most}"),
        (below, 0) => format!(", {below} further down"),
        (below, above) => format!(", {below} further down, {above} further up, to {most}"),
    }
}

fn at_most(row: &Row, share: f64, scale: &Scale) -> String {
    format!("{:.0} % up to {}", share * 100.0, row.at_most_in_words(share, scale))
}

fn in_words(samples: &Samples, scale: &Scale) -> String {
    let of_row = |row: &Row| {
        let shares = read_off(row.sample.len()).iter().map(|share| at_most(row, *share, scale));
        let shares: Vec<String> = shares.collect();
        let n = becalm_model::counted(row.sample.len(), samples.each);
        format!("{}: {} of {n}.", row.label, shares.join(", "))
    };
    let rows: Vec<String> = samples.rows.iter().map(of_row).collect();
    format!("Steps of the share of runs that do not exceed a value. {}", rows.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::tests::{of_sizes, row};
    use crate::svg;

    #[test]
    fn curves_rise_by_steps_to_all_runs() {
        insta::assert_snapshot!(svg::within(&ecdf(&of_sizes(&[3, 30]), "e").unwrap()));
    }

    #[test]
    fn the_curve_of_many_runs_is_that_of_few_and_its_size_is_bounded() {
        let few = ecdf(&of_sizes(&[30, 30, 30]), "e").unwrap();
        let many = ecdf(&of_sizes(&[30_000, 30_000, 30_000]), "e").unwrap();
        let marks = |svg: &Svg| (svg.count_of("curve"), svg.count_of("dot"));
        assert_eq!(marks(&few), marks(&many));
        let size = svg::alone(&many).len();
        assert!(size < 200_000, "{size}");
    }

    #[test]
    fn every_step_of_a_small_sample_is_a_share_of_its_runs() {
        let place = |value, share| (value * 100.0, share);
        let axis = Axis { low: 0.0, high: 5.0 };
        let corners = |cut_off| {
            let row = Row { cut_off, ..row(0, "a", vec![1.0, 2.0, 2.0, 4.0, 9.0]) };
            steps(&row, &axis, place, 0.5)
        };
        let exact = [(0.0, 0.0), (100.0, 0.0), (100.0, 0.2), (200.0, 0.2), (200.0, 0.6)];
        let rest = [(400.0, 0.6), (400.0, 0.8), (500.0, 0.8)];
        assert_eq!(corners(None), ([exact.as_slice(), &rest].concat(), vec![]));
        let (known, bounds) = corners(Some(3.0));
        assert_eq!((known.len(), known.last()), (6, Some(&(400.0, 0.6))));
        assert_eq!(bounds, rest, "from the first run that was cut off on");
    }
}
