//! Short names for subjects: readers compare `A` with `B` more surely than two long commands.

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
    /// Whether letters replace the names, so that a legend is needed.
    pub(crate) are_letters: bool,
}

impl Labels {
    /// Uses the names when all of them are short, else letters: two long commands that differ in
    /// their last word would look the same once cut.
    pub(crate) fn of(subjects: &[Subject]) -> Self {
        let names: Vec<String> =
            subjects.iter().map(|s| printable(&s.name).trim().to_owned()).collect();
        let longest = if subjects.len() == 2 { LONGEST_TITLE } else { LONGEST_NAME };
        let fits = |name: &String| !name.is_empty() && columns(name) <= longest;
        if names.iter().all(fits) {
            Self { labels: names, are_letters: false }
        } else {
            Self { labels: (0..names.len()).map(letters).collect(), are_letters: true }
        }
    }

    /// Returns the label of the subject at `index`.
    pub(crate) fn get(&self, index: usize) -> &str {
        self.labels.get(index).map_or("?", String::as_str)
    }
}

/// Returns what a label stands for, without saying the label again.
pub(crate) fn meaning(subject: &Subject, label: &str) -> String {
    let text = description(subject);
    text.strip_prefix(label).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&text).to_owned()
}

/// Returns what a subject runs, as a shell would read it, with its own name in front where the
/// name says something else.
pub(crate) fn description(subject: &Subject) -> String {
    let command = becalm_model::shell_line(&subject.command);
    if subject.name == command || subject.name == subject.command.join(" ") {
        command
    } else if command.is_empty() {
        subject.name.clone()
    } else {
        format!("{}: {command}", subject.name)
    }
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
        assert_eq!((labels.get(1), labels.are_letters), ("new", false));
        let labels = Labels::of(&subjects(&["./bench --size 100000 --old", "new"]));
        assert_eq!((labels.get(0), labels.get(1), labels.are_letters), ("A", "B", true));
    }

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([letters(25), letters(26), letters(53)], ["Z", "AA", "BB"]);
    }
}
