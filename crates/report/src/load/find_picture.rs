//! The picture of a search: percentiles by rate, with the limit and the interval of the answer.

use becalm_model::Unit;
use becalm_model::load::{FindAnswer, FindWindow, LoadFindDocument, ObjectiveOf, Trust};

use super::pictures::{HEIGHT, left, log, logarithmic};
use super::{number_of_rate, percentile, time};
use crate::axis::Axis;
use crate::page::ELSEWHERE;
use crate::pictures::Picture;
use crate::quantity::Scale;
use crate::svg::{Anchor, Frame, Place, Shape, Svg, subject_class};

/// Draws the medians and the quantile of the objective of every window that counts.
pub(super) fn of(document: &LoadFindDocument) -> Option<Picture> {
    let ObjectiveOf::Response(q) = document.objective.of else { return None };
    let counts = |window: &&FindWindow| window.verdict == Trust::Valid;
    let windows: Vec<&FindWindow> = document.windows.iter().filter(counts).collect();
    let median = |window: &FindWindow| {
        window.response.iter().find(|one| (one.q - 0.5).abs() < 1e-9).map(|one| one.value)
    };
    let tail = |window: &FindWindow| window.quantile.and_then(|one| one.value);
    let ends = |window: &FindWindow| {
        window.quantile.map(|one| [one.low, one.high]).into_iter().flatten().flatten()
    };
    let values = windows
        .iter()
        .flat_map(|one| [median(one), tail(one)].into_iter().flatten().chain(ends(one)));
    let axis = logarithmic(values.chain([document.objective.limit]))?;
    let across = Axis::covering(windows.iter().map(|one| log(one.rate)))?.widened(0.02);
    let limit = time(document.objective.limit, &ELSEWHERE);
    let mut svg = Svg::new(
        "load-find",
        "Percentiles by rate",
        &format!(
            "Median and {} of the response time of {}, by their rates, with the limit of {limit}. The numbers are in \
             the table.",
            percentile(q),
            becalm_model::counted(windows.len(), "window"),
        ),
        HEIGHT,
    );
    let frame = Frame::with_words_above(84.0, HEIGHT);
    left(&frame, &mut svg, &axis);
    rates(&frame, &mut svg, &across);
    if let FindAnswer::Found { low, high, .. } | FindAnswer::Unresolved { low, high, .. } =
        document.answer
    {
        let (low, high) = (frame.x(&across, log(low)), frame.x(&across, log(high)));
        svg.area("interval-band", (low, frame.top), (high, frame.bottom));
    }
    let y = frame.y(&axis, log(document.objective.limit));
    svg.line("estimate", (frame.left, y), (frame.right, y));
    svg.text("note", Anchor::End, (frame.right, y - 4.0), &document.objective.text);
    let names = ["p50".to_owned(), percentile(q)];
    for window in &windows {
        let x = frame.x(&across, log(window.rate));
        let at = |value: f64| -> Place { (x, frame.y(&axis, log(value))) };
        if let Some([Some(low), Some(high)]) = window.quantile.map(|one| [one.low, one.high]) {
            svg.line("interval", at(low), at(high));
        }
        for (index, value) in [median(window), tail(window)].into_iter().enumerate() {
            let Some(value) = value else { continue };
            let (rate, value_text) = (number_of_rate(window.rate), time(value, &ELSEWHERE));
            let tip = format!("{} at {rate}/s: {value_text}", names[index]);
            let class = format!("dot {}", subject_class(index));
            svg.mark(Shape::of_subject(index), &class, at(value), &tip);
        }
    }
    for (index, name) in names.iter().enumerate() {
        let x = frame.left + 12.0 + 90.0 * index as f64;
        let class = format!("dot {}", subject_class(index));
        svg.mark(Shape::of_subject(index), &class, (x, frame.top - 6.0), name);
        svg.text("note", Anchor::Start, (x + 8.0, frame.top - 2.0), name);
    }
    let bar = if svg.count_of("interval") > 0 { " with a bar for the 95 % interval" } else { "" };
    let band = if svg.count_of("interval-band") > 0 {
        ", and the orange band the interval of the highest rate that meets it"
    } else {
        ""
    };
    let caption = format!(
        "Two dots for each window that counts: the median of the response time, and its {}{bar}. Both axes have \
         logarithmic scales. The dashed line is the limit{band}.",
        percentile(q)
    );
    Some(Picture { section: "Percentiles by rate", drawing: svg, caption })
}

/// Draws round rates along the bottom: powers of ten, and two and five times them where there is room.
fn rates(frame: &Frame, svg: &mut Svg, across: &Axis) {
    let width = across.high - across.low;
    let steps: &[f64] = if width > 3.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let mut power = across.low.floor();
    while power <= across.high {
        for step in steps {
            let rate = step * 10.0_f64.powf(power);
            let place = rate.log10();
            if place < across.low || place > across.high {
                continue;
            }
            let x = frame.x(across, place);
            svg.line("grid", (x, frame.top), (x, frame.bottom));
            let scale = Scale::of(&Unit::Count, [rate], true).with_decimals(0);
            svg.text("tick", Anchor::Middle, (x, frame.bottom + 16.0), &scale.number(rate));
        }
        power += 1.0;
    }
    svg.line("axis", (frame.left, frame.bottom), (frame.right, frame.bottom));
    frame.bottom_name(svg, "requests/s");
}
