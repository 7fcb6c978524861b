//! Entries: the list, and one with its values and facts.

use std::fmt::Write as _;

use becalm_model::history::full_name;
use becalm_model::wire::{HistoryEntryDocument, WebEntriesDocument, WebEntryDocument};

use super::frame::{
    LONGEST_TEXT, Section, clipped_to, commit_link, definitions, name, page, parts, table, unit,
};
use super::links::{At, Links, Site};
use super::machine;
use crate::escape;
use crate::moment::utc;
use crate::quantity::{Scale, count};

/// Writes the page of the entries.
pub fn web_entries(document: &WebEntriesDocument, site: &Site) -> String {
    let links = Links::at_top(site);
    let titles = [
        ("entry", true),
        ("time", false),
        ("commit", false),
        ("branch", false),
        ("machine", false),
        ("tags", false),
        ("record", false),
    ];
    let rows = document.entries.iter().map(|entry| {
        let to = links.to(At::Entry { id: entry.entry, page: 1 });
        vec![
            format!("<a href=\"{to}\">{}</a>", entry.entry),
            format!("<time>{}</time>", escape::html(&utc(time(entry)))),
            commit(entry, &links),
            branch(entry)
                + if document.uncounted.contains(&entry.entry) { ", not counted" } else { "" },
            machine::short(&entry.facts, &entry.fingerprint),
            name(&entry.tags.join(" ")),
            record(entry, &links),
        ]
    });
    let mut out = "<h1>Entries</h1>\n".to_owned();
    if document.entries.is_empty() {
        out.push_str(
            "<p>The history is empty. <code>becalm history add FILE</code> adds a result.</p>\n",
        );
    } else {
        out.push_str(&table(&titles, rows));
    }
    out.push_str(&parts(document.part, "entry", |page| At::Entries { page }, &links));
    page(&links, Section::Entries, "Entries", &out)
}

/// Writes the page of an entry.
pub fn web_entry(document: &WebEntryDocument, site: &Site) -> String {
    let links = Links::in_folder(site);
    let entry = &document.entry;
    let title = format!("Entry {}", entry.entry);
    let tree = if entry.dirty { "with uncommitted changes" } else { "as committed" };
    let mut rows = vec![
        ("record", record(entry, &links)),
        ("commit", commit(entry, &links)),
        (
            "committed",
            entry.commit_time.map_or("unknown".to_owned(), |time| escape::html(&utc(time))),
        ),
        ("author", entry.commit_author.as_deref().map_or("unknown".to_owned(), name)),
        ("title", entry.commit_title.as_deref().map_or("unknown".to_owned(), name)),
        ("measured", escape::html(&utc(entry.measured))),
        ("branch", branch(entry)),
        ("working tree", if entry.commit.is_some() { tree } else { "unknown" }.to_owned()),
        ("machine", machine::short(&entry.facts, &entry.fingerprint)),
    ];
    if !entry.tags.is_empty() {
        rows.push(("tags", name(&entry.tags.join(" "))));
    }
    let mut out = format!("<h1>{title}</h1>\n{}<h2>Values</h2>\n", definitions(rows));
    let titles = [
        ("benchmark", false),
        ("metric", false),
        ("value", true),
        ("standard error", true),
        ("runs", true),
    ];
    let values = document.values.iter().map(|one| {
        let scale = Scale::of(&unit(&one.unit), [one.value], true);
        let to = links.to(At::Series { id: one.series, by: "order", page: 1 });
        vec![
            format!("<a href=\"{to}\">{}</a>", name(&full_name(&one.benchmark, &one.parameters))),
            name(&one.metric),
            escape::html(&scale.with_unit(one.value)),
            one.error.map_or("-".to_owned(), |error| escape::html(&scale.with_unit(error))),
            one.runs.to_string(),
        ]
    });
    out.push_str(&table(&titles, values));
    let id = entry.entry;
    out.push_str(&parts(document.part, "value", |page| At::Entry { id, page }, &links));
    let splits = |fact: &str| document.split.iter().any(|one| one == fact);
    let facts = entry.facts.iter().map(|(fact, value)| {
        let mark = if splits(fact) { " *" } else { "" };
        vec![format!("{}{mark}", name(fact)), escape::html(&clipped_to(value, LONGEST_TEXT))]
    });
    let _ = write!(
        out,
        "<h2>Machine and settings</h2>\n<details><summary>{}</summary>\n{}\
         <p class=\"quiet\">* a new value begins new series</p></details>\n",
        count(entry.facts.len(), "fact"),
        table(&[("fact", false), ("value", false)], facts)
    );
    page(&links, Section::None, &title, &out)
}

fn time(entry: &HistoryEntryDocument) -> f64 {
    entry.commit_time.unwrap_or(entry.measured)
}

fn commit(entry: &HistoryEntryDocument, links: &Links<'_>) -> String {
    let changes = if entry.dirty { " + changes" } else { "" };
    match &entry.commit {
        Some(id) => commit_link(id, links) + changes,
        None => "unknown".to_owned(),
    }
}

fn branch(entry: &HistoryEntryDocument) -> String {
    if entry.branch.is_empty() { "unknown".to_owned() } else { name(&entry.branch) }
}

fn record(entry: &HistoryEntryDocument, links: &Links<'_>) -> String {
    match links.record(entry.entry) {
        _ if !entry.has_record => "pruned; its values are kept".to_owned(),
        Some(to) => format!("<a href=\"{to}\">whole record</a>"),
        None => "not published".to_owned(),
    }
}
