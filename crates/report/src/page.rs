//! Text output put together from paragraphs, lists, tables and plots.

use std::fmt::Write as _;

use crate::style::{Role, Style};
use crate::table::Table;
use crate::width::{printable, wrap};

/// Text that grows from top to bottom, in one style.
#[derive(Debug)]
pub(crate) struct Page<'a> {
    pub(crate) style: &'a Style,
    out: String,
}

impl<'a> Page<'a> {
    pub(crate) fn new(style: &'a Style) -> Self {
        Self { style, out: String::new() }
    }

    /// Starts a section: an empty line and a title. Empty sections are not started at all, which
    /// is why the caller checks first.
    pub(crate) fn section(&mut self, title: &str) {
        self.gap();
        for line in wrap(&printable(title), self.room(0)) {
            let _ = writeln!(self.out, "{}", self.style.paint(Role::Heading, &line));
        }
    }

    /// Leaves one empty line, never two.
    pub(crate) fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// Writes a paragraph.
    pub(crate) fn say(&mut self, text: &str) {
        self.lines(text, 0, "", None);
    }

    /// Writes a paragraph in the colour of `role`.
    pub(crate) fn say_as(&mut self, role: Role, text: &str) {
        self.lines(text, 0, "", Some(role));
    }

    /// Writes a paragraph indented by two columns.
    pub(crate) fn indented(&mut self, text: &str) {
        self.lines(text, 2, "", None);
    }

    /// Writes a list entry.
    pub(crate) fn item(&mut self, text: &str) {
        self.lines(text, 2, "- ", None);
    }

    /// Writes a section of list entries; none where there are no entries.
    pub(crate) fn list<T: AsRef<str>>(
        &mut self,
        title: &str,
        entries: impl IntoIterator<Item = T>,
    ) {
        for (index, entry) in entries.into_iter().enumerate() {
            if index == 0 {
                self.section(title);
            }
            self.item(entry.as_ref());
        }
    }

    /// Writes `label  text` with the text wrapped beside the label.
    pub(crate) fn labelled(&mut self, label: &str, width: usize, text: &str) {
        let label = crate::width::pad_right(&printable(label), width);
        self.lines(text, 2, &format!("{label}  "), None);
    }

    /// Writes a table.
    pub(crate) fn table(&mut self, table: &Table) {
        self.out.push_str(&table.text(self.style));
    }

    /// Writes lines that are drawn already.
    pub(crate) fn drawn(&mut self, text: &str) {
        self.out.push_str(text);
        if !text.is_empty() && !text.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// Returns the whole text.
    pub(crate) fn finish(self) -> String {
        self.out
    }

    fn room(&self, indent: usize) -> usize {
        self.style.width.saturating_sub(indent).max(12)
    }

    fn lines(&mut self, text: &str, indent: usize, lead: &str, role: Option<Role>) {
        let hang = indent + crate::width::columns(lead);
        let text = printable(text);
        for (index, line) in wrap(&text, self.room(hang)).iter().enumerate() {
            let painted = role.map_or_else(|| line.clone(), |role| self.style.paint(role, line));
            let _ = if index == 0 {
                writeln!(self.out, "{}{lead}{painted}", " ".repeat(indent))
            } else {
                writeln!(self.out, "{}{painted}", " ".repeat(hang))
            };
        }
    }
}

/// Writes a remark under a plot, wrapped and indented to stand below it.
pub(crate) fn caption(text: &str, indent: usize, style: &Style) -> String {
    let mut out = String::new();
    for line in wrap(text, style.width.saturating_sub(indent).max(12)) {
        let _ = writeln!(out, "{}{}", " ".repeat(indent), style.paint(Role::Hint, &line));
    }
    out
}
