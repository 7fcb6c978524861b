//! The output of `becalm history list` and the head of `becalm history show`.

use becalm_model::counted;
use becalm_model::history::{Entry, Point, Series, full_name, short_commit};

use crate::facts::pairs;
use crate::moment::utc;
use crate::page::Page;
use crate::quantity::{Scale, count};
use crate::style::Style;
use crate::table::{Align, Table};

/// Lists entries in the order given, each with the facts that changed.
pub fn entries_text(entries: &[(Entry, Vec<String>)], style: &Style) -> String {
    let mut table = Table::new([
        ("entry", Align::Right),
        ("time", Align::Left),
        ("commit", Align::Left),
        ("branch", Align::Left),
        ("machine", Align::Left),
        ("tags", Align::Left),
        ("noted", Align::Left),
    ]);
    for (entry, noted) in entries {
        let mut noted = noted.clone();
        if !entry.has_document {
            noted.push("record pruned".to_owned());
        }
        table.push([
            entry.id.to_string().into(),
            utc(entry.at()).into(),
            commit(entry).into(),
            entry.branch.as_str().into(),
            entry.fingerprint.get(..6).unwrap_or_default().into(),
            entry.tags.join(" ").into(),
            noted.join("; ").into(),
        ]);
    }
    let mut page = Page::new(style);
    page.table(&table);
    page.say(&format!("{}.", counted(entries.len(), "entry")));
    page.finish()
}

fn commit(entry: &Entry) -> String {
    let Some(commit) = &entry.commit else { return "-".to_owned() };
    let short = short_commit(&commit.id);
    if entry.dirty { format!("{short} + changes") } else { short.to_owned() }
}

/// Lists series in the order given, each with its last value.
pub fn series_text(series: &[(Series, Vec<Point>)], style: &Style) -> String {
    let mut table = Table::new([
        ("series", Align::Right),
        ("benchmark", Align::Left),
        ("metric", Align::Left),
        ("branch", Align::Left),
        ("machine", Align::Left),
        ("points", Align::Right),
        ("last value", Align::Right),
        ("last time", Align::Left),
    ]);
    for (one, points) in series {
        let key = &one.key;
        let parameters = key.parameters.iter().map(|(name, value)| (name, value));
        let name = full_name(&key.benchmark, parameters);
        let last = points.last();
        let value = last.map_or("-".to_owned(), |point| {
            Scale::of(&key.unit, [point.value], style.unicode).with_unit(point.value)
        });
        table.push([
            one.id.0.to_string().into(),
            name.into(),
            key.metric.as_str().into(),
            key.branch.as_str().into(),
            key.fingerprint.get(..6).unwrap_or_default().into(),
            points.len().to_string().into(),
            value.into(),
            last.map_or("-".to_owned(), |point| utc(point.at)).into(),
        ]);
    }
    let mut page = Page::new(style);
    page.table(&table);
    let n = series.len();
    page.say(&format!(
        "{n} series, {}.",
        count(series.iter().map(|one| one.1.len()).sum(), "point")
    ));
    page.finish()
}

/// Says what an entry is: where it is in time, and which facts of its machine split series or are
/// reported.
pub fn entry_text(
    entry: &Entry,
    split: &[(String, String)],
    told: &[(String, String)],
    style: &Style,
) -> String {
    let mut page = Page::new(style);
    page.section(&format!("Entry {}", entry.id));
    let mut rows = vec![
        ("measured", utc(entry.measured)),
        ("commit", entry.commit.as_ref().map_or("unknown".to_owned(), |one| one.id.clone())),
        (
            "committed",
            entry.commit.as_ref().and_then(|one| one.time).map_or("unknown".to_owned(), utc),
        ),
        ("branch", entry.branch.clone()),
        (
            "working tree",
            match (entry.dirty, &entry.commit) {
                (true, _) => "with changes",
                (false, Some(_)) => "as committed",
                (false, None) => "unknown",
            }
            .to_owned(),
        ),
    ];
    if !entry.tags.is_empty() {
        rows.push(("tags", entry.tags.join(" ")));
    }
    pairs(&mut page, rows.iter().map(|(name, value)| (*name, value.as_str())));
    let mut facts = |title: &str, facts: &[(String, String)]| {
        if !facts.is_empty() {
            page.section(title);
            pairs(&mut page, facts.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        }
    };
    facts(&format!("Machine {}: facts that split series", entry.fingerprint), split);
    facts("Facts that are only reported", told);
    page.finish()
}
