//! The tables of change points, as Markdown.

use super::{COURSES, KINDS, LENGTHS, STEPS, alarms, courses, found};
use crate::table::{Table, titles};

/// Returns all tables, of `count` series for each cell.
pub fn levels_markdown(count: u32, seed: u64) -> String {
    format!(
        "{}\n{}\n{}",
        alarms_table(count, seed).markdown(),
        found_table(count, seed.wrapping_add(1)).markdown(),
        courses_table(count, seed.wrapping_add(2)).markdown()
    )
}

/// Returns how often there is a change of level in series that have none.
pub fn alarms_table(count: u32, seed: u64) -> Table {
    let row = |kind: &super::Kind| {
        let mut row = vec![kind.name.to_owned()];
        let (mut spreads, mut restless, mut ever) = (Vec::new(), Vec::new(), 0.0);
        for (n, most) in LENGTHS.into_iter().zip(kind.most) {
            let found = alarms(kind, n, count, seed);
            let share_of = |count: u32| f64::from(count) / f64::from(found.series);
            spreads.push(percent(share_of(found.spread)));
            restless.push(percent(share_of(found.restless)));
            ever = share_of(found.ever);
            let share = f64::from(found.alarmed) / f64::from(found.series);
            row.push(if share > most { format!("**{}**", percent(share)) } else { percent(share) });
        }
        row.push(percent(kind.most[2]));
        row.push(percent(ever));
        row.push(restless.join(", "));
        row.push(spreads.join(", "));
        row
    };
    Table {
        title: "Series whose level never changes".to_owned(),
        explanation: format!(
            "Share of series of 50, 200 and 500 points with a confirmed change of level, and at most how many there \
             should be at 500; more than wanted is bold. In the last three kinds the level does not stay: changes that \
             became part of an unstable series or of a trend do not count there, and are in `ever`, of 500 points. \
             The last columns have the series that were unstable or on a trend, and those with a change of spread. \
             {count} series each."
        ),
        header: titles(&[
            "noise",
            "50",
            "200",
            "500",
            "at most",
            "ever",
            "unstable or trend: 50, 200, 500",
            "spread: 50, 200, 500",
        ]),
        rows: KINDS.iter().map(row).collect(),
    }
}

/// Returns how often a change is found, and how soon.
pub fn found_table(count: u32, seed: u64) -> Table {
    let row = |step: &super::Step| {
        let found = found(step, count, seed);
        let share = found.share();
        let delay = |share| found.delay(share).map_or("-".to_owned(), |delay| delay.to_string());
        vec![
            step.name.to_owned(),
            if share < step.least { format!("**{}**", percent(share)) } else { percent(share) },
            percent(step.least),
            delay(0.5),
            delay(0.9),
            percent(f64::from(found.about) / f64::from(found.series)),
            found.others.to_string(),
        ]
    };
    Table {
        title: "Series whose level changes once".to_owned(),
        explanation: format!(
            "Share of changes that are confirmed within 5 points of where they are, or within 20 for whole numbers: \
             even with both levels known, their place can be found within 5 points in only three of four series. Less \
             than wanted is bold. The delay is the number of points that had been read after the first of the new level, \
             as the median and the 90 % quantile over all series. Others are confirmed changes farther away, or parts \
             of an unstable series or a trend. {count} series each."
        ),
        header: titles(&[
            "points before and after, size",
            "found",
            "at least",
            "delay",
            "90 %",
            "within 20",
            "others",
        ]),
        rows: STEPS.iter().map(row).collect(),
    }
}

/// Returns what becomes a state, and what does not.
pub fn courses_table(count: u32, seed: u64) -> Table {
    let row = |course: &super::Course| {
        let found = courses(course, count, seed);
        let series = f64::from(found.series);
        let size = |_: &f64| found.trends > 0;
        let share = Some(found.sizes / f64::from(found.trends) / course.moves);
        let share = share.filter(size).filter(|share| share.is_finite());
        vec![
            course.name.to_owned(),
            format!("{:.2}", found.changes as f64 / series),
            format!("{:.2}", found.alone as f64 / series),
            percent(f64::from(found.unstable) / series),
            percent(f64::from(found.trends) / series),
            share.map_or("-".to_owned(), percent),
        ]
    };
    Table {
        title: "Series whose level moves more than once, or slowly".to_owned(),
        explanation: format!(
            "Confirmed changes of a series on average, those of them that are no part of a state, the share of series \
             that were unstable or on a trend, and the mean size of these trends as a share of the true one. Sizes are \
             in deviations of independent noise. {count} series each."
        ),
        header: titles(&["course", "changes", "on their own", "unstable", "trend", "size"]),
        rows: COURSES.iter().map(row).collect(),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
