//! The changes of benchmarks one below the other, drawn with characters: no service has to host an
//! image.

use std::fmt::Write as _;

use becalm_model::ci::CiLine;
use becalm_model::{RatioInterval, place};

use super::row::name;
use crate::distinct::distinct;
use crate::quantity::signed_percent;
use crate::width::{columns, pad_right};

/// Most lines of a plot.
const MOST_LINES: usize = 20;

/// Characters for the axis, with one of them in its middle.
const AXIS: usize = 41;

/// Longest name beside the axis.
const WIDEST_NAME: usize = 28;

/// Draws estimate and interval of each line as a share of the base.
pub(super) fn plot(lines: &[&CiLine], with_metric: bool) -> String {
    let drawn: Vec<(String, RatioInterval)> = lines
        .iter()
        .filter_map(|line| Some((name(line, with_metric), line.ratio?)))
        .take(MOST_LINES)
        .collect();
    let names: Vec<&str> = drawn.iter().map(|(name, _)| name.as_str()).collect();
    let names = distinct(&names, WIDEST_NAME, true);
    let reach = drawn.iter().map(|(_, ratio)| reach(ratio)).fold(0.0, f64::max);
    if drawn.is_empty() || reach <= 0.0 {
        return String::new();
    }
    let reach = round_up(reach);
    let width = names.iter().map(|name| columns(name)).max().unwrap_or(0);
    let mut out = String::new();
    let percent =
        |share: f64| signed_percent(share, usize::from(reach < 0.05)).replace('\u{a0}', " ");
    let (left, right) = (percent(-reach), percent(reach));
    let middle = AXIS / 2;
    let head = format!("{}0", pad_right(&left, middle));
    let _ = writeln!(
        out,
        "{}  {}{}",
        " ".repeat(width),
        pad_right(&head, AXIS.saturating_sub(columns(&right))),
        right
    );
    for (name, (_, ratio)) in names.iter().zip(&drawn) {
        let _ = writeln!(out, "{}  {}", pad_right(name, width), bar(ratio, reach).trim_end());
    }
    out
}

/// How far a line has to be drawn; unknown ends are cut.
fn reach(ratio: &RatioInterval) -> f64 {
    let far = |end: f64| if end.is_finite() && end > 0.0 { (end - 1.0).abs() } else { 0.0 };
    let estimate = far(ratio.estimate);
    // One wide interval must not press all others into the middle.
    far(ratio.low).max(far(ratio.high)).min(estimate.mul_add(3.0, 0.02)).max(estimate)
}

/// Rounds up to a number that is easy to read.
fn round_up(share: f64) -> f64 {
    let power = 10f64.powf(share.log10().floor());
    let steps = [1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0];
    let fits = steps.into_iter().map(|step| step * power).find(|step| *step >= share * 0.999_999);
    fits.unwrap_or(share)
}

fn bar(ratio: &RatioInterval, reach: f64) -> String {
    let middle = (AXIS / 2) as f64;
    let at = |value: f64| {
        let share = ((value - 1.0) / reach).clamp(-1.0, 1.0);
        place((middle + share * middle).round()).min(AXIS - 1)
    };
    let mut cells = [' '; AXIS];
    cells[AXIS / 2] = '│';
    for cell in &mut cells[at(ratio.low)..=at(ratio.high)] {
        *cell = '─';
    }
    cells[at(ratio.estimate)] = '●';
    cells.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use becalm_model::ci::{CiNoise, Standing};
    use becalm_model::{Direction, Unit, Verdict};

    use super::*;

    fn line(name: &str, low: f64, estimate: f64, high: f64) -> CiLine {
        CiLine {
            name: name.to_owned(),
            metric: "wall_time".to_owned(),
            unit: Unit::Second,
            direction: Direction::Lower,
            base: None,
            head: None,
            ratio: Some(RatioInterval { estimate, low, high }),
            verdict: Verdict::Slower,
            standing: Standing::Regression,
            noise: CiNoise { ratio: None, verdict: Verdict::Inconclusive },
            rounds_needed: None,
        }
    }

    #[test]
    fn bars_stand_under_one_axis() {
        let lines = [
            line("parse", 1.04, 1.05, 1.06),
            line("a longer name", 0.95, 0.97, 0.99),
            line("same", 0.998, 1.0, 1.002),
        ];
        insta::assert_snapshot!(plot(&lines.iter().collect::<Vec<_>>(), false));
    }

    #[test]
    fn ends_that_nobody_knows_reach_to_the_edge() {
        let known = line("y", 1.01, 1.02, 1.03);
        let text = plot(&[&line("x", 0.0, 1.005, f64::INFINITY), &known], false);
        assert!(text.lines().nth(1).unwrap().ends_with('─'), "{text}");
        assert_eq!(plot(&[&line("x", 1.0, 1.0, 1.0)], false), "", "nothing to see");
        let huge =
            plot(&[&line("x", 50.0, 1e300, f64::INFINITY), &line("y", 1.0, 1.01, 1.02)], false);
        assert_eq!(huge.lines().count(), 3);
    }
}
