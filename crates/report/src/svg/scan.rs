//! A scan: the median of each subject with its interval, against the parameter, those of a series joined.

use becalm_model::Record;

use super::frame::Frame;
use super::{Anchor, Shape, Svg, subject_class};
use crate::distinct::distinct;
use crate::labels::Labels;
use crate::quantity::Scale;
use crate::scan::{Point, Ruled, Scan};
use crate::shown;

const HEIGHT: f64 = 300.0;
/// One line of the legend of series.
const LINE: f64 = 17.0;
const LEGEND_COLUMNS: usize = 60;
/// Numbers below the axis stand so far apart at least.
const APART: f64 = 44.0;

/// Draws a metric against the parameter. Returns nothing when fewer than two subjects have values.
pub(crate) fn scan(
    record: &Record,
    labels: &Labels,
    scan: &Scan,
    metric: usize,
    id: &str,
) -> Option<Svg> {
    let all: Vec<Vec<Point>> =
        scan.series.iter().map(|series| series.points(record, metric)).collect();
    let points = || all.iter().flatten();
    if points().count() < 2 {
        return None;
    }
    let ends = |point: &Point| {
        let (low, high) = point.median.interval.unwrap_or((point.median.value, point.median.value));
        [low, point.median.value, high]
    };
    let at: Vec<f64> = points().map(|point| point.at).collect();
    let across = Ruled::by_steps(&at)?.widened(0.04);
    let values: Vec<f64> = points().flat_map(ends).collect();
    let up = Ruled::beside(&across, &values)?.widened(0.05);
    let description = shown::metric_at(record, metric);
    let legend = if scan.series.len() > 1 { LINE * scan.series.len() as f64 } else { 0.0 };
    let title = format!("{} against {}", description.name, scan.parameter);
    let mut svg = Svg::new(id, &title, &in_words(record, scan, &all, metric), HEIGHT + legend);
    let frame = Frame::new(84.0, HEIGHT);

    let scale = up.scale(&description.unit);
    frame.ruled_axis(&mut svg, &up, &description.unit, &scale);
    values_below(&mut svg, &frame, &across, &all);
    frame.bottom_name(&mut svg, &scan.parameter);

    for (index, points) in all.iter().enumerate() {
        let place = |point: &Point| {
            let y = frame.y(&up.axis, up.place(point.median.value));
            (frame.x(&across.axis, across.place(point.at)), y)
        };
        for pair in points.windows(2) {
            svg.line("joined", place(&pair[0]), place(&pair[1]));
        }
        for point in points {
            let (x, y) = place(point);
            if let Some((low, high)) = point.median.interval {
                let [low, high] = [low, high].map(|end| frame.y(&up.axis, up.place(end)));
                svg.line("interval", (x, low), (x, high));
            }
            let value = scale.with_decimals(4).with_unit(point.median.value);
            let tip = format!("{}: {value}", labels.get(point.subject));
            // One series has the marks of its subjects, which the page explains; several have their own legend.
            let mark = if scan.series.len() > 1 { index } else { point.subject };
            let class = format!("dot {}", subject_class(mark));
            svg.mark(Shape::of_subject(mark), &class, (x, y), &tip);
        }
    }
    if scan.series.len() > 1 {
        let names: Vec<&str> = scan.series.iter().map(|series| series.name.as_str()).collect();
        for (index, name) in distinct(&names, LEGEND_COLUMNS, true).iter().enumerate() {
            let y = HEIGHT + LINE * (index as f64 + 0.4);
            let class = format!("dot {}", subject_class(index));
            svg.mark(Shape::of_subject(index), &class, (frame.left, y), name);
            svg.text("text", Anchor::Start, (frame.left + 12.0, y + 4.0), name);
        }
    }
    Some(svg)
}

/// Writes the values of the parameter below the plot, as far as they have room.
fn values_below(svg: &mut Svg, frame: &Frame, across: &Ruled, all: &[Vec<Point>]) {
    let mut values: Vec<f64> = all.iter().flatten().map(|point| point.at).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let mut last = f64::NEG_INFINITY;
    for value in values {
        let x = frame.x(&across.axis, across.place(value));
        if x - last < APART {
            continue;
        }
        last = x;
        let class = if across.is_logarithmic { "grid decade" } else { "grid" };
        svg.line(class, (x, frame.top), (x, frame.bottom));
        svg.text("tick", Anchor::Middle, (x, frame.bottom + 16.0), &value.to_string());
    }
    svg.line("axis", (frame.left, frame.bottom), (frame.right, frame.bottom));
}

fn in_words(record: &Record, scan: &Scan, all: &[Vec<Point>], metric: usize) -> String {
    let unit = shown::metric_at(record, metric).unit;
    let value = |point: &Point| {
        let value = point.median.value;
        let shown = Scale::of(&unit, [value], true).with_unit(value);
        format!("{} at {}", shown, point.at)
    };
    let of_each = scan.series.iter().zip(all).map(|(series, points)| {
        let values: Vec<String> = points.iter().map(value).collect();
        format!("{}: {}.", series.name, values.join(", "))
    });
    format!("Medians against {}. {}", scan.parameter, of_each.collect::<Vec<_>>().join(" "))
}
