//! Paired differences per round: those of all rounds in which both have a value, with the interval of the
//! estimate and the margin behind them.

use becalm_model::{Comparison, Record};

use super::frame::Frame;
use super::spans::{MOST_MARKS, crosses_at_ends, spans};
use super::{Anchor, Shape, Svg, density_class, subject_class};
use crate::axis::Axis;
use crate::labels::Labels;
use crate::paired::PairedRound;
use crate::quantity::{NBSP, Scale, count, ratio, signed_percent};
use crate::shown;

const HEIGHT: f64 = 280.0;

/// Draws one point per round. Returns nothing when no round has both values.
pub(crate) fn paired(
    record: &Record,
    labels: &Labels,
    comparison: &Comparison,
    rounds: &[PairedRound],
    id: &str,
) -> Option<Svg> {
    let changes: Vec<f64> = rounds.iter().map(|round| (round.ratio - 1.0) * 100.0).collect();
    let margin = (record.margin * 100.0).clamp(0.0, 1e6);
    let interval = comparison
        .ratio
        .filter(|ratio| ratio.high.is_finite() && ratio.low.is_finite())
        .map(|ratio| [ratio.low, ratio.estimate, ratio.high].map(|r| (r - 1.0) * 100.0));
    let points = Axis::without_far_values(&[&changes])?;
    // No change and the interval are always in view: they are what the points are judged by.
    let judged = interval.into_iter().flatten().chain([0.0]);
    // The whole margin too, unless it is so wide that the points would shrink to a line.
    let span = (points.high - points.low).max(points.high.abs()).max(points.low.abs());
    let margin_shown = if margin < 2.0 * span { margin } else { 0.0 };
    let judged = judged.chain([-margin_shown, margin_shown]);
    let axis = Axis::covering([points.low, points.high].into_iter().chain(judged))?.widened(0.06);

    let metric = shown::metric_at(record, comparison.metric).name;
    let (baseline, candidate) = (labels.get(comparison.baseline), labels.get(comparison.candidate));
    let title = format!("Change of {metric} from {baseline} to {candidate} in each round");
    let mut svg = Svg::new(id, &title, &in_words(comparison, rounds), HEIGHT);
    let frame = Frame::new(84.0, HEIGHT);

    if let Some([low, _, high]) = interval {
        let (low, high) = (frame.y(&axis, low), frame.y(&axis, high));
        svg.area("interval-band", (frame.left, low), (frame.right, high));
    }
    // Above the interval, with edges: it is often narrow, and inside the interval.
    if margin > 0.0 {
        let (low, high) = (frame.y(&axis, -margin), frame.y(&axis, margin));
        svg.area("margin-band edged", (frame.left, low), (frame.right, high));
    }
    let scale = Scale::of(&becalm_model::Unit::Named("%".to_owned()), [axis.low, axis.high], true);
    frame.left_axis(&mut svg, &axis, &scale, true);
    let first = f64::from(rounds.first()?.round) + 1.0;
    let last = f64::from(rounds.last()?.round) + 1.0;
    let across = Axis::between(first - 0.5, last + 0.5);
    frame.counting_axis(&mut svg, &across, "round");
    let place = |round: &PairedRound, change: f64| {
        (frame.x(&across, f64::from(round.round) + 1.0), frame.y(&axis, change))
    };
    let all = || rounds.iter().zip(&changes);
    if rounds.len() > MOST_MARKS {
        let of = |disturbed: bool| {
            let of = all().filter(move |(round, _)| round.disturbed == disturbed);
            of.map(|(round, &change)| place(round, change))
        };
        let class = format!("span {}", subject_class(comparison.candidate));
        spans(&mut svg, &frame, &class, of(false));
        crosses_at_ends(&mut svg, &frame, of(true), "disturbed");
    } else {
        for (round, &change) in all() {
            let disturbed = if round.disturbed { ", disturbed" } else { "" };
            let change_text = signed_percent(change / 100.0, 2);
            let tip = format!("round {}: {change_text}{disturbed}", round.round + 1);
            let beyond = axis.position(change).is_none();
            let dense = density_class(rounds.len());
            let (shape, class) = match (round.disturbed, beyond) {
                (true, _) => (Shape::Cross, "cross".to_owned()),
                (false, true) => (Shape::Triangle, "beyond".to_owned()),
                (false, false) => {
                    (Shape::Circle, format!("dot {}{dense}", subject_class(comparison.candidate)))
                }
            };
            svg.mark(shape, &class, place(round, change), &tip);
        }
    }
    // After the points, which could hide them.
    svg.line("zero", (frame.left, frame.y(&axis, 0.0)), (frame.right, frame.y(&axis, 0.0)));
    if let Some([_, estimate, _]) = interval {
        let y = frame.y(&axis, estimate);
        svg.line("estimate", (frame.left, y), (frame.right, y));
    }
    let n_beyond = changes.iter().filter(|&&change| axis.position(change).is_none()).count();
    if n_beyond > 0 {
        // Above the marks at the edge.
        let at = (frame.right - 4.0, frame.top - 6.0);
        svg.text("note", Anchor::End, at, &format!("{n_beyond}{NBSP}beyond the axis, at its edge"));
    }
    Some(svg)
}

fn in_words(comparison: &Comparison, rounds: &[PairedRound]) -> String {
    let above = rounds.iter().filter(|round| round.ratio > 1.0).count();
    let estimate = comparison.ratio.map_or(String::new(), |interval| {
        let text = ratio(&interval);
        format!(" The estimate is {}, its interval {}.", text.change, text.interval)
    });
    format!(
        "{}; in {above} of them the candidate is above the baseline.{estimate}",
        count(rounds.len(), "round").replace(NBSP, " ")
    )
}
