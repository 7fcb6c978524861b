//! The highest rate that meets an objective: the answer, how far the generator could be trusted, and every window.

use std::fmt::Write as _;

use becalm_model::load::{
    Failed, FindAnswer, FindLimit, FindWindow, LoadFindDocument, QuantileRange, Trust,
};

use super::{
    capitalised, failures, find_picture, number_of_rate, percentile, requests_of, seconds, terms,
    time, words,
};
use crate::page::{ELSEWHERE, Page};
use crate::quantity::{NBSP, percent};
use crate::style::{Role, Style};
use crate::table::{Cell, Table};

/// Writes what a search found.
pub fn load_find_text(document: &LoadFindDocument, style: &Style) -> String {
    report(document, style).finish()
}

/// Writes the same as a web page with pictures, made by this version of becalm.
pub fn load_find_html(document: &LoadFindDocument, version: &str) -> String {
    let mut page = report(document, &ELSEWHERE);
    if let Some(picture) = find_picture::of(document) {
        page.picture(picture);
    }
    page.html(version)
}

/// Writes the same as Markdown.
pub fn load_find_markdown(document: &LoadFindDocument) -> String {
    report(document, &ELSEWHERE).markdown()
}

fn report<'a>(document: &LoadFindDocument, style: &'a Style) -> Page<'a> {
    let mut page = Page::new(style);
    let is_answer = matches!(document.answer, FindAnswer::Found { .. } | FindAnswer::Below { .. });
    let role = if is_answer { Role::Heading } else { Role::Warning };
    page.say_as(role, &answer(document));
    if let [_, .., last] = &document.windows[..]
        && last.is_unanswered
    {
        let text = format!(
            "The server took no connections any more in the window at {}, so the search ended.",
            rate(last.rate)
        );
        page.say_as(Role::Warning, &text);
    }
    if let Some(signal) = document.signal {
        page.say(&format!("Signal {signal} ended the search early."));
    }
    page.gap();
    page.say(&terms(&document.terms));
    page.gap();
    page.table(&windows(document, style));
    let errors = Failed::together(document.windows.iter().flat_map(|one| &one.errors));
    if !errors.is_empty() {
        page.gap();
        page.table(&failures(&errors));
    }
    page.section("Generator");
    for text in generator(document) {
        page.say(&text);
    }
    page
}

fn rate(rate: f64) -> String {
    format!("{}{NBSP}requests/s", number_of_rate(rate))
}

/// Says between which rates the answer lies. Of those outside the range that was searched nothing is known but that.
fn between(low: f64, high: f64, confidence: f64, [from, to]: [f64; 2]) -> String {
    let low = match number_of_rate(low.max(from)) {
        from_there if low < from => format!("below {from_there}"),
        low => low,
    };
    let high = match number_of_rate(high.min(to)) {
        to_there if high > to => format!("above {to_there}"),
        high => high,
    };
    format!("{low} to {high} at {}", percent(confidence))
}

/// Says the answer in one sentence.
fn answer(document: &LoadFindDocument) -> String {
    let LoadFindDocument { objective, range, .. } = document;
    match document.answer {
        FindAnswer::Found { rate: found, low, high, confidence } => format!(
            "{objective} is met up to {} ({}).",
            rate(found),
            between(low, high, confidence, *range)
        ),
        FindAnswer::Unresolved { rate: found, low, high, confidence } => format!(
            "Not resolved: {objective} is met up to about {} ({}).{}",
            rate(found),
            between(low, high, confidence, *range),
            if document.is_unanswered { "" } else { " Give the search more --max-time." }
        ),
        FindAnswer::AtLeast { rate: found, limit, .. } => format!(
            "{objective} is met up to at least {}; {}.",
            rate(found),
            match limit {
                FindLimit::Generator => "becalm could not send more",
                FindLimit::Range => "the search does not go higher",
            }
        ),
        FindAnswer::AtMost { rate: found, lowest, .. } => format!(
            "{objective} is met up to at most {}, and perhaps only below {}, where the search begins.",
            rate(found),
            rate(lowest)
        ),
        FindAnswer::Below { rate: lowest } => {
            format!(
                "{objective} is not met even at {}, the lowest rate of the search.",
                rate(lowest)
            )
        }
        FindAnswer::Nothing if document.is_unanswered => {
            "The server gave no expected answer, so nothing is known about it.".to_owned()
        }
        FindAnswer::Nothing => {
            "No window was valid, so nothing is known about the server.".to_owned()
        }
    }
}

/// Shows the windows in the order of their rates: the curve.
fn windows(document: &LoadFindDocument, style: &Style) -> Table {
    let q = document.windows.iter().find_map(|window| window.quantile).map(|one| one.q);
    let name = q.map_or_else(|| "missed".to_owned(), percentile);
    let mut titles = vec!["p50".to_owned(), name];
    if q.is_some() {
        titles.push(format!("95{NBSP}%{NBSP}interval"));
    }
    titles.extend(["missed", "lag p99", "counts"].map(str::to_owned));
    if q.is_none() {
        titles.remove(1);
    }
    let mut table = Table::of_numbers("requests/s", titles.iter().map(String::as_str));
    let mut sorted: Vec<&FindWindow> = document.windows.iter().collect();
    sorted.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    for window in sorted {
        let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |s| time(s, style));
        let median =
            window.response.iter().find(|one| (one.q - 0.5).abs() < 1e-9).map(|one| one.value);
        let mut cells: Vec<Cell> = vec![number_of_rate(window.rate).into(), shown(median).into()];
        if let Some(QuantileRange { value, low, high, .. }) = window.quantile {
            let never = || style.pick("∞", "never").to_owned();
            let end = |value: Option<f64>| value.map_or_else(never, |s| time(s, style));
            cells.push(end(value).into());
            cells.push(format!("{} to {}", end(low), end(high)).into());
        }
        let missed = &window.missed;
        let share = missed.missed as f64 / missed.requests.max(1) as f64;
        cells.push(percent(share).into());
        cells.push(shown(window.lag_p99).into());
        let counts = match (window.verdict, window.is_cut) {
            _ if window.is_unanswered => "no: server",
            (Trust::Invalid, _) => "no: generator",
            (Trust::Valid, true) => "yes, cut short",
            (Trust::Valid, false) => "yes",
        };
        cells.push(counts.into());
        table.push(cells);
    }
    table
}

fn generator(document: &LoadFindDocument) -> Vec<String> {
    let generator = &document.generator;
    let mut all = vec![match (generator.trusted_to, generator.failed_from) {
        (Some(to), None) => {
            format!("It kept to the schedule up to {}, the highest rate tried.", rate(to))
        }
        (Some(to), Some(from)) => format!(
            "It kept to the schedule up to {}, and in no window from {} on:",
            rate(to),
            rate(from)
        ),
        (None, _) if generator.reasons.is_empty() => {
            "It kept to the schedule in no window.".to_owned()
        }
        (None, _) => "It kept to the schedule in no window:".to_owned(),
    }];
    all.extend(
        generator
            .reasons
            .iter()
            .map(|reason| format!("{}.", capitalised(&words::distrust(reason.get())))),
    );
    let invalid = document.windows.iter().filter(|one| one.verdict == Trust::Invalid).count();
    let requests: u64 = document.windows.iter().map(|one| one.counts.scheduled).sum();
    let windows = becalm_model::counted(document.windows.len(), "window");
    let mut text =
        format!("{windows} with {} in {}.", requests_of(requests), seconds(document.elapsed));
    if invalid > 0 {
        let does = if invalid == 1 { "does" } else { "do" };
        let _ = write!(
            text,
            " {invalid} of them {does} not count, because the generator did not keep to the schedule."
        );
    }
    all.push(text);
    all.extend(generator.place.as_ref().map(words::place));
    all
}

#[cfg(test)]
#[path = "find_tests.rs"]
pub(super) mod tests;
