//! The list of projects, on a server that has several.

use std::fmt::Write as _;

use becalm_model::wire::{WebProjectDocument, WebProjectStanding, WebProjectsDocument};

use super::frame::{Section, name, page, table};
use super::links::{Links, Site};
use crate::moment::date;
use crate::quantity::count;

/// Writes the page of the projects.
pub fn web_projects(document: &WebProjectsDocument, site: &Site) -> String {
    let links = Links::at_top(site);
    let title = count(document.projects.len(), "project");
    let mut out = format!(
        "<h1>{title}</h1>\n<p class=\"quiet\">Regressions and improvements are confirmed changes about which nobody has \
         decided; pending changes may vanish with the next values.</p>\n"
    );
    let titles = [
        ("project", false),
        ("regressions", true),
        ("improvements", true),
        ("pending", true),
        ("entries", true),
        ("last result", false),
    ];
    out.push_str(&table(&titles, document.projects.iter().map(row)));
    if document.unknown > 0 {
        let n = count(document.unknown, "more project");
        let them = if document.unknown == 1 { "it" } else { "them" };
        let _ = writeln!(
            out,
            "<p>{n} cannot be shown: since this server started, it could not find out who may read {them}.</p>"
        );
    }
    page(&links, Section::None, &title.replace('\u{a0}', " "), &out)
}

fn row(project: &WebProjectDocument) -> Vec<String> {
    let WebProjectDocument { name: of, standing } = project;
    // A name of a project has nothing that an address or HTML would read.
    let of = name(of);
    let link = format!("<a href=\"{of}/\">{of}</a>");
    let Some(standing) = standing else {
        let none = String::new;
        let why = "<strong>its history cannot be read now</strong>".to_owned();
        return vec![link, none(), none(), none(), none(), why];
    };
    let WebProjectStanding { entries, counts, open_improvements, open_pending, last, .. } =
        *standing;
    let changes = |n: usize, class: &str, sign: &str| match n {
        0 => "0".to_owned(),
        n => format!("<span class=\"{class}\">{sign} {n}</span>"),
    };
    vec![
        link,
        changes(counts.open_regressions, "slower", "\u{25b2}"),
        changes(open_improvements, "faster", "\u{25bc}"),
        open_pending.to_string(),
        entries.to_string(),
        last.map_or_else(|| "none".to_owned(), date),
    ]
}
