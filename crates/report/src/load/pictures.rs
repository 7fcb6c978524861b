//! The pictures of a load: percentiles on a scale that shows the tail, and what happened over the seconds.

use becalm_model::Unit;
use becalm_model::load::{LoadRunDocument, LoadSecond};

use crate::axis::Axis;
use crate::pictures::Picture;
use crate::quantity::Scale;
use crate::svg::Frame;
use crate::svg::{Anchor, Place, Shape, Svg, percentiles_below, subject_class};

pub(super) const HEIGHT: f64 = 280.0;

/// The names of the times and the index of their colours.
const RESPONSE: usize = 0;
const SERVICE: usize = 1;
const LAG: usize = 2;
const NAMES: [&str; 3] = ["response", "service", "lag"];

/// Returns the pictures that there are values for.
pub(super) fn of(document: &LoadRunDocument) -> Vec<Picture> {
    let caption = |text: &str| text.to_owned();
    let picture = |section, drawing: Option<Svg>, text: &str| {
        drawing.map(|drawing| Picture { section, drawing, caption: caption(text) })
    };
    let percentiles = spectrum(document).map(|drawing| {
        let mut caption = "Each step to the right is a tenth of the requests of the step before; times are on a \
                           logarithmic scale. Where response lies above service, requests waited before they were sent."
            .to_owned();
        if drawing.count_of("at-least") + drawing.count_of("beyond") > 0 {
            caption.push_str(
                " Where a curve is dashed, with hollow triangles, requests without an answer are included: their times \
                 are there or above.",
            );
        }
        Picture { section: "Percentiles", drawing, caption }
    });
    [
        percentiles,
        picture(
            "Times by second",
            times(document),
            "Largest response time, and 99th percentiles of service time and lag, of the requests that were due in each \
             second and answered, on a logarithmic scale.",
        ),
        picture(
            "Rate by second",
            rate(document),
            "Requests that were due in each second, and those of them with the expected answer.",
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Draws the quantiles of the three times over log 1 / (1 - q).
fn spectrum(document: &LoadRunDocument) -> Option<Svg> {
    let all = [&document.response, &document.service, &document.lag];
    let curves: Vec<Vec<(f64, f64, bool)>> = all
        .iter()
        .map(|latency| {
            let last = ((latency.known + latency.censored).max(2) as f64).log10();
            let place = |q: f64| if q < 1.0 { -(1.0 - q).log10() } else { last };
            let of =
                |one: &becalm_model::load::QuantileValue| (place(one.q), one.value, one.at_least);
            let within = |(place, ..): &(f64, f64, bool)| *place <= last + 1e-9;
            latency.quantiles.iter().map(of).filter(within).collect()
        })
        .collect();
    let values = curves.iter().flatten().map(|(_, value, _)| *value);
    let axis = logarithmic(values)?;
    let last = curves.iter().flatten().map(|(place, ..)| *place).fold(1.0, f64::max);
    let across = Axis::between(0.0, last);
    let mut svg = Svg::new(
        "load-spectrum",
        "Percentiles of response, service and lag",
        "Times by percentile, on a scale that gives every further nine the same width. The numbers are in the table.",
        HEIGHT,
    );
    let frame = Frame::with_words_above(84.0, HEIGHT);
    left(&frame, &mut svg, &axis);
    percentiles_below(&frame, &mut svg, &across);
    for (index, curve) in curves.iter().enumerate() {
        let place = |(place, value, _): &(f64, f64, bool)| {
            (frame.x(&across, *place), frame.y(&axis, log(*value)))
        };
        let known = curve.iter().take_while(|(.., at_least)| !at_least);
        let n_known = known.clone().count();
        draw(&mut svg, index, known.map(|one| (place(one), one.1)));
        // From here on requests without an answer are among them: the times are lower bounds.
        for pair in curve.windows(2).skip(n_known.saturating_sub(1)) {
            svg.line("joined at-least", place(&pair[0]), place(&pair[1]));
        }
        for one in &curve[n_known..] {
            let time = super::time(one.1, &crate::page::ELSEWHERE);
            let tip = format!("{}: at least {time}", NAMES[index]);
            svg.mark(Shape::Triangle, "beyond", place(one), &tip);
        }
    }
    legend(&frame, &mut svg, &NAMES);
    Some(svg)
}

/// Draws the largest response time and the 99th percentiles of the others by second.
fn times(document: &LoadRunDocument) -> Option<Svg> {
    let of: [fn(&LoadSecond) -> Option<f64>; 3] =
        [|one| one.response_max, |one| one.service_p99, |one| one.lag_p99];
    let seconds = &document.seconds;
    let axis = logarithmic(of.iter().flat_map(|of| seconds.iter().filter_map(of)))?;
    let (mut svg, frame, across) = over_seconds(
        seconds,
        "load-times",
        "Times by second",
        "The largest response time and the 99th percentiles of service time and lag of each second.",
    )?;
    left(&frame, &mut svg, &axis);
    for (index, of) in of.iter().enumerate() {
        let points = seconds.iter().filter_map(|one| Some((one.second, of(one)?)));
        let points = points.map(|(second, value)| {
            ((frame.x(&across, second as f64 + 0.5), frame.y(&axis, log(value))), value)
        });
        draw(&mut svg, index, points);
    }
    legend(&frame, &mut svg, &["response (largest)", "service (p99)", "lag (p99)"]);
    Some(svg)
}

/// Draws how many requests were due and how many answered by second.
fn rate(document: &LoadRunDocument) -> Option<Svg> {
    let seconds = &document.seconds;
    let most = seconds.iter().map(|one| one.scheduled).max().filter(|most| *most > 0)?;
    let axis = Axis::between(0.0, most as f64 * 1.05);
    let (mut svg, frame, across) = over_seconds(
        seconds,
        "load-rate",
        "Rate by second",
        "Requests that were due in each second, and those with the expected answer.",
    )?;
    let scale = Scale::of(&Unit::Count, [most as f64], true);
    frame.left_axis(&mut svg, &axis, &scale, false);
    for one in seconds {
        let (from, to) = (one.second as f64 + 0.1, one.second as f64 + 0.9);
        let area = |n: u64| {
            let place = |second, value: f64| (frame.x(&across, second), frame.y(&axis, value));
            (place(from, n as f64), place(to, 0.0))
        };
        let (top, bottom) = area(one.scheduled);
        svg.area("margin-band", top, bottom);
        let (top, bottom) = area(one.answered);
        svg.area(&format!("bar {}", subject_class(RESPONSE)), top, bottom);
    }
    let at = (frame.left + 4.0, frame.top - 3.0);
    svg.text(
        "note",
        Anchor::Start,
        at,
        if seconds.iter().any(|one| one.answered < one.scheduled) {
            "bar: answered; lighter part: due, but without the expected answer"
        } else {
            "bar: answered"
        },
    );
    Some(svg)
}

/// Starts a picture whose horizontal axis is the seconds.
fn over_seconds(
    seconds: &[LoadSecond],
    id: &str,
    title: &str,
    words: &str,
) -> Option<(Svg, Frame, Axis)> {
    let last = seconds.last()?.second;
    let mut svg = Svg::new(id, title, words, HEIGHT);
    let frame = Frame::with_words_above(84.0, HEIGHT);
    let across = Axis::between(0.0, last as f64 + 1.0);
    frame.counting_axis(&mut svg, &across, "second of the load");
    Some((svg, frame, across))
}

/// Draws a line through points, with a mark for each.
fn draw(svg: &mut Svg, index: usize, points: impl Iterator<Item = (Place, f64)>) {
    let mut last: Option<Place> = None;
    for (at, value) in points {
        if let Some(last) = last {
            svg.line("joined", last, at);
        }
        last = Some(at);
        let tip = format!("{}: {}", NAMES[index], super::time(value, &crate::page::ELSEWHERE));
        let class = format!("dot {}", subject_class(index));
        svg.mark(Shape::of_subject(index), &class, at, &tip);
    }
}

fn legend(frame: &Frame, svg: &mut Svg, names: &[&str; 3]) {
    for index in [RESPONSE, SERVICE, LAG] {
        let x = frame.left + 12.0 + 200.0 * index as f64;
        let class = format!("dot {}", subject_class(index));
        svg.mark(Shape::of_subject(index), &class, (x, frame.top - 6.0), names[index]);
        svg.text("note", Anchor::Start, (x + 8.0, frame.top - 2.0), names[index]);
    }
}

/// The least that is drawn of a time: less is no time that anybody waits.
const LEAST: f64 = 1e-7;

pub(super) fn log(seconds: f64) -> f64 {
    seconds.max(LEAST).log10()
}

/// Returns an axis of logarithms that begins and ends at powers of ten.
pub(super) fn logarithmic(values: impl Iterator<Item = f64>) -> Option<Axis> {
    let axis = Axis::covering(values.map(log))?;
    Some(Axis::between(axis.low.floor(), axis.high.ceil().max(axis.low.floor() + 1.0)))
}

/// Draws the powers of ten up the left side.
pub(super) fn left(frame: &Frame, svg: &mut Svg, axis: &Axis) {
    let mut power = axis.low;
    while power <= axis.high + 1e-9 {
        let y = frame.y(axis, power);
        svg.line("grid", (frame.left, y), (frame.right, y));
        let seconds = 10.0_f64.powf(power);
        let scale = Scale::of(&Unit::Second, [seconds], true).with_decimals(0);
        let at = (frame.left - 6.0, y + 4.0);
        svg.text("tick", Anchor::End, at, &scale.with_unit(seconds));
        power += 1.0;
    }
    svg.line("axis", (frame.left, frame.top), (frame.left, frame.bottom));
}
