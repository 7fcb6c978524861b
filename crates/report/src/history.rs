//! The output of `becalm history list` and the head of `becalm history show`.

use becalm_model::history::{Entry, full_name, short_commit};
use becalm_model::wire::HistorySeriesDocument;
use becalm_model::{Unit, counted};

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

/// Lists series in the order given, each with its last value, and with its state if there is one of which the level does
/// not stay.
pub fn series_text(series: &[HistorySeriesDocument], style: &Style) -> String {
    let titles = [
        ("series", Align::Right),
        ("benchmark", Align::Left),
        ("metric", Align::Left),
        ("branch", Align::Left),
        ("machine", Align::Left),
        ("points", Align::Right),
        ("last value", Align::Right),
        ("last time", Align::Left),
        ("state", Align::Left),
    ];
    let is_unsettled = series.iter().any(|one| one.state.is_some());
    let mut table = Table::new(titles.into_iter().take(if is_unsettled { 9 } else { 8 }));
    for one in series {
        let value = one.value.map_or("-".to_owned(), |value| {
            Scale::of(&Unit::from_name(&one.unit), [value], style.unicode).with_unit(value)
        });
        table.push([
            one.series.to_string().into(),
            full_name(&one.benchmark, &one.parameters).into(),
            one.metric.as_str().into(),
            one.branch.as_str().into(),
            one.fingerprint.get(..6).unwrap_or_default().into(),
            one.points.to_string().into(),
            value.into(),
            one.last.map_or("-".to_owned(), utc).into(),
            one.state.as_deref().unwrap_or_default().into(),
        ]);
    }
    let mut page = Page::new(style);
    page.table(&table);
    let n = series.len();
    page.say(&format!(
        "{n} series, {}.",
        count(series.iter().map(|one| one.points).sum(), "point")
    ));
    page.finish()
}

fn words(known: Option<&String>) -> String {
    known.map_or("unknown", String::as_str).to_owned()
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
        ("author", words(entry.commit.as_ref().and_then(|one| one.author.as_ref()))),
        ("title", words(entry.commit.as_ref().and_then(|one| one.title.as_ref()))),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_series_has_states_if_a_level_does_not_stay() {
        let one = HistorySeriesDocument { benchmark: "sort".into(), ..Default::default() };
        let unstable = HistorySeriesDocument { state: Some("unstable".into()), ..one.clone() };
        let text = series_text(std::slice::from_ref(&one), &Style::PLAIN);
        assert!(!text.contains("state"), "{text}");
        let text = series_text(&[one, unstable], &Style::PLAIN);
        assert!(text.contains("state") && text.contains("unstable"), "{text}");
    }
}
