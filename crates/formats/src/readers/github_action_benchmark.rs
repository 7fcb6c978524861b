//! github-action-benchmark: custom results, and the history of a project.
//!
//! - Custom: `[{name, unit, value, range?, extra?}]`. Which way is better is not in the file but in the
//!   name of the tool, `customSmallerIsBetter` or `customBiggerIsBetter`: these are formats here too.
//! - History, `dev/bench/data.js`: `window.BENCHMARK_DATA = {entries: {suite: [{commit, date, tool,
//!   benches}]}}`. Some write it by hand, as a JavaScript object with bare names and other quotes.
//!
//! Commits are subjects, and an entry of a commit is a process.
//!
//! Values are what a tool printed, and most tools print a mean or a median of many: by the name of the tool in a
//! history, and by a range beside the value, or the words `median of` and the like in `extra`, elsewhere.

use std::collections::BTreeMap;

use becalm_model::history::{AtCommit, commit_words};
use becalm_model::{Direction, ImportFact, ImportNote, Part, parse_time};
use serde::Deserialize;
use serde_json::Value;

use crate::file::only;
use crate::imported::{Imported, Names, parameters_of, single};
use crate::json::{self, Maybe, Text};
use crate::readers::short;
use crate::{Entry, File, ImportError, Takes};
use crate::{javascript, units};

pub(crate) const CUSTOM: Entry = Entry {
    name: "github-action-benchmark",
    about: "github-action-benchmark's custom JSON, direction from the unit",
    recognise: Takes::File(|file| {
        json::names(file, &['['], &["\"name\"", "\"unit\"", "\"value\""])
    }),
    read: Takes::File(|file| read_custom(file, None)),
};

pub(crate) const SMALLER: Entry = Entry {
    name: "customSmallerIsBetter",
    about: "github-action-benchmark's custom JSON, smaller is better",
    // No file tells; it has to be asked for.
    recognise: Takes::File(|_| false),
    read: Takes::File(|file| read_custom(file, Some(Direction::Lower))),
};

pub(crate) const BIGGER: Entry = Entry {
    name: "customBiggerIsBetter",
    about: "github-action-benchmark's custom JSON, bigger is better",
    recognise: Takes::File(|_| false),
    read: Takes::File(|file| read_custom(file, Some(Direction::Higher))),
};

pub(crate) const HISTORY: Entry = Entry {
    name: "github-action-benchmark-history",
    about: "github-action-benchmark's data.js: all commits of a project",
    recognise: Takes::File(|file| {
        file.text().is_ok_and(|text| json::beginning(text).starts_with(VARIABLE))
            || json::names(file, &['{'], &["\"entries\"", "\"benches\"", "\"commit\""])
    }),
    read: Takes::File(read_history),
};

const VARIABLE: &str = "window.BENCHMARK_DATA";

#[derive(Deserialize)]
struct Bench {
    name: String,
    unit: Text,
    /// `None` for what the tool wrote as `null` or as no number, such as the complexity of a group.
    value: json::Number,
    range: Text,
    extra: Text,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct History {
    entries: BTreeMap<String, Vec<OneEntry>>,
    repo_url: Text,
}

#[derive(Deserialize)]
struct OneEntry {
    commit: Commit,
    date: Maybe<f64>,
    tool: Text,
    benches: Maybe<Vec<Bench>>,
}

#[derive(Deserialize)]
struct Commit {
    id: String,
    message: Text,
    timestamp: Text,
    author: Maybe<Person>,
}

#[derive(Default, Deserialize)]
struct Person {
    name: Text,
    username: Text,
}

fn read_custom(file: &File, direction: Option<Direction>) -> Result<Imported, ImportError> {
    let benches: Vec<Bench> = json::read(file)?;
    let mut imported = Imported::of("github-action-benchmark");
    if direction.is_none() {
        imported.known(ImportFact::DirectionsGuessed);
    }
    let subject = imported.subject("github-action-benchmark");
    let tool = Tool { name: "", direction };
    let parts = parts_of(&mut imported, subject, "", &benches, tool);
    imported.parts(subject, parts);
    Ok(imported)
}

/// What is known of the tool that printed the values.
#[derive(Clone, Copy)]
struct Tool<'a> {
    /// Its name as the action has it; empty if the file does not tell.
    name: &'a str,
    /// Which way is better, if that is known of all its values.
    direction: Option<Direction>,
}

fn parts_of(
    imported: &mut Imported,
    subject: usize,
    suite: &str,
    benches: &[Bench],
    tool: Tool<'_>,
) -> Vec<Part> {
    let mut names = Names::default();
    let mut parts = Vec::new();
    for bench in benches {
        let Some(value) = bench.value.0 else {
            let benchmark = format!("{suite}{}", bench.name);
            imported.note(ImportNote::NoResults { benchmark });
            continue;
        };
        let name = names.unique(&format!("{suite}{}", bench.name));
        // Go's units were once followed by what else stood in the line.
        let written = bench.unit.0.split('\t').next().unwrap_or_default().trim();
        let (unit, factor) = units::unit_per(written);
        let direction = tool.direction.unwrap_or_else(|| units::usual_direction(&unit.to_string()));
        let metric = imported.benchmark(&name, "", unit, direction);
        if let Some(statistic) = statistic(tool.name, bench) {
            imported.stand_in(metric, statistic);
        }
        parts.push(single(metric, value * factor));
        if let Some(range) = range(&bench.range.0, value) {
            let figures = [("low", value - range), ("high", value + range)];
            let figures = figures.map(|(name, value)| (name, Some(value * factor)));
            imported.summary(subject, metric, figures);
        }
    }
    parts
}

/// Returns which statistic of many a value is, as far as the file tells.
fn statistic(tool: &str, bench: &Bench) -> Option<&'static str> {
    match tool {
        "cargo" | "julia" => return Some("median"),
        "benchmarkjs" | "benchmarkluau" | "pytest" | "catch2" | "jmh" | "benchmarkdotnet" => {
            return Some("mean");
        }
        // A result of Go is what one process gave, as `go-bench` reads it.
        "go" => return None,
        _ => {}
    }
    let told = bench.extra.0.to_lowercase();
    let by_words = ["median", "mean", "average"].into_iter().find(|word| {
        // As in `median of 5 runs` and `mean: 1.2 ms`; of single runs there is none.
        let behind = told.find(word).map(|at| told[at + word.len()..].trim_start());
        behind.is_some_and(|behind| {
            let of_several = behind.starts_with("of ") && !behind.starts_with("of 1 ");
            of_several || behind.starts_with([':', '='])
        })
    });
    let by_name = ["median", "mean"]
        .into_iter()
        .find(|word| bench.name.strip_suffix(word).is_some_and(|name| name.ends_with('_')));
    // Only of several values is there a range.
    let by_range = (!bench.range.0.trim().is_empty()).then_some("estimate");
    let found = by_words.map(|word| if word == "average" { "mean" } else { word });
    found.or(by_name).or(by_range)
}

/// Returns how far a range such as `± 20`, `+/- 20` or `±0.74%` reaches.
fn range(text: &str, value: f64) -> Option<f64> {
    let text = text.trim();
    let number = ["±", "+/-", "+-"].iter().find_map(|sign| text.strip_prefix(sign)).unwrap_or(text);
    let number = number.trim().replace(',', "");
    let range = match number.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0 * value.abs(),
        None => number.parse().ok()?,
    };
    Some(range).filter(|range| range.is_finite())
}

/// Reads every entry of a history as a commit.
pub(crate) fn commits(files: &[File]) -> Result<Vec<AtCommit>, ImportError> {
    let file = only(files)?;
    let history = history(file)?;
    let has_suites = history.entries.len() > 1;
    let mut commits = Vec::new();
    for (suite, entries) in &history.entries {
        let prefix = if has_suites { format!("{suite} / ") } else { String::new() };
        let has_value = |entry: &&OneEntry| entry.benches.iter().any(|one| one.value.0.is_some());
        for entry in entries.iter().filter(has_value) {
            let mut imported = Imported::of("github-action-benchmark");
            imported.fact("repository", &history.repo_url.0);
            imported.started_at(entry.date.0 / 1000.0);
            let subject = imported.subject(suite);
            let parts = parts_of(&mut imported, subject, &prefix, &entry.benches, tool(entry));
            imported.parts(subject, parts);
            let author = &entry.commit.author.0;
            commits.push(AtCommit {
                commit: Some(entry.commit.id.clone()),
                time: parse_time(&entry.commit.timestamp.0),
                author: commit_words(&author.name.0).or_else(|| commit_words(&author.username.0)),
                title: commit_words(&entry.commit.message.0),
                branch: None,
                record: imported.finish(file)?,
            });
        }
    }
    Ok(commits)
}

/// Returns the tool that gave the values; some tell which way is better.
fn tool(entry: &OneEntry) -> Tool<'_> {
    let name = entry.tool.0.as_str();
    let direction = match name {
        "customSmallerIsBetter" => Some(Direction::Lower),
        "customBiggerIsBetter" => Some(Direction::Higher),
        _ => None,
    };
    Tool { name, direction }
}

fn read_history(file: &File) -> Result<Imported, ImportError> {
    let history = history(file)?;
    let mut imported = Imported::of("github-action-benchmark");
    imported.fact("repository", &history.repo_url.0);
    let has_suites = history.entries.len() > 1;
    let mut entries: Vec<(&String, &OneEntry)> = history
        .entries
        .iter()
        .flat_map(|(suite, entries)| entries.iter().map(move |entry| (suite, entry)))
        .collect();
    entries.sort_by(|(_, a), (_, b)| a.date.total_cmp(&b.date));
    imported.started_at(entries.first().map_or(0.0, |(_, entry)| entry.date.0 / 1000.0));
    imported.expect(entries.len());
    for (suite, entry) in entries {
        let commit = &entry.commit;
        let message = commit.message.0.lines().next().unwrap_or_default();
        let parameters = parameters_of([
            ("commit", &commit.id),
            ("message", message),
            ("date", &commit.timestamp.0),
            ("tool", &entry.tool.0),
        ]);
        let subject = imported.command(short(&commit.id), Vec::new(), parameters);
        let prefix = if has_suites { format!("{suite} / ") } else { String::new() };
        let parts = parts_of(&mut imported, subject, &prefix, &entry.benches, tool(entry));
        imported.parts(subject, parts);
    }
    Ok(imported)
}

fn history(file: &File) -> Result<History, ImportError> {
    let text = file.text()?;
    let start = text.len() - text.trim_start().len();
    let mut from = start;
    if let Some(rest) = text[start..].strip_prefix(VARIABLE) {
        let Some(equals) = rest.find('=') else {
            return Err(ImportError::at_line(file, 1, "`=` after the variable", rest));
        };
        from = start + VARIABLE.len() + equals + 1;
    }
    let lines_before = text[..from].matches('\n').count();
    let object = text[from..].trim_end().trim_end_matches(';');
    if json::read_text::<Value>(file, object, 0).is_ok() {
        return json::read_text(file, object, lines_before);
    }
    json::read_text(file, &javascript::to_json(object), lines_before)
}
