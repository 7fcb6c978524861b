//! How text is drawn: decided by the caller, never detected here.

use anstyle::{AnsiColor, Color, Style as Ansi};
use becalm_model::Verdict;

/// How text is drawn. The caller knows the terminal; the report does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns that text may use. Plots and paragraphs keep to it; a table that does not fit is
    /// turned into one line per value instead.
    pub width: usize,
    /// Whether to write ANSI colours. The words are the same either way.
    pub colour: bool,
    /// Whether the terminal shows characters beyond ASCII.
    pub unicode: bool,
}

impl Style {
    /// Eighty columns of ASCII without colour: for pipes and files.
    pub const PLAIN: Self = Self { width: 80, colour: false, unicode: false };

    /// Writes `text` in the colour of `role`, or unchanged when colour is off.
    pub fn paint(&self, role: Role, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let ansi = role.ansi();
        format!("{ansi}{text}{ansi:#}")
    }

    /// Returns the characters of heights from nothing to all, in eighths.
    pub(crate) fn eighths(&self) -> [char; 9] {
        const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        const PLAIN: [char; 9] = [' ', '.', ':', '-', '=', '+', '*', '%', '@'];
        self.pick(EIGHTHS, PLAIN)
    }

    /// Picks the first text on a terminal that shows Unicode, else the second.
    pub(crate) fn pick<T>(&self, unicode: T, ascii: T) -> T {
        if self.unicode { unicode } else { ascii }
    }
}

/// What a piece of text means, from which its colour follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The candidate is better.
    Faster,
    /// The candidate is worse.
    Slower,
    /// No difference that matters.
    Equivalent,
    /// Not decided.
    Inconclusive,
    /// The title of a section.
    Heading,
    /// Something the reader should not overlook.
    Warning,
    /// Side remarks and advice.
    Hint,
}

impl Role {
    /// Returns the role that shows a verdict.
    pub fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Faster => Self::Faster,
            Verdict::Slower => Self::Slower,
            Verdict::Equivalent => Self::Equivalent,
            Verdict::Inconclusive => Self::Inconclusive,
        }
    }

    /// Returns the word that HTML uses as a class name.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
            Self::Heading => "heading",
            Self::Warning => "warning",
            Self::Hint => "hint",
        }
    }

    fn ansi(self) -> Ansi {
        let colour = |colour: AnsiColor| Ansi::new().fg_color(Some(Color::Ansi(colour)));
        match self {
            Self::Faster => colour(AnsiColor::Green).bold(),
            Self::Slower => colour(AnsiColor::Red).bold(),
            Self::Equivalent => colour(AnsiColor::Blue).bold(),
            Self::Inconclusive => colour(AnsiColor::Yellow).bold(),
            Self::Heading => Ansi::new().bold(),
            Self::Warning => colour(AnsiColor::Yellow),
            Self::Hint => Ansi::new().dimmed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colour_the_text_is_unchanged() {
        assert_eq!(Style::PLAIN.paint(Role::Slower, "slower"), "slower");
    }

    #[test]
    fn with_colour_the_words_stay_the_same() {
        let style = Style { colour: true, ..Style::PLAIN };
        let painted = style.paint(Role::Slower, "slower");
        assert!(painted.contains("slower") && painted.starts_with('\u{1b}'), "{painted:?}");
        assert!(painted.ends_with("\u{1b}[0m"), "{painted:?}");
    }
}
