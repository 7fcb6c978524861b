//! A report as a web page.

use std::fmt::Write as _;

use super::Block;
use crate::escape;
use crate::html::head;
use crate::style::Role;

/// Writes a report as a page. What it says first is its title.
pub(super) fn of(blocks: &[Block], version: &str) -> String {
    let first = blocks.iter().position(|block| *block != Block::Gap);
    let (title, rest) = match first.map(|at| (&blocks[at], &blocks[at + 1..])) {
        Some((Block::Section(text) | Block::Paragraph { text, .. }, rest)) => (text.as_str(), rest),
        _ => ("becalm", blocks),
    };
    format!(
        "{}<header>\n<h1>{}</h1>\n</header>\n<main>\n{}</main>\n</body>\n</html>\n",
        head(version, title),
        escape::html(title),
        part(rest)
    )
}

/// Elements that hold several blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    List,
    Definitions,
}

impl Around {
    fn of(block: &Block) -> Self {
        match block {
            Block::Item(_) => Self::List,
            Block::Labelled { .. } => Self::Definitions,
            _ => Self::Nothing,
        }
    }

    fn tags(self) -> (&'static str, &'static str) {
        match self {
            Self::Nothing => ("", ""),
            Self::List => ("<ul>\n", "</ul>\n"),
            Self::Definitions => ("<dl>\n", "</dl>\n"),
        }
    }
}

/// Writes a report without head and end.
pub(super) fn part(blocks: &[Block]) -> String {
    let mut out = String::new();
    let mut around = Around::Nothing;
    for block in blocks.iter().filter(|block| **block != Block::Gap) {
        let now = Around::of(block);
        if now != around {
            out.push_str(around.tags().1);
            out.push_str(now.tags().0);
            around = now;
        }
        write(&mut out, block);
    }
    out.push_str(around.tags().1);
    out
}

fn write(out: &mut String, block: &Block) {
    let text = |text: &str| escape::html(text);
    let _ = match block {
        Block::Section(title) => writeln!(out, "<h2>{}</h2>", text(title)),
        Block::Gap => Ok(()),
        Block::Paragraph { text: said, role: None, .. } => writeln!(out, "<p>{}</p>", text(said)),
        Block::Paragraph { text: said, role: Some(Role::Heading), .. } => {
            writeln!(out, "<h2>{}</h2>", text(said))
        }
        Block::Paragraph { text: said, role: Some(Role::Hint), .. } => {
            writeln!(out, "<p class=\"quiet\">{}</p>", text(said))
        }
        Block::Paragraph { text: said, role: Some(role), .. } => {
            writeln!(out, "<p class=\"{}\">{}</p>", role.class(), text(said))
        }
        Block::Item(said) => writeln!(out, "<li>{}</li>", text(said)),
        Block::Labelled { label, text: said, .. } => {
            writeln!(out, "<dt class=\"quiet\">{}</dt><dd>{}</dd>", text(label), text(said))
        }
        Block::Table(table) => write!(out, "{}", table.html()),
        // Not read letter by letter: what is drawn stands in a table or sentence, too.
        Block::Drawn(lines) => writeln!(out, "<pre class=\"drawn\">{}</pre>", text(lines)),
        Block::DrawnOr(_, picture) => write!(out, "{}", picture.figure()),
        Block::Picture(picture) if picture.section.is_empty() => {
            write!(out, "{}", picture.figure())
        }
        Block::Picture(picture) => {
            write!(out, "<h2>{}</h2>\n{}", text(picture.section), picture.figure())
        }
    };
}
