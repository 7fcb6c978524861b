//! Flags whose value may be left out, given with a space: `--shell bash` as well as `--shell=bash`.
//!
//! The parser never takes the word after such a flag as its value, so `compare --shell bash ./old
//! ./new` would measure `bash`. Here the word is joined to its flag if it can only be the value,
//! and refused if it is ambiguous.

use std::ffi::OsString;
use std::path::Path;

use becalm_model::parse_duration;

use becalm_session::service::installed_profile;

use crate::error::CommandError;

/// Programs that run a command line by `-c`.
const SHELLS: [&str; 14] = [
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "nu", "elvish",
    "xonsh", "busybox",
];

/// Returns the innermost command that `words` name, and where the words after it begin.
pub(crate) fn innermost<'a>(
    command: &'a clap::Command,
    words: &[OsString],
) -> (&'a clap::Command, usize) {
    let (mut innermost, mut begin) = (command, 1);
    for (at, word) in words.iter().enumerate().skip(1) {
        match innermost.find_subcommand(word) {
            Some(inner) => (innermost, begin) = (inner, at + 1),
            None if word.to_string_lossy().starts_with('-') => {}
            None => break,
        }
    }
    (innermost, begin)
}

/// What `--shell` accepts for no shell.
pub(crate) const NO_SHELL: &str = "none";

/// What a word after a flag is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// The value of the flag.
    Value,
    /// Something else: a command, another flag.
    Other,
    /// The value or a command; nobody can say.
    Either,
}

/// Joins values to the flags of `command`, which is built, that they follow.
///
/// # Errors
///
/// A word that may be the value of the flag before it, or a command.
pub(crate) fn join(
    command: &clap::Command,
    words: Vec<OsString>,
) -> Result<Vec<OsString>, CommandError> {
    let flags = Optional::of(command, &words);
    let mut joined: Vec<OsString> = Vec::with_capacity(words.len());
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        if word == "--" {
            joined.push(word);
            joined.extend(words);
            break;
        }
        let flag = flags.iter().find(|flag| word.to_str().is_some_and(|word| flag.is(word)));
        let next = words.peek().and_then(|next| next.to_str());
        let (Some(flag), Some(next)) = (flag, next) else {
            joined.push(word);
            continue;
        };
        match meaning(&flag.id, next) {
            Word::Value => {
                joined.push(format!("--{}={next}", flag.long).into());
                let _ = words.next();
            }
            Word::Other => joined.push(word),
            Word::Either => return Err(unclear(&flag.long, next)),
        }
    }
    Ok(joined)
}

/// A flag whose value may be left out.
struct Optional {
    id: String,
    long: String,
    short: Option<char>,
}

impl Optional {
    /// Returns those of the innermost command that `words` name.
    fn of(command: &clap::Command, words: &[OsString]) -> Vec<Self> {
        innermost(command, words).0.get_arguments().filter_map(Self::new).collect()
    }

    fn new(arg: &clap::Arg) -> Option<Self> {
        let is_optional = arg.is_require_equals_set()
            && arg.get_num_args().is_some_and(|number| number.min_values() == 0);
        let long = arg.get_long().filter(|_| is_optional)?.to_owned();
        Some(Self { id: arg.get_id().to_string(), long, short: arg.get_short() })
    }

    fn is(&self, word: &str) -> bool {
        match word.strip_prefix("--") {
            Some(long) => long == self.long,
            None => self.short.is_some_and(|short| word == format!("-{short}")),
        }
    }
}

/// Says what a word after a flag is.
pub(crate) fn meaning(flag: &str, word: &str) -> Word {
    let value_if = |is_value: bool| if is_value { Word::Value } else { Word::Other };
    if word.starts_with('-') {
        return Word::Other;
    }
    match flag {
        "shell" if word == NO_SHELL => Word::Value,
        "shell" => {
            let mut parts = word.split_whitespace();
            let name = parts.next().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
            let is_shell = SHELLS.contains(&name) && parts.all(|part| part.starts_with('-'));
            match (is_shell, word.contains(char::is_whitespace)) {
                (true, _) => Word::Value,
                // A command of several words needs the shell; one of a single word might be the shell.
                (false, true) => Word::Other,
                (false, false) => Word::Either,
            }
        }
        "tune" => value_if(
            ["safe", "strict"].contains(&word)
                || is_toml(word)
                || installed_profile(word).is_some(),
        ),
        "suite" => Word::Value,
        "iterations" => value_if(
            word.contains(|c| "\\[](){}^$*+?|".contains(c))
                || word.starts_with('/') && !Path::new(word).exists(),
        ),
        "ignore_failure" => value_if(word.split(',').all(|code| code.parse::<i32>().is_ok())),
        "wait" => value_if(parse_duration(word).is_ok()),
        _ => Word::Other,
    }
}

fn is_toml(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|extension| extension == "toml")
}

fn unclear(flag: &str, word: &str) -> CommandError {
    CommandError::usage(format!("`--{flag} {word}`: `{word}` may be the {flag} or a command"))
        .hint(format!("write `--{flag}={word}` for the {flag}, or put the commands after `--`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built() -> clap::Command {
        let mut command = crate::args::command();
        command.build();
        command
    }

    fn words(line: &str) -> Vec<OsString> {
        shell_words::split(line).unwrap().into_iter().map(OsString::from).collect()
    }

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let joined = join(&built(), words(line)).unwrap();
        assert_eq!(joined, words(expected), "{line}");
    }

    #[test]
    fn a_value_after_a_space_is_the_value_and_a_command_is_not() {
        check("becalm compare --shell bash ./a ./b", "becalm compare --shell=bash ./a ./b");
        check("becalm compare -S /bin/zsh ./a ./b", "becalm compare --shell=/bin/zsh ./a ./b");
        check("becalm compare -S 'bash -e' a b", "becalm compare '--shell=bash -e' a b");
        check("becalm compare -S 'sh -c x' 'y z'", "becalm compare -S 'sh -c x' 'y z'");
        check("becalm compare --shell 'a | b' 'c | d'", "becalm compare --shell 'a | b' 'c | d'");
        check("becalm compare ./a ./b -S bash", "becalm compare ./a ./b --shell=bash");
        check("becalm compare --tune strict a b", "becalm compare --tune=strict a b");
        check("becalm compare --tune my.toml a b", "becalm compare --tune=my.toml a b");
        check("becalm compare --tune ./a ./b", "becalm compare --tune ./a ./b");
        check("becalm compare -i 1,2 a b", "becalm compare --ignore-failure=1,2 a b");
        check("becalm compare -i ./a ./b", "becalm compare -i ./a ./b");
        check("becalm compare --wait 5m a b", "becalm compare --wait=5m a b");
        check("becalm compare --wait ./a ./b", "becalm compare --wait ./a ./b");
        check("becalm compare --iterations /data a b", "becalm compare --iterations=/data a b");
        check(
            "becalm compare --iterations '([0-9]+) s' a b",
            "becalm compare '--iterations=([0-9]+) s' a b",
        );
        check("becalm compare --iterations /bin/sh b", "becalm compare --iterations /bin/sh b");
        check("becalm --quiet run --suite my.toml", "becalm --quiet run --suite=my.toml");
        check("becalm run --suite --list", "becalm run --suite --list");
        check("becalm tune --wait 1s", "becalm tune --wait=1s");
    }

    #[test]
    fn words_of_a_subject_and_of_other_commands_stay_as_they_are() {
        check("becalm run -- x --shell bash", "becalm run -- x --shell bash");
        check("becalm timeit -S bash", "becalm timeit -S bash");
        check("becalm --shell bash", "becalm --shell bash");
        check("becalm run --shell", "becalm run --shell");
    }

    #[test]
    fn what_may_be_either_is_refused() {
        for line in ["becalm compare --shell ./a ./b", "becalm compare -S myshell ./a ./b"] {
            let error = join(&built(), words(line)).unwrap_err();
            assert!(error.message.contains("may be the shell or a command"), "{error:?}");
        }
    }

    #[test]
    fn every_flag_whose_value_may_be_left_out_knows_its_values() {
        fn check(command: &clap::Command) {
            for flag in command.get_arguments().filter_map(Optional::new) {
                let value = match flag.id.as_str() {
                    "shell" => "bash",
                    "tune" => "strict",
                    "suite" => "becalm.toml",
                    "iterations" => "(x)",
                    "ignore_failure" => "1",
                    "wait" => "1s",
                    other => panic!("--{other} of {} has no rule here", command.get_name()),
                };
                assert_eq!(meaning(&flag.id, value), Word::Value, "--{}", flag.long);
            }
            command.get_subcommands().for_each(check);
        }
        check(&built());
    }
}
