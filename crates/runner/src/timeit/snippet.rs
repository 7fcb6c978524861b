//! What is to be timed.

use super::language::Language;

/// A statement with what belongs around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// What it is written in.
    pub language: Language,
    /// Code outside of any function, for the languages that are compiled: functions, types, headers.
    pub global: Vec<String>,
    /// Code before the first loop of each value.
    pub setup: Vec<String>,
    /// What is timed.
    pub statement: Vec<String>,
    /// Code after the last loop of each value.
    pub teardown: Vec<String>,
    /// How often the statement itself repeats what is to be timed.
    pub inner_loops: u32,
    /// How often the statement is written into each loop.
    pub duplicate: u32,
}

impl Snippet {
    /// Returns how many operations each loop has.
    pub fn operations(&self) -> f64 {
        f64::from(self.inner_loops) * f64::from(self.duplicate)
    }

    /// Returns the statement in one line, to be shown.
    pub fn shown(&self) -> String {
        let parts = lines(&self.statement);
        let one_line = |part: &&str| part.split('\n').map(str::trim).collect::<Vec<_>>().join(" ");
        parts.iter().map(one_line).collect::<Vec<_>>().join("; ")
    }

    /// Says whether there is nothing to time.
    pub fn is_empty(&self) -> bool {
        lines(&self.statement).is_empty()
    }

    /// Returns the code by the name of its part.
    pub(super) fn texts(&self) -> [(&'static str, String); 4] {
        let separator = self.language.separator();
        let text = |parts: &[&str]| parts.join(separator);
        let (directives, setup): (Vec<&str>, Vec<&str>) =
            lines(&self.setup).into_iter().partition(|part| self.is_directive(part));
        let mut global = directives;
        global.extend(lines(&self.global));
        let statement = lines(&self.statement);
        let repeated: Vec<&str> =
            (0..self.duplicate).flat_map(|_| statement.iter().copied()).collect();
        [
            ("global", global.join("\n")),
            ("setup", text(&setup)),
            ("statement", text(&repeated)),
            ("teardown", text(&lines(&self.teardown))),
        ]
    }

    /// Says whether a part of the set-up is a line such as `#include <zlib.h>`, which belongs outside of
    /// functions.
    fn is_directive(&self, part: &str) -> bool {
        matches!(self.language, Language::C | Language::Cpp) && part.trim_start().starts_with('#')
    }
}

/// Returns the parts that are not empty, without white space at their ends, as pyperf does.
fn lines(parts: &[String]) -> Vec<&str> {
    parts.iter().map(|part| part.trim_end()).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snippet(language: Language, setup: &[&str], statement: &[&str]) -> Snippet {
        let owned = |parts: &[&str]| parts.iter().map(ToString::to_string).collect();
        Snippet {
            language,
            global: Vec::new(),
            setup: owned(setup),
            statement: owned(statement),
            teardown: Vec::new(),
            inner_loops: 1,
            duplicate: 1,
        }
    }

    #[track_caller]
    fn check(snippet: &Snippet, part: &str, expected: &str) {
        let texts = snippet.texts();
        let text = texts.iter().find(|(name, _)| *name == part).map(|(_, text)| text.as_str());
        assert_eq!(text, Some(expected));
    }

    #[test]
    fn statements_that_were_given_apart_are_one_text() {
        let python = snippet(Language::Python, &[], &["for i in x:", "    f(i)  ", " "]);
        check(&python, "statement", "for i in x:\n    f(i)");
        assert_eq!(python.shown(), "for i in x:; f(i)");
        check(&snippet(Language::Perl, &[], &["$x++", "$y++"]), "statement", "$x++;\n$y++");
    }

    #[test]
    fn a_copy_stands_in_the_loop_as_often_as_was_asked_for() {
        let twice = Snippet { duplicate: 2, ..snippet(Language::Ruby, &[], &["a", "b"]) };
        check(&twice, "statement", "a\nb\na\nb");
        let both = Snippet { inner_loops: 3, ..twice };
        assert_eq!(both.operations().to_bits(), 6f64.to_bits());
    }

    #[test]
    fn headers_of_the_setup_stand_outside_of_the_function() {
        let c = snippet(Language::C, &["#include <zlib.h>", "int x = 1"], &["x++"]);
        check(&c, "global", "#include <zlib.h>");
        check(&c, "setup", "int x = 1");
        let perl = snippet(Language::Perl, &["# a remark"], &["1"]);
        check(&perl, "setup", "# a remark");
    }

    #[test]
    fn white_space_is_no_statement() {
        assert!(snippet(Language::Python, &[], &[" ", "\n"]).is_empty());
    }
}
