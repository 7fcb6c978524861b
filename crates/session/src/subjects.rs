//! From commands and parameters to subjects.

use becalm_model::Subject;
use becalm_model::terms::{CommandLine, RunTerms};

/// Most subjects in one session: a larger parameter scan is surely a mistake.
pub const MOST_SUBJECTS: usize = 500;

/// Why the subjects are invalid.
#[derive(Debug, thiserror::Error)]
pub enum SubjectsError {
    /// More than anybody measures.
    #[error(
        "{combinations} combinations of parameters for {} make more than {MOST_SUBJECTS} subjects",
        becalm_model::counted(*commands, "command")
    )]
    TooMany {
        /// Combinations of parameter values.
        combinations: usize,
        /// Commands.
        commands: usize,
    },
    /// A parameter that changes nothing.
    #[error("no command uses the parameter `{0}`; write {{{0}}} where its value goes")]
    Unused(String),
    /// The shell cannot be split into words.
    #[error("--shell {shell}: {source}")]
    Shell {
        /// As it was given.
        shell: String,
        /// What is wrong with it.
        source: shell_words::ParseError,
    },
    /// A command cannot be split into words.
    #[error("`{line}`: {source}")]
    Line {
        /// The command.
        line: String,
        /// What is wrong with it.
        source: shell_words::ParseError,
    },
    /// A command is empty.
    #[error("a command is empty")]
    Empty,
    /// A command contains something that only a shell understands.
    #[error("`{0}` needs a shell")]
    NeedsShell(String),
    /// More names than subjects.
    #[error("{names} names for {}", becalm_model::counted(*subjects, "subject"))]
    TooManyNames {
        /// Names.
        names: usize,
        /// Subjects.
        subjects: usize,
    },
}

/// Returns the subjects of a session: every command with every combination of parameter values.
pub fn subjects(commands: &[CommandLine], runs: &RunTerms) -> Result<Vec<Subject>, SubjectsError> {
    let parameters = &runs.parameters;
    let combined = parameters.iter().map(|(_, values)| values.len()).product::<usize>();
    if combined.saturating_mul(commands.len()) > MOST_SUBJECTS {
        return Err(SubjectsError::TooMany { combinations: combined, commands: commands.len() });
    }
    if let Some((name, _)) = parameters.iter().find(|(name, _)| !is_used(name, commands, runs)) {
        return Err(SubjectsError::Unused(name.clone()));
    }
    let mut subjects = Vec::new();
    for command in commands {
        for values in combinations(parameters) {
            let words = match command {
                CommandLine::Words(words) => words.iter().map(|w| fill(w, &values)).collect(),
                CommandLine::Line(line) => split(&fill(line, &values), runs.shell.as_deref())?,
            };
            let shown = match command {
                CommandLine::Words(_) => shell_words::join(&words),
                CommandLine::Line(line) => fill(line, &values),
            };
            subjects.push(Subject { parameters: values, ..Subject::new(shown, words) });
        }
    }
    name(&mut subjects, &runs.names)?;
    Ok(subjects)
}

/// Says whether a command or a hook uses a parameter.
fn is_used(parameter: &str, commands: &[CommandLine], runs: &RunTerms) -> bool {
    let placeholder = format!("{{{parameter}}}");
    let hooks = [&runs.setup, &runs.prepare, &runs.conclude, &runs.cleanup];
    hooks.into_iter().flatten().any(|hook| hook.contains(&placeholder))
        || commands.iter().any(|command| match command {
            CommandLine::Words(words) => words.iter().any(|word| word.contains(&placeholder)),
            CommandLine::Line(line) => line.contains(&placeholder),
        })
}

fn split(line: &str, shell: Option<&str>) -> Result<Vec<String>, SubjectsError> {
    if let Some(shell) = shell {
        let mut words = shell_words::split(shell)
            .map_err(|source| SubjectsError::Shell { shell: shell.to_owned(), source })?;
        words.extend(["-c".to_owned(), line.to_owned()]);
        return Ok(words);
    }
    let words = shell_words::split(line)
        .map_err(|source| SubjectsError::Line { line: line.to_owned(), source })?;
    if words.is_empty() {
        return Err(SubjectsError::Empty);
    }
    if raw_words(line).any(|word| matches!(word, "|" | "&&" | "||" | ";" | ">" | "<")) {
        return Err(SubjectsError::NeedsShell(line.to_owned()));
    }
    Ok(words)
}

/// Returns the words of a line as they are written, with their quotes.
fn raw_words(line: &str) -> impl Iterator<Item = &str> {
    let (mut quote, mut is_escaped) = (None, false);
    line.split(move |c: char| {
        if std::mem::take(&mut is_escaped) {
            return false;
        }
        match (quote, c) {
            (Some('\''), _) | (Some(_), '"') => quote = quote.filter(|open| *open != c),
            (_, '\\') => is_escaped = true,
            (None, '\'' | '"') => quote = Some(c),
            (None, _) => return c.is_whitespace(),
            (Some(_), _) => {}
        }
        false
    })
}

/// Gives the subjects the names that the user chose, and makes all of them different.
pub fn name(subjects: &mut [Subject], names: &[String]) -> Result<(), SubjectsError> {
    if names.len() > subjects.len() {
        return Err(SubjectsError::TooManyNames { names: names.len(), subjects: subjects.len() });
    }
    for (subject, name) in subjects.iter_mut().zip(names) {
        subject.name.clone_from(name);
    }
    // Names have to tell subjects apart in every report; the same command twice gets a number.
    for index in 0..subjects.len() {
        let base = subjects[index].name.clone();
        let mut number = 2;
        while subjects[..index].iter().any(|other| other.name == subjects[index].name) {
            subjects[index].name = format!("{base} #{number}");
            number += 1;
        }
    }
    Ok(())
}

/// A name with its values.
pub(crate) type Parameter = (String, Vec<String>);

/// Returns every combination of the values of parameters.
pub fn combinations(parameters: &[Parameter]) -> Vec<Vec<(String, String)>> {
    let mut all = vec![Vec::new()];
    for (name, values) in parameters {
        all = all
            .into_iter()
            .flat_map(|before: Vec<(String, String)>| {
                values.iter().map(move |value| {
                    let mut more = before.clone();
                    more.push((name.clone(), value.clone()));
                    more
                })
            })
            .collect();
    }
    all
}

/// Substitutes parameter values for their `{NAME}`.
pub fn fill(text: &str, values: &[(String, String)]) -> String {
    values
        .iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}
