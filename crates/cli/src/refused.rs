//! What the parser refuses, in becalm's words: the parser's own say `tip:` and "unrecognized", and print the usage.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::CommandError;
use crate::foreign_flags::context;

/// How a command is called if the user has left out what it needs.
const CALLS: [(&str, &str); 9] = [
    ("compare", "becalm compare ./old ./new, or becalm compare --aa ./program"),
    ("run", "becalm run ./program, or becalm run --suite"),
    ("timeit", "becalm timeit 'sum(range(100))'"),
    ("bisect", "becalm bisect --good v1.0 --build make -- ./program"),
    ("plan", "becalm plan -- ./program"),
    ("diff", "becalm diff old.json new.json"),
    ("import", "becalm import results.json"),
    ("export", "becalm export r.json -o r.csv"),
    ("exec", "becalm exec -- ./program"),
];

/// More values than these are listed in a hint.
const MANY: usize = 8;

/// Returns what is wrong with a command line; `None` if the parser has printed help that was asked for.
pub(crate) fn answer(error: &clap::Error, words: &[String]) -> Option<CommandError> {
    let is_help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if !error.use_stderr() || is_help {
        return None;
    }
    let line = Line { error, words };
    Some(line.told().unwrap_or_else(|| CommandError::usage(as_the_parser_says(error))))
}

/// A command line and why it was refused.
struct Line<'a> {
    error: &'a clap::Error,
    words: &'a [String],
}

impl Line<'_> {
    fn told(&self) -> Option<CommandError> {
        match self.error.kind() {
            ErrorKind::UnknownArgument => self.unknown(),
            ErrorKind::InvalidSubcommand => self.no_command(),
            ErrorKind::MissingSubcommand => {
                let known = self.list(ContextKind::ValidSubcommand).join(", ");
                Some(CommandError::usage(format!(
                    "`{}` needs one of its commands: {known}",
                    self.command()
                )))
            }
            ErrorKind::MissingRequiredArgument => Some(self.incomplete()),
            ErrorKind::ArgumentConflict => self.conflict(),
            ErrorKind::InvalidValue => self.no_such_value(),
            ErrorKind::ValueValidation => {
                let (name, value) = (self.name()?, self.value());
                let why = std::error::Error::source(self.error)?.to_string();
                let given = if why.contains(&value) { String::new() } else { format!(" {value}") };
                Some(CommandError::usage(format!("{name}{given}: {why}")))
            }
            ErrorKind::NoEquals => {
                let name = self.name()?;
                Some(CommandError::usage(format!(
                    "{name} takes its value after `=`, as in {name}=VALUE"
                )))
            }
            ErrorKind::TooManyValues => {
                let name = self.name()?;
                Some(CommandError::usage(format!(
                    "{name} takes no further value: `{}`",
                    self.value()
                )))
            }
            ErrorKind::TooFewValues => self.number_of_values(ContextKind::MinValues),
            ErrorKind::WrongNumberOfValues => self.number_of_values(ContextKind::ExpectedNumValues),
            ErrorKind::InvalidUtf8 => Some(CommandError::usage("an argument is not valid UTF-8")),
            _ => None,
        }
    }

    fn unknown(&self) -> Option<CommandError> {
        let given = self.text(ContextKind::InvalidArg)?;
        let command = self.command();
        if !given.starts_with('-') {
            return Some(
                CommandError::usage(format!("`{command}` takes no further argument: `{given}`"))
                    .hint(format!("`{command} --help` shows what it takes")),
            );
        }
        // The parser names only the first letter of `-alpha`.
        let whole = self.words.iter().find(|word| word.starts_with(given.as_str()));
        let whole = whole.filter(|_| !given.starts_with("--")).unwrap_or(&given);
        let refused = CommandError::usage(format!("unrecognised flag {whole}"));
        let known = self.list(ContextKind::SuggestedArg);
        let refused = match known.first() {
            Some(near) => refused.hint(format!("did you mean {}?", bare(near))),
            None => refused.hint(format!("`{command} --help` lists the flags")),
        };
        let is_of_a_program =
            ["run", "exec", "compare", "bisect", "ci"].iter().any(|one| command.ends_with(one));
        Some(if is_of_a_program {
            refused.hint(
                "flags of the measured program: quote them together with it, or put `--` before it",
            )
        } else {
            refused
        })
    }

    fn no_command(&self) -> Option<CommandError> {
        let given = self.text(ContextKind::InvalidSubcommand)?;
        let command = self.command();
        let refused = CommandError::usage(format!("{command} has no command `{given}`"));
        let known = self.list(ContextKind::SuggestedSubcommand);
        // The nearest is the last.
        Some(match known.last() {
            Some(near) => refused.hint(format!("did you mean `{near}`?")),
            None => refused.hint(format!("`{command} --help` lists the commands")),
        })
    }

    fn incomplete(&self) -> CommandError {
        let missing = self.list(ContextKind::InvalidArg);
        let missing: Vec<&str> = missing.iter().map(|one| bare(one)).collect();
        let command = self.command();
        let refused = CommandError::usage(format!("`{command}` needs {}", either(&missing)));
        let name = command.rsplit(' ').next().unwrap_or_default();
        let call =
            CALLS.iter().find(|(known, _)| *known == name && command == format!("becalm {name}"));
        match call {
            Some((_, call)) => refused.hint(format!("for example: {call}")),
            None => refused.hint(format!("`{command} --help` shows how it is called")),
        }
    }

    fn conflict(&self) -> Option<CommandError> {
        let name = self.name()?;
        let others = self.list(ContextKind::PriorArg);
        let others: Vec<&str> = others.iter().map(|one| bare(one)).collect();
        let said = match &others[..] {
            [] => format!("{name} cannot be combined with the others"),
            [other] if *other == name => format!("{name} was given more than once"),
            others => format!("{name} cannot be combined with {}", either(others)),
        };
        Some(CommandError::usage(said))
    }

    fn no_such_value(&self) -> Option<CommandError> {
        let (name, value) = (self.name()?, self.value());
        let known = self.list(ContextKind::ValidValue);
        let listed = if known.is_empty() { "a value".to_owned() } else { either(&known) };
        if value.is_empty() {
            return Some(CommandError::usage(format!("{name} needs {listed}")));
        }
        let refused = if known.len() <= MANY {
            CommandError::usage(format!("{name} takes {listed}, not `{value}`"))
        } else {
            CommandError::usage(format!("{name} does not take `{value}`"))
                .hint(format!("it takes {listed}"))
        };
        Some(match self.text(ContextKind::SuggestedValue) {
            Some(near) => refused.hint(format!("did you mean `{near}`?")),
            None => refused,
        })
    }

    fn number_of_values(&self, wanted: ContextKind) -> Option<CommandError> {
        let number = |kind| match self.error.get(kind) {
            Some(ContextValue::Number(number)) => Some(*number),
            _ => None,
        };
        let (name, wanted, given) =
            (self.name()?, number(wanted)?, number(ContextKind::ActualNumValues)?);
        let values = if wanted == 1 { "value" } else { "values" };
        Some(CommandError::usage(format!("{name} takes {wanted} {values}, not {given}")))
    }

    /// Returns the flag or argument that is wrong, without its value.
    fn name(&self) -> Option<String> {
        Some(bare(&self.text(ContextKind::InvalidArg)?).to_owned())
    }

    fn value(&self) -> String {
        self.text(ContextKind::InvalidValue).unwrap_or_default()
    }

    /// Returns the command that was called, as far as it is known.
    fn command(&self) -> String {
        let mut command = crate::args::command();
        let mut names = vec!["becalm".to_owned()];
        for word in self.words.iter().skip(1).filter(|word| !word.starts_with('-')) {
            let Some(inner) = command.find_subcommand(word).cloned() else { break };
            names.push(inner.get_name().to_owned());
            command = inner;
        }
        names.join(" ")
    }

    fn text(&self, kind: ContextKind) -> Option<String> {
        context(self.error, kind).or_else(|| self.list(kind).into_iter().next())
    }

    fn list(&self, kind: ContextKind) -> Vec<String> {
        match self.error.get(kind) {
            Some(ContextValue::Strings(texts)) => texts.clone(),
            Some(ContextValue::String(text)) => vec![text.clone()],
            _ => Vec::new(),
        }
    }
}

/// Returns `--margin` of `--margin <SHARE>`, and `COMMAND` of `[COMMAND]...`.
fn bare(name: &str) -> &str {
    let first = name.split([' ', '=']).next().unwrap_or(name);
    first.trim_end_matches('.').trim_matches(['<', '>', '[', ']'])
}

/// Joins names by commas, and the last one by "or".
fn either<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// Returns the first line of what the parser says, for what this file does not know.
fn as_the_parser_says(error: &clap::Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use crate::foreign_flags::tests::answer;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        assert_eq!(answer(line).as_deref(), Some(expected), "{line}");
    }

    #[test]
    fn flags_and_commands_that_do_not_exist_are_named_with_what_is_near() {
        check("becalm stats --jsn r.json", "unrecognised flag --jsn: did you mean --json?");
        check("becalm check -z", "unrecognised flag -z: `becalm check --help` lists the flags");
        check("becalm comprae a b", "becalm has no command `comprae`: did you mean `compare`?");
        check("becalm history ad x", "becalm history has no command `ad`: did you mean `add`?");
        check(
            "becalm check now",
            "`becalm check` takes no further argument: `now`: `becalm check --help` shows what it takes",
        );
    }

    #[test]
    fn what_is_missing_is_named_with_an_example() {
        check(
            "becalm compare",
            "`becalm compare` needs COMMAND: for example: becalm compare ./old ./new, or becalm compare --aa ./program",
        );
        check(
            "becalm stats",
            "`becalm stats` needs FILE: `becalm stats --help` shows how it is called",
        );
        check("becalm compare a b --margin", "--margin needs a value: ");
    }

    #[test]
    fn values_and_combinations_that_are_refused_are_named() {
        check("becalm compare --aa x a b", "--aa cannot be combined with COMMAND: ");
        check(
            "becalm compare --margin 150% a b",
            "--margin 150%: a margin of 100% or more cannot decide anything: ",
        );
        check("becalm compare a b -L n", "--parameter-list takes 2 values, not 1: ");
    }

    #[test]
    fn no_answer_is_the_parsers_own() {
        let lines = [
            "becalm --nonsense",
            "becalm run --nonsense x",
            "becalm compare --layout nonsense a b",
            "becalm history show",
            "becalm noise nonsense",
            "becalm tune --hold",
            "becalm compare --aa x --rev y z",
            "becalm export --to",
            "becalm timeit --lang cobol x",
        ];
        for line in lines {
            let said = answer(line).unwrap_or_else(|| panic!("{line}"));
            for word in ["tip:", "unrecognized", "Usage:", "For more information", "the argument '"]
            {
                assert!(!said.contains(word), "{line}: {said}");
            }
        }
        assert_eq!(answer("becalm --help"), None);
        assert_eq!(answer("becalm compare -h"), None);
    }
}
