//! The HTML report: one file that needs nothing else, no script and no network.

mod demo;
mod head;
mod plots;
mod raw;

use std::fmt::Write as _;

use becalm_model::{DisturbedRun, Record, RecordKind, Verdict};

use crate::benchmarks;
use crate::checks;
use crate::comparison_table;
use crate::conditions;
use crate::disturbed;
use crate::escape;
use crate::estimate;
use crate::facts;
use crate::heading;
use crate::labels::{Labels, meaning};
use crate::notes;
use crate::outcomes;
use crate::quantity::Scale;
use crate::remarks;
use crate::shown;
use crate::style::Role;
use crate::suite;
use crate::svg;

pub use demo::demo_html;
pub use head::style_of_pages;
pub(crate) use head::{STYLE, head};

/// Writes a whole report as one HTML page: verdicts, every run, paired differences, time order,
/// conditions, machine and raw data. It follows the reader's light or dark preference.
pub fn html(record: &Record, disturbed: &[DisturbedRun]) -> String {
    page(record, disturbed, &Lead::default())
}

/// What a page has before the results of its record.
#[derive(Debug, Default)]
pub(crate) struct Lead<'a> {
    /// The headline; without one those of the record.
    pub(crate) headline: Option<String>,
    /// What comes before the results.
    pub(crate) before: &'a str,
    /// The title of the results, if it is not `Results`.
    pub(crate) results: Option<&'a str>,
}

/// Writes a report of something more than a record.
pub(crate) fn page(record: &Record, disturbed: &[DisturbedRun], lead: &Lead<'_>) -> String {
    let labels = Labels::of(&record.subjects);
    let lines = match &lead.headline {
        Some(headline) => vec![(Role::Heading, headline.clone())],
        None => heading::lines(record, &labels),
    };
    let title = lines.first().map_or("becalm report", |(_, text)| text.as_str());
    let mut out = head(&record.version, title);
    header(&mut out, record, &labels, &lines);
    out.push_str("<main>\n");
    out.push_str(lead.before);
    let _ = writeln!(out, "<h2>{}</h2>", lead.results.unwrap_or("Results"));
    results(&mut out, record, &labels, disturbed);
    plots::all(&mut out, record, &labels, disturbed);
    order_checks(&mut out, record, &labels);
    list(&mut out, "Notes", &remarks::notes(record, &labels));
    let limits: Vec<String> = record.conditions.limits.iter().map(notes::limit).collect();
    list(&mut out, "Limits", &limits);
    out.push_str("<h2>Session and conditions</h2>\n");
    let mut rows = conditions::session(record);
    rows.extend(conditions::rows(record));
    definitions(&mut out, &rows);
    let machine = facts::table(&record.machine);
    if !machine.is_empty() {
        let _ = write!(out, "<h2>Machine</h2>\n{}", machine.html());
    }
    raw::runs(&mut out, record, &labels, disturbed);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn header(out: &mut String, record: &Record, labels: &Labels, lines: &[(Role, String)]) {
    let _ = write!(
        out,
        "<header>\n<p class=\"quiet\"><code>{}</code><br>{}</p>\n",
        escape::html(&conditions::command_line(record)),
        conditions::started(record)
    );
    headlines(out, lines, "h1");
    if lines.is_empty() {
        out.push_str("<h1>Nothing was measured</h1>\n");
    }
    out.push_str("<dl>\n");
    for (index, subject) in record.subjects.iter().enumerate() {
        let _ = writeln!(
            out,
            "<dt><svg class=\"key\" viewBox=\"0 0 12 12\" aria-hidden=\"true\">{}</svg>{}</dt>\
             <dd><code>{}</code></dd>",
            svg::key(index),
            escape::html(labels.get(index)),
            escape::html(&meaning(subject, labels.get(index)))
        );
    }
    out.push_str("</dl>\n</header>\n");
}

/// Writes verdicts or estimates, the first one in this element.
fn headlines(out: &mut String, lines: &[(Role, String)], first: &str) {
    for (index, (role, text)) in lines.iter().enumerate() {
        let element = if index == 0 { first } else { "div" };
        let _ = writeln!(
            out,
            "<{element} class=\"headline {}\">{}<span class=\"said\">{}</span></{element}>",
            role.class(),
            badge(*role),
            escape::html(text)
        );
    }
}

/// A sign and a word before the sentence: colour alone would not reach everybody.
fn badge(role: Role) -> String {
    let (sign, word) = match role {
        Role::Faster => ("\u{25bc}", Verdict::Faster.name()),
        Role::Slower => ("\u{25b2}", Verdict::Slower.name()),
        Role::Equivalent => ("=", Verdict::Equivalent.name()),
        Role::Inconclusive => ("?", Verdict::Inconclusive.name()),
        Role::Heading | Role::Warning | Role::Hint => return String::new(),
    };
    // The sentence says the word; the sign is for those who skim.
    format!("<span class=\"badge\" title=\"{word}\" aria-hidden=\"true\">{sign}</span>")
}

fn results(out: &mut String, record: &Record, labels: &Labels, disturbed: &[DisturbedRun]) {
    if shown::is_suite(record) {
        out.push_str(&suite::table(record, true).html());
    }
    for (title, table) in comparison_table::tables(record, labels, true) {
        if !title.is_empty() {
            let _ = writeln!(out, "<h3>{}</h3>", escape::html(&title));
        }
        if !table.is_empty() {
            out.push_str(&table.html());
        }
    }
    if comparison_table::has_star(record) {
        out.push_str("<p class=\"quiet\">* decides</p>\n");
    }
    for metric in shown::full_metrics(record) {
        let table = estimate::subjects(record, labels, metric, true);
        if !table.is_empty() {
            let name = escape::html(&shown::metric_at(record, metric).name);
            let _ = write!(out, "<h3>Subjects, {name}</h3>\n{}", table.html());
        }
        // A comparison is about the ratio; a run on its own is about its distribution.
        if record.kind != RecordKind::Comparison {
            statistics(out, record, labels, metric);
        }
    }
    let of_subjects = (0..record.subjects.len())
        .filter_map(|subject| benchmarks::of(record, labels, subject, true));
    for (title, table) in of_subjects.chain(benchmarks::given(record, labels, true)) {
        let _ = write!(out, "<h3>{}</h3>\n{}", escape::html(&title), table.html());
    }
    let mut said = if record.kind == RecordKind::Comparison {
        remarks::measured(record, disturbed)
    } else {
        let runs = disturbed::summary(record, disturbed, None);
        std::iter::once(format!("Runs: {runs}.")).chain(outcomes::remark(record)).collect()
    };
    said.extend(remarks::next_steps(record, labels));
    for remark in said {
        let _ = writeln!(out, "<p>{}</p>", escape::html(&remark));
    }
}

fn statistics(out: &mut String, record: &Record, labels: &Labels, metric: usize) {
    let description = shown::metric_at(record, metric);
    for subject in 0..record.subjects.len() {
        let Some(sample) = shown::sample(record, subject, metric) else { continue };
        let summary = shown::summary(record, &sample);
        if estimate::is_given(&description, &summary) {
            continue;
        }
        let scale = Scale::of_summaries(&description.unit, [&summary], true);
        let table = estimate::statistics(&summary, &scale, Some(shown::confidence(record)));
        let title = format!("{}, {}", labels.get(subject), description.name);
        let _ = write!(out, "<h3>{}</h3>\n{}", escape::html(&title), table.html());
    }
}

/// Says for each subject what the order and the shape of its values give away.
fn order_checks(out: &mut String, record: &Record, labels: &Labels) {
    let mut body = String::new();
    for metric in shown::full_metrics(record) {
        let description = shown::metric_at(record, metric);
        for subject in 0..record.subjects.len() {
            let Some(sample) = shown::sample(record, subject, metric) else { continue };
            let scale = Scale::of(&description.unit, [sample.maximum()], true);
            for finding in checks::findings(&sample, &scale) {
                let class = if finding.is_warning { " class=\"warning\"" } else { "" };
                let _ = writeln!(
                    body,
                    "<li{class}>{}, {}: {}</li>",
                    escape::html(labels.get(subject)),
                    escape::html(&description.name),
                    escape::html(&finding.text)
                );
            }
        }
    }
    if !body.is_empty() {
        let _ = write!(out, "<h2>Order and shape</h2>\n<ul>\n{body}</ul>\n");
    }
}

/// Writes sentences as a list under a title, if there are any.
pub(crate) fn list(out: &mut String, title: &str, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    let _ = write!(out, "<h2>{title}</h2>\n<ul>\n");
    for sentence in sentences {
        let _ = writeln!(out, "<li>{}</li>", escape::html(sentence));
    }
    out.push_str("</ul>\n");
}

fn definitions(out: &mut String, rows: &[(&'static str, String)]) {
    out.push_str("<dl>\n");
    for (name, value) in rows {
        let _ = writeln!(out, "<dt class=\"quiet\">{name}</dt><dd>{}</dd>", escape::html(value));
    }
    out.push_str("</dl>\n");
}
