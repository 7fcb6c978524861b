//! Iterations inside processes: one panel for each of the first processes of a subject, one above the other, with what
//! comes before the steady state shaded and the level of the steady state as a line.

use becalm_model::Unit;

use super::frame::Frame;
use super::spans::spans;
use super::{Anchor, Shape, Svg, density_class, subject_class};
use crate::axis::Axis;
use crate::iterations::Iterations;
use crate::quantity::{NBSP, Scale};

/// Height of one panel, with the room above it for its name.
const PANEL: f64 = 150.0;
const ABOVE: f64 = 22.0;
/// Room below the last panel for the numbers of iterations.
const BELOW: f64 = 44.0;
/// More iterations than this would be a smear of dots: then a bar for each place spans those that fall there.
const CROWDED: usize = 400;

/// Draws the iterations of these runs of one subject. Returns nothing when there is none.
pub(crate) fn iterations(
    runs: &[Iterations<'_>],
    subject: usize,
    name: &str,
    id: &str,
) -> Option<Svg> {
    let values: Vec<&[f64]> = runs.iter().map(|run| run.values).collect();
    let axis = Axis::without_far_values(&values)?.widened(0.05);
    let scale = Scale::of(&Unit::Second, [axis.low, axis.high], true);
    let longest = values.iter().map(|values| values.len()).max()?;
    let across = Axis::between(0.5, longest as f64 + 0.5);
    let height = PANEL * runs.len() as f64 + BELOW;
    let title = format!("Iterations of {name} in time order");
    let words: Vec<String> = runs.iter().map(|run| format!("{}.", run.in_words())).collect();
    let mut svg = Svg::new(id, &title, &words.join(" "), height);
    for (index, run) in runs.iter().enumerate() {
        let top = PANEL * index as f64 + ABOVE;
        let frame = Frame { top, bottom: top + PANEL - ABOVE - 4.0, ..Frame::new(84.0, height) };
        panel(&mut svg, &frame, (&axis, &across, &scale), run, subject);
        if index + 1 == runs.len() {
            frame.counting_axis(&mut svg, &across, "iteration of the process");
        } else {
            svg.line("axis", (frame.left, frame.bottom), (frame.right, frame.bottom));
        }
    }
    Some(svg)
}

fn panel(
    svg: &mut Svg,
    frame: &Frame,
    (axis, across, scale): (&Axis, &Axis, &Scale),
    run: &Iterations<'_>,
    subject: usize,
) {
    let from = run.steady.as_ref().and_then(|steady| steady.from);
    if let Some(from) = from.filter(|&from| from > 0) {
        let end = frame.x(across, from as f64 + 0.5);
        svg.area("warmup", (frame.left, frame.top), (end, frame.bottom));
    }
    frame.left_axis(svg, axis, scale, false);
    svg.text("note", Anchor::Start, (frame.left + 4.0, frame.top - 5.0), &run.in_words());
    if run.values.len() > CROWDED {
        let places = (1..).zip(run.values);
        let places =
            places.map(|(n, value)| (frame.x(across, f64::from(n)), frame.y(axis, *value)));
        spans(svg, frame, &format!("span {}", subject_class(subject)), places);
    } else {
        dots(svg, frame, (axis, across, scale), run, subject);
    }
    if let (Some(from), Some(steady)) = (from, &run.steady) {
        let y = frame.y(axis, steady.level);
        let [left, right] = [from as f64 + 0.5, run.values.len() as f64 + 0.5];
        svg.line("steady", (frame.x(across, left), y), (frame.x(across, right), y));
    }
    let n_beyond = run.values.iter().filter(|&&value| axis.position(value).is_none()).count();
    if n_beyond > 0 {
        let text = format!("{n_beyond}{NBSP}beyond the axis");
        svg.text("note", Anchor::End, (frame.right - 4.0, frame.top - 5.0), &text);
    }
}

fn dots(
    svg: &mut Svg,
    frame: &Frame,
    (axis, across, scale): (&Axis, &Axis, &Scale),
    run: &Iterations<'_>,
    subject: usize,
) {
    let class = format!("dot {}{}", subject_class(subject), density_class(run.values.len()));
    for (index, &value) in run.values.iter().enumerate() {
        let at = (frame.x(across, index as f64 + 1.0), frame.y(axis, value));
        let shown = scale.with_decimals(4).with_unit(value);
        let is_outlier = run.is_outlier(index);
        let state = if is_outlier { ", outlier" } else { "" };
        let tip = format!("iteration {}: {shown}{state}", index + 1);
        if is_outlier {
            svg.mark(Shape::Cross, "cross", at, &tip);
        } else {
            svg.mark(Shape::of_subject(subject), &class, at, &tip);
        }
    }
}
