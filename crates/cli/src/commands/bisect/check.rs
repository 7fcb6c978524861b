//! The command by which the answer of a search can be checked: a comparison of the commits on both sides of the
//! change, measured as the search has measured.

use becalm_model::history::short_commit;
use becalm_model::wire::BisectDocument;
use clap::ArgMatches;
use clap::parser::ValueSource;

use crate::args;
use crate::error::CommandError;

/// Flags that are about the search, or that a comparison by itself should have of its own.
const OF_THE_SEARCH: [&str; 12] = [
    "good",
    "bad",
    "state",
    "resume",
    "confidence",
    "rounds",
    "min_rounds",
    "max_rounds",
    "max_time",
    "seed",
    "json",
    "export_json",
];

/// Returns the command as it is typed into a shell; empty without an answer.
pub(super) fn command(document: &BisectDocument) -> Result<String, CommandError> {
    let Some(found) = &document.found else { return Ok(String::new()) };
    let id = |number: usize| match number {
        0 => short_commit(&document.good.id),
        number => short_commit(&document.commits[number - 1].id),
    };
    let mut words = vec!["becalm".to_owned(), "compare".to_owned()];
    for number in [found.from - 1, found.to] {
        words.extend(["--rev".to_owned(), id(number).to_owned()]);
    }
    let (line, matches) = args::matches_again(&document.arguments)?;
    for flag in line.get_arguments().filter(|flag| !OF_THE_SEARCH.contains(&flag.get_id().as_str()))
    {
        words.extend(given(flag, &matches));
    }
    words.push("--".to_owned());
    words.extend(document.command.iter().cloned());
    Ok(shell_words::join(words))
}

/// Returns a flag as often as it was given, with its values.
fn given(flag: &clap::Arg, matches: &ArgMatches) -> Vec<String> {
    let id = flag.get_id().as_str();
    let (Some(long), Some(ValueSource::CommandLine)) = (flag.get_long(), matches.value_source(id))
    else {
        return Vec::new();
    };
    let name = format!("--{long}");
    if !flag.get_action().takes_values() {
        return vec![name];
    }
    let mut words = Vec::new();
    for values in matches.get_raw_occurrences(id).into_iter().flatten() {
        let values: Vec<String> = values.map(|one| one.to_string_lossy().into_owned()).collect();
        match (&values[..], flag.get_value_delimiter()) {
            ([], _) => words.push(name.clone()),
            (all, Some(between)) => {
                words.push(format!("{name}={}", all.join(&between.to_string())));
            }
            ([one], None) if flag.is_require_equals_set() || one.starts_with('-') => {
                words.push(format!("{name}={one}"));
            }
            (all, None) => {
                words.push(name.clone());
                words.extend(all.iter().cloned());
            }
        }
    }
    words
}
