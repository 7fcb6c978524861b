//! Short names for subjects: readers compare `A` with `B` more reliably than two long commands.

use std::collections::BTreeSet;

use becalm_model::Subject;

use crate::width::{columns, printable};

/// Names up to this many columns are used as they are.
const LONGEST_NAME: usize = 20;
/// The same for two subjects, whose names are titles of columns: with these the table of a
/// comparison still fits 80 columns.
const LONGEST_TITLE: usize = 10;

/// What each subject of a record is called in one report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Labels {
    labels: Vec<String>,
    /// Whether something shorter replaces the names, so that a legend is needed.
    pub(crate) needs_legend: bool,
}

impl Labels {
    /// Uses the names when all of them are short, else the parameters by which the subjects differ, else letters: two long
    /// commands that differ in their last word would look the same once cut.
    pub(crate) fn of(subjects: &[Subject]) -> Self {
        let names: Vec<String> =
            subjects.iter().map(|s| printable(&s.name).trim().to_owned()).collect();
        let longest = if subjects.len() == 2 { LONGEST_TITLE } else { LONGEST_NAME };
        let fits = |name: &String| !name.is_empty() && columns(name) <= longest;
        if names.iter().all(fits) {
            Self { labels: names, needs_legend: false }
        } else if let Some(labels) = of_parameters(subjects).filter(|all| all.iter().all(fits)) {
            Self { labels, needs_legend: true }
        } else {
            Self { labels: (0..names.len()).map(letters).collect(), needs_legend: true }
        }
    }

    /// Names the subjects of one of several files: a single one by its file.
    pub(crate) fn in_file(file: &str, subjects: &[Subject]) -> Self {
        if subjects.len() == 1 {
            return Self { labels: vec![file.to_owned()], needs_legend: true };
        }
        let own = Self::of(subjects);
        let labels = own.labels.iter().map(|label| format!("{file}: {label}")).collect();
        Self { labels, ..own }
    }

    /// Returns the label of the subject at `index`.
    pub(crate) fn get(&self, index: usize) -> &str {
        self.labels.get(index).map_or("?", String::as_str)
    }
}

/// Returns the parameters by which subjects differ, `size=10`, where no two have the same.
fn of_parameters(subjects: &[Subject]) -> Option<Vec<String>> {
    let first = &subjects.first()?.parameters;
    let of = |subject: &Subject, name: &str| {
        let found = subject.parameters.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    };
    let differs = |name: &str, value: &str| {
        subjects.iter().any(|subject| of(subject, name).as_deref() != Some(value))
    };
    let names: Vec<&str> = (first.iter())
        .filter(|(name, value)| differs(name, value))
        .map(|(name, _)| name.as_str())
        .collect();
    let text = |subject: &Subject| {
        let parts = names.iter().map(|name| Some(format!("{name}={}", of(subject, name)?)));
        Some(printable(&parts.collect::<Option<Vec<String>>>()?.join(" ")))
    };
    let texts: Vec<String> = subjects.iter().map(text).collect::<Option<_>>()?;
    let distinct: BTreeSet<&String> = texts.iter().collect();
    (distinct.len() == texts.len()).then_some(texts)
}

/// Returns what a label means, without repeating the label.
pub(crate) fn meaning(subject: &Subject, label: &str) -> String {
    let text = description(subject);
    text.strip_prefix(label).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&text).to_owned()
}

/// Returns what a subject runs, as a shell would read it, preceded by its own name if that says
/// something else.
pub(crate) fn description(subject: &Subject) -> String {
    let command = becalm_model::shell_line(&subject.command);
    let plain = subject.command.join(" ");
    let again = |command: &str| mark_of_the_same_again(&subject.name, command);
    if subject.name == command || subject.name == plain {
        command
    } else if command.is_empty() {
        subject.name.clone()
    } else if let Some(mark) = again(&command).or_else(|| again(&plain)) {
        command + mark
    } else {
        format!("{}: {command}", subject.name)
    }
}

/// Returns what distinguishes a name from the same command: of `./a #2` and `./a (traced)` what follows `./a`.
fn mark_of_the_same_again<'a>(name: &'a str, command: &str) -> Option<&'a str> {
    name.strip_prefix(command).filter(|rest| rest.starts_with(" #") || rest.starts_with(" ("))
}

/// `A` to `Z`, then `AA`, `AB` and so on.
fn letters(index: usize) -> String {
    let letter = char::from(b'A' + u8::try_from(index % 26).unwrap_or(0));
    if index < 26 { letter.to_string() } else { format!("{}{letter}", letters(index / 26 - 1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subjects(names: &[&str]) -> Vec<Subject> {
        names.iter().map(|name| Subject::new(*name, vec![(*name).to_owned()])).collect()
    }

    #[test]
    fn short_names_are_kept_and_long_ones_become_letters() {
        let labels = Labels::of(&subjects(&["old", "new"]));
        assert_eq!((labels.get(1), labels.needs_legend), ("new", false));
        let labels = Labels::of(&subjects(&["./bench --size 100000 --old", "new"]));
        assert_eq!((labels.get(0), labels.get(1), labels.needs_legend), ("A", "B", true));
    }

    #[test]
    fn long_names_that_differ_by_parameters_become_these() {
        let mut all = subjects(&["sort --of numbers 1 --up", "sort --of numbers 2 --up"]);
        for (subject, size) in all.iter_mut().zip(["1", "2"]) {
            subject.parameters = vec![("up".into(), "up".into()), ("size".into(), size.into())];
        }
        let labels = Labels::of(&all);
        assert_eq!((labels.get(0), labels.get(1), labels.needs_legend), ("size=1", "size=2", true));
        all.push(all[0].clone());
        assert_eq!(Labels::of(&all).get(0), "A");
    }

    #[test]
    fn a_command_is_not_repeated_after_a_name_that_has_it() {
        let check = |name: &str, expected: &str| {
            let subject = Subject::new(name, vec!["./a".into(), "b c".into()]);
            assert_eq!(description(&subject), expected);
        };
        check("./a 'b c' #2", "./a 'b c' #2");
        // As it was given, which a shell would read in another way.
        check("./a b c #2", "./a 'b c' #2");
        check("./a 'b c' (traced)", "./a 'b c' (traced)");
        check("./a 'b c' too", "./a 'b c' too: ./a 'b c'");
        check("old", "old: ./a 'b c'");
    }

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([letters(25), letters(26), letters(53)], ["Z", "AA", "BB"]);
    }
}
