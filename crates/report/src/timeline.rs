//! Who ran when on which CPU: the lanes that are drawn, and these as text.

use std::fmt::Write as _;

use becalm_model::Unit;
use becalm_model::trace::{Lane, Timeline};

use crate::axis::Axis;
use crate::distinct::distinct;
use crate::page::caption;
use crate::quantity::{NBSP, Scale, percent};
use crate::strip::ruler;
use crate::style::Style;
use crate::width::{columns, pad_left, pad_right};

/// Lanes of a CPU that have a name of their own; the rest is one lane.
const NAMED: usize = 6;
/// CPUs that are drawn: those of the subject first.
const CPUS: usize = 8;
/// A narrower drawing shows nothing.
const NARROWEST: usize = 10;
const LONGEST_NAME: usize = 24;

/// A lane of the picture.
pub(crate) struct Drawn {
    pub(crate) name: String,
    pub(crate) is_subject: bool,
    pub(crate) is_rest: bool,
    pub(crate) lane: Lane,
}

/// Returns the lanes of each CPU that is drawn, the subject's first and then by their time, and how many CPUs are not drawn.
pub(crate) fn cpus(timeline: &Timeline) -> (Vec<(u32, Vec<Drawn>)>, usize) {
    let mut numbers: Vec<u32> = timeline.lanes.iter().map(|lane| lane.cpu).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let of = |cpu: u32| timeline.lanes.iter().filter(move |lane| lane.cpu == cpu);
    let has_subject = |cpu: u32| of(cpu).any(|lane| lane.who.is_none());
    let busy = |cpu: u32| of(cpu).map(Lane::total).sum::<f64>();
    let mut chosen = numbers.clone();
    chosen.sort_by(|&a, &b| has_subject(b).cmp(&has_subject(a)).then(busy(b).total_cmp(&busy(a))));
    chosen.truncate(CPUS);
    let n_more = numbers.len() - chosen.len();
    numbers.retain(|cpu| chosen.contains(cpu));
    let lanes = |cpu: u32| {
        let mut all: Vec<&Lane> = of(cpu).collect();
        all.sort_by(|a, b| {
            a.who.is_some().cmp(&b.who.is_some()).then(b.total().total_cmp(&a.total()))
        });
        let n_named = if all.len() > NAMED + 1 { NAMED } else { all.len() };
        let mut drawn: Vec<Drawn> = all[..n_named]
            .iter()
            .map(|lane| Drawn {
                name: lane.who.as_ref().map_or("the subject".to_owned(), ToString::to_string),
                is_subject: lane.who.is_none(),
                is_rest: false,
                lane: (*lane).clone(),
            })
            .collect();
        if n_named < all.len() {
            let mut rest = Lane { cpu, ..Lane::default() };
            all[n_named..].iter().for_each(|lane| rest.add(lane.shares.iter().copied()));
            let name = format!("{} others", all.len() - n_named);
            drawn.push(Drawn { name, is_subject: false, is_rest: true, lane: rest });
        }
        (cpu, drawn)
    };
    (numbers.into_iter().map(lanes).collect(), n_more)
}

/// A line of text.
struct Line {
    name: String,
    share: String,
    lane: Lane,
}

/// Returns the share of the time that somebody has of it.
pub(crate) fn share(timeline: &Timeline, lane: &Lane) -> f64 {
    lane.total() * timeline.slot / timeline.seconds.max(1e-12)
}

/// Draws a timeline over so many seconds: for each CPU a line for everybody who ran there, as high as the share of it.
pub(crate) fn timeline_text(timeline: &Timeline, seconds: f64, style: &Style) -> String {
    let (cpus, n_more) = cpus(timeline);
    let axis = Axis::between(0.0, seconds.max(timeline.seconds));
    let scale = Scale::of(&Unit::Second, [axis.high], style.unicode);
    let room = LONGEST_NAME.min(style.width / 3);
    let named: Vec<(u32, Vec<Line>)> = cpus
        .into_iter()
        .map(|(cpu, lanes)| {
            let names: Vec<&str> = lanes.iter().map(|drawn| drawn.name.as_str()).collect();
            let names = distinct(&names, room, style.unicode);
            let line = |(drawn, name): (Drawn, String)| {
                let share = percent(share(timeline, &drawn.lane)).replace(NBSP, " ");
                Line { name, share, lane: drawn.lane }
            };
            (cpu, lanes.into_iter().zip(names).map(line).collect())
        })
        .collect();
    let lanes = || named.iter().flat_map(|(_, lanes)| lanes);
    let name_width = lanes().map(|line| columns(&line.name)).max().unwrap_or(0);
    let share_width = lanes().map(|line| columns(&line.share)).max().unwrap_or(0);
    let before = name_width + share_width + 8;
    let width = style.width.saturating_sub(before).max(NARROWEST);
    let mut out = String::new();
    for (cpu, lanes) in &named {
        let _ = writeln!(out, "  CPU {cpu}");
        for Line { name, share, lane } in lanes {
            let line: String = cells(timeline, lane, axis.high, width)
                .into_iter()
                .map(|share| style.eighths()[eighths(share)])
                .collect();
            let (name, share) = (pad_right(name, name_width), pad_left(share, share_width));
            let _ = writeln!(out, "    {name}  {share}  {}", line.trim_end());
        }
    }
    let (line, numbers) = ruler(&axis, &scale, width, style);
    let blank = " ".repeat(before);
    let _ = writeln!(out, "{blank}{line}\n{blank}{}", numbers.trim_end());
    if n_more > 0 {
        let text = format!("{} not drawn", becalm_model::counted(n_more, "more CPU"));
        out.push_str(&caption(&text, 4, style));
    }
    out
}

/// Returns which share of each cell somebody has, of so many cells that cover so many seconds.
fn cells(timeline: &Timeline, lane: &Lane, seconds: f64, width: usize) -> Vec<f64> {
    let cell = seconds / width as f64;
    let mut cells = vec![0.0; width];
    for &(slot, share) in &lane.shares {
        let (mut from, until) =
            (f64::from(slot) * timeline.slot, (f64::from(slot) + 1.0) * timeline.slot);
        let mut at = becalm_model::place((from / cell).floor());
        while from < until && at < width {
            let end = until.min((at + 1) as f64 * cell);
            cells[at] += share * (end - from).max(0.0) / cell;
            (from, at) = (end, at + 1);
        }
    }
    cells
}

/// Returns the place of a share among heights; however small, it is seen.
fn eighths(share: f64) -> usize {
    becalm_model::place((share * 8.0 - 1e-9).ceil().clamp(0.0, 8.0)).max(usize::from(share > 0.0))
}

#[cfg(test)]
mod tests {
    use becalm_model::trace::Culprit;

    use super::*;

    fn of(lanes: Vec<Lane>) -> Timeline {
        Timeline { run: Some(3), seconds: 0.1, slot: 0.1 / 400.0, lanes }
    }

    fn lane(cpu: u32, name: Option<&str>, shares: Vec<(u32, f64)>) -> Lane {
        let process =
            |name: &str| Culprit::Process { name: name.to_owned(), pid: None, unit: None };
        Lane { cpu, who: name.map(process), shares }
    }

    #[test]
    fn everybody_has_a_line_on_the_cpu_where_it_ran() {
        let subject = (0..400).filter(|slot| !(100..140).contains(slot)).map(|slot| (slot, 1.0));
        let lanes = vec![
            lane(0, Some("rustc"), (100..140).map(|slot| (slot, 1.0)).collect()),
            lane(0, None, subject.collect()),
            lane(0, Some("sh"), vec![(7, 0.001)]),
            lane(1, Some("a program with a long name indeed"), vec![(0, 0.5), (200, 1.0)]),
        ];
        let style = Style { width: 72, colour: false, unicode: true };
        insta::assert_snapshot!(timeline_text(&of(lanes.clone()), 0.125, &style));
        assert!(timeline_text(&of(lanes), 0.1, &Style::PLAIN).is_ascii());
    }

    #[test]
    fn whoever_had_a_part_is_seen_and_shares_stay_what_they_are() {
        let lane = lane(0, None, vec![(3, 0.001), (399, 1.0)]);
        let timeline = of(vec![lane.clone()]);
        for width in [10, 40, 1000] {
            let cells = cells(&timeline, &lane, 0.1, width);
            let total: f64 = cells.iter().sum::<f64>() * 400.0 / width as f64;
            assert!((total - lane.total()).abs() < 1e-6, "{width}: {total}");
            assert!(cells.iter().filter(|share| eighths(**share) > 0).count() >= 2, "{width}");
        }
    }
}
