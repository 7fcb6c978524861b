//! `--resume`: going on with a saved session.

use std::ffi::OsString;
use std::path::Path;

use becalm_model::{MachineFacts, Record, Subject};

use crate::error::CommandError;
use crate::files;

/// Facts that have to be the same for runs to belong to one record.
const MUST_AGREE: [&str; 4] = ["cpu_model", "kernel_release", "microcode", "cpu_online"];

/// Reads the session to go on with.
pub(crate) fn read_resumed(path: &Path) -> Result<Record, CommandError> {
    let log = files::beside(path, ".partial");
    files::read_as_it_is(path).map(|(record, _)| record).map_err(|error| {
        if path.exists() || !log.exists() {
            return error;
        }
        // Killed before it could save anything else.
        let log = log.display();
        error.hint(format!("the log of a session that was killed is there: --resume {log}"))
    })
}

/// Returns the saved arguments followed by those given now, without `--resume` itself.
pub(crate) fn with_more(saved: &[String], given: &[OsString]) -> Vec<String> {
    let mut more = Vec::new();
    let mut words = given
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .skip_while(|word| word.starts_with('-'))
        .skip(1);
    while let Some(word) = words.next() {
        if word == "--resume" {
            words.next();
        } else if !word.starts_with("--resume=") {
            more.push(word);
        }
    }
    // New flags go before the saved commands, which may follow a `--`.
    let end = saved.iter().position(|word| word == "--").unwrap_or(saved.len());
    let (flags, commands) = saved.split_at(end);
    let mut flags = flags.to_vec();
    // A fixed number of rounds and limits exclude each other: the new wish replaces the old one.
    // In a bisection the one is of each step and the others of the whole.
    let is_bisection = saved.first().is_some_and(|command| command == "bisect");
    if !is_bisection && more.iter().any(|word| is_one_of(word, &FIXED)) {
        remove(&mut flags, &LIMITS);
    }
    if !is_bisection && more.iter().any(|word| is_one_of(word, &LIMITS)) {
        remove(&mut flags, &FIXED);
    }
    [&flags[..], &more, commands].concat()
}

/// Flags that fix the number of rounds.
const FIXED: [&str; 3] = ["--rounds", "--runs", "-r"];

/// Flags that limit the rounds.
const LIMITS: [&str; 7] =
    ["--min-rounds", "--min-runs", "-m", "--max-rounds", "--max-runs", "-M", "--max-time"];

/// Says whether the word is one of the flags, with its value attached or not.
fn is_one_of(word: &str, flags: &[&str]) -> bool {
    flags.iter().any(|flag| {
        let is_short = flag.len() == 2;
        word.strip_prefix(flag).is_some_and(|rest| {
            rest.is_empty() || rest.starts_with('=') || is_short && !rest.is_empty()
        })
    })
}

/// Removes these flags with their values.
fn remove(words: &mut Vec<String>, flags: &[&str]) {
    let mut index = 0;
    while index < words.len() {
        if !is_one_of(&words[index], flags) {
            index += 1;
            continue;
        }
        let is_alone = flags.contains(&words[index].as_str());
        words.drain(index..(index + 1 + usize::from(is_alone)).min(words.len()));
    }
}

/// Refuses to mix what does not belong together.
pub(crate) fn check_same(
    resumed: &Record,
    subjects: &[Subject],
    machine: &MachineFacts,
    metrics: &[becalm_model::Metric],
) -> Result<(), CommandError> {
    if resumed.subjects != subjects {
        return Err(CommandError::usage("the subjects differ from those of the saved session"));
    }
    for key in MUST_AGREE {
        let (then, now) = (resumed.machine.facts.get(key), machine.facts.get(key));
        if then != now {
            let show = |value: Option<&String>| value.map_or("unknown".to_owned(), Clone::clone);
            return Err(CommandError::usage(format!(
                "the saved session is from another machine state: {key} was {}, now it is {}",
                show(then),
                show(now)
            )));
        }
    }
    // Which benchmarks there are inside a subject is seen by running it.
    let of_process = resumed.metrics.iter().take_while(|metric| metric.benchmark.is_none());
    if !of_process.eq(metrics) {
        return Err(CommandError::usage(
            "other metrics are recorded now than in the saved session",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_flags_go_between_the_saved_flags_and_the_saved_commands() {
        let saved = ["compare", "--seed", "1", "--", "./a", "./b"].map(str::to_owned);
        let given =
            ["--quiet", "compare", "--resume", "x.json", "--rounds", "50"].map(OsString::from);
        assert_eq!(
            with_more(&saved, &given),
            ["compare", "--seed", "1", "--rounds", "50", "--", "./a", "./b"]
        );
    }

    #[test]
    fn a_number_of_rounds_and_limits_replace_each_other() {
        let saved = ["compare", "--max-time", "5s", "-M9", "--min-rounds=2", "a", "b"];
        let given = ["compare", "--resume=x", "--rounds", "50"].map(OsString::from);
        assert_eq!(
            with_more(&saved.map(str::to_owned), &given),
            ["compare", "a", "b", "--rounds", "50"]
        );
        let saved = ["compare", "-r", "9", "a", "b"].map(str::to_owned);
        let given = ["compare", "--resume", "x", "--max-time", "5s"].map(OsString::from);
        assert_eq!(with_more(&saved, &given), ["compare", "a", "b", "--max-time", "5s"]);
    }
}
