//! The page of a series: its values as points, its levels, its changes, and all of that as tables.

use std::fmt::Write as _;

use becalm_model::counted;
use becalm_model::history::full_name;
use becalm_model::wire::{WebPart, WebPointDocument, WebSeriesDocument};

use super::change::of_series;
use super::frame::{Section, commit_link, inline_definitions, name, page, parts, table, unit};
use super::links::{At, Links, Site};
use super::machine;
use super::picture;
use super::ridges::ridges;
use super::states::states;
use super::zoom::zoom;
use crate::escape;
use crate::moment::utc;
use crate::quantity::Scale;

/// Writes the page of a series.
pub fn web_series(document: &WebSeriesDocument, site: &Site) -> String {
    let links = Links::in_folder(site);
    let one = &document.series;
    let full = full_name(&one.benchmark, &one.parameters);
    let title = format!("{full}, {}", one.metric);
    let known = if document.points.is_empty() { &document.uncounted } else { &document.points };
    let scale = Scale::of(&unit(&one.unit), known.iter().map(|point| point.value), true);
    let mut out = format!("<h1>{}</h1>\n", name(&title));
    out.push_str(&inline_definitions(facts(document, &scale)));
    if document.points.is_empty() {
        out.push_str("<p>It has no values that count.</p>\n");
        out.push_str(&uncounted(document, &scale, &links));
        return page(&links, Section::None, &title, &out);
    }
    if let Some(overview) = picture::overview(document).filter(|_| !document.overview.is_empty()) {
        out.push_str(&overview);
    }
    let id = one.series;
    if links.is_served() {
        out.push_str("<nav class=\"tabs\" aria-label=\"From left to right\">");
        for (by, word) in [("order", "By entry"), ("time", "By time")] {
            let current = if by == document.by { " aria-current=\"page\"" } else { "" };
            let to = links.to(At::Series { id, by, page: document.part.page });
            let _ = write!(out, "<a href=\"{to}\"{current}>{word}</a>");
        }
        out.push_str("</nav>\n");
    }
    if let Some(picture) = picture::points(document, &links) {
        out.push_str(&picture);
    }
    out.push_str(
        "<p class=\"quiet\">Each dot is the value of one entry and leads to its record. Lines are medians between \
         confirmed changes, bands their 95 % intervals. A dashed line marks a change of the level; a pending \
         one may vanish again.</p>\n",
    );
    out.push_str(&zoom(document, &links));
    let by = document.by.as_str();
    out.push_str(&newer(document.part, |page| At::Series { id, by, page }, &links));
    if document.changes.is_empty() {
        out.push_str("<h2>Changes</h2>\n<p>None that stands out from the noise, as far as the values tell.</p>\n");
    } else {
        out.push_str("<h2>Changes</h2>\n");
        out.push_str(&states(&document.states, &links, false));
        for change in document.changes.iter().rev() {
            out.push_str(&of_series(change, &links));
        }
    }
    out.push_str(&spreads(document, &scale, &links));
    out.push_str(&levels(document, &scale));
    out.push_str(&ridges(document).unwrap_or_default());
    let shown = format!("{}, the newest first", counted(document.points.len(), "value"));
    out.push_str("<h2>Values</h2>\n");
    out.push_str(&values(
        &document.points,
        &shown,
        |point| (point.index + 1).to_string(),
        &scale,
        &links,
    ));
    out.push_str(&uncounted(document, &scale, &links));
    out.push_str(&elsewhere(document, &scale, &links));
    page(&links, Section::None, &title, &out)
}

/// Writes where the points began to scatter more or less, if they did.
fn spreads(document: &WebSeriesDocument, scale: &Scale, links: &Links<'_>) -> String {
    if document.spreads.is_empty() {
        return String::new();
    }
    let rows = document.spreads.iter().rev().map(|one| {
        let commit = one.history.as_ref().and_then(|place| place.commit.as_deref());
        let at = commit.map_or(String::new(), |id| format!(" ({})", commit_link(id, links)));
        vec![
            name(&one.kind),
            format!("{}{at}", one.index + 1),
            escape::html(&scale.with_unit(one.before)),
            escape::html(&scale.with_unit(one.after)),
        ]
    });
    let titles = [("change", false), ("from point", true), ("before", true), ("after", true)];
    format!(
        "<h2>Spread</h2>\n<p>The level stays, and the values scatter more or less around it: standard deviations from \
         value to value.</p>\n{}",
        table(&titles, rows)
    )
}

/// Writes where else the same is measured, if it is.
fn elsewhere(document: &WebSeriesDocument, scale: &Scale, links: &Links<'_>) -> String {
    if document.elsewhere.is_empty() {
        return String::new();
    }
    let rows = document.elsewhere.iter().map(|one| {
        let to = links.to(At::Series { id: one.series, by: "order", page: 1 });
        let branch = if one.branch.is_empty() { "unknown" } else { &one.branch };
        vec![
            format!("<a href=\"{to}\">{}</a>", machine::short(&one.machine, &one.fingerprint)),
            name(branch),
            escape::html(&scale.with_unit(one.value)),
            escape::html(&utc(one.last)),
        ]
    });
    let titles = [("machine", false), ("branch", false), ("last value", true), ("time", false)];
    format!("<h2>Elsewhere</h2>\n{}", table(&titles, rows))
}

/// Writes the values that do not count, if there are any.
fn uncounted(document: &WebSeriesDocument, scale: &Scale, links: &Links<'_>) -> String {
    if document.uncounted.is_empty() {
        return String::new();
    }
    let shown = counted(document.uncounted.len(), "value");
    let table = values(&document.uncounted, &shown, |_| "not counted".to_owned(), scale, links);
    format!(
        "<h2>Not counted</h2>\n<p>Values of commits that are not on the branch, or of a working tree with changes \
         that no commit has.</p>\n{table}"
    )
}

fn facts<'a>(document: &WebSeriesDocument, scale: &Scale) -> Vec<(&'a str, String)> {
    let one = &document.series;
    let last = one.value.map_or("none".to_owned(), |value| {
        let when = one.last.map_or(String::new(), |time| format!(", {}", utc(time)));
        format!("{}{when}", scale.with_unit(value))
    });
    vec![
        ("last value", escape::html(&last)),
        ("better is", name(&one.direction)),
        ("branch", if one.branch.is_empty() { "unknown".to_owned() } else { name(&one.branch) }),
        ("machine", machine::short(&document.machine, &one.fingerprint)),
        ("values", document.part.items.to_string()),
    ]
}

/// Writes links to older and newer points.
fn newer<'a>(part: WebPart, to: impl Fn(usize) -> At<'a>, links: &Links<'_>) -> String {
    parts(part, "point", to, links)
        .replace(">first<", ">newest<")
        .replace(">previous<", ">newer<")
        .replace(">next<", ">older<")
        .replace(">last<", ">oldest<")
}

fn levels(document: &WebSeriesDocument, scale: &Scale) -> String {
    let rows = document.levels.iter().rev().map(|level| {
        let interval = match (level.low, level.high) {
            (Some(low), Some(high)) => escape::html(&scale.range(low, high)),
            _ => "too few values".to_owned(),
        };
        let n = level.last - level.first + 1;
        vec![
            format!("{} to {}", level.first + 1, level.last + 1),
            n.to_string(),
            escape::html(&scale.with_unit(level.level)),
            interval,
        ]
    });
    let titles = [("points", false), ("number", true), ("median", true), ("95 % interval", true)];
    format!("<h2>Levels</h2>\n{}", table(&titles, rows))
}

/// Writes a table of values, each with a link to its entry by its `number`.
fn values(
    points: &[WebPointDocument],
    shown: &str,
    number: impl Fn(&WebPointDocument) -> String,
    scale: &Scale,
    links: &Links<'_>,
) -> String {
    let scale = scale.with_more_digits();
    let rows = points.iter().rev().map(|point| {
        let commit = point.commit.as_deref().map_or("-".to_owned(), |id| commit_link(id, links));
        vec![
            format!(
                "<a href=\"{}\">{}</a>",
                links.to(At::Entry { id: point.entry, page: 1 }),
                number(point)
            ),
            escape::html(&utc(point.time)),
            commit,
            escape::html(&scale.with_unit(point.value)),
            point.error.map_or("-".to_owned(), |error| escape::html(&scale.with_unit(error))),
            point.runs.to_string(),
            links
                .record(point.entry)
                .map_or(String::new(), |to| format!("<a href=\"{to}\">record</a>")),
        ]
    });
    let titles = [
        ("point", true),
        ("time", false),
        ("commit", false),
        ("value", true),
        ("standard error", true),
        ("runs", true),
        ("record", false),
    ];
    format!("<details><summary>{shown}</summary>\n{}</details>\n", table(&titles, rows))
}
