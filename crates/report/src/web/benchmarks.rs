//! The list of benchmarks, with a search.

use std::fmt::Write as _;

use becalm_model::history::full_name;
use becalm_model::wire::{WebBenchmarkDocument, WebBenchmarksDocument};

use super::change::{size, way};
use super::frame::{Section, clipped_to, name, page, parts, table, unit};
use super::links::{At, Links, Site};
use super::machine;
use super::spark::spark;
use crate::escape;
use crate::moment::date;
use crate::quantity::{Scale, count};

/// Writes the page of the benchmarks.
pub fn web_benchmarks(document: &WebBenchmarksDocument, site: &Site) -> String {
    let links = Links::at_top(site);
    let mut out = "<h1>Benchmarks</h1>\n".to_owned();
    if links.is_served() {
        out.push_str(&search(document, &links));
    }
    if document.benchmarks.is_empty() {
        out.push_str(if document.search.is_empty() {
            "<p>There are none yet. <code>becalm history add FILE</code> adds a result.</p>\n"
        } else {
            "<p>No benchmark has all of these words in its name, metric, branch or machine.</p>\n"
        });
    } else {
        let _ = writeln!(
            out,
            "<p class=\"quiet\">Trends show the last {} of each series.</p>",
            count(document.of_entries, "value")
        );
        let titles = [
            ("benchmark", false),
            ("metric", false),
            ("last value", true),
            ("trend", false),
            ("last change", false),
            ("branch", false),
            ("machine", false),
        ];
        out.push_str(&table(&titles, document.benchmarks.iter().map(|one| row(one, &links))));
    }
    let (search, all) = (document.search.as_str(), document.all);
    out.push_str(&parts(
        document.part,
        "item",
        |page| At::Benchmarks { search, all, page },
        &links,
    ));
    page(&links, Section::Benchmarks, "Benchmarks", &out)
}

fn search(document: &WebBenchmarksDocument, links: &Links<'_>) -> String {
    let checked = if document.all { " checked" } else { "" };
    format!(
        "<form method=\"get\" action=\"{}\" role=\"search\">\n\
         <label>Search <input type=\"search\" name=\"search\" maxlength=\"200\" value=\"{}\"></label>\n\
         <label class=\"check\"><input type=\"checkbox\" name=\"all\" value=\"yes\"{checked}> \
         all metrics, not only the main ones</label>\n<button>Find</button>\n</form>\n",
        links.to(At::Benchmarks { search: "", all: false, page: 1 }),
        escape::html(&clipped_to(&document.search, 200))
    )
}

fn row(one: &WebBenchmarkDocument, links: &Links<'_>) -> Vec<String> {
    let series = &one.series;
    let to = links.to(At::Series { id: series.series, by: "order", page: 1 });
    let value = series.value.map_or("none".to_owned(), |value| {
        escape::html(&Scale::of(&unit(&series.unit), [value], true).with_unit(value))
    });
    let when = series
        .last
        .map_or(String::new(), |time| format!("<br><span class=\"quiet\">{}</span>", date(time)));
    let change = one.last_change.as_ref().map_or(String::new(), |change| {
        let (class, sign, word) = way(change);
        let (estimate, _) = size(change);
        let pending = if change.state == "pending" { ", pending" } else { "" };
        format!("<span class=\"{class}\">{sign} {word} {estimate}</span>{pending}")
    });
    let change = match &series.state {
        None => change,
        Some(state) if change.is_empty() => format!("<strong>{}</strong>", name(state)),
        Some(state) => format!("<strong>{}</strong>; {change}", name(state)),
    };
    let branch = if series.branch.is_empty() { "unknown".to_owned() } else { name(&series.branch) };
    vec![
        format!("<a href=\"{to}\">{}</a>", name(&full_name(&series.benchmark, &series.parameters))),
        name(&series.metric),
        format!("{value}{when}"),
        spark(&one.trend, None, &format!("last {}", count(one.trend.len(), "value"))),
        change,
        branch,
        machine::short(&one.machine, &series.fingerprint),
    ]
}
