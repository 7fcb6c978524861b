//! Series whose level does not stay, above the changes.

use std::fmt::Write as _;

use becalm_model::history::full_name;
use becalm_model::wire::SeriesStateDocument;

use super::frame::{commit_link, name, unit};
use super::links::{At, Links};
use crate::escape;
use crate::quantity::{Scale, count, signed_percent};

/// Lists states, each with a link to its series if it is a list of several.
pub(super) fn states(states: &[SeriesStateDocument], links: &Links<'_>, are_named: bool) -> String {
    if states.is_empty() {
        return String::new();
    }
    let mut out = "<ul class=\"states\">\n".to_owned();
    for state in states {
        let _ = writeln!(out, "<li>{}</li>", state_line(state, links, are_named));
    }
    out.push_str("</ul>\n");
    out
}

fn state_line(state: &SeriesStateDocument, links: &Links<'_>, are_named: bool) -> String {
    let Some(place) = &state.history else { return String::new() };
    let title = are_named.then(|| {
        let to = links.to(At::Series { id: place.series, by: "order", page: 1 });
        let full = full_name(&place.benchmark, &place.parameters);
        format!("<a href=\"{to}\">{}</a> ", name(&format!("{full}, {}", place.metric)))
    });
    let title = title.unwrap_or_default();
    let at = |commit: &Option<String>, index: usize| match commit {
        Some(id) => commit_link(id, links),
        None => format!("value {}", index + 1),
    };
    let until = if state.current {
        String::new()
    } else {
        format!(" up to {}", at(&place.end_commit, state.end))
    };
    let scale = Scale::of(&unit(&place.unit), [state.from, state.to], true);
    let [from, to] = [state.from, state.to].map(|level| escape::html(&scale.with_unit(level)));
    let since = at(&place.commit, state.start);
    let changes = count(state.changes.len(), "change");
    if state.state == "trend" {
        let size = state
            .ratio
            .map_or(String::new(), |ratio| format!(", {}", signed_percent(ratio - 1.0, 1)));
        let word = match state.kind.as_str() {
            "regression" => " for the worse",
            "improvement" => " for the better",
            _ => "",
        };
        return format!(
            "{title}<strong>trend{word}</strong> since {since}{until}: from {from} to {to}{size} ({changes})"
        );
    }
    format!(
        "{title}<strong>unstable</strong> since {since}{until}: between {from} and {to} ({changes}). Look at the \
         machine, and check whether the program has two modes; while it is unstable, a gate cannot decide about it."
    )
}
