//! Names in files that do not take every name.

use std::collections::HashMap;

use becalm_model::shell_line;

/// Most names that a sentence lists.
const LISTED: usize = 8;

/// Lists names in a sentence, shortened.
pub(super) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let first: Vec<&str> = names.by_ref().take(LISTED).collect();
    let more = names.count();
    match (first.is_empty(), more) {
        (true, _) => "none".to_owned(),
        (false, 0) => first.join(", "),
        (false, more) => format!("{} and {more} more", first.join(", ")),
    }
}

/// Replaces what would end a line, and other control characters, by spaces.
pub(super) fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.trim().to_owned()
}

/// Gives out names that nobody else has.
#[derive(Debug, Default)]
pub(super) struct Unique {
    /// The names that were given out, with the last number that was tried behind each.
    taken: HashMap<String, u32>,
}

impl Unique {
    /// Returns the name, with a number behind it if it is taken.
    pub(super) fn unique(&mut self, name: &str) -> String {
        let Some(last) = self.taken.get(name).copied() else {
            self.taken.insert(name.to_owned(), 1);
            return name.to_owned();
        };
        // Numbers only rise, so that many equal names cost little.
        let mut number = last;
        let unique = loop {
            number += 1;
            let unique = format!("{name}#{number}");
            if !self.taken.contains_key(&unique) {
                break unique;
            }
        };
        self.taken.insert(name.to_owned(), number);
        self.taken.insert(unique.clone(), 1);
        unique
    }

    /// The same, with a word for a name that is empty.
    pub(super) fn unique_or(&mut self, name: &str, word: &str) -> String {
        self.unique(if name.is_empty() { word } else { name })
    }
}

/// Joins a command to the line that a shell would take. What is one word already, such as the commands of
/// hyperfine, stays as it is: it may be a line for a shell.
pub(super) fn command_line(command: &[String]) -> String {
    match command {
        [line] => line.clone(),
        words => shell_line(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted_for_a_shell() {
        let line = |words: &[&str]| {
            command_line(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(line(&["sleep 0.1 && true"]), "sleep 0.1 && true");
        assert_eq!(line(&["echo", "it's", "", "a b"]), r"echo 'it'\''s' '' 'a b'");
    }

    #[test]
    fn names_get_numbers_when_they_are_taken() {
        let mut names = Unique::default();
        assert_eq!(
            [names.unique("a"), names.unique("a"), names.unique("a#2")],
            ["a", "a#2", "a#2#2"]
        );
    }
}
