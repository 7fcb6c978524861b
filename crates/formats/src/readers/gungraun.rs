//! gungraun (formerly iai-callgrind): summaries of version 6, `summary.json` or `--output-format=json`.
//!
//! - One object per benchmark; with `--output-format` they stand one after another, in one line each or
//!   over many, with other output of cargo between them.
//! - `profiles[].summaries.total.summary{tool: {event: {metrics}}}`. `metrics` is `Left` with the new
//!   value, `Right` with that of the baseline, or `Both`, the new one first.
//! - Values are `Int` or `Float`; those are counts of a simulation or of valgrind, and exact.

use becalm_model::{Direction, Metric, Part, Unit};
use serde::Deserialize;
use serde_json::Value;

use crate::imported::{Imported, Names, benchmark, single};
use crate::json::{self, Maybe, Text};
use crate::readers::NEW;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "gungraun",
    about: "gungraun's and iai-callgrind's JSON summaries, version 6",
    recognise: Takes::Files(|files| files.iter().any(has_summary)),
    read: Takes::Files(read),
};

fn has_summary(file: &File) -> bool {
    file.holds("\"benchmark_exe\"") && file.holds("\"module_path\"")
}

#[derive(Deserialize)]
struct Summary {
    version: Text,
    module_path: Text,
    function_name: Text,
    id: Text,
    profiles: Maybe<Vec<Profile>>,
}

#[derive(Deserialize)]
struct Profile {
    /// Which of valgrind's tools counted: several use the same names of events.
    tool: Text,
    summaries: Summaries,
}

#[derive(Deserialize)]
struct Summaries {
    total: Total,
}

#[derive(Deserialize)]
struct Total {
    /// An object by tool, or the text `None` of a tool without metrics, such as Massif.
    summary: Maybe<Value>,
}

/// Value of the new program, and of the baseline.
type Values = (Option<f64>, Option<f64>);

fn read(files: &[File]) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("gungraun");
    let mut names = Names::default();
    let mut new = Vec::new();
    let mut old = Vec::new();
    for file in files.iter().filter(|file| files.len() == 1 || has_summary(file)) {
        for summary in summaries(file)? {
            if summary.version.0 != "6" {
                let found = &summary.version.0;
                return Err(ImportError::at_field(file, "version", "6", found));
            }
            let path = [&summary.module_path.0, &summary.function_name.0];
            let path = path.into_iter().find(|name| !name.is_empty());
            let id =
                if summary.id.0.is_empty() { String::new() } else { format!(" {}", summary.id.0) };
            let name = names.unique(&format!("{}{id}", path.map_or("benchmark", String::as_str)));
            for profile in summary.profiles.0 {
                // As the text has it: callgrind is what is meant if nothing is said.
                let counter = match profile.tool.0.to_lowercase() {
                    tool if tool.is_empty() || tool == "callgrind" => String::new(),
                    tool => format!("{tool} "),
                };
                let summary = profile.summaries.total.summary.as_object();
                for (tool, events) in summary.into_iter().flatten() {
                    for (event, value) in events.as_object().into_iter().flatten() {
                        let place = format!("{name}: {tool}.{event}");
                        let values = values(file, &place, value)?;
                        let metric = imported.metric(described(&name, &counter, event));
                        new.extend(values.0.map(|value| single(metric, value)));
                        old.extend(values.1.map(|value| single(metric, value)));
                    }
                }
            }
        }
    }
    // The baseline is the first subject.
    let mut add = |name: &str, parts: Vec<Part>| {
        if !parts.is_empty() {
            let subject = imported.subject(name);
            imported.parts(subject, parts);
        }
    };
    add("old", old);
    add(NEW, new);
    Ok(imported)
}

/// Counts of a simulation are exact; rates are percentages made of them.
fn described(name: &str, counter: &str, event: &str) -> Metric {
    let unit = if event.ends_with("Bytes") {
        Unit::Byte
    } else if event.ends_with("Rate") {
        Unit::Named("%".to_owned())
    } else {
        Unit::Count
    };
    Metric { exact: true, ..benchmark(name, &format!("{counter}{event}"), unit, direction(event)) }
}

/// Returns which way an event gets better, as JSON names it (`L1HitRate`) or the text (`L1 Hit Rate`). More hits are
/// better where they spare the memory; a hit in memory itself is what every cache has missed.
pub(super) fn direction(event: &str) -> Direction {
    let name = event.replace(' ', "");
    let is_of_cache = name.ends_with("HitRate") && !name.to_ascii_lowercase().starts_with("ram");
    if is_of_cache { Direction::Higher } else { Direction::Lower }
}

fn values(file: &File, place: &str, value: &Value) -> Result<Values, ImportError> {
    let number = |value: &Value| {
        let number = value.get("Int").or_else(|| value.get("Float")).and_then(Value::as_f64);
        // A rate of nothing is no number, and is written as null.
        let is_null = value.get("Float").is_some_and(Value::is_null);
        if number.is_some() || is_null { Some(number) } else { None }
    };
    let metrics = value.get("metrics").unwrap_or(&Value::Null);
    let sides = if let Some(new) = metrics.get("Left") {
        number(new).map(|new| (new, None))
    } else if let Some(old) = metrics.get("Right") {
        number(old).map(|old| (None, old))
    } else if let Some([new, old]) =
        metrics.get("Both").and_then(Value::as_array).map(Vec::as_slice)
    {
        number(new).zip(number(old))
    } else {
        None
    };
    sides.ok_or_else(|| {
        let expected = "`Left`, `Right` or `Both` with numbers";
        ImportError::at_field(file, place, expected, &metrics.to_string())
    })
}

/// Returns the summaries in a file that may hold other text and other objects too.
fn summaries(file: &File) -> Result<Vec<Summary>, ImportError> {
    let text = file.text()?;
    let mut summaries = Vec::new();
    let mut at = 0;
    let mut line = 0;
    // What was looked at in vain; a text full of open brackets must not take for ever.
    let mut wasted = 0;
    while at < text.len() {
        let rest = &text[at..];
        let line_end = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let indent = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if !rest[indent..].starts_with('{') {
            at += line_end;
            line += 1;
            continue;
        }
        let mut objects =
            serde_json::Deserializer::from_str(rest).into_iter::<serde::de::IgnoredAny>();
        match objects.next() {
            Some(Ok(_)) => {
                let object = &rest[..objects.byte_offset()];
                if object.contains("\"benchmark_exe\"") && object.contains("\"module_path\"") {
                    summaries.push(json::read_text(file, object, line)?);
                }
                line += object.matches('\n').count();
                at += object.len();
            }
            Some(Err(error)) => {
                let looked_at = rest.split_inclusive('\n').take(error.line());
                wasted += looked_at.map(str::len).sum::<usize>();
                if wasted > 4 * text.len() + (1 << 20) {
                    let found = rest.lines().next().unwrap_or_default();
                    return Err(ImportError::at_line(file, line + 1, "a whole object", found));
                }
                at += line_end;
                line += 1;
            }
            None => break,
        }
    }
    if summaries.is_empty() && text.trim_start().starts_with('{') {
        // Says where it is damaged.
        summaries.push(json::read(file)?);
    }
    Ok(summaries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_in_caches_are_good_and_hits_in_memory_are_not() {
        for event in ["L1HitRate", "LLHitRate", "L1 Hit Rate", "LL Hit Rate"] {
            assert_eq!(direction(event), Direction::Higher, "{event}");
        }
        for event in [
            "Ir",
            "RamHitRate",
            "RAM Hit Rate",
            "D1MissRate",
            "LLd Miss Rate",
            "RamHits",
            "L1 Hits",
        ] {
            assert_eq!(direction(event), Direction::Lower, "{event}");
        }
    }
}
