//! What the search looks through: a script that sets a variable, because a page that is opened from disk may
//! load scripts beside it but fetch no files.

use anyhow::Result;
use serde::Serialize;

use super::document::Document;
use super::paths::page;

/// One section of one page; the letters of `search.js`.
#[derive(Serialize)]
struct Entry<'a> {
    page: String,
    title: &'a str,
    heading: &'a str,
    anchor: &'a str,
    text: &'a str,
}

/// Returns the script.
pub(super) fn index(documents: &[Document]) -> Result<String> {
    let entries: Vec<Entry> = documents.iter().flat_map(entries).collect();
    Ok(format!("const SECTIONS = {};\n", serde_json::to_string(&entries)?))
}

fn entries(document: &Document) -> impl Iterator<Item = Entry<'_>> {
    document.sections.iter().map(|section| {
        let heading = section.heading.as_ref();
        Entry {
            page: page(&document.path),
            title: document.title(),
            heading: heading.map_or("", |heading| &heading.text),
            anchor: heading.map_or("", |heading| &heading.anchor),
            text: &section.text,
        }
    })
}
