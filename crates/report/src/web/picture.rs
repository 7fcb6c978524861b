//! The picture of a series: every value, the levels between changes with their intervals, and the changes.

use std::fmt::Write as _;

use becalm_model::history::short_commit;
use becalm_model::wire::{WebPointDocument, WebSeriesDocument};

use super::frame::{clipped, unit};
use super::links::Links;
use crate::axis::Axis;
use crate::escape;
use crate::moment::{date, utc};
use crate::quantity::{Scale, count};
use crate::svg::{Anchor, Frame, Svg, WIDTH, with_links, within};

const HEIGHT: f64 = 300.0;
const OVERVIEW_HEIGHT: f64 = 90.0;

/// Draws the points of a part; each leads to its record.
pub(super) fn points(document: &WebSeriesDocument, links: &Links<'_>) -> Option<String> {
    let points = &document.points;
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let (first, last) = (points.first()?, points.last()?);
    let shown_levels: Vec<_> = (document.levels.iter())
        .filter(|level| level.last >= first.index && level.first <= last.index)
        .collect();
    // A level of few points is no far value: it is what the page is about.
    let usual = Axis::without_far_values(&[&values])?;
    let ends = shown_levels.iter().flat_map(|level| [Some(level.level), level.low, level.high]);
    let axis = Axis::covering([usual.low, usual.high].into_iter().chain(ends.flatten()))?;
    let axis = axis.widened(0.06);
    let scale = Scale::of(&unit(&document.series.unit), [axis.low, axis.high], true);
    let frame = Frame::new(84.0, HEIGHT);
    let by_time = document.by == "time";
    let place =
        |point: &WebPointDocument| if by_time { point.time } else { point.index as f64 + 1.0 };
    let across = if by_time {
        Axis::between(first.time, last.time).widened(0.02)
    } else {
        Axis::between(first.index as f64 + 0.5, last.index as f64 + 1.5)
    };
    let words = format!(
        "{}, from {} to {}; the table below has the same values.",
        count(points.len(), "point"),
        utc(first.time),
        utc(last.time)
    );
    let title =
        format!("{} over {}", document.series.metric, if by_time { "time" } else { "entries" });
    let mut svg = Svg::new("series", &clipped(&title), &words, HEIGHT);
    frame.left_axis(&mut svg, &axis, &scale, false);
    if by_time {
        time_axis(&frame, &mut svg, &across);
    } else {
        frame.counting_axis(&mut svg, &across, "entries with a value, in time order");
    }
    // Places of points of the whole series, of which only a part may be here.
    let shown = |index: usize| points.iter().find(|point| point.index == index);
    let within_part = |index: usize| index.clamp(first.index, last.index);
    for level in shown_levels {
        let ends = [within_part(level.first), within_part(level.last)];
        let Some((from, to)) = shown(ends[0]).zip(shown(ends[1])) else { continue };
        let half = if by_time { 0.0 } else { 0.5 };
        let (left, right) =
            (frame.x(&across, place(from) - half), frame.x(&across, place(to) + half));
        if let (Some(low), Some(high)) = (level.low, level.high) {
            svg.area("interval-band", (left, frame.y(&axis, low)), (right, frame.y(&axis, high)));
        }
        let y = frame.y(&axis, level.level);
        svg.line("median", (left, y), (right, y));
    }
    for change in &document.changes {
        let one = &change.change;
        let Some(point) = shown(one.index) else { continue };
        let half = if by_time { 0.0 } else { 0.5 };
        let x = frame.x(&across, place(point) - half);
        let class = if one.state == "pending" { "steady" } else { "estimate" };
        svg.line(class, (x, frame.top), (x, frame.bottom));
        if one.state == "pending" {
            svg.text("note", Anchor::End, (x - 4.0, frame.top + 10.0), "pending");
        }
    }
    let mut marks = String::new();
    let mut n_beyond = 0;
    for point in points {
        n_beyond += usize::from(axis.position(point.value).is_none());
        let at = (frame.x(&across, place(point)), frame.y(&axis, point.value));
        mark(&mut marks, point, at, &scale, links);
    }
    if n_beyond > 0 {
        let text = format!("{} beyond the axis, at its edge", count(n_beyond, "point"));
        svg.text("note", Anchor::End, (frame.right - 4.0, frame.top - 8.0), &text);
    }
    Some(format!("<figure>{}</figure>\n", with_links(&svg, &marks)))
}

/// Writes one point as a link. The keyboard goes through the table instead, which has the same links.
fn mark(
    out: &mut String,
    point: &WebPointDocument,
    at: (f64, f64),
    scale: &Scale,
    links: &Links<'_>,
) {
    let commit = point
        .commit
        .as_deref()
        .map_or(String::new(), |id| format!("{}, ", clipped(short_commit(id))));
    let tip = format!(
        "{commit}{}: {}, {}",
        date(point.time),
        scale.with_more_digits().with_unit(point.value),
        count(usize::try_from(point.runs).unwrap_or(0), "run")
    );
    let _ = writeln!(
        out,
        "<a href=\"{}\" tabindex=\"-1\"><circle class=\"dot s0\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\"><title>{}</title></circle></a>",
        links.point(point.entry),
        at.0,
        at.1,
        escape::html(&tip)
    );
}

/// Writes days along the bottom.
fn time_axis(frame: &Frame, svg: &mut Svg, across: &Axis) {
    const LABELS: u32 = 4;
    const DAY: f64 = 86_400.0;
    let each = (across.high - across.low) / f64::from(LABELS);
    for label in 0..=LABELS {
        let time = across.low + f64::from(label) * each;
        // Less than a day apart, they would be the same.
        let text = if each < DAY {
            utc(time).chars().take("2026-11-28 18:00".len()).collect()
        } else {
            date(time)
        };
        let x = frame.x(across, time);
        let anchor = match label {
            0 => Anchor::Start,
            LABELS => Anchor::End,
            _ => Anchor::Middle,
        };
        svg.text("tick", anchor, (x, frame.bottom + 16.0), &text);
    }
    svg.line("axis", (frame.left, frame.bottom), (frame.right, frame.bottom));
    frame.bottom_name(svg, "time of the commit, or of the measurement");
}

/// Returns what a picture of a whole series shows of these values of it: its levels, and all but a few far values, which
/// would make lines of the rest.
pub(super) fn usual_reach(document: &WebSeriesDocument, values: &[f64]) -> Option<Axis> {
    let usual = Axis::without_far_values(&[values])?;
    let levels = document.levels.iter().map(|level| level.level);
    Axis::covering([usual.low, usual.high].into_iter().chain(levels))
}

/// Draws the whole series as columns from smallest to largest value, with the part that the page shows.
pub(super) fn overview(document: &WebSeriesDocument) -> Option<String> {
    let columns = &document.overview;
    let (first, last) = (document.points.first()?.index, document.points.last()?.index);
    let axis = usual_reach(document, columns.as_flattened())?.widened(0.06);
    let n = document.part.items.max(1) as f64;
    let is_cut = columns.as_flattened().iter().any(|value| axis.position(*value).is_none());
    let words = format!(
        "All {} of the series; the page shows those in the band.{}",
        count(document.part.items, "point"),
        if is_cut { " Values far beyond all others are at the edge." } else { "" }
    );
    let mut svg = Svg::new("overview", "The whole series", &words, OVERVIEW_HEIGHT);
    let (left, right, top, bottom) = (4.0, WIDTH - 4.0, 4.0, OVERVIEW_HEIGHT - 4.0);
    let x = |index: f64| left + index / n * (right - left);
    let y = |value: f64| {
        let share = (value - axis.low) / (axis.high - axis.low);
        bottom - share.clamp(0.0, 1.0) * (bottom - top)
    };
    svg.area("margin-band", (x(first as f64), top), (x(last as f64 + 1.0), bottom));
    let each = n / columns.len() as f64;
    for (index, [low, high]) in columns.iter().enumerate() {
        let middle = x((index as f64 + 0.5) * each);
        // At least as high as a dot.
        svg.line("column", (middle, y(*low) + 0.8), (middle, y(*high) - 0.8));
    }
    for change in &document.changes {
        let class = if change.change.state == "pending" { "steady" } else { "estimate" };
        let at = x(change.change.index as f64);
        svg.line(class, (at, top), (at, bottom));
    }
    Some(format!(
        "<figure>{}<figcaption>{}</figcaption></figure>\n",
        within(&svg),
        escape::html(&words)
    ))
}
