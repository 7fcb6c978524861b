//! Who ran when on which CPU: for each CPU a lane for everybody who ran there, as high in each slot as its share of it.

use becalm_model::Unit;
use becalm_model::trace::{Lane, Timeline};

use super::frame::Frame;
use super::{Anchor, NAME, Place, ROWS_FROM, Svg, row_names, subject_class};
use crate::axis::Axis;
use crate::quantity::{Scale, percent};
use crate::timeline::{Drawn, cpus, share};

/// Height of a lane, with its name above.
const LANE: f64 = 38.0;
const HIGHEST: f64 = 15.0;
/// Room above the lanes of a CPU for its name.
const CPU: f64 = 28.0;
/// Slots of all lanes together, which bounds the size of the picture.
const SLOTS: usize = 6000;
/// What has a part in a slot is this high at least.
const SEEN: f64 = 2.0;

/// Draws a timeline on an axis of so many seconds.
pub(crate) fn timeline(timeline: &Timeline, title: &str, id: &str, seconds: f64) -> Svg {
    let (cpus, n_more) = cpus(timeline);
    let n_lanes: usize = cpus.iter().map(|(_, lanes)| lanes.len()).sum();
    let height = 14.0 + CPU * cpus.len() as f64 + LANE * n_lanes as f64 + 44.0;
    let mut svg = Svg::new(id, title, &in_words(timeline, &cpus, n_more), height);
    let frame = Frame { top: 6.0, ..Frame::new(ROWS_FROM, height) };
    let axis = Axis::between(0.0, seconds.max(timeline.seconds));
    let scale = Scale::of(&Unit::Second, [axis.high], true);
    frame.bottom_axis(&mut svg, &axis, &scale, "time");
    let slots = (timeline.seconds / timeline.slot.max(1e-12)).ceil();
    let coarser = (slots * n_lanes as f64 / SLOTS as f64).max(1.0);
    let by = 2_u32.pow(becalm_stats::whole::count(coarser.log2().ceil()).min(16) as u32);
    let x = |slot: u32| frame.x(&axis, f64::from(slot) * timeline.slot * f64::from(by));
    let mut y = frame.top;
    for (cpu, lanes) in cpus {
        y += CPU;
        svg.text("label", Anchor::Start, (frame.left, y - 6.0), &format!("CPU {cpu}"));
        let names: Vec<&str> = lanes.iter().map(|drawn| drawn.name.as_str()).collect();
        for (drawn, name) in lanes.iter().zip(row_names(&names)) {
            let share = percent(share(timeline, &drawn.lane));
            svg.text("text", Anchor::Start, (frame.left, y + NAME), &format!("{name}: {share}"));
            let base = y + LANE - 4.0;
            let mut lane = drawn.lane.clone();
            lane.widen(by);
            let class = match (drawn.is_subject, drawn.is_rest) {
                (true, _) => format!("span {}", subject_class(0)),
                (_, true) => format!("span others {}", subject_class(5)),
                _ => format!("span {}", subject_class(1)),
            };
            for block in blocks(&lane, x, base) {
                svg.polygon(&class, &block);
            }
            svg.line("axis", (frame.left, base), (x_end(&frame, &axis, timeline.seconds), base));
            y += LANE;
        }
    }
    if n_more > 0 {
        let note = format!("{} not drawn", becalm_model::counted(n_more, "more CPU"));
        svg.text("note", Anchor::End, (frame.right - 4.0, 14.0), &note);
    }
    svg
}

fn x_end(frame: &Frame, axis: &Axis, seconds: f64) -> f64 {
    frame.x(axis, seconds)
}

/// Returns the corners of what a lane shows: a shape for slots that follow each other.
fn blocks(lane: &Lane, x: impl Fn(u32) -> f64, base: f64) -> Vec<Vec<Place>> {
    let mut all: Vec<Vec<Place>> = Vec::new();
    let mut before: Option<u32> = None;
    for &(slot, share) in &lane.shares {
        let y = base - (share.min(1.0) * HIGHEST).max(SEEN);
        let follows = before.is_some_and(|before| before + 1 == slot);
        if !follows {
            all.push(vec![(x(slot), base)]);
        }
        let Some(corners) = all.last_mut() else { continue };
        if follows {
            // Back from the base line, to which the slot before went down.
            corners.pop();
        }
        match corners.last_mut() {
            Some(last) if follows && (last.1 - y).abs() < 0.05 => last.0 = x(slot + 1),
            _ => corners.extend([(x(slot), y), (x(slot + 1), y)]),
        }
        corners.push((x(slot + 1), base));
        before = Some(slot);
    }
    all
}

fn in_words(timeline: &Timeline, cpus: &[(u32, Vec<Drawn>)], n_more: usize) -> String {
    let share = |drawn: &Drawn| format!("{} {}", drawn.name, percent(share(timeline, &drawn.lane)));
    let of_cpu = |(cpu, lanes): &(u32, Vec<Drawn>)| {
        let lanes: Vec<String> = lanes.iter().map(share).collect();
        format!("CPU {cpu}: {}.", lanes.join(", "))
    };
    let mut words: Vec<String> = cpus.iter().map(of_cpu).collect();
    if n_more > 0 {
        words.push(format!("{} not drawn.", becalm_model::counted(n_more, "more CPU")));
    }
    format!("Who ran when on each CPU, with the share of the time. {}", words.join(" "))
}

#[cfg(test)]
mod tests {
    use becalm_model::trace::Culprit;

    use super::*;
    use crate::svg;

    fn process(name: &str) -> Culprit {
        Culprit::Process { name: name.to_owned(), pid: None, unit: None }
    }

    fn lane(cpu: u32, who: Option<Culprit>, shares: Vec<(u32, f64)>) -> Lane {
        Lane { cpu, who, shares }
    }

    fn of(lanes: Vec<Lane>) -> Timeline {
        Timeline { run: Some(3), seconds: 0.1, slot: 0.1 / 400.0, lanes }
    }

    #[test]
    fn everybody_has_a_lane_on_the_cpu_where_it_ran() {
        let subject = (0..400).filter(|slot| !(100..140).contains(slot)).map(|slot| (slot, 1.0));
        let lanes = vec![
            lane(0, Some(process("rustc")), (100..140).map(|slot| (slot, 1.0)).collect()),
            lane(0, None, subject.collect()),
            lane(0, Some(Culprit::NonMaskable), vec![(7, 0.001)]),
            lane(1, Some(process("<sh>")), vec![(0, 0.5), (1, 0.5), (2, 0.25), (200, 1.0)]),
        ];
        let drawing = timeline(&of(lanes), "Run 4", "t", 0.1);
        insta::assert_snapshot!(svg::within(&drawing));
    }

    #[test]
    fn a_busy_machine_has_a_bounded_picture_that_says_what_it_leaves_out() {
        let busy = |cpu: u32, n: u32| {
            let shares = (0..512).map(|slot| (slot, f64::from((slot * 7 + n) % 11) / 11.0));
            lane(cpu, Some(process(&format!("p{n}"))), shares.collect())
        };
        let mut lanes: Vec<Lane> =
            (0..32).flat_map(|cpu| (0..20).map(move |n| busy(cpu, n))).collect();
        lanes.push(lane(31, None, vec![(3, 1.0)]));
        let drawing =
            timeline(&Timeline { seconds: 512.0, slot: 1.0, lanes, run: None }, "t", "t", 512.0);
        let text = svg::alone(&drawing);
        assert!(text.len() < 200_000, "{}", text.len());
        assert!(text.contains("24 more CPUs not drawn") && text.contains(">CPU 31<"));
        assert!(text.contains("14 others") && drawing.count_of("others") > 0);
    }

    #[test]
    fn slots_that_follow_each_other_are_one_shape() {
        let lane = lane(0, None, vec![(1, 1.0), (2, 1.0), (3, 0.5), (9, 0.0001)]);
        let blocks = blocks(&lane, |slot| f64::from(slot) * 10.0, 20.0);
        assert_eq!(blocks.len(), 2);
        let expected =
            [(10.0, 20.0), (10.0, 5.0), (30.0, 5.0), (30.0, 12.5), (40.0, 12.5), (40.0, 20.0)];
        assert_eq!(blocks[0], expected);
        assert!((blocks[1][1].1 - 18.0).abs() < 1e-9, "however short, it is seen");
    }
}
