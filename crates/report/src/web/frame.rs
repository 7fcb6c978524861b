//! What every page has around its content.

use std::fmt::Write as _;

use becalm_model::Unit;
use becalm_model::history::short_commit;
use becalm_model::wire::WebPart;

use super::links::{At, Links, SitePart};
use super::zoom;
use crate::escape;
use crate::quantity::count;
use crate::svg::{look, tone};

/// Which entry of the navigation a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Changes,
    Benchmarks,
    Compare,
    Machines,
    Suites,
    Entries,
    None,
}

/// Letters of a name that a page shows; what is longer was made by a machine.
const LONGEST: usize = 160;

/// Letters of a reason, an error or a fact.
pub(super) const LONGEST_TEXT: usize = 1000;

/// Returns the style sheet of the pages.
pub fn web_style() -> String {
    format!(
        "{}{}{}{}{}",
        tone::variables(),
        crate::html::STYLE,
        look::rules(|tone| format!("var({})", tone.variable())),
        zoom::STYLE,
        include_str!("style.css"),
    )
}

/// Returns the sign of the pages: a level that drops.
pub fn web_icon() -> String {
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\"><rect width=\"16\" height=\"16\" rx=\"3\" \
     fill=\"#1b1f24\"/><path d=\"M2 5h6v6h6\" fill=\"none\" stroke=\"#5fce95\" stroke-width=\"2.4\"/></svg>\n"
        .to_owned()
}

/// Writes a whole page with this title around its content.
pub(super) fn page(links: &Links<'_>, section: Section, title: &str, content: &str) -> String {
    let site = links.site;
    let name = escape::html(&clipped(&site.title));
    let part = links.part();
    let feed = format!(
        "<link rel=\"alternate\" type=\"application/atom+xml\" title=\"Confirmed changes\" href=\"{}\">\n",
        links.to(At::Asset("feed.atom"))
    );
    let feed = if part == SitePart::Top { "" } else { &feed };
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"becalm {}\">\n<title>{} \u{b7} {name}</title>\n\
         {}\n<link rel=\"icon\" href=\"{}\">\n{feed}</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n",
        escape::html(&site.version),
        escape::html(&clipped(title)),
        style(links),
        links.to(At::Asset("icon.svg")),
    );
    let pages = [
        (Section::Changes, "Changes", At::Changes { state: "open", branch: None, page: 1 }),
        (Section::Benchmarks, "Benchmarks", At::Benchmarks { search: "", all: false, page: 1 }),
        (
            Section::Compare,
            "Compare",
            At::Compare { of: "commits", sides: [""; 2], show: "all", search: "", page: 1 },
        ),
        (Section::Machines, "Machines", At::Machines { page: 1 }),
        (Section::Suites, "Suites", At::Suites { suite: None, page: 1 }),
        (Section::Entries, "Entries", At::Entries { page: 1 }),
    ];
    let _ = write!(out, "<header class=\"site\">\n<p class=\"name\">{name}</p>\n");
    if part != SitePart::Top {
        out.push_str("<nav aria-label=\"Pages\">");
        if part == SitePart::Project {
            let _ = write!(out, "<a href=\"{}\">Projects</a>", links.projects());
        }
        for (of, word, at) in pages {
            let current = if of == section { " aria-current=\"page\"" } else { "" };
            let _ = write!(out, "<a href=\"{}\"{current}>{word}</a>", links.to(at));
        }
        out.push_str("</nav>\n");
    }
    let _ = write!(
        out,
        "</header>\n<main id=\"main\">\n{content}</main>\n\
         <footer>becalm {}</footer>\n</body>\n</html>\n",
        escape::html(&site.version)
    );
    out
}

/// Returns the style of a page. One that is served has it in itself: over a slow network it is shown one answer sooner.
/// Among files it would be in each of thousands.
fn style(links: &Links<'_>) -> String {
    if links.is_served() {
        return format!("<style>{}</style>", web_style());
    }
    format!("<link rel=\"stylesheet\" href=\"{}\">", links.to(At::Asset("style.css")))
}

/// Writes links to the parts of a long list, if it has several.
pub(super) fn parts<'a>(
    part: WebPart,
    what: &str,
    to: impl Fn(usize) -> At<'a>,
    links: &Links<'_>,
) -> String {
    let WebPart { page, pages, items } = part;
    if pages < 2 {
        return String::new();
    }
    let mut out = "<nav class=\"parts\" aria-label=\"Parts of the list\">".to_owned();
    let mut link = |at: usize, word: &str| {
        let is_there = (1..=pages).contains(&at) && at != page;
        let _ = if is_there {
            write!(out, "<a href=\"{}\">{word}</a> ", links.to(to(at)))
        } else {
            write!(out, "<span class=\"quiet\">{word}</span> ")
        };
    };
    link(1, "first");
    link(page.wrapping_sub(1), "previous");
    link(page + 1, "next");
    link(pages, "last");
    let _ = writeln!(
        out,
        "<span class=\"quiet\">page {page} of {pages}, {}</span></nav>",
        count(items, what)
    );
    out
}

/// Shortens a name that is longer than anybody reads.
pub(super) fn clipped(text: &str) -> String {
    clipped_to(text, LONGEST)
}

/// Shortens a text to so many letters, of which none turns others around.
pub(super) fn clipped_to(text: &str, most: usize) -> String {
    let plain = |c: char| if escape::turns_others(c) { char::REPLACEMENT_CHARACTER } else { c };
    let mut letters = text.chars().map(plain);
    let mut out: String = letters.by_ref().take(most).collect();
    if letters.next().is_some() {
        out.push('\u{2026}');
    }
    out
}

/// Reads the name of a unit; what is longer than any unit is shortened.
pub(super) fn unit(text: &str) -> Unit {
    Unit::from_name(&clipped_to(text, 24))
}

/// Writes a name for HTML, shortened if it is very long.
pub(super) fn name(text: &str) -> String {
    escape::html(&clipped(text))
}

/// Writes the beginning of the id of a commit, with a link to its page where that is known.
pub(super) fn commit_link(id: &str, links: &Links<'_>) -> String {
    match links.commit(id) {
        Some(to) => format!("<a href=\"{}\">{}</a>", escape::html(&to), commit_code(id)),
        None => commit_code(id),
    }
}

/// Writes the beginning of the id of a commit, where a link leads elsewhere.
pub(super) fn commit_code(id: &str) -> String {
    format!("<code>{}</code>", name(short_commit(id)))
}

/// Writes a table whose cells are HTML. The first cell of a row names it; on a narrow screen each cell has its title.
pub(super) fn table(
    titles: &[(&str, bool)],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let mut out = "<div class=\"scroll\"><table class=\"titled\">\n<thead><tr>".to_owned();
    let class = |is_number: bool| if is_number { " class=\"number\"" } else { "" };
    for (title, is_number) in titles {
        let _ = write!(out, "<th scope=\"col\"{}>{title}</th>", class(*is_number));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (index, (cell, (title, is_number))) in row.iter().zip(titles).enumerate() {
            let class = class(*is_number);
            let _ = if index == 0 {
                write!(out, "<th scope=\"row\"{class} data-title=\"{title}\">{cell}</th>")
            } else {
                write!(out, "<td{class} data-title=\"{title}\"><div>{cell}</div></td>")
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
    out
}

/// Writes names with their values, which are HTML, beside each other as far as there is room.
pub(super) fn inline_definitions<'a>(rows: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut out = "<dl class=\"inline\">\n".to_owned();
    for (name, value) in rows {
        let name = escape::html(name);
        let _ = writeln!(out, "<div><dt class=\"quiet\">{name}</dt> <dd>{value}</dd></div>");
    }
    out.push_str("</dl>\n");
    out
}

/// Writes names with their values, which are HTML.
pub(super) fn definitions<'a>(rows: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut out = "<dl>\n".to_owned();
    for (name, value) in rows {
        let _ = writeln!(out, "<dt class=\"quiet\">{}</dt><dd>{value}</dd>", escape::html(name));
    }
    out.push_str("</dl>\n");
    out
}
