//! Completions of the command line, with names that only this folder knows: revisions, benchmarks, branches.
//!
//! The script of `becalm completions` sets [`VARIABLE`] and asks becalm itself at each press of the key. What a value
//! is called in the help says how it completes, so that a new flag completes without a word here. A name that cannot
//! be read completes to nothing: nobody wants an error in the middle of a line.

mod names;

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command, ValueHint};
use clap_complete::env::Shells;
use clap_complete::{ArgValueCompleter, CompletionCandidate};

use crate::rights::{Rights, refuse_lent_root};

/// The environment variable with the name of the shell that asks.
const VARIABLE: &str = "BECALM_COMPLETE";

/// Writes what a shell has to read so that it asks becalm, started as `program`.
pub(crate) fn script(shell: clap_complete::Shell, program: &str) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let shells = Shells::builtins();
    let shell = shells.completer(&shell.to_string()).ok_or(std::io::ErrorKind::Unsupported)?;
    shell.write_registration(VARIABLE, "becalm", "becalm", program, &mut text)?;
    Ok(text)
}

/// Returns what completes the arguments, which are those that the script gives; `None` where no shell asks.
pub(crate) fn answer(line: impl FnOnce() -> Command, arguments: &[OsString]) -> Option<Vec<u8>> {
    let asks = std::env::var(VARIABLE).ok().filter(|shell| !shell.is_empty())?;
    let mut candidates = Vec::new();
    // What names something here is the user's, as are the programs that read it.
    let is_user = refuse_lent_root().is_ok() && Rights::User.take(false).is_ok();
    if let Some(shell) = Shells::builtins().completer(&asks).filter(|_| is_user) {
        let mut line = with_completers(line(), asks == "bash");
        let words = arguments.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
        let here = std::env::current_dir().ok();
        let _ = shell.write_complete(&mut line, words, here.as_deref(), &mut candidates);
    }
    Some(candidates)
}

/// Gives every value its completions. bash inserts a candidate as it is, so that it has to come quoted.
fn with_completers(command: Command, quoted: bool) -> Command {
    command
        .mut_args(|arg| with_completer(arg, quoted))
        .mut_subcommands(|inner| with_completers(inner, quoted))
}

fn with_completer(arg: Arg, quoted: bool) -> Arg {
    if !arg.get_action().takes_values() || !arg.get_possible_values().is_empty() {
        return arg;
    }
    let value = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let names = match (value.as_deref().unwrap_or_default(), arg.get_id().as_str()) {
        ("REVISION" | "REV", _) => names::revisions,
        ("PROFILE", _) => names::profiles,
        ("KNOB", _) => names::knobs,
        ("METRIC", _) | (_, "metric") => names::metrics,
        (_, "benchmark") => names::benchmarks,
        (_, "branch") => names::branches,
        ("PATTERN", "only") => names::of_the_suite,
        ("TAG", _) => names::tags,
        (_, "harness") => names::harnesses,
        (_, "format") => names::formats,
        (
            "FILE" | "FILE|same" | "FOLDER" | "DIR" | "OUT" | "OLD" | "NEW" | "RECORD" | "WHERE"
            | "PLACE" | "PROGRAM" | "COMMAND" | "CMD",
            _,
        ) => return arg.value_hint(ValueHint::AnyPath),
        _ => return arg,
    };
    arg.add(ArgValueCompleter::new(move |typed: &OsStr| complete(names(), typed, quoted)))
}

/// Returns those names that begin as typed.
fn complete(names: Vec<String>, typed: &OsStr, quoted: bool) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str() else { return Vec::new() };
    names
        .into_iter()
        // What a terminal takes for a command of its own is in no list that it shows.
        .filter(|name| !name.is_empty() && !name.chars().any(char::is_control))
        .map(|name| if quoted { escape(&name) } else { name })
        .filter(|name| name.starts_with(typed))
        .map(CompletionCandidate::new)
        .collect()
}

/// Puts a backslash before each character that means something to bash.
fn escape(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:,+@%=".contains(c);
    name.chars().flat_map(|c| (!is_plain(c)).then_some('\\').into_iter().chain([c])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn values(names: &[&str], typed: &str, quoted: bool) -> Vec<String> {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        let found = complete(names, OsStr::new(typed), quoted);
        found.iter().map(|one| one.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn names_begin_as_typed_and_bash_takes_none_for_a_command() {
        assert_eq!(values(&["main", "make", "other"], "ma", true), ["main", "make"]);
        assert_eq!(values(&["a b", "$(reboot)"], "", true), ["a\\ b", "\\$\\(reboot\\)"]);
        assert_eq!(values(&["a b"], "a b", false), ["a b"]);
        assert_eq!(values(&["a\x1b[2J", ""], "", false), Vec::<String>::new());
    }

    #[test]
    fn every_shell_gets_a_script_that_asks_becalm() {
        for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
            let text = script(shell.parse().unwrap(), "/opt/my tools/becalm").unwrap();
            let text = String::from_utf8(text).unwrap();
            assert!(text.contains(VARIABLE) && text.contains("my tools"), "{shell}: {text}");
        }
    }
}
