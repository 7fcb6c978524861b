//! Text that is written by hand, on a terminal of any width.

use crate::width::{columns, wrap};

/// Hand-written text is made for so many columns, and longer lines are hard to read.
const WRITTEN_FOR: usize = 80;

/// Breaks each line that is wider than `width` between words. Of a line with a label and two spaces or more before its
/// text, only the text is broken; if the label takes more than half of the width, the text begins on the next line.
pub fn folded(text: &str, width: usize) -> String {
    let lines = text.lines().map(|line| {
        if columns(line) <= width { line.to_owned() } else { Line::of(line).broken(width) }
    });
    ended(&lines.collect::<Vec<_>>(), text)
}

/// Fills paragraphs and lists of labels anew for a narrow terminal: lines that belong together become one before they
/// are broken. What is wide enough stays as it is written.
pub fn refilled(text: &str, width: usize) -> String {
    if width >= WRITTEN_FOR {
        return text.to_owned();
    }
    let mut joined: Vec<Line> = Vec::new();
    for line in text.lines() {
        let next = Line::of(line);
        match joined.last_mut() {
            Some(before) if before.goes_on_with(&next) => before.join(&next),
            _ => joined.push(next),
        }
    }
    ended(&joined.iter().map(|line| line.broken(width)).collect::<Vec<_>>(), text)
}

fn ended(lines: &[String], text: &str) -> String {
    let end = if text.ends_with('\n') { "\n" } else { "" };
    lines.join("\n") + end
}

/// A line: spaces, perhaps a label, and a text.
struct Line {
    indent: usize,
    label: Option<String>,
    /// Where the text begins.
    at: usize,
    text: String,
}

impl Line {
    fn of(line: &str) -> Self {
        let text = line.trim_start();
        let indent = columns(line) - columns(text);
        let split = text.find("  ").map(|end| (&text[..end], text[end..].trim_start()));
        match split.filter(|(_, rest)| !rest.is_empty()) {
            Some((label, rest)) => Self {
                indent,
                label: Some(label.to_owned()),
                at: columns(line) - columns(rest),
                text: rest.to_owned(),
            },
            None => Self { indent, label: None, at: indent, text: text.to_owned() },
        }
    }

    /// Says whether the next line continues this one.
    fn goes_on_with(&self, next: &Self) -> bool {
        next.label.is_none()
            && !next.text.is_empty()
            && !self.text.is_empty()
            && next.indent == self.at
    }

    fn join(&mut self, next: &Self) {
        self.text = format!("{} {}", self.text, next.text);
    }

    fn broken(&self, width: usize) -> String {
        let mut lines = Vec::new();
        let mut hang = self.at;
        let mut first = " ".repeat(self.indent);
        if let Some(label) = &self.label {
            first = format!("{first}{label}");
            if self.at > width / 2 {
                lines.extend(
                    wrap(label, width.saturating_sub(self.indent))
                        .iter()
                        .map(|part| format!("{}{part}", " ".repeat(self.indent))),
                );
                hang = self.indent + 4;
                first = String::new();
            }
        }
        // Fewer columns hold no words.
        let room = width.saturating_sub(hang).max(8);
        for (index, part) in wrap(&self.text, room).iter().enumerate() {
            let lead = if index == 0 { first.as_str() } else { "" };
            let gap = " ".repeat(hang.saturating_sub(columns(lead)));
            lines.push(format!("{lead}{gap}{part}"));
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
A first paragraph that was written by hand for a
terminal of eighty columns.

  label     a text beside it,
            which goes on here
  another   short

  becalm check   what is noisy
";

    #[test]
    fn what_belongs_together_is_filled_anew() {
        insta::assert_snapshot!(refilled(PAGE, 30), @r"
        A first paragraph that was
        written by hand for a terminal
        of eighty columns.

          label     a text beside it,
                    which goes on here
          another   short

          becalm check
              what is noisy
        ");
        assert_eq!(refilled(PAGE, 80), PAGE);
    }

    #[test]
    fn lines_by_themselves_stay_lines() {
        insta::assert_snapshot!(folded("short\nname  a text that is longer\n", 16), @r"
        short
        name  a text
              that is
              longer
        ");
        insta::assert_snapshot!(folded("/proc/sys/kernel/timer_migration  1 -> 0", 24), @r"
        /proc/sys/kernel/timer_migration
            1 -> 0
        ");
        assert_eq!(folded("100 % of it", 8), "100 % of\nit");
    }
}
