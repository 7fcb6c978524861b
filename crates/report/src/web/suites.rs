//! The page of suites: where their time goes.

use std::fmt::Write as _;

use becalm_model::history::full_name;
use becalm_model::wire::{WebSuiteBenchmarkDocument, WebSuiteDocument, WebSuitesDocument};

use super::frame::{Section, name, page, parts, table};
use super::links::{At, Links, Site};
use super::machine;
use super::spark::spark;
use crate::moment::{date, roughly};
use crate::quantity::{count, percent};

/// Writes the page of suites.
pub fn web_suites(document: &WebSuitesDocument, site: &Site) -> String {
    let links = Links::at_top(site);
    let mut out = "<h1>Suites</h1>\n".to_owned();
    if document.suites.is_empty() {
        out.push_str("<p>No entry has a benchmark whose main metric is a time.</p>\n");
        return page(&links, Section::Suites, "Suites", &out);
    }
    out.push_str(
        "<p class=\"quiet\">The time of a benchmark is its median times the number of its runs, where the last commit was \
         measured last. It does not include warm-up, or what becalm does between runs.</p>\n",
    );
    let titles = [
        ("branch", false),
        ("machine", false),
        ("last entry", true),
        ("date", false),
        ("benchmarks", true),
        ("time", true),
    ];
    out.push_str(&table(&titles, document.suites.iter().map(|one| suite(one, document, &links))));
    let branch = branch_name(&document.branch);
    let fingerprint: String = document.fingerprint.chars().take(6).collect();
    let _ = writeln!(out, "<h2>Benchmarks of {branch} on <code>{}</code></h2>", name(&fingerprint));
    let titles = [
        ("benchmark", false),
        ("metric", false),
        ("time", true),
        ("share", true),
        ("runs", true),
        ("trend", false),
    ];
    out.push_str(&table(&titles, document.benchmarks.iter().map(|one| benchmark(one, &links))));
    let chosen = Some((document.branch.as_str(), document.fingerprint.as_str()));
    let chosen = chosen.filter(|_| links.is_served());
    out.push_str(&parts(
        document.part,
        "benchmark",
        |page| At::Suites { suite: chosen, page },
        &links,
    ));
    page(&links, Section::Suites, "Suites", &out)
}

fn branch_name(branch: &str) -> String {
    if branch.is_empty() { "an unknown branch".to_owned() } else { name(branch) }
}

fn suite(one: &WebSuiteDocument, document: &WebSuitesDocument, links: &Links<'_>) -> Vec<String> {
    let branch = branch_name(&one.branch);
    let is_chosen = (&one.branch, &one.fingerprint) == (&document.branch, &document.fingerprint);
    let to = links.to(At::Suites { suite: Some((&one.branch, &one.fingerprint)), page: 1 });
    let branch = match (is_chosen, links.is_served()) {
        (true, _) => format!("<strong>{branch}</strong>"),
        (false, true) => format!("<a href=\"{to}\">{branch}</a>"),
        (false, false) => branch,
    };
    let entry = links.to(At::Entry { id: one.entry, page: 1 });
    vec![
        branch,
        machine::short(&one.machine, &one.fingerprint),
        format!("<a href=\"{entry}\">{}</a>", one.entry),
        date(one.time),
        one.benchmarks.to_string(),
        roughly(one.seconds),
    ]
}

fn benchmark(one: &WebSuiteBenchmarkDocument, links: &Links<'_>) -> Vec<String> {
    let to = links.to(At::Series { id: one.series, by: "order", page: 1 });
    vec![
        format!("<a href=\"{to}\">{}</a>", name(&full_name(&one.benchmark, &one.parameters))),
        name(&one.metric),
        roughly(one.seconds),
        percent(one.share),
        one.runs.to_string(),
        spark(&one.trend, None, &format!("time in the last {}", count(one.trend.len(), "entry"))),
    ]
}
