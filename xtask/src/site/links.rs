//! Where links lead: in the Markdown files, and on the site that is made of them.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::Files;
use super::document::Document;
use super::paths::{anchored, ends, is_outside, resolved};

/// Folders that hold no documents of ours: what is built, and what other tools wrote.
const PASSED_OVER: [&str; 3] = ["target", ".git", "captures"];

/// Returns every link of a Markdown file below `top` that leads nowhere, as `file:line: link: reason`.
pub(super) fn broken(top: &Path) -> Result<Vec<String>> {
    let mut documents = HashMap::new();
    for path in markdown_files(top)? {
        let text =
            fs::read_to_string(top.join(&path)).with_context(|| format!("cannot read {path}"))?;
        documents.insert(path.clone(), Document::parse(&path, &text));
    }
    let mut found: Vec<(String, usize, String)> = Vec::new();
    for document in documents.values() {
        for link in document.links.iter().filter(|link| !is_outside(&link.target)) {
            if let Err(reason) = follow(&document.path, &link.target, top, &documents) {
                found.push((
                    document.path.clone(),
                    link.line,
                    format!("{}: {reason}", link.target),
                ));
            }
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(file, line, link)| format!("{file}:{line}: {link}")).collect())
}

fn follow(
    from: &str,
    link: &str,
    top: &Path,
    documents: &HashMap<String, Document>,
) -> Result<(), &'static str> {
    let (path, anchor) = anchored(link);
    let path = if path.is_empty() { Some(from.to_owned()) } else { resolved(from, path) };
    let path = path.ok_or("leaves the repository")?;
    if !top.join(&path).exists() {
        return Err("no such file");
    }
    match (anchor, documents.get(&path)) {
        (None, _) => Ok(()),
        (Some(anchor), Some(document)) if document.has_anchor(anchor) => Ok(()),
        (Some(_), Some(_)) => Err("no such heading"),
        (Some(_), None) => Err("an anchor in a file that has no headings"),
    }
}

/// Returns the paths of all Markdown files below `top`.
fn markdown_files(top: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && !path.is_symlink() {
                if !PASSED_OVER.contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if ends(&name, "md") {
                let below = path.strip_prefix(top).expect("it was found below");
                found.push(below.to_string_lossy().into_owned());
            }
        }
    }
    Ok(found)
}

/// Returns every link of a page of the site that leads nowhere, as `page: link`.
pub(super) fn broken_on_site(files: &Files) -> Vec<String> {
    let pages = files.iter().filter(|(name, _)| ends(name, "html"));
    let pages = pages.map(|(name, bytes)| (name.as_str(), String::from_utf8_lossy(bytes)));
    let pages: HashMap<_, _> = pages.collect();
    let mut broken = Vec::new();
    for (name, html) in &pages {
        for link in attributes(html, "href").chain(attributes(html, "src")) {
            if is_outside(link) {
                continue;
            }
            let (path, anchor) = anchored(link);
            let path =
                if path.is_empty() { Some((*name).to_owned()) } else { resolved(name, path) };
            let is_there = path.is_some_and(|path| {
                files.contains_key(&path)
                    && anchor.is_none_or(|anchor| {
                        pages.get(path.as_str()).is_some_and(|page| has_id(page, anchor))
                    })
            });
            if !is_there {
                broken.push(format!("{name}: {link}"));
            }
        }
    }
    broken.sort();
    broken
}

/// Whether an element has this identifier; links write letters beyond ASCII as percent and digits.
fn has_id(page: &str, anchor: &str) -> bool {
    attributes(page, "id").any(|id| id == anchor || encoded(id) == anchor)
}

fn encoded(id: &str) -> String {
    id.bytes().fold(String::new(), |text, byte| match byte {
        0..0x80 => text + char::from(byte).encode_utf8(&mut [0]),
        _ => text + &format!("%{byte:02X}"),
    })
}

/// Returns the values of an attribute. Text cannot look like one: quotation marks are escaped there.
fn attributes<'a>(html: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let start = format!(" {name}=\"");
    let mut rest = html;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(&start)?;
        let (value, after) = after.split_once('"')?;
        rest = after;
        Some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_links_are_named_with_file_and_line() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write(
            "A.md",
            "# A\n\n[b](B.md#b) [gone](C.md)\n[wrong](B.md#c) [own](#a) [o](https://x.y)\n",
        );
        write("B.md", "# B\n\n[up](../A.md)\n\n[code](x.rs#L1)\n");
        write("x.rs", "");
        assert_eq!(
            broken(folder.path()).unwrap(),
            [
                "A.md:3: C.md: no such file",
                "A.md:4: B.md#c: no such heading",
                "B.md:3: ../A.md: leaves the repository",
                "B.md:5: x.rs#L1: an anchor in a file that has no headings",
            ]
        );
    }

    #[test]
    fn links_of_the_site_need_a_file_and_an_identifier() {
        let page = "<h1 id=\"größe\">x</h1><a href=\"#gr%C3%B6%C3%9Fe\">a</a><a href=\"b.html\">b</a>\
                    <img src=\"i.svg\"><a href=\"a.html#none\">c</a>";
        let files = Files::from([("a.html".to_owned(), page.into()), ("i.svg".to_owned(), vec![])]);
        assert_eq!(broken_on_site(&files), ["a.html: a.html#none", "a.html: b.html"]);
    }
}
