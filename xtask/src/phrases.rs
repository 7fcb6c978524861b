//! Turns of phrase that texts for people must not have, and numbers beside nouns that do not agree with them.
//!
//! "Words" in `CONTRIBUTING.md` says what to write instead.

use std::path::Path;

use crate::tokens::{self, Kind, spoken};
use crate::workspace::root;

/// The worst turns, each with what to say instead.
const PHRASES: [(&str, &str); 81] = [
    ("is told", "is reported, is shown"),
    ("are told", "are reported, are shown"),
    ("was told", "was reported"),
    ("were told", "were reported"),
    ("and told", "and reported"),
    ("can be told", "is known, is detectable"),
    ("cannot be told", "is unknown, cannot be distinguished"),
    ("that can be had", "available"),
    ("cannot be had", "is not possible, cannot be combined"),
    ("could not be had", "was not possible"),
    ("to be had", "available"),
    ("what is left is", "what remains is"),
    ("whoever died", "even after a crash"),
    ("is felt by", "sensitivity"),
    ("as seldom as", "as rarely as"),
    ("talk to standard", "messages go to standard error"),
    ("also teaches", "also detects"),
    ("lets itself", "can be"),
    ("that exit so", "only these exit codes"),
    ("stands above", "see the message above"),
    ("stands below", "follows, is listed below"),
    ("stands in for", "replaces"),
    ("looks like no", "unrecognised"),
    ("something else than", "unexpected; something other than"),
    ("may not go before", "may not raise its priority"),
    ("is not ours to", "is not visible"),
    ("about less than", "under"),
    ("of somebody else", "of another program, of another user"),
    ("nothing was found that", "becalm found nothing that"),
    ("there are none that", "none of them"),
    ("what becalm makes of", "how becalm reads"),
    ("is named by", "the name comes from"),
    ("of its own accord", "voluntarily"),
    ("begin anew", "start again, start a new session"),
    ("begun anew", "started again"),
    ("made again", "repeated"),
    ("taken away", "removed"),
    ("takes away", "removes"),
    ("goes on with", "continues"),
    ("go on with", "continue"),
    ("as it wants", "in its own syntax"),
    ("has to be known", "the reader has to know"),
    ("where nobody says", "by default"),
    ("unless nobody", "if somebody"),
    ("by whomever", "by the user who"),
    ("whosoever", "anybody who"),
    ("tells that", "says that"),
    ("feels", "is sensitive to"),
    ("whoever is", "the process that is, anyone who is"),
    ("told apart", "separated, detectable"),
    ("the machine at hand", "your machine"),
    ("interleaved", "in turns"),
    ("interleaves", "measures in turns"),
    ("luck", "chance, layout, correlation: whichever it is"),
    ("lucky", "by chance"),
    ("hold together", "have the stated confidence together"),
    ("holds together", "has the stated confidence together"),
    ("as many again", "50 % more than usual"),
    ("left behind", "left changed, has changed"),
    ("weather", "a busy host, a quiet host"),
    ("takes no notice", "ignores it"),
    ("somebody else", "another program, another user"),
    ("anew", "again"),
    ("tell them apart", "distinguish them"),
    ("as it always is", "as usual"),
    ("they stand in", "they are listed in, they are in"),
    ("listed apart", "listed separately"),
    ("go home", "need not wait"),
    ("in vain", "without success, lost"),
    ("present folder", "current folder"),
    ("before its time", "early"),
    ("told from", "distinguished from, estimated from"),
    ("believed", "valid, accepted; not believed: invalid"),
    ("for nothing", "does not count"),
    ("broken off", "interrupted"),
    ("run already", "are already running"),
    ("runs already", "is already running"),
    ("kept apart", "kept separately, counts separately"),
    ("laid beside", "compared with, weighed"),
    ("present level", "current level"),
    ("over the rate", "by rate, against the rate"),
];

/// "`x` is no number": these need "is not a".
const NOUNS: [&str; 23] = [
    "address",
    "command",
    "commit",
    "duration",
    "error",
    "fault",
    "file",
    "folder",
    "format",
    "interval",
    "list",
    "mask",
    "name",
    "number",
    "path",
    "program",
    "regression",
    "revision",
    "server",
    "table",
    "text",
    "time",
    "unit",
];

/// Counted things, which `counted` of `model/src/quantity.rs` puts behind their number.
const COUNTED: [&str; 24] = [
    "CPUs",
    "benchmarks",
    "blocks",
    "cells",
    "changes",
    "commands",
    "commits",
    "cores",
    "entries",
    "files",
    "iterations",
    "layouts",
    "metrics",
    "nodes",
    "processes",
    "records",
    "results",
    "rounds",
    "runs",
    "settings",
    "subjects",
    "tasks",
    "threads",
    "values",
];

/// Numbers that are never 1 there, or are no counts, by the file and what follows the number.
const SEVERAL: [(&str, &str); 40] = [
    ("crates/cli/src/commands/gate/mod.rs", " commits, but only"),
    ("crates/formats/src/error.rs", " files"),
    ("crates/lab/src/iterate/mod.rs", " iterations of each"),
    ("crates/lab/src/iterate/mod.rs", " threads are too many"),
    ("crates/lab/src/places.rs", " tasks do not fit"),
    ("crates/lab/src/reproduce/articles/akkoyun.rs", " cores"),
    ("crates/lab/src/reproduce/mod.rs", " runs: "),
    ("crates/lab/src/timer.rs", " iterations, so the counters"),
    ("crates/machine/src/check/hardware.rs", " threads."),
    ("crates/machine/src/check/process.rs", " threads, but"),
    ("crates/report/src/bisect.rs", " changes"),
    ("crates/report/src/changes.rs", " values on"),
    ("crates/report/src/checks.rs", "runs are"),
    ("crates/report/src/steady.rs", " runs many"),
    ("crates/report/src/steady.rs", " iterations take"),
    ("crates/runner/src/rounds/client.rs", " runs: "),
    ("crates/report/src/noise/ablate/said.rs", " processes that becalm kept busy"),
    ("crates/report/src/notes/gate.rs", " values together"),
    ("crates/report/src/notes/gate.rs", " more values"),
    ("crates/runner/src/rounds/client.rs", " runs, so nothing"),
    ("crates/report/src/noise/side_by_side.rs", " values are beyond"),
    ("crates/report/src/notes/comparison.rs", " values are"),
    ("crates/report/src/notes/gate.rs", " runs"),
    ("crates/report/src/notes/import.rs", " rounds"),
    ("crates/report/src/notes/placement.rs", " cores, none"),
    ("crates/report/src/notes/placement.rs", " threads share"),
    ("crates/report/src/notes/session.rs", " files"),
    ("crates/report/src/notes/session.rs", " layouts were built"),
    ("crates/report/src/notes/session.rs", " rounds were"),
    ("crates/report/src/saved.rs", " processes"),
    ("crates/report/src/timeit.rs", "processes"),
    ("crates/report/src/topology/text.rs", " threads"),
    ("crates/report/src/conditions.rs", " other tasks that want"),
    ("crates/report/src/notes/gate.rs", " more rounds would"),
    ("crates/report/src/notes/gate.rs", " more runs are"),
    ("crates/report/src/notes/watching.rs", " other files"),
    ("crates/runner/src/rounds/hook.rs", " runs as another user"),
    ("crates/session/src/subjects.rs", " combinations of"),
    ("crates/stats/src/sample.rs", " values, have"),
    ("crates/runner/src/iterations.rs", " iterations are 0"),
];

/// Returns the files of crates with what people may read of them: literals, and the help of the command line.
fn texts() -> impl Iterator<Item = (String, usize, String)> {
    let is_shipped = |name: &str| {
        let of_tests = ["/tests", "/examples/"].iter().any(|one| name.contains(one))
            || name.ends_with("tests.rs");
        name.starts_with("crates/")
            && !of_tests
            && !["crates/testkit/", "crates/calibrate/"].iter().any(|one| name.starts_with(one))
    };
    tokens::all().into_iter().filter(move |file| is_shipped(&file.name)).flat_map(|file| {
        let end = file.text.find("#[cfg(test)]\nmod ").unwrap_or(file.text.len());
        let text = &file.text[..end];
        let has_help = ["clap::Args", "ValueEnum", "Subcommand", "Parser"]
            .iter()
            .any(|one| text.contains(one));
        let is_wanted = |kind| kind == Kind::Literal || has_help;
        let found = spoken(text).into_iter().filter(|one| is_wanted(one.kind));
        found.map(|one| (file.name.clone(), one.line, one.text)).collect::<Vec<_>>()
    })
}

/// Returns what is wrong with a text.
fn faults(text: &str) -> Vec<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let turns = PHRASES.iter().filter(|(turn, _)| has_words(&text, turn));
    let turns = turns.map(|(turn, instead)| format!("\"{turn}\": say {instead}"));
    let nouns = NOUNS
        .iter()
        .filter(|noun| has_words(&text, &format!("is no {noun}")) && !text.contains("there is no"));
    turns.chain(nouns.map(|noun| format!("\"is no {noun}\": say is not a {noun}"))).collect()
}

/// Says whether a text has these words, as whole words.
fn has_words(text: &str, words: &str) -> bool {
    let lower = text.to_lowercase();
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    lower.match_indices(words).any(|(at, found)| {
        !is_letter(lower[..at].chars().next_back())
            && !is_letter(lower[at + found.len()..].chars().next())
    })
}

/// Returns the documents of the repository, by their paths below its root: old entries of `CHANGELOG.md` stay.
fn documents(top: &Path) -> Vec<String> {
    let listed = std::process::Command::new("git")
        .args(["ls-files", "*.md"])
        .current_dir(top)
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    listed
        .lines()
        .map(str::to_owned)
        .filter(|name| name != "CHANGELOG.md" && !name.contains("/tests/"))
        .collect()
}

#[test]
fn texts_for_people_have_no_turns_that_need_reading_twice() {
    let mut wrong = Vec::new();
    for (name, line, text) in texts() {
        wrong.extend(faults(&text).into_iter().map(|fault| format!("{name}:{line}: {fault}")));
    }
    let top = root();
    for name in documents(&top) {
        let text = std::fs::read_to_string(top.join(&name)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            // The table of such turns itself.
            if name == "CONTRIBUTING.md" && line.starts_with('|') {
                continue;
            }
            let next = lines.get(index + 1).copied().unwrap_or_default();
            let of_next = faults(next);
            let found = faults(&format!("{line} {next}"));
            let here = found.into_iter().filter(|fault| !of_next.contains(fault));
            wrong.extend(here.map(|fault| format!("{name}:{}: {fault}", index + 1)));
        }
    }
    assert!(wrong.is_empty(), "see \"Words\" in CONTRIBUTING.md:\n  {}", wrong.join("\n  "));
}

#[test]
fn numbers_agree_with_their_nouns() {
    let mut wrong = Vec::new();
    for (name, line, text) in texts() {
        for (at, _) in text.match_indices('}') {
            // Constants are more than 1, and a number with decimals not a count.
            let place = text[..at].rsplit('{').next().unwrap_or_default();
            if place.contains(['.', '_']) || place.chars().any(char::is_uppercase) {
                continue;
            }
            let behind = text[at + 1..].replace("{NBSP}", "\u{a0}").replace("\\u{a0}", "\u{a0}");
            let Some(noun) = behind.strip_prefix([' ', '\u{a0}']) else { continue };
            let noun =
                ["more ", "other "].iter().find_map(|word| noun.strip_prefix(word)).unwrap_or(noun);
            let is_counted = COUNTED.iter().any(|one| {
                noun.strip_prefix(one).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
            });
            let is_known = SEVERAL.iter().any(|(file, words)| {
                *file == name && behind.trim_start_matches('\u{a0}').starts_with(words)
            });
            if is_counted && !is_known {
                wrong.push(format!("{name}:{line}: {text}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "use becalm_model::counted, or say in SEVERAL why not:\n  {}",
        wrong.join("\n  ")
    );
}
