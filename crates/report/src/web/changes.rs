//! The front page: what got slower or faster.

use std::fmt::Write as _;

use becalm_model::wire::{WebChangeCounts, WebChangesDocument};

use super::change::listed;
use super::frame::{Section, clipped, name, page, parts};
use super::links::{At, Links, Site};
use super::states::states;
use crate::escape;
use crate::notes::not_counted;
use crate::quantity::{count, percent};

const STATES: [(&str, &str); 4] = [
    ("open", "Open"),
    ("acknowledged", "Acknowledged"),
    ("dismissed", "Dismissed"),
    ("all", "All"),
];

/// Writes the page of the changes.
pub fn web_changes(document: &WebChangesDocument, site: &Site) -> String {
    let links = Links::at_top(site);
    let WebChangeCounts { open, acknowledged, dismissed, open_regressions } = document.counts;
    let branch = document.branch.as_deref();
    let title = match (open_regressions, open) {
        (0, 0) => "No open changes".to_owned(),
        (0, open) => format!("{}, none confirmed for the worse", count(open, "open change")),
        (worse, _) => format!("{}, confirmed and open", count(worse, "regression")),
    };
    let mut out = format!("<h1>{title}</h1>\n");
    let _ = writeln!(
        out,
        "<p class=\"quiet\">becalm watches {} series from {}.{} Confirmed changes come first, ordered by how large they are at \
         least.</p>",
        document.series,
        count(document.entries, "entry"),
        match document.unwatched {
            0 => String::new(),
            n => format!(
                " It does not watch {n} series of other metrics than the main one of their benchmark."
            ),
        },
    );
    out.push_str("<nav class=\"tabs\" aria-label=\"State of changes\">");
    for (state, word) in STATES {
        let n = match state {
            "open" => open,
            "acknowledged" => acknowledged,
            "dismissed" => dismissed,
            _ => open + acknowledged + dismissed,
        };
        let current = if state == document.state { " aria-current=\"page\"" } else { "" };
        let to = links.to(At::Changes { state, branch, page: 1 });
        let _ = write!(out, "<a href=\"{to}\"{current}>{word} ({n})</a>");
    }
    out.push_str("</nav>\n");
    out.push_str(&branches(document, &links));
    out.push_str(&precision(acknowledged, dismissed));
    out.push_str(&uncounted(document));
    out.push_str(&states(&document.states, &links, true));
    for change in &document.changes {
        out.push_str(&listed(change, &links));
    }
    if document.changes.is_empty() {
        out.push_str(empty(document));
    }
    let state = document.state.as_str();
    out.push_str(&parts(
        document.part,
        "change",
        |page| At::Changes { state, branch, page },
        &links,
    ));
    page(&links, Section::Changes, &title.replace('\u{a0}', " "), &out)
}

fn empty(document: &WebChangesDocument) -> &'static str {
    match (document.entries, document.state.as_str()) {
        (0, _) => {
            "<p>The history is empty. <code>becalm history add FILE</code> adds a result.</p>\n"
        }
        (_, "open") => {
            "<p>No change is open. A change can be confirmed once three values are on a new level, of a series that is long \
             enough.</p>\n"
        }
        _ => "<p>No change is in this state.</p>\n",
    }
}

fn branches(document: &WebChangesDocument, links: &Links<'_>) -> String {
    /// More of them make a page of their own.
    const MOST: usize = 30;
    if document.branches.len() < 2 || !links.is_served() {
        return String::new();
    }
    let state = document.state.as_str();
    let mut out = "<nav class=\"tabs\" aria-label=\"Branches\">".to_owned();
    let mut tab = |branch: Option<&str>, word: &str| {
        let current =
            if branch == document.branch.as_deref() { " aria-current=\"page\"" } else { "" };
        let to = links.to(At::Changes { state, branch, page: 1 });
        let _ = write!(out, "<a href=\"{to}\"{current}>{word}</a>");
    };
    tab(None, "All branches");
    for branch in document.branches.iter().take(MOST) {
        let word = if branch.is_empty() { "no branch".to_owned() } else { name(branch) };
        tab(Some(branch), &word);
    }
    out.push_str("</nav>\n");
    out
}

/// Says which entries of which branches do not count.
fn uncounted(document: &WebChangesDocument) -> String {
    /// More of them make a page of their own.
    const MOST: usize = 10;
    let mut out = String::new();
    for one in document.uncounted.iter().take(MOST) {
        let branch = if one.branch.is_empty() { "an unknown branch" } else { &one.branch };
        let counts = [one.lost, one.newer, one.merged, one.changed];
        let words = not_counted(&clipped(branch), counts, ["", "", ""]);
        let _ = writeln!(out, "<p class=\"quiet\">{}</p>", escape::html(&words));
    }
    out
}

/// Says how many alarms were false, by what people decided.
fn precision(acknowledged: usize, dismissed: usize) -> String {
    let decided = acknowledged + dismissed;
    if decided == 0 {
        return String::new();
    }
    let were = if dismissed == 1 { "was" } else { "were" };
    format!(
        "<p class=\"quiet\">Of {} with a decision, {dismissed} {were} dismissed ({}).</p>\n",
        count(decided, "change"),
        percent(dismissed as f64 / decided as f64)
    )
}
