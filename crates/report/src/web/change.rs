//! One change as a reader judges it: how large, how sure, where, and how to measure it again.

use std::fmt::Write as _;

use becalm_model::history::{full_name, short_commit};
use becalm_model::wire::{ChangeInHistoryDocument, ChangePointDocument, WebChangeDocument};
use becalm_model::{RatioInterval, shell_line, shell_word};

use super::frame::{
    LONGEST_TEXT, clipped, clipped_to, commit_code, commit_link, inline_definitions, name, unit,
};
use super::links::{At, Links};
use super::machine;
use super::spark::spark;
use crate::escape;
use crate::moment::{date, utc};
use crate::quantity::{Scale, count, ratio};

/// Letters of a command that somebody may want to copy.
const LONGEST_COMMAND: usize = 4000;

/// Writes a change of a list, which names its series.
pub(super) fn listed(change: &WebChangeDocument, links: &Links<'_>) -> String {
    let Some(place) = &change.change.history else { return String::new() };
    let series = links.to(At::Series { id: place.series, by: "order", page: 1 });
    let named = format!("<a href=\"{series}\">{}</a>", name(&series_name(place)));
    article(change, place, &named, links)
}

/// Writes a change of the page of its series.
pub(super) fn of_series(change: &WebChangeDocument, links: &Links<'_>) -> String {
    let Some(place) = &change.change.history else { return String::new() };
    let title = format!("At {}", commit_or_entry(place.commit.as_deref(), place.entry));
    article(change, place, &title, links)
}

/// Returns the name of the series that a change is in.
pub(super) fn series_name(place: &ChangeInHistoryDocument) -> String {
    let full = full_name(&place.benchmark, &place.parameters);
    format!("{full}, {}", place.metric)
}

/// Returns the name of a change within a page.
pub(super) fn anchor(place: &ChangeInHistoryDocument) -> String {
    format!("change-{}-{}", place.series, place.entry)
}

/// Says how large a change is: `+2.1 %` and `+1.6 % .. +2.6 %`; both empty where the old level is 0.
pub(super) fn size(change: &ChangePointDocument) -> (String, String) {
    let Some((estimate, low)) = change.ratio.zip(change.ratio_low) else {
        return (String::new(), String::new());
    };
    let high = change.ratio_high.unwrap_or(f64::INFINITY);
    let text = ratio(&RatioInterval { estimate, low, high });
    (text.change, text.interval)
}

/// Returns the class, the sign and the word of the way that a change went.
pub(super) fn way(change: &ChangePointDocument) -> (&'static str, &'static str, &'static str) {
    match change.kind.as_str() {
        "regression" => ("slower", "\u{25b2}", "regression"),
        "improvement" => ("faster", "\u{25bc}", "improvement"),
        _ => ("inconclusive", "\u{25c6}", "change"),
    }
}

fn article(
    change: &WebChangeDocument,
    place: &ChangeInHistoryDocument,
    title: &str,
    links: &Links<'_>,
) -> String {
    let one = &change.change;
    let (class, sign, word) = way(one);
    let (estimate, interval) = size(one);
    let scale = Scale::of(&unit(&place.unit), [one.before, one.after], true);
    let [before, after] =
        [one.before, one.after].map(|level| escape::html(&scale.with_unit(level)));
    let pending = if one.state == "pending" {
        " <span class=\"tag\">pending: it may vanish with the next values</span>"
    } else {
        ""
    };
    let part = match one.part_of.as_deref() {
        Some("unstable") => " <span class=\"tag\">part of an unstable stretch</span>",
        Some("trend") => " <span class=\"tag\">part of a trend</span>",
        _ => "",
    };
    let words = format!("{word} {estimate}: values around the change");
    let sized = if interval.is_empty() {
        String::new()
    } else {
        format!(" <span class=\"quiet\">95 % interval {interval}</span>")
    };
    let mut out = format!(
        "<article class=\"change {class}\" id=\"{}\">\n<div class=\"title\"><h2>{title}</h2>\n\
         <p><strong class=\"{class}\"><span aria-hidden=\"true\">{sign}</span> {word} {estimate}</strong>{sized}{pending}{part}</p>\n\
         <p>from {before} to {after}</p></div>\n{}\n",
        anchor(place),
        spark(&change.trend, Some(change.trend_at), &words),
    );
    out.push_str(&inline_definitions(rows(change, place, links)));
    let more = look_again(change, place) + &form(place, links);
    if !more.is_empty() {
        let _ = writeln!(out, "<div class=\"more\">\n{more}</div>");
    }
    out.push_str("</article>\n");
    out
}

fn rows<'a>(
    change: &WebChangeDocument,
    place: &ChangeInHistoryDocument,
    links: &Links<'_>,
) -> Vec<(&'a str, String)> {
    let to = links.point(place.entry);
    // A record leads nowhere, and its entry to all that is known of it.
    let entry = links.to(At::Entry { id: place.entry, page: 1 });
    let of_entry = if to == entry {
        String::new()
    } else {
        format!(" (<a href=\"{entry}\">entry {}</a>)", place.entry)
    };
    let commit = |commit: &Option<String>, none: &str| match commit {
        Some(id) => commit_link(id, links),
        None => none.to_owned(),
    };
    let between = match (&place.after_commit, &place.until_commit) {
        (None, None) => "no commit is known".to_owned(),
        (after, until) => format!(
            "after {}, up to {} ({})",
            commit(after, "an unknown commit"),
            commit(until, "an unknown commit"),
            count(change.entries_between, "entry")
        ),
    };
    let branch = if place.branch.is_empty() { "unknown".to_owned() } else { name(&place.branch) };
    let first = commit_or_entry(place.commit.as_deref(), place.entry);
    let mut rows = vec![
        ("commits", between),
        ("first value", format!("<a href=\"{to}\">{first}</a>{}{of_entry}", by(change))),
        ("branch", branch),
        ("machine", machine::short(&change.machine, &place.fingerprint)),
        ("first seen in the entry of", date(change.seen)),
    ];
    if place.review != "open" {
        rows.push(("decision", escape::html(&decision(place))));
    }
    rows
}

/// Says what the first commit of the new level did, and who wrote it.
fn by(change: &WebChangeDocument) -> String {
    let title = change.title.as_deref().map(|title| format!(": {}", name(title)));
    let author = change.author.as_deref().map(|author| format!(", by {}", name(author)));
    title.unwrap_or_default() + &author.unwrap_or_default()
}

fn decision(place: &ChangeInHistoryDocument) -> String {
    let by = place.by.as_deref().unwrap_or_default();
    decided(&place.review, by, place.decided, place.reason.as_deref())
}

/// Says what was decided: `dismissed by ada on 2026-11-20 18:00:00 UTC: a new compiler`.
pub(super) fn decided(word: &str, by: &str, time: Option<f64>, reason: Option<&str>) -> String {
    let by = if by.is_empty() { String::new() } else { format!(" by {}", clipped(by)) };
    let when = time.map_or(String::new(), |time| format!(" on {}", utc(time)));
    let why = reason.map_or(String::new(), |why| format!(": {}", clipped_to(why, LONGEST_TEXT)));
    format!("{word}{by}{when}{why}")
}

fn commit_or_entry(commit: Option<&str>, entry: i64) -> String {
    match commit {
        Some(id) => commit_code(id),
        None => format!("entry {entry}"),
    }
}

/// Writes the commands that measure both ends again, and find the commit.
fn look_again(change: &WebChangeDocument, place: &ChangeInHistoryDocument) -> String {
    let Some((after, until)) = place.after_commit.as_ref().zip(place.until_commit.as_ref()) else {
        return String::new();
    };
    // Names of commits come from anybody's file, and people paste commands.
    if ![after, until].iter().all(|commit| is_revision(commit)) {
        return String::new();
    }
    let [after, until] = [after, until].map(|commit| shell_word(short_commit(commit)));
    let known = change.command.as_ref().map(|command| shell_line(command));
    let (command, hint) = match known.filter(|command| command.len() <= LONGEST_COMMAND) {
        Some(command) => (command, ""),
        None => ("COMMAND".to_owned(), " The record has no command: replace COMMAND with yours."),
    };
    let flags = shell_line(&change.flags);
    let command = escape::html(format!("{flags} -- {command}").trim_start());
    let [after, until] = [after, until].map(|commit| escape::html(&commit));
    format!(
        "<details><summary>Measure again</summary>\n\
         <p>Measure both ends, in turns:</p>\n<pre class=\"command\">becalm compare --rev {after} --rev {until} {command}</pre>\n\
         <p>Find the commit:</p>\n<pre class=\"command\">becalm bisect --good {after} --bad {until} {command}</pre>\n\
         <p class=\"quiet\">Add --build COMMAND if the program has to be built first.{hint}</p></details>\n"
    )
}

/// Says whether git could know a commit by this name, and no command take it for a flag.
fn is_revision(commit: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    commit.starts_with(|c: char| c.is_ascii_alphanumeric()) && commit.chars().all(is_plain)
}

/// Writes the form that decides, where somebody can.
fn form(place: &ChangeInHistoryDocument, links: &Links<'_>) -> String {
    let Some((action, decisions)) = links.decisions(&place.id) else { return String::new() };
    let seen = place.decided.map_or("open".to_owned(), |time| format!("{:016x}", time.to_bits()));
    let mut out = format!(
        "<details><summary>Decide</summary>\n<form method=\"post\" action=\"{action}\">\n\
         <input type=\"hidden\" name=\"token\" value=\"{}\">\n<input type=\"hidden\" name=\"seen\" value=\"{seen}\">\n\
         <label>Your name <input name=\"by\" maxlength=\"100\" autocomplete=\"name\" value=\"{}\"></label>\n\
         <label>Reason (required to dismiss it) <input name=\"reason\" maxlength=\"1000\"></label>\n<p>",
        escape::html(&decisions.token),
        name(&decisions.by),
    );
    let buttons = [
        ("acknowledged", "acknowledge", "Acknowledge: it is real and known"),
        ("dismissed", "dismiss", "Dismiss: it is not real, or does not matter"),
        ("open", "reopen", "Open it again"),
    ];
    for (state, value, words) in buttons {
        if place.review != state {
            let _ = write!(out, "<button name=\"decision\" value=\"{value}\">{words}</button> ");
        }
    }
    out.push_str("</p>\n</form></details>\n");
    out
}
