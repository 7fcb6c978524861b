//! The run-sequence plot: every run in time order, warm-up shaded, disturbed runs crossed. Of very many runs, those of a
//! subject that fall into one place are a bar.

use becalm_model::{DisturbedRun, Record, Run};

use super::frame::Frame;
use super::spans::{MOST_MARKS, crosses_at_ends, spans};
use super::{Anchor, Shape, Svg, density_class, subject_class};
use crate::axis::Axis;
use crate::disturbed;
use crate::labels::Labels;
use crate::quantity::{Scale, count};
use crate::shown;

const HEIGHT: f64 = 280.0;

/// Draws all subjects together, because drift moves them together. Returns nothing when there is
/// no value to draw.
pub(crate) fn sequence(
    record: &Record,
    labels: &Labels,
    disturbed: &[DisturbedRun],
    metric: usize,
    id: &str,
) -> Option<Svg> {
    let samples: Vec<Vec<f64>> = (0..record.subjects.len())
        .map(|subject| {
            let runs = record.runs.iter().filter(|run| run.subject == subject);
            runs.filter_map(|run| run.value(metric).filter(|value| value.is_finite())).collect()
        })
        .collect();
    let values: Vec<&[f64]> = samples.iter().map(Vec::as_slice).collect();
    let axis = Axis::without_far_values(&values)?.widened(0.05);
    let description = shown::metric_at(record, metric);
    let scale = Scale::of(&description.unit, [axis.low, axis.high], true);
    let across = Axis::between(0.5, record.runs.len() as f64 + 0.5);

    let n_warmups = record.runs.iter().take_while(|run| run.warmup).count();
    let title = format!("{} of every run in time order", description.name);
    let words = format!(
        "{}, the first {n_warmups} of them warm-up; {} disturbed.",
        count(record.runs.len(), "run"),
        disturbed.len()
    );
    let mut svg = Svg::new(id, &title, &words, HEIGHT);
    let frame = Frame::new(84.0, HEIGHT);
    if n_warmups > 0 {
        let end = frame.x(&across, n_warmups as f64 + 0.5);
        svg.area("warmup", (frame.left, frame.top), (end, frame.bottom));
    }
    frame.left_axis(&mut svg, &axis, &scale, false);
    frame.counting_axis(&mut svg, &across, "run, in time order");
    if n_warmups > 0 {
        // Above the plot, where no line crosses it out.
        svg.text("note", Anchor::Start, (frame.left + 4.0, frame.top - 3.0), "warm-up");
    }

    let marked = disturbed::positions(disturbed);
    let place = |index: usize, run: &Run| {
        let value = run.value(metric).filter(|value| value.is_finite())?;
        Some((frame.x(&across, index as f64 + 1.0), frame.y(&axis, value)))
    };
    let runs = || record.runs.iter().enumerate();
    if record.runs.len() > MOST_MARKS {
        for subject in 0..record.subjects.len() {
            for (is_measured, faint) in [(false, " faint"), (true, "")] {
                let of = runs()
                    .filter(|(_, run)| run.subject == subject && run.is_measured() == is_measured);
                let class = format!("span {}{faint}", subject_class(subject));
                spans(&mut svg, &frame, &class, of.filter_map(|(index, run)| place(index, run)));
            }
        }
        let crossed = runs().filter(|(index, _)| marked.contains(index));
        let crossed = crossed.filter_map(|(index, run)| place(index, run));
        crosses_at_ends(&mut svg, &frame, crossed, "disturbed");
    } else {
        for (index, run) in runs() {
            let Some((at, value)) = place(index, run).zip(run.value(metric)) else { continue };
            let state = match (run.warmup, marked.contains(&index), run.is_censored()) {
                (_, _, true) => ", cut off: at least this",
                (true, ..) => ", warm-up",
                _ if run.discarded => ", discarded",
                (_, true, _) => ", disturbed",
                _ => "",
            };
            let tip = format!(
                "{}, run {}, round {}: {}{state}",
                labels.get(run.subject),
                index + 1,
                run.round + 1,
                scale.with_decimals(4).with_unit(value)
            );
            let shape = Shape::of_subject(run.subject);
            let dense = density_class(record.runs.len());
            let faint = if run.is_measured() { "" } else { " faint" };
            svg.mark(shape, &format!("dot {}{dense}{faint}", subject_class(run.subject)), at, &tip);
            if marked.contains(&index) {
                svg.mark(Shape::Cross, "cross", at, &tip);
            }
        }
    }
    let is_beyond = |value: &&f64| axis.position(**value).is_none();
    let n_beyond = samples.iter().flatten().filter(is_beyond).count();
    if n_beyond > 0 {
        let text = format!("{} beyond the axis, at its edge", count(n_beyond, "run"));
        // Above the marks at the edge.
        svg.text("note", Anchor::End, (frame.right - 4.0, frame.top - 6.0), &text);
    }
    Some(svg)
}
