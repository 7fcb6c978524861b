//! `becalm run ./program --flag`: the command begins at the first word that is not a flag of
//! becalm, as with `perf stat` and `nice`. The parser needs `--` there, so this inserts it.

use std::ffi::OsString;

use crate::optional_values::{Word, innermost, meaning};

/// Puts `--` before the command, if the innermost command takes nothing else and there is no `--`
/// yet. `command` is built.
pub(crate) fn separate(command: &clap::Command, mut words: Vec<OsString>) -> Vec<OsString> {
    let (inner, begin) = innermost(command, &words);
    let mut positionals = inner.get_positionals();
    let is_alone =
        positionals.next().is_some_and(clap::Arg::is_last_set) && positionals.next().is_none();
    if !is_alone || words.iter().any(|word| word == "--") {
        return words;
    }
    let mut at = begin;
    while let Some(word) = words.get(at) {
        let word = word.to_string_lossy();
        if !word.starts_with('-') || word == "-" {
            words.insert(at, "--".into());
            break;
        }
        let Some(flag) = flag(inner, &word) else { break };
        at += 1 + values(flag, &word, words.get(at + 1));
    }
    words
}

/// Returns the flag that a word names, if there is such a flag.
fn flag<'a>(command: &'a clap::Command, word: &str) -> Option<&'a clap::Arg> {
    if let Some(long) = word.strip_prefix("--") {
        let name = long.split_once('=').map_or(long, |(name, _)| name);
        return command.get_arguments().find(|arg| {
            let aliases = arg.get_all_aliases().unwrap_or_default();
            arg.get_long() == Some(name) || aliases.contains(&name)
        });
    }
    let short = word.chars().nth(1)?;
    command.get_arguments().find(|arg| arg.get_short() == Some(short))
}

/// Returns how many of the words after a flag are its values.
fn values(flag: &clap::Arg, word: &str, next: Option<&OsString>) -> usize {
    let is_joined =
        if word.starts_with("--") { word.contains('=') } else { word.chars().count() > 2 };
    if is_joined || !flag.get_action().takes_values() {
        return 0;
    }
    if flag.is_require_equals_set() {
        let next = next.map(|next| next.to_string_lossy()).unwrap_or_default();
        return usize::from(meaning(flag.get_id().as_str(), &next) == Word::Value);
    }
    flag.get_num_args().map_or(1, |number| number.min_values())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built() -> clap::Command {
        let mut command = crate::args::command();
        command.build();
        command
    }

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let words = |line: &str| -> Vec<OsString> {
            shell_words::split(line).unwrap().into_iter().map(OsString::from).collect()
        };
        assert_eq!(separate(&built(), words(line)), words(expected), "{line}");
    }

    #[test]
    fn the_command_begins_at_the_first_word_that_is_no_flag() {
        check("becalm run ./old", "becalm run -- ./old");
        check("becalm run 'ls -l'", "becalm run -- 'ls -l'");
        check("becalm run -r 5 -n x ./old --rounds 3", "becalm run -r 5 -n x -- ./old --rounds 3");
        check("becalm run -r5 --name=x ls -l", "becalm run -r5 --name=x -- ls -l");
        check("becalm run -L n 1,2 ls {n}", "becalm run -L n 1,2 -- ls {n}");
        check("becalm --quiet run --json ls", "becalm --quiet run --json -- ls");
        check("becalm run --tune strict ls", "becalm run --tune strict -- ls");
        check("becalm run --tune ls", "becalm run --tune -- ls");
        check("becalm run --runs 5 ls", "becalm run --runs 5 -- ls");
        check("becalm exec ls", "becalm exec -- ls");
    }

    #[test]
    fn other_commands_and_flags_of_nobody_stay_as_they_are() {
        for line in [
            "becalm run -- ./old ./new",
            "becalm run --nonsense ./old",
            "becalm run --suite",
            "becalm compare ./old ./new",
            "becalm noise ablate compute",
            "becalm ./old",
            "becalm",
        ] {
            check(line, line);
        }
    }
}
