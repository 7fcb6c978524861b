//! Two commits, branches or machines beside each other: a row and an interval for each benchmark.

use std::fmt::Write as _;

use becalm_model::history::{full_name, short_commit};
use becalm_model::wire::{
    WebCompareCounts, WebCompareDocument, WebComparisonDocument, WebSideDocument,
};

use super::frame::{Section, clipped_to, name, page, parts, table, unit};
use super::links::{At, Links, Site};
use crate::escape;
use crate::quantity::{Scale, count, percent, signed_percent};

const WIDTH: f64 = 200.0;
const HEIGHT: f64 = 18.0;

/// Half the height of an arrow.
const ARROW: f64 = 4.0;

const KINDS: [(&str, &str); 3] =
    [("commits", "Two commits"), ("branches", "Two branches"), ("machines", "Two machines")];

/// Writes the page of a comparison.
pub fn web_compare(document: &WebCompareDocument, site: &Site) -> String {
    let links = Links::at_top(site);
    let [before, after] = [&document.before, &document.after].map(|side| side_name(document, side));
    let title =
        if document.before.is_empty() && document.after.is_empty() && document.of != "branches" {
            "Compare".to_owned()
        } else {
            format!("{after} against {before}")
        };
    let mut out = format!("<h1>{}</h1>\n", name(&title));
    if links.is_served() {
        out.push_str(&choose(document, &links));
    }
    let counts = document.counts;
    let n = counts.faster + counts.slower + counts.equivalent + counts.inconclusive;
    if n == 0 {
        out.push_str("<p>No benchmark has values on both sides.</p>\n");
    } else {
        out.push_str(&summary(document, n));
        out.push_str(&tabs(document, n, &links));
    }
    let reach = reach(document);
    if !document.comparisons.is_empty() {
        let titles = [
            ("benchmark", false),
            ("metric", false),
            ("before", true),
            ("after", true),
            ("difference", true),
            ("interval", false),
            ("verdict", false),
        ];
        let rows = document.comparisons.iter().map(|one| row(one, document, reach, &links));
        out.push_str(&table(&titles, rows));
        let _ = writeln!(
            out,
            "<p class=\"quiet\">Pictures show {} to {}; an arrow marks an interval that reaches further. The band is {} around \
             no difference.</p>",
            escape::html(&signed_percent((-reach).exp_m1(), 1)),
            escape::html(&signed_percent(reach.exp_m1(), 1)),
            percent(document.margin),
        );
    }
    let (of, show, search) =
        (document.of.as_str(), document.show.as_str(), document.search.as_str());
    let sides = [document.before.as_str(), document.after.as_str()];
    out.push_str(&parts(
        document.part,
        "comparison",
        |page| At::Compare { of, sides, show, search, page },
        &links,
    ));
    page(&links, Section::Compare, &title, &out)
}

/// Returns what a side is called.
fn side_name(document: &WebCompareDocument, side: &str) -> String {
    match document.of.as_str() {
        "commits" => short_commit(side).to_owned(),
        "branches" if side.is_empty() => "no branch".to_owned(),
        _ => {
            let known = document.choices.iter().find(|choice| choice.value == side);
            known.map_or_else(|| side.to_owned(), |choice| choice.name.clone())
        }
    }
}

fn choose(document: &WebCompareDocument, links: &Links<'_>) -> String {
    let mut out = "<nav class=\"tabs\" aria-label=\"What is compared\">".to_owned();
    for (of, word) in KINDS {
        let current = if of == document.of { " aria-current=\"page\"" } else { "" };
        let to = links.to(At::Compare { of, sides: [""; 2], show: "all", search: "", page: 1 });
        let _ = write!(out, "<a href=\"{to}\"{current}>{word}</a>");
    }
    let to =
        links.to(At::Compare { of: "commits", sides: [""; 2], show: "all", search: "", page: 1 });
    let _ = write!(
        out,
        "</nav>\n<form method=\"get\" action=\"{to}\" role=\"search\">\n\
         <input type=\"hidden\" name=\"of\" value=\"{}\">\n",
        name(&document.of)
    );
    let sides = [("before", "Before", &document.before), ("after", "After", &document.after)];
    for (field, word, side) in sides {
        // A commit can be any, also one that is not offered.
        let _ = if document.of == "commits" {
            writeln!(
                out,
                "<label>{word} <input name=\"{field}\" list=\"choices\" maxlength=\"200\" value=\"{}\"></label>",
                escape::html(&clipped_to(side, 200))
            )
        } else {
            writeln!(
                out,
                "<label>{word} <select name=\"{field}\">{}</select></label>",
                options(document, side)
            )
        };
    }
    if document.of == "commits" {
        let _ = writeln!(out, "<datalist id=\"choices\">{}</datalist>", options(document, ""));
    }
    let _ = write!(
        out,
        "<label>Only with these words <input type=\"search\" name=\"search\" maxlength=\"200\" value=\"{}\"></label>\n\
         <button>Compare</button>\n</form>\n",
        escape::html(&clipped_to(&document.search, 200))
    );
    out
}

fn options(document: &WebCompareDocument, side: &str) -> String {
    let option = |choice: &becalm_model::wire::WebChoiceDocument| {
        let selected = if choice.value == side { " selected" } else { "" };
        let called = if choice.name.is_empty() { "no branch" } else { &choice.name };
        let value = escape::html(&clipped_to(&choice.value, 200));
        format!("<option value=\"{value}\"{selected}>{}</option>", name(called))
    };
    document.choices.iter().map(option).collect()
}

fn summary(document: &WebCompareDocument, n: usize) -> String {
    let WebCompareCounts { faster, slower, equivalent, inconclusive, only_before, only_after } =
        document.counts;
    let only = match (only_before, only_after) {
        (0, 0) => String::new(),
        (before, after) => {
            format!(" Not compared: {before} only on the first side, {after} only on the second.")
        }
    };
    format!(
        "<p>Of {}, {slower} slower, {faster} faster, {equivalent} equivalent within {}, {inconclusive} inconclusive.{only}</p>\n\
         <p class=\"quiet\">Each interval has {} confidence. Verdicts are corrected for the number of benchmarks. The noise is \
         that between neighbouring entries; entries far apart may differ by more.</p>\n",
        count(n, "benchmark"),
        percent(document.margin),
        crate::quantity::confidence(document.confidence),
    )
}

fn tabs(document: &WebCompareDocument, n: usize, links: &Links<'_>) -> String {
    if !links.is_served() {
        return String::new();
    }
    let counts = document.counts;
    let tabs = [
        ("all", "All", n),
        ("different", "Different", counts.faster + counts.slower),
        ("undecided", "Inconclusive", counts.inconclusive),
        ("same", "Equivalent", counts.equivalent),
    ];
    let mut out = "<nav class=\"tabs\" aria-label=\"Verdicts\">".to_owned();
    for (show, word, n) in tabs {
        let current = if show == document.show { " aria-current=\"page\"" } else { "" };
        let to = links.to(At::Compare {
            of: &document.of,
            sides: [&document.before, &document.after],
            show,
            search: &document.search,
            page: 1,
        });
        let _ = write!(out, "<a href=\"{to}\"{current}>{word} ({n})</a>");
    }
    out.push_str("</nav>\n");
    out
}

/// Returns the logarithm of the largest ratio that is drawn; intervals beyond end at the edge.
fn reach(document: &WebCompareDocument) -> f64 {
    let ratios = document.comparisons.iter().filter_map(|one| one.ratio);
    let logs = ratios.filter(|ratio| *ratio > 0.0).map(|ratio| ratio.ln().abs());
    let largest = logs.filter(|log| log.is_finite()).fold(0.0, f64::max);
    (1.25 * largest).max(3.0 * document.margin.ln_1p()).max(1e-9)
}

fn row(
    one: &WebComparisonDocument,
    document: &WebCompareDocument,
    reach: f64,
    links: &Links<'_>,
) -> Vec<String> {
    let scale = Scale::of(&unit(&one.unit), [one.before.value, one.after.value], true);
    let side = |side: &WebSideDocument| {
        let to = links.point(side.entry);
        let many = if side.entries > 1 {
            format!("<br><span class=\"quiet\">of {}</span>", count(side.entries, "entry"))
        } else {
            String::new()
        };
        format!("<a href=\"{to}\">{}</a>{many}", escape::html(&scale.with_unit(side.value)))
    };
    let series = links.to(At::Series { id: one.after.series, by: "order", page: 1 });
    let full = full_name(&one.benchmark, &one.parameters);
    let difference = one
        .ratio
        .map_or("unknown".to_owned(), |ratio| escape::html(&signed_percent(ratio - 1.0, 1)));
    let (class, sign) = look(&one.verdict);
    // What the rows have in common is said above.
    let place = match document.of.as_str() {
        "machines" if !one.after.branch.is_empty() => {
            format!("<br><span class=\"quiet\">{}</span>", name(&one.after.branch))
        }
        "machines" => String::new(),
        _ => format!(
            "<br><span class=\"quiet\">machine <code>{}</code></span>",
            name(&one.after.fingerprint.chars().take(6).collect::<String>())
        ),
    };
    vec![
        format!("<a href=\"{series}\">{}</a>{place}", name(&full)),
        name(&one.metric),
        side(&one.before),
        side(&one.after),
        difference,
        forest(one, document.margin.ln_1p(), reach),
        format!(
            "<span class=\"{class}\"><span aria-hidden=\"true\">{sign}</span> {}</span>",
            name(&one.verdict)
        ),
    ]
}

fn look(verdict: &str) -> (&'static str, &'static str) {
    match verdict {
        "slower" => ("slower", "\u{25b2}"),
        "faster" => ("faster", "\u{25bc}"),
        "equivalent" => ("equivalent", "="),
        _ => ("inconclusive", "?"),
    }
}

/// Draws the interval of a ratio beside no difference and its margin, all as logarithms.
fn forest(one: &WebComparisonDocument, margin: f64, reach: f64) -> String {
    let x = |log: f64| WIDTH / 2.0 + (log / reach).clamp(-1.0, 1.0) * (WIDTH / 2.0 - 3.0);
    let words = match (one.ratio_low, one.ratio_high) {
        (Some(low), Some(high)) => {
            format!("from {} to {}", signed_percent(low - 1.0, 1), signed_percent(high - 1.0, 1))
        }
        _ => "the noise is unknown".to_owned(),
    };
    let (class, _) = look(&one.verdict);
    let mut out = format!(
        "<svg class=\"forest {class}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\"><title>{}</title>\
         <path class=\"forest-band\" d=\"M{:.1} 0H{:.1}V{HEIGHT}H{:.1}Z\"/><path class=\"forest-none\" d=\"M{:.1} 0V{HEIGHT}\"/>",
        escape::html(&words),
        escape::html(&words),
        x(-margin),
        x(margin),
        x(-margin),
        x(0.0),
    );
    let middle = HEIGHT / 2.0;
    let ends = one.ratio_low.zip(one.ratio_high).map(|(low, high)| (low.ln(), high.ln()));
    if let Some((low, high)) = ends {
        let _ = write!(
            out,
            "<path class=\"forest-reach\" d=\"M{:.1} {middle}H{:.1}\"/>",
            x(low),
            x(high)
        );
        // An arrow where the interval goes on beyond the picture.
        for (end, is_beyond, back) in [(low, low < -reach, ARROW), (high, high > reach, -ARROW)] {
            if is_beyond {
                let _ = write!(
                    out,
                    "<path class=\"forest-reach\" d=\"M{:.1} {:.1}L{:.1} {middle}L{:.1} {:.1}\"/>",
                    x(end) + back,
                    middle - ARROW,
                    x(end),
                    x(end) + back,
                    middle + ARROW
                );
            }
        }
    }
    if let Some(ratio) = one.ratio.filter(|ratio| *ratio > 0.0) {
        let _ = write!(out, "<circle cx=\"{:.1}\" cy=\"{middle}\" r=\"3\"/>", x(ratio.ln()));
    }
    let _ = write!(out, "</svg><br><span class=\"quiet\">{}</span>", escape::html(&words));
    out
}
