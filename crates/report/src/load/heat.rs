//! The heat map: how the response times of each second are spread.

use becalm_model::load::{LoadRunDocument, LoadSecond, LoadSpread};
use becalm_model::{counted, place};

use super::pictures::{HEIGHT, left};
use super::time;
use crate::axis::Axis;
use crate::page::ELSEWHERE;
use crate::pictures::Picture;
use crate::svg::{Frame, Shape, Svg};

/// The most columns: more would be narrower than anybody can see.
const COLUMNS: u64 = 120;

/// From which share of a column's requests on a cell is darker.
const DARKER: [f64; 3] = [0.01, 0.1, 0.4];

/// Powers of ten from seconds to the nanoseconds of the steps.
const NANOS: f64 = 9.0;

/// Draws a column for each second, or for several if there are many, with a cell for each step of a tenth of a decade.
pub(super) fn of(document: &LoadRunDocument) -> Option<Picture> {
    let spreads = &document.spreads;
    let end = document.seconds.last().map_or(0, |one| one.second).max(spreads.last()?.second) + 1;
    let width = end.div_ceil(COLUMNS);
    let columns = columns(spreads, width);
    let steps = || columns.iter().flatten().map(|(step, _)| *step);
    // Whole decades, so that the axis has round times at its ends.
    let low = f64::from(steps().min()? / 10 * 10);
    let high = f64::from((steps().max()? / 10 + 1) * 10);
    let axis = Axis::between(low / 10.0 - NANOS, high / 10.0 - NANOS);
    let across = Axis::between(0.0, end as f64);
    let marked = marked(document);
    let mut svg = Svg::new(
        "load-heat",
        "Response times by second",
        &in_words(document, width, &marked),
        HEIGHT,
    );
    let frame = Frame::new(84.0, HEIGHT);
    left(&frame, &mut svg, &axis);
    for (index, column) in columns.iter().enumerate() {
        let all: u64 = column.iter().map(|(_, count)| count).sum();
        let from = index as u64 * width;
        let x = |second: u64| frame.x(&across, second.min(end) as f64);
        for (step, count) in column {
            let y = |step: u32| frame.y(&axis, f64::from(step) / 10.0 - NANOS);
            let share = *count as f64 / all.max(1) as f64;
            let darkness = 1 + DARKER.iter().filter(|limit| share >= **limit).count();
            let (top, bottom) = ((x(from), y(step + 1)), (x(from + width), y(*step)));
            svg.area(&format!("heat{darkness}"), top, bottom);
        }
    }
    for (second, why) in &marked {
        let at = (frame.x(&across, *second as f64 + 0.5), frame.top - 6.0);
        svg.mark(Shape::Cross, "cross", at, &format!("second {second}: {why}"));
    }
    frame.counting_axis(&mut svg, &across, "second of the load");
    let crosses = if marked.is_empty() {
        ""
    } else {
        " Crosses above mark seconds in which the generator was late or requests failed."
    };
    let caption = format!(
        "Response times of the answered requests by the {} in which they were due, on a logarithmic scale. The faintest cells \
         have under 1\u{a0}% of the requests of their column, the strongest at least 40\u{a0}%.{crosses}",
        if width == 1 { "second".to_owned() } else { format!("{width} seconds") }
    );
    Some(Picture { section: "Response times by second", drawing: svg, caption })
}

/// Adds up the steps of so many seconds each.
fn columns(spreads: &[LoadSpread], width: u64) -> Vec<Vec<(u32, u64)>> {
    let mut columns: Vec<Vec<(u32, u64)>> = Vec::new();
    for spread in spreads {
        let index = place((spread.second / width) as f64);
        columns.resize_with(columns.len().max(index + 1), Vec::new);
        for (step, count) in &spread.steps {
            let column = &mut columns[index];
            match column.binary_search_by_key(step, |(step, _)| *step) {
                Ok(at) => column[at].1 += count,
                Err(at) => column.insert(at, (*step, *count)),
            }
        }
    }
    columns
}

/// Returns the seconds that were disturbed, with what disturbed them.
fn marked(document: &LoadRunDocument) -> Vec<(u64, String)> {
    let limit = document.fidelity.lag_limit;
    let why = |one: &LoadSecond| {
        let lag = one.lag_p99.filter(|lag| *lag > limit);
        let late = lag.map(|lag| format!("the generator was late (p99 {})", time(lag, &ELSEWHERE)));
        let missing = one.errors + one.unsent;
        let failed = (missing > 0)
            .then(|| format!("{} without the expected answer", super::requests_of(missing)));
        let all: Vec<String> = [late, failed].into_iter().flatten().collect();
        (!all.is_empty()).then(|| (one.second, all.join("; ")))
    };
    document.seconds.iter().filter_map(why).collect()
}

/// Says what the picture shows to those who cannot see it.
fn in_words(document: &LoadRunDocument, width: u64, marked: &[(u64, String)]) -> String {
    let most = |of: fn(&LoadSecond) -> Option<f64>| {
        document
            .seconds
            .iter()
            .filter_map(|one| Some((one.second, of(one)?)))
            .max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let middles: Vec<f64> = document.seconds.iter().filter_map(|one| one.response_p50).collect();
    let ends = |fold: fn(f64, f64) -> f64| middles.iter().copied().reduce(fold);
    let mut sentences = vec![format!(
        "{} of response times in columns of {}.",
        counted(document.seconds.len(), "second"),
        counted(place(width as f64), "second")
    )];
    if let (Some(low), Some(high)) = (ends(f64::min), ends(f64::max)) {
        let (low, high) = (time(low, &ELSEWHERE), time(high, &ELSEWHERE));
        sentences.push(format!("Medians of the seconds lie from {low} to {high}."));
    }
    if let Some((second, slowest)) = most(|one| one.response_max) {
        sentences.push(format!(
            "The slowest request was due in second {second}: {}.",
            time(slowest, &ELSEWHERE)
        ));
    }
    if let Some((second, slow)) = most(|one| one.response_p99) {
        sentences.push(format!(
            "The highest p99 is that of second {second}: {}.",
            time(slow, &ELSEWHERE)
        ));
    }
    for (second, why) in marked.iter().take(10) {
        sentences.push(format!("Second {second}: {why}."));
    }
    if marked.len() > 10 {
        let more = counted(marked.len() - 10, "second");
        sentences.push(format!("Crosses also mark {more} more."));
    }
    sentences.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::tests::stalled;
    use super::*;
    use crate::svg;

    /// Nine seconds of 80 us, with a stall of 200 ms in the sixth.
    fn spread() -> LoadRunDocument {
        let usual = stalled();
        let spreads = (0..10).map(|second| LoadSpread {
            second,
            steps: if second == 5 {
                vec![(48, 1000), (50, 600), (70, 60), (76, 100), (80, 140), (82, 100)]
            } else {
                vec![(48, 1700), (49, 290), (52, 10)]
            },
        });
        LoadRunDocument { spreads: spreads.collect(), ..usual }
    }

    #[test]
    fn a_stall_is_a_column_of_slow_requests() {
        let picture = of(&spread()).unwrap();
        insta::assert_snapshot!(svg::within(&picture.drawing));
    }

    #[test]
    fn seconds_that_were_disturbed_are_marked_and_said() {
        let mut document = spread();
        assert_eq!(of(&document).unwrap().drawing.count_of("cross"), 0);
        document.seconds[2].lag_p99 = Some(0.1);
        (document.seconds[7].errors, document.seconds[7].unsent) = (3, 1);
        let picture = of(&document).unwrap();
        assert_eq!(picture.drawing.count_of("cross"), 2);
        assert!(picture.caption.contains("Crosses"), "{}", picture.caption);
        let words = in_words(&document, 1, &marked(&document));
        assert!(words.contains("Second 2: the generator was late"), "{words}");
        assert!(words.contains("Second 7: 4 requests without"), "{words}");
    }

    #[test]
    fn many_seconds_share_columns_and_no_request_is_lost() {
        let spreads: Vec<LoadSpread> =
            (0..1000).map(|second| LoadSpread { second, steps: vec![(50, 2), (60, 1)] }).collect();
        let all = columns(&spreads, 9);
        assert_eq!(all.len(), 112);
        assert_eq!(all.iter().flatten().map(|(_, count)| count).sum::<u64>(), 3000);
        assert_eq!(all[0], [(50, 18), (60, 9)]);
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert!(of(&stalled()).is_none());
    }
}
