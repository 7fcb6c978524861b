//! The history of a series, to be enlarged with uPlot where scripts run: what the page has for it, and the two scripts. There
//! is no inline script: what the page has is data, which a browser never runs.

use std::fmt::Write as _;

use becalm_model::wire::{WebSeriesDocument, json_text};

use super::frame::{clipped_to, unit};
use super::links::{At, Links};
use super::picture::usual_reach;
use crate::quantity::Scale;

/// The version of uPlot.
const VERSION: &str = "1.6.32";

/// Returns the scripts of the site, with their names. One with a version in its name never changes.
pub fn web_scripts() -> [(String, &'static str); 2] {
    [(plot_name(), include_str!("uplot.min.js")), ("zoom.js".to_owned(), include_str!("zoom.js"))]
}

/// The style of uPlot.
pub(super) const STYLE: &str = include_str!("uplot.min.css");

fn plot_name() -> String {
    format!("uplot-{VERSION}.js")
}

/// Writes the picture of a whole series that scripts draw; without them nothing of it is seen.
pub(super) fn zoom(document: &WebSeriesDocument, links: &Links<'_>) -> String {
    let whole = &document.whole;
    if whole.value.len() < 2 {
        return String::new();
    }
    let Some(reach) = usual_reach(document, &whole.value) else { return String::new() };
    let scale = Scale::of(&unit(&document.series.unit), whole.value.iter().copied(), true);
    let changes: Vec<usize> = document.changes.iter().map(|one| one.change.index).collect();
    let text = |text: &str| json_text(&text).trim_end().to_owned();
    let values: Vec<String> = whole.value.iter().map(|one| number(*one)).collect();
    let times: Vec<String> = whole.time.iter().map(|one| format!("{one:.0}")).collect();
    let levels: Vec<String> = document
        .levels
        .iter()
        .map(|one| format!("[{},{},{}]", one.first, one.last, number(one.level)))
        .collect();
    let data = format!(
        "{{\"index\":{:?},\"entry\":{:?},\"time\":[{}],\"value\":[{}],\"changes\":{changes:?},\"levels\":[{}],\
         \"reach\":[{},{}],\"unit\":{},\"divisor\":{},\"byTime\":{},\"to\":{}}}",
        whole.index,
        whole.entry,
        times.join(","),
        values.join(","),
        levels.join(","),
        number(reach.low),
        number(reach.high),
        text(&clipped_to(scale.unit(), 24)),
        number(scale.factor()),
        document.by == "time",
        text(&links.to(At::Entry { id: 0, page: 1 }).replacen('0', "#", 1)),
    );
    // What ends a script in HTML has no place in numbers, but names of units are what somebody wrote.
    let data = data.replace(", ", ",").replace('<', "\\u003c");
    let mut out = String::new();
    let _ = write!(
        out,
        "<section id=\"zoom\" hidden>\n<h2>Enlarge</h2>\n<figure tabindex=\"0\" role=\"application\" \
         aria-label=\"The whole series, to be enlarged: arrow keys go from point to point, plus and minus enlarge and \
         reduce, 0 shows everything, Enter opens the entry\"></figure>\n\
         <p class=\"quiet\">Drag over a part to enlarge it, double-click to see everything, click a point to open its \
         entry. <span aria-live=\"polite\"></span></p>\n</section>\n\
         <script type=\"application/json\" id=\"whole\">{data}</script>\n"
    );
    for (name, _) in web_scripts() {
        let _ = writeln!(out, "<script src=\"{}\" defer></script>", links.to(At::Asset(&name)));
    }
    out
}

/// Writes a number for JSON, which has no others than finite ones, as exactly as a picture shows.
fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:.6e}") } else { "null".to_owned() }
}
