//! `--resume`: going on with a saved session.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use becalm_model::{MachineFacts, Record, Subject};
use clap::ArgMatches;
use clap::parser::ValueSource;

use super::flags::MeasureFlags;
use super::log::{OF_LOG, PARTIAL};
use super::session::as_texts;
use crate::args;
use crate::error::CommandError;
use crate::files;
use crate::records;
use crate::ui::Ui;

/// Facts that have to be the same for runs to belong to one record.
const MUST_AGREE: [&str; 4] = ["cpu_model", "kernel_release", "microcode", "cpu_online"];

/// Reads the session to go on with.
pub(crate) fn read_resumed(path: &Path) -> Result<Record, CommandError> {
    let log = files::beside(path, PARTIAL);
    let read = records::read_as_it_is(path).map(|(mut record, is_log)| {
        if is_log {
            // A log says what was before anything was learnt of the subjects.
            record.conditions.affinity = None;
            record.conditions.scheduler = None;
            record.conditions.limits.clear();
        }
        record
    });
    if let Ok(record) = &read
        && record.is_of_one_program()
    {
        return Err(records::nothing_in(path).hint("begin anew, without --resume"));
    }
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
    if saved.is_empty() {
        // Another tool's, for example.
        let name = line.get_name();
        return Err(CommandError::usage(format!(
            "the file to resume was not written by `becalm {name}`"
        )));
    }
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

/// Returns the saved arguments followed by those given now, without `--resume` itself. What goes on is the file at
/// `path`, wherever the session was saved to at first, unless the new arguments name another.
pub(crate) fn with_more(
    path: &Path,
    saved: &[String],
    given: &[OsString],
) -> Result<Vec<String>, CommandError> {
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
    let is_elsewhere = more.iter().any(|word| is_one_of(word, &EXPORT));
    if let Some(place) = place(path, &flags).filter(|_| !is_elsewhere && !is_bisection) {
        remove(&mut flags, &EXPORT);
        more.extend([EXPORT[0].to_owned(), place]);
    }
    Ok([&flags[..], &more, commands].concat())
}

/// Returns the file that the session at `path` is saved to: a log beside a file is a part of that. Standard input and
/// the log of a session that was saved nowhere are none.
fn place(path: &Path, saved: &[String]) -> Option<String> {
    if path == Path::new("-") || files::is_special(path) {
        return None;
    }
    let name = path.to_str()?;
    let is_saved = saved.iter().any(|word| is_one_of(word, &EXPORT));
    match name.strip_suffix(PARTIAL) {
        Some(whole) => is_saved.then(|| whole.to_owned()),
        None => {
            (is_saved || path.extension().is_none_or(|end| end != OF_LOG)).then(|| name.to_owned())
        }
    }
}

/// Completes the flags of a session that goes on, whose log is no other session's, and says which reports are written
/// again because it was begun so.
pub(crate) fn go_on(flags: &mut MeasureFlags, path: &Path, given: &[OsString], ui: &Ui) {
    flags.resume = Some(path.to_owned());
    let given = as_texts(given);
    let reports = [
        ("--export-html", &flags.exports.export_html),
        ("--export-markdown", &flags.exports.export_markdown),
    ];
    for (flag, path) in reports {
        if let Some(path) = path
            && !given.iter().any(|word| is_one_of(word, &[flag]))
        {
            ui.say(format!("{} is written again, as the session was begun", path.display()));
        }
    }
}

/// Where the record goes.
const EXPORT: [&str; 1] = ["--export-json"];

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
            with_more(Path::new("-"), &saved, &given).unwrap(),
            ["compare", "--seed", "1", "--rounds", "50", "--", "./a", "./b"]
        );
    }

    #[test]
    fn a_number_of_rounds_and_limits_replace_each_other() {
        let saved = ["compare", "--max-time", "5s", "-M9", "--min-rounds=2", "a", "b"];
        let given = ["compare", "--resume=x", "--rounds", "50"].map(OsString::from);
        assert_eq!(
            with_more(Path::new("-"), &saved.map(str::to_owned), &given).unwrap(),
            ["compare", "a", "b", "--rounds", "50"]
        );
        let saved = ["compare", "-r", "9", "a", "b"].map(str::to_owned);
        let given = ["compare", "--resume", "x", "--max-time", "5s"].map(OsString::from);
        let all = with_more(Path::new("-"), &saved, &given).unwrap();
        assert_eq!(all, ["compare", "a", "b", "--max-time", "5s"]);
    }

    #[test]
    fn what_goes_on_is_the_file_that_is_named() {
        let saved = ["compare", "--export-json=r.json", "--export-html", "r.html", "a", "b"];
        let resumed = |path: &str, more: &[&str]| {
            let given = [&["compare", "--resume", path], more].concat();
            let given: Vec<OsString> = given.into_iter().map(OsString::from).collect();
            let saved = saved.map(str::to_owned);
            with_more(Path::new(path), &saved, &given).unwrap()[1..].join(" ")
        };
        assert_eq!(resumed("k.json", &[]), "--export-html r.html a b --export-json k.json");
        assert_eq!(
            resumed("x/r.json.partial", &[]),
            "--export-html r.html a b --export-json x/r.json"
        );
        let kept = "--export-json=r.json --export-html r.html a b";
        assert_eq!(resumed("-", &[]), kept);
        assert_eq!(resumed("k.json", &["--export-json", "n"]), format!("{kept} --export-json n"));
    }

    #[test]
    fn runs_are_not_made_in_another_way_than_those_before() {
        let saved = ["compare", "--aslr", "off", "--env", "A=1", "a", "b"].map(str::to_owned);
        let refused = |flags: &[&str]| {
            let given = [&["compare", "--resume", "x"], flags].concat();
            let given: Vec<OsString> = given.into_iter().map(OsString::from).collect();
            with_more(Path::new("-"), &saved, &given).err().map(|error| error.message)
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
