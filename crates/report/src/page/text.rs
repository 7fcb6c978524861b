//! A report on a terminal.

use std::fmt::Write as _;

use super::Block;
use crate::style::{Role, Style};
use crate::width::{columns, pad_right, printable, wrap};

/// Writes a report.
pub(super) fn of(blocks: &[Block], style: &Style, table_width: usize) -> String {
    let mut writer = Writer { style, table_width, out: String::new() };
    for block in blocks {
        writer.block(block);
    }
    writer.out
}

struct Writer<'a> {
    style: &'a Style,
    table_width: usize,
    out: String,
}

impl Writer<'_> {
    fn block(&mut self, block: &Block) {
        match block {
            Block::Section(title) => {
                self.gap();
                for line in wrap(&printable(title), self.room(0)) {
                    let _ = writeln!(self.out, "{}", self.style.paint(Role::Heading, &line));
                }
            }
            Block::Gap => self.gap(),
            Block::Paragraph { text, is_indented, role } => {
                self.lines(text, if *is_indented { 2 } else { 0 }, "", *role);
            }
            Block::Item(text) => self.lines(text, 2, "- ", None),
            Block::Labelled { label, width, text } => {
                let label = pad_right(&printable(label), *width);
                self.lines(text, 2, &format!("{label}  "), None);
            }
            Block::Table(table) => {
                let style = Style { width: self.table_width, ..*self.style };
                self.out.push_str(&table.text(&style));
            }
            Block::Picture(_) => {}
            Block::Drawn(text) | Block::DrawnOr(text, _) => {
                self.out.push_str(text);
                if !text.is_empty() && !text.ends_with('\n') {
                    self.out.push('\n');
                }
            }
        }
    }

    fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn room(&self, indent: usize) -> usize {
        self.style.width.saturating_sub(indent).max(12)
    }

    fn lines(&mut self, text: &str, indent: usize, lead: &str, role: Option<Role>) {
        let hang = indent + columns(lead);
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
