//! `--resume`: going on with a saved session.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use becalm_model::{MachineFacts, Record, Subject};
use clap::ArgMatches;
use clap::parser::ValueSource;

use super::session::as_texts;
use crate::args;
use crate::error::CommandError;
use crate::files;

/// Facts that have to be the same for runs to belong to one record.
const MUST_AGREE: [&str; 4] = ["cpu_model", "kernel_release", "microcode", "cpu_online"];

/// Reads the session to go on with.
pub(crate) fn read_resumed(path: &Path) -> Result<Record, CommandError> {
    let log = files::beside(path, ".partial");
    let read = files::read_as_it_is(path).map(|(mut record, is_log)| {
        if is_log {
            // A log says what was before anything was learnt of the subjects.
            record.conditions.affinity = None;
            record.conditions.scheduler.clear();
            record.conditions.limits.clear();
        }
        record
    });
    read.map_err(|error| {
        if path.exists() || !log.exists() {
            return error;
        }
        // Killed before it could save anything else.
        let log = log.display();
        error.hint(format!("the log of a session that was killed is there: --resume {log}"))
    })
}

/// Headings of flags that may be others when a session goes on: what it takes to decide, and what becomes of it.
const OF_THE_WHOLE: [&str; 5] = ["Rounds", "Deciding", "Output", "Revisions", "Suite"];

/// Such flags under other headings. Which metrics are recorded is checked by itself.
const ALSO_OF_THE_WHOLE: [&str; 5] =
    ["quiet", "metric", "metric_json", "ignore_failure", "timeout"];

/// Refuses flags by which further runs would be made in another way than those before: together they would be no
/// sample of anything.
fn refuse_other_conditions(saved: &[String], given: &[String]) -> Result<(), CommandError> {
    let (line, now) = args::matches_again(given)?;
    let (line_then, then) = args::matches_again(saved)?;
    if line.get_name() != line_then.get_name() {
        // It is refused for that.
        return Ok(());
    }
    for flag in line.get_arguments().filter(|flag| !flag.is_positional()) {
        let id = flag.get_id().as_str();
        let is_of_the_whole =
            flag.get_help_heading().is_some_and(|one| OF_THE_WHOLE.contains(&one))
                || ALSO_OF_THE_WHOLE.contains(&id);
        let values = |matches: &ArgMatches| -> Option<Vec<OsString>> {
            let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
            let values = is_given.then(|| matches.get_raw(id)).flatten()?;
            Some(values.map(OsStr::to_owned).collect())
        };
        let wanted = values(&now);
        if is_of_the_whole || wanted.is_none() || wanted == values(&then) {
            continue;
        }
        let flag = flag.get_long().unwrap_or(id);
        return Err(CommandError::usage(format!(
            "--{flag} cannot be given together with --resume: the runs before were made in another way"
        ))
        .hint("leave it out to go on as the session was begun, or begin anew"));
    }
    Ok(())
}

/// Returns the saved arguments followed by those given now, without `--resume` itself.
pub(crate) fn with_more(saved: &[String], given: &[OsString]) -> Result<Vec<String>, CommandError> {
    refuse_other_conditions(saved, &as_texts(given))?;
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
    Ok([&flags[..], &more, commands].concat())
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
            with_more(&saved, &given).unwrap(),
            ["compare", "--seed", "1", "--rounds", "50", "--", "./a", "./b"]
        );
    }

    #[test]
    fn a_number_of_rounds_and_limits_replace_each_other() {
        let saved = ["compare", "--max-time", "5s", "-M9", "--min-rounds=2", "a", "b"];
        let given = ["compare", "--resume=x", "--rounds", "50"].map(OsString::from);
        assert_eq!(
            with_more(&saved.map(str::to_owned), &given).unwrap(),
            ["compare", "a", "b", "--rounds", "50"]
        );
        let saved = ["compare", "-r", "9", "a", "b"].map(str::to_owned);
        let given = ["compare", "--resume", "x", "--max-time", "5s"].map(OsString::from);
        let all = with_more(&saved, &given).unwrap();
        assert_eq!(all, ["compare", "a", "b", "--max-time", "5s"]);
    }

    #[test]
    fn runs_are_not_made_in_another_way_than_those_before() {
        let saved = ["compare", "--aslr", "off", "--env", "A=1", "a", "b"].map(str::to_owned);
        let refused = |flags: &[&str]| {
            let given = [&["compare", "--resume", "x"], flags].concat();
            let given: Vec<OsString> = given.into_iter().map(OsString::from).collect();
            with_more(&saved, &given).err().map(|error| error.message)
        };
        for allowed in [
            &["--max-time", "5s"][..],
            &["-i", "--margin", "0"],
            &["--aslr", "off"],
            &["--timeout", "9s", "--export-html", "x"],
        ] {
            assert_eq!(refused(allowed), None);
        }
        for other in
            [&["--aslr", "on"][..], &["--env", "A=2"], &["--prepare", "x"], &["--seed", "1"]]
        {
            let told = refused(other).unwrap();
            assert!(told.starts_with(&format!("{} cannot be given", other[0])), "{told}");
        }
    }
}
