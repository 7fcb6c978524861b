//! The pages: text, navigation and contents in the template.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use pulldown_cmark::HeadingLevel;

use super::document::Document;
use super::outline::{self, GROUPS};
use super::paths::{anchored, is_outside, page, relative, resolved};
use super::{Files, INDEX, search};

const TEMPLATE: &str = include_str!("template.html");
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("search.js");

/// Files of this folder that a page links to are copied; everything else that is no page stays as text.
const COPIED: &str = "docs/";

/// Contents that are longer than this are folded at first.
const LONG: usize = 12;

/// Builds all files of the site from the repository at `top`.
pub(super) fn build(top: &Path) -> Result<Files> {
    outline::check(top)?;
    let mut documents = Vec::new();
    for path in GROUPS.iter().flat_map(|group| group.files) {
        let text =
            fs::read_to_string(top.join(path)).with_context(|| format!("cannot read {path}"))?;
        documents.push(Document::parse(path, &text));
    }
    let copied = RefCell::new(BTreeSet::new());
    let mut files = Files::new();
    for document in &documents {
        let html = whole(document, &documents, |link| {
            let target = target(&document.path, link, &documents, top)?;
            if let Target::Copied(file) = &target {
                copied.borrow_mut().insert(file.clone());
            }
            Some(target.href(&document.path, link))
        });
        files.insert(page(&document.path), html.into_bytes());
    }
    for file in copied.into_inner() {
        let bytes = fs::read(top.join(&file)).with_context(|| format!("cannot read {file}"))?;
        files.insert(file, bytes);
    }
    files.insert("style.css".to_owned(), STYLE.into());
    files.insert("search.js".to_owned(), SCRIPT.into());
    files.insert(INDEX.to_owned(), search::index(&documents)?.into_bytes());
    Ok(files)
}

/// Where a link leads on the site.
enum Target {
    /// Outside, or to a heading of the same page.
    AsItIs,
    Page(String),
    Copied(String),
}

impl Target {
    fn href(&self, from: &str, link: &str) -> String {
        match self {
            Self::AsItIs => link.to_owned(),
            Self::Copied(file) => relative(from, file),
            Self::Page(file) => {
                let link_to = relative(&page(from), &page(file));
                anchored(link).1.map_or(link_to.clone(), |anchor| format!("{link_to}#{anchor}"))
            }
        }
    }
}

/// Returns where a link of a Markdown file leads, or none if the site does not have it: a source, a folder.
fn target(from: &str, link: &str, documents: &[Document], top: &Path) -> Option<Target> {
    if is_outside(link) || link.starts_with('#') {
        return Some(Target::AsItIs);
    }
    let path = resolved(from, anchored(link).0)?;
    if documents.iter().any(|document| document.path == path) {
        return Some(Target::Page(path));
    }
    (path.starts_with(COPIED) && top.join(&path).is_file()).then_some(Target::Copied(path))
}

fn whole(
    document: &Document,
    documents: &[Document],
    followed: impl Fn(&str) -> Option<String>,
) -> String {
    let name = page(&document.path);
    let root = relative(&name, "style.css").replace("style.css", "");
    let title = match document.title() {
        "becalm" => "becalm".to_owned(),
        title => format!("{title} - becalm"),
    };
    let text =
        document.html(followed).replacen("</h1>\n", &format!("</h1>\n{}", contents(document)), 1);
    // The text comes last, so that nothing is looked for in it.
    TEMPLATE
        .replace("{{title}}", &escaped(&title))
        .replace("{{root}}", &root)
        .replace("{{navigation}}", &navigation(document, documents))
        .replace("{{text}}", &text)
}

/// Returns the list of all pages, in groups.
fn navigation(here: &Document, documents: &[Document]) -> String {
    let mut list = String::new();
    for group in &GROUPS {
        let _ = writeln!(list, "<h2>{}</h2>\n<ul>", group.name);
        for document in documents.iter().filter(|one| group.files.contains(&one.path.as_str())) {
            let link = relative(&page(&here.path), &page(&document.path));
            let current = if here.path == document.path { " aria-current=\"page\"" } else { "" };
            let title = escaped(document.title());
            let _ = writeln!(list, "<li><a href=\"{link}\"{current}>{title}</a></li>");
        }
        list.push_str("</ul>\n");
    }
    list
}

/// Returns the list of the sections of a page; nothing for a page with hardly any.
fn contents(document: &Document) -> String {
    let of = |levels: &[HeadingLevel]| -> Vec<_> {
        document.headings.iter().filter(|heading| levels.contains(&heading.level)).collect()
    };
    let mut sections = of(&[HeadingLevel::H2]);
    if sections.len() < 2 {
        sections = of(&[HeadingLevel::H2, HeadingLevel::H3]);
    }
    if sections.len() < 2 {
        return String::new();
    }
    let open = if sections.len() > LONG { "" } else { " open" };
    let mut list =
        format!("<details class=\"contents\"{open}>\n<summary>On this page</summary>\n<ul>\n");
    for heading in sections {
        let text = escaped(&heading.text);
        let _ = writeln!(list, "<li><a href=\"#{}\">{text}</a></li>", heading.anchor);
    }
    list.push_str("</ul>\n</details>\n");
    list
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
