//! A report to paste into a review.

use std::fmt::Write as _;

use super::Block;
use crate::escape;
use crate::quantity::NBSP;
use crate::style::Role;
use crate::width::printable;

/// Writes a report. What it says first is its title.
pub(super) fn of(blocks: &[Block]) -> String {
    let plain = |text: &str| escape::markdown(&text.replace(NBSP, " "));
    let mut out = String::new();
    let mut before: Option<&Block> = None;
    for block in blocks.iter().filter(|block| **block != Block::Gap) {
        if let Some(before) = before
            && !(is_entry(before) && is_entry(block))
        {
            out.push('\n');
        }
        let _ = match block {
            Block::Section(text) | Block::Paragraph { text, role: Some(Role::Heading), .. } => {
                let mark = if before.is_none() { "##" } else { "###" };
                writeln!(out, "{mark} {}", plain(text))
            }
            Block::Gap | Block::Picture(_) => Ok(()),
            Block::Paragraph { text, role: Some(Role::Warning), .. } => {
                writeln!(out, "**{}**", plain(text))
            }
            Block::Paragraph { text, .. } => writeln!(out, "{}", plain(text)),
            Block::Item(text) => writeln!(out, "- {}", plain(text)),
            Block::Labelled { label, text, .. } => {
                writeln!(out, "- {}: {}", plain(label), plain(text))
            }
            Block::Table(table) => write!(out, "{}", table.markdown()),
            Block::Drawn(lines) | Block::DrawnOr(lines, _) => write!(out, "{}", fenced(lines)),
        };
        before = Some(block);
    }
    out
}

fn is_entry(block: &Block) -> bool {
    matches!(block, Block::Item(_) | Block::Labelled { .. })
}

/// Puts lines between fences with more backticks than the lines have in a row.
fn fenced(lines: &str) -> String {
    let longest = lines.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let lines: Vec<String> = lines.lines().map(printable).collect();
    format!("{fence}text\n{}\n{fence}\n", lines.join("\n"))
}
