//! The percentile spectrum: values over log 1 / (1 - q), so that every further nine of a percentile has the same width
//! and the tail is as wide as the middle.

use super::frame::{Frame, below};
use super::rows::{legend, with_legend};
use super::{Anchor, Place, Shape, Svg, curve_class, subject_class};
use crate::axis::Axis;
use crate::quantity::Scale;
use crate::samples::{Row, Samples};
use crate::scan::Ruled;

const HEIGHT: f64 = 300.0;
/// Steps that are closer than this are one.
const CELL: f64 = 0.5;

/// Percentiles below the axis.
const NAMED: [f64; 8] = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999];

/// Draws all samples on one axis, by ratios where values span much. `None` without a value to draw.
pub(crate) fn spectrum(samples: &Samples, id: &str) -> Option<Svg> {
    let up = Ruled::by_span(&samples.values().concat())?.widened(0.04);
    let longest = samples.rows.iter().map(|row| row.sample.len()).max()?;
    let across = Axis::between(0.0, (longest.max(2) as f64).log10());
    let scale = up.scale(&samples.metric.unit);
    let title = format!("Percentiles of {}", samples.metric.name);
    let height = with_legend(HEIGHT, samples);
    let mut svg = Svg::new(id, &title, &in_words(samples, &scale), height);
    let frame = Frame::new(84.0, HEIGHT);
    frame.ruled_axis(&mut svg, &up, &samples.metric.unit, &scale);
    percentiles_below(&frame, &mut svg, &across);
    for row in &samples.rows {
        let place = |nines, value| (frame.x(&across, nines), frame.y(&up.axis, up.place(value)));
        let (exact, bounds) = steps(row, place);
        svg.path(&curve_class(row.style), exact);
        svg.path(&format!("{} at-least", curve_class(row.style)), bounds);
        let class = format!("dot {}", subject_class(row.style));
        for q in read_off(row.sample.len()) {
            let (nines, value) = if q < 1.0 {
                (nines(q), row.at_most(q))
            } else {
                ((row.sample.len() as f64).log10(), row.sample.maximum())
            };
            let tip = format!("{}: {}", row.label, at(row, q, &scale));
            svg.mark(Shape::of_subject(row.style), &class, place(nines, value), &tip);
        }
    }
    legend(&mut svg, &frame, HEIGHT, samples, |row| {
        format!(", at most {}", scale.with_unit(row.sample.maximum()))
    });
    Some(svg)
}

/// Draws the percentiles that an axis of nines has along the bottom, with lines up through the plot.
pub(crate) fn percentiles_below(frame: &Frame, svg: &mut Svg, across: &Axis) {
    for q in NAMED {
        let nines = nines(q);
        if nines <= across.high + 1e-9 {
            let x = frame.x(across, nines);
            svg.line("grid", (x, frame.top), (x, frame.bottom));
            let name = percentile(q);
            // The first one would run into the lowest value, on a narrow screen.
            let anchor = if q == 0.0 { Anchor::Start } else { below(x, &name) };
            svg.text("tick", anchor, (x, frame.bottom + 16.0), &name);
        }
    }
    svg.line("axis", (frame.left, frame.bottom), (frame.right, frame.bottom));
    frame.bottom_name(svg, "percentile");
}

/// Writes `p99.9`.
pub(crate) fn percentile(q: f64) -> String {
    let percent = (q * 1e6).round() / 1e4;
    format!("p{percent}")
}

fn nines(q: f64) -> f64 {
    -(1.0 - q).log10()
}

/// Percentiles at which curves have a mark: those of which a sample has at least a run above, and its largest value.
fn read_off(n: usize) -> Vec<f64> {
    let has = |q: &f64| (1.0 - q) * n as f64 >= 1.0 && *q > 0.0;
    NAMED.into_iter().filter(has).chain([1.0]).collect()
}

/// Returns the corners of a curve, and those of the part from which on values are lower bounds. The first run is at no nine,
/// the last of n at log n.
fn steps(row: &Row, place: impl Fn(f64, f64) -> Place) -> (Vec<Place>, Vec<Place>) {
    let sorted = row.sample.sorted();
    let n = sorted.len();
    let left = |rank: usize| (n as f64 / (n - rank) as f64).log10();
    let (mut exact, mut bounds): (Vec<Place>, Vec<Place>) = (Vec::new(), Vec::new());
    let mut last: Option<Place> = None;
    for (rank, &value) in sorted.iter().enumerate() {
        let at = place(left(rank), value);
        // The last one is the largest, and always drawn.
        if last.is_some_and(|last| at.0 - last.0 < CELL) && rank + 1 < n {
            continue;
        }
        let is_bound = row.cut_off.is_some_and(|cut_off| value >= cut_off);
        let corner = last.map(|last| (at.0, last.1));
        if is_bound && bounds.is_empty() {
            exact.extend(corner);
        }
        let curve = if is_bound { &mut bounds } else { &mut exact };
        curve.extend(corner.into_iter().chain([at]));
        last = Some(at);
    }
    (exact, bounds)
}

fn at(row: &Row, q: f64, scale: &Scale) -> String {
    let value = row.at_most_in_words(q, scale);
    if q < 1.0 { format!("{} {value}", percentile(q)) } else { format!("largest {value}") }
}

fn in_words(samples: &Samples, scale: &Scale) -> String {
    let of_row = |row: &Row| {
        let parts: Vec<String> =
            read_off(row.sample.len()).into_iter().map(|q| at(row, q, scale)).collect();
        let n = becalm_model::counted(row.sample.len(), samples.each);
        format!("{}: {} of {n}.", row.label, parts.join(", "))
    };
    let rows: Vec<String> = samples.rows.iter().map(of_row).collect();
    format!("Values by percentile; every further nine has the same width. {}", rows.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::tests::{of_sizes, row};
    use crate::svg;

    #[test]
    fn curves_rise_to_the_largest_value_at_the_nines_of_their_runs() {
        insta::assert_snapshot!(svg::within(&spectrum(&of_sizes(&[3, 30]), "p").unwrap()));
    }

    #[test]
    fn a_percentile_at_the_end_stays_in_the_picture_on_a_narrow_screen() {
        let drawn = svg::within(&spectrum(&of_sizes(&[100]), "p").unwrap());
        let anchor = |name: &str| drawn.lines().find(|line| line.contains(&format!(">{name}<")));
        assert!(anchor("p99").unwrap().contains("text-anchor=\"end\""), "{drawn}");
        assert!(anchor("p90").unwrap().contains("text-anchor=\"middle\""), "{drawn}");
    }

    #[test]
    fn the_spectrum_of_many_runs_has_more_nines_and_a_bounded_size() {
        let many = spectrum(&of_sizes(&[30_000, 30_000, 30_000]), "p").unwrap();
        assert_eq!(many.count_of("curve"), 6, "three curves and their legend");
        let size = svg::alone(&many).len();
        assert!(size < 200_000, "{size}");
        let words =
            |n| in_words(&of_sizes(&[n]), &Scale::of(&becalm_model::Unit::Second, [0.03], true));
        assert!(!words(3).contains("p90") && words(30).contains("p90"), "{}", words(30));
        assert!(words(30_000).contains("p99.99 ") && !words(30_000).contains("p99.999"));
    }

    #[test]
    fn what_was_cut_off_is_a_lower_bound() {
        let row = Row { cut_off: Some(3.0), ..row(0, "a", vec![1.0, 2.0, 3.0, 3.0]) };
        let (exact, bounds) = steps(&row, |nines, value| (nines * 100.0, value));
        assert_eq!(exact.last().map(|at| at.1), Some(2.0));
        assert_eq!(bounds.first().map(|at| at.1), Some(2.0), "it begins where the other ends");
        assert!(bounds.iter().skip(1).all(|at| at.1 > 2.9), "{bounds:?}");
        let scale = Scale::of(&becalm_model::Unit::Second, [3.0], true);
        assert_eq!(at(&row, 1.0, &scale), "largest more than 3.0000\u{a0}s");
    }
}
