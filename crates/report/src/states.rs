//! Series that are unstable or on a trend, in the output of `becalm changes`.

use std::collections::BTreeSet;

use becalm_model::history::{full_name, short_commit};
use becalm_model::wire::SeriesStateDocument;
use becalm_model::{Unit, is_are};

use crate::page::Page;
use crate::quantity::{NBSP, Scale, count, signed_percent};
use crate::style::{Role, Style};
use crate::table::{Align, Cell, Table};

/// Lists series whose level does not stay, and says what to do about them.
pub(crate) fn say_states(page: &mut Page<'_>, states: &[SeriesStateDocument], style: &Style) {
    if states.is_empty() {
        return;
    }
    let parts: usize = states.iter().map(|state| state.changes.len()).sum();
    let series: BTreeSet<Option<i64>> =
        states.iter().map(|state| state.history.as_ref().map(|place| place.series)).collect();
    page.say(&format!(
        "The level of {} series does not stay; {} {} part of that.",
        series.len(),
        count(parts, "confirmed change"),
        is_are(parts),
    ));
    page.table(&state_table(states, style));
    if states.iter().any(|state| state.state == "unstable") {
        page.say(UNSTABLE);
    }
    if states.iter().any(|state| state.state == "trend") {
        page.say(TREND);
    }
}

/// What an unstable series is, and what a trend is.
const UNSTABLE: &str = "An unstable series goes back and forth between levels, or wanders, which code seldom does. \
    Look at the machine with `becalm check`, and look for two modes of the program with `becalm hist`. While the series \
    is unstable, a gate cannot decide about it.";
const TREND: &str = "A trend is a slow move in one direction that no single commit has made. `becalm changes \
    acknowledge` with its id accepts the level to which it led.";

fn state_table(states: &[SeriesStateDocument], style: &Style) -> Table {
    let of_history = states.iter().any(|one| one.history.is_some());
    let named = [("id", Align::Right), ("benchmark", Align::Left), ("metric", Align::Left)];
    let mut columns: Vec<(&str, Align)> = Vec::new();
    columns.extend(if of_history { &named[..] } else { &[] });
    columns.extend([
        ("", Align::Left),
        ("since", Align::Left),
        ("up to", Align::Left),
        ("from", Align::Right),
        ("to", Align::Right),
        ("change", Align::Right),
        ("changes", Align::Right),
    ]);
    let mut table = Table::new(columns);
    for one in states {
        let place = one.history.as_ref();
        let unit = place.map_or(Unit::Count, |place| Unit::from_name(&place.unit));
        let scale = Scale::of(&unit, [one.from, one.to], style.unicode);
        let at = |commit: Option<&String>, index: usize| -> Cell {
            commit.map_or_else(|| format!("#{index}"), |id| short_commit(id).to_owned()).into()
        };
        let until = if one.current {
            "now".into()
        } else {
            at(place.and_then(|place| place.end_commit.as_ref()), one.end)
        };
        let word = match one.kind.as_str() {
            "regression" => Cell::of(Role::Slower, &one.state),
            "improvement" => Cell::of(Role::Faster, &one.state),
            _ => one.state.as_str().into(),
        };
        let size = match one.ratio {
            Some(ratio) if one.state == "trend" => signed_percent(ratio - 1.0, 1),
            Some(ratio) => format!("{:.1}{NBSP}% wide", 100.0 * (ratio - 1.0)),
            None => "-".to_owned(),
        };
        let mut row: Vec<Cell> = Vec::new();
        if let Some(place) = place {
            row.push(place.changes.last().map_or("-", String::as_str).into());
            row.push(full_name(&place.benchmark, &place.parameters).into());
            row.push(place.metric.as_str().into());
        }
        row.extend([
            word,
            at(place.and_then(|place| place.commit.as_ref()), one.start),
            until,
            scale.with_unit(one.from).into(),
            scale.with_unit(one.to).into(),
            size.into(),
            one.changes.len().to_string().into(),
        ]);
        table.push(row);
    }
    table
}
