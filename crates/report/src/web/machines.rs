//! The page of machines: facts, noise over time, what measures on them, and what changed.

use std::fmt::Write as _;

use becalm_model::wire::{WebMachineDocument, WebMachinesDocument, WebNoiseDocument};

use super::frame::{LONGEST_TEXT, Section, clipped_to, name, page, parts, table};
use super::links::{At, Links, Site};
use super::machine;
use super::spark::spark;
use crate::escape;
use crate::moment::date;
use crate::quantity::{count, percent};

/// Writes the page of machines.
pub fn web_machines(document: &WebMachinesDocument, site: &Site) -> String {
    let links = Links::at_top(site);
    let mut out = "<h1>Machines</h1>\n".to_owned();
    if document.machines.is_empty() {
        out.push_str(
            "<p>The history is empty. <code>becalm history add FILE</code> adds a result.</p>\n",
        );
    } else {
        out.push_str(
            "<p class=\"quiet\">Entries with the same facts, of those that split series, are of one machine. Its noise is how \
             much values of main metrics differ from one entry to the next although nothing changed: the relative standard \
             deviation of a value, as the median and the 90 % quantile over its series.</p>\n",
        );
    }
    for one in &document.machines {
        out.push_str(&machine_section(one, &links));
    }
    out.push_str(&parts(document.part, "machine", |page| At::Machines { page }, &links));
    page(&links, Section::Machines, "Machines", &out)
}

fn machine_section(one: &WebMachineDocument, links: &Links<'_>) -> String {
    let called = if one.facts.is_empty() {
        "An unknown machine".to_owned()
    } else {
        machine::short(&one.facts, &one.fingerprint)
    };
    let mut out = format!("<h2>{called}</h2>\n");
    if let Some(last) = one.noise.last() {
        out.push_str(&noise(last, &one.noise));
    } else {
        out.push_str("<p>Its series have too few values to estimate their noise.</p>\n");
    }
    let titles =
        [("branch", false), ("entries", true), ("series", true), ("first", false), ("last", false)];
    let rows = one.branches.iter().map(|branch| {
        let called =
            if branch.branch.is_empty() { "unknown".to_owned() } else { name(&branch.branch) };
        let suite = Some((branch.branch.as_str(), one.fingerprint.as_str()));
        let when =
            |time: f64| if branch.entries == 0 { "none counts".to_owned() } else { date(time) };
        let called = if links.is_served() && branch.entries > 0 {
            format!("<a href=\"{}\">{called}</a>", links.to(At::Suites { suite, page: 1 }))
        } else {
            called
        };
        vec![
            called,
            branch.entries.to_string(),
            branch.series.to_string(),
            when(branch.first),
            when(branch.last),
        ]
    });
    out.push_str(&table(&titles, rows));
    let facts = one
        .facts
        .iter()
        .map(|(fact, value)| vec![name(fact), escape::html(&clipped_to(value, LONGEST_TEXT))]);
    let _ = write!(
        out,
        "<details><summary>{} that split series, or name the machine</summary>\n{}</details>\n",
        count(one.facts.len(), "fact"),
        table(&[("fact", false), ("value", false)], facts)
    );
    if one.turns.is_empty() {
        let _ = writeln!(
            out,
            "<p class=\"quiet\">No other fact changed within its last {}.</p>",
            count(one.of_entries, "entry")
        );
    } else {
        let turns = one.turns.iter().map(|turn| {
            let text = |value: &str| {
                if value.is_empty() {
                    "none".to_owned()
                } else {
                    escape::html(&clipped_to(value, 200))
                }
            };
            let to = links.to(At::Entry { id: turn.entry, page: 1 });
            vec![
                format!("<a href=\"{to}\">{}</a>", turn.entry),
                date(turn.time),
                name(&turn.fact),
                text(&turn.before),
                text(&turn.after),
            ]
        });
        let titles = [
            ("entry", true),
            ("time", false),
            ("fact", false),
            ("before", false),
            ("after", false),
        ];
        let _ = write!(
            out,
            "<details><summary>What changed within its last {}</summary>\n{}</details>\n",
            count(one.of_entries, "entry"),
            table(&titles, turns)
        );
    }
    out
}

fn noise(last: &WebNoiseDocument, all: &[WebNoiseDocument]) -> String {
    let middles: Vec<f64> = all.iter().map(|window| window.middle).collect();
    let first = &all[0];
    let words = format!(
        "median noise of the series from {} to {}: {}, then {}",
        date(first.from),
        date(last.until),
        percent(first.middle),
        percent(last.middle)
    );
    let titles = [
        ("from", false),
        ("to", false),
        ("series", true),
        ("median", true),
        ("90 % quantile", true),
    ];
    let rows = all.iter().rev().map(|window| {
        vec![
            date(window.from),
            date(window.until),
            window.series.to_string(),
            percent(window.middle),
            percent(window.most),
        ]
    });
    format!(
        "<p>Noise now: the median over {} series is {}, the 90 % quantile {}.</p>\n{}\n\
         <details><summary>Noise over time</summary>\n{}</details>\n",
        last.series,
        percent(last.middle),
        percent(last.most),
        spark(&middles, None, &words),
        table(&titles, rows)
    )
}
