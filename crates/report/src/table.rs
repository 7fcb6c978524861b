//! One table value for text, Markdown and HTML.

use std::fmt::Write as _;

use crate::distinct::distinct;
use crate::escape;
use crate::quantity::NBSP;
use crate::style::{Role, Style};
use crate::width::{columns, pad_left, pad_right, printable, shorten, wrap};

/// On which side of its column a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Names and words.
    Left,
    /// Numbers, so that their decimals line up.
    Right,
}

/// One cell: a text and what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    text: String,
    role: Option<Role>,
}

impl Cell {
    /// Makes a cell that is drawn in the colour of `role`.
    pub fn of(role: Role, text: impl Into<String>) -> Self {
        Self { text: text.into(), role: Some(role) }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), role: None }
    }
}

/// Rows of cells under titled columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    titles: Vec<(String, Align)>,
    rows: Vec<Vec<Cell>>,
    /// Whether the last column is a text that may take several lines.
    ends_in_text: bool,
}

/// Space between two columns.
const GAP: usize = 2;
/// A first column narrower than this is useless; the table is then stacked.
const NARROWEST_NAME: usize = 12;
/// A last column narrower than this holds no text; the table is then stacked.
const NARROWEST_TEXT: usize = 16;

impl Table {
    /// Makes a table without rows. A table whose titles are all empty is drawn without a head.
    pub fn new<T: Into<String>>(titles: impl IntoIterator<Item = (T, Align)>) -> Self {
        let titles = titles.into_iter().map(|(title, align)| (title.into(), align)).collect();
        Self { titles, ..Self::default() }
    }

    /// Lets the last column take several lines on a terminal, before names are cut.
    #[must_use]
    pub(crate) fn ending_in_text(self) -> Self {
        Self { ends_in_text: true, ..self }
    }

    /// Makes a table without rows whose first column names what the numbers of the others are about.
    pub fn of_numbers<T: Into<String>>(first: &str, numbers: impl IntoIterator<Item = T>) -> Self {
        let numbers = numbers.into_iter().map(|title| (title.into(), Align::Right));
        Self::new(std::iter::once((first.to_owned(), Align::Left)).chain(numbers))
    }

    /// Adds a row. Missing cells are empty; cells beyond the last column are dropped.
    pub fn push(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let mut row: Vec<Cell> = cells.into_iter().take(self.titles.len()).collect();
        row.resize_with(self.titles.len(), || Cell::from(""));
        self.rows.push(row);
    }

    /// Says whether the table has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Draws the table for a terminal, each line indented by two columns.
    ///
    /// When it is too wide the names of the first column are broken into two lines, or cut; when that is not
    /// enough the table is stacked: one `title: value` line per cell.
    pub fn text(&self, style: &Style) -> String {
        let show = |text: &str| printable(text);
        let mut rows: Vec<Vec<Cell>> = self
            .rows
            .iter()
            .map(|row| {
                row.iter().map(|cell| Cell { text: show(&cell.text), role: cell.role }).collect()
            })
            .collect();
        let titles: Vec<(String, Align)> =
            self.titles.iter().map(|(title, align)| (show(title), *align)).collect();
        let mut widths: Vec<usize> = titles.iter().map(|(title, _)| columns(title)).collect();
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(columns(&cell.text));
            }
        }
        if self.ends_in_text
            && wrap_texts(&mut rows, &widths, style.width)
            && let Some((last, others)) = widths.split_last_mut()
        {
            *last = style
                .width
                .saturating_sub(others.iter().map(|width| width + GAP).sum::<usize>() + GAP);
        }
        let total: usize = widths.iter().map(|width| width + GAP).sum();
        if let Some(excess) = total.checked_sub(style.width + 1) {
            let excess = excess + 1;
            let Some(first) = widths.first_mut() else { return String::new() };
            if first.saturating_sub(excess) < NARROWEST_NAME {
                return stacked(&titles, &rows, style);
            }
            *first -= excess;
            if !break_names(&mut rows, &titles, *first) {
                keep_apart(&mut rows, *first, style.unicode);
            }
        }
        let mut out = String::new();
        if titles.iter().any(|(title, _)| !title.is_empty()) {
            let cells: Vec<Cell> =
                titles.iter().map(|(title, _)| Cell::of(Role::Hint, title.as_str())).collect();
            line(&mut out, &cells, &titles, &widths, style);
        }
        for row in &rows {
            line(&mut out, row, &titles, &widths, style);
        }
        out
    }

    /// Writes the table as GitHub-flavoured Markdown.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        let plain = |text: &str| escape::markdown(&text.replace(NBSP, " "));
        for (title, _) in &self.titles {
            let _ = write!(out, "| {} ", plain(title));
        }
        out.push_str("|\n");
        for (_, align) in &self.titles {
            out.push_str(match align {
                Align::Left => "| :-- ",
                Align::Right => "| --: ",
            });
        }
        out.push_str("|\n");
        for row in &self.rows {
            for cell in row {
                let text = plain(&cell.text);
                match cell.role {
                    Some(Role::Faster | Role::Slower | Role::Equivalent | Role::Inconclusive)
                        if !text.is_empty() =>
                    {
                        let _ = write!(out, "| **{text}** ");
                    }
                    _ => {
                        let _ = write!(out, "| {text} ");
                    }
                }
            }
            out.push_str("|\n");
        }
        out
    }

    /// Writes the table as HTML, inside an element that scrolls sideways on a narrow screen.
    pub fn html(&self) -> String {
        let is_titled = self.titles.iter().any(|(title, _)| !title.is_empty());
        let class = if is_titled { " class=\"titled\"" } else { "" };
        let mut out = format!("<div class=\"scroll\"><table{class}>\n");
        if is_titled {
            out.push_str("<thead><tr>");
            for (title, align) in &self.titles {
                let _ = write!(
                    out,
                    "<th scope=\"col\"{}>{}</th>",
                    align_class(*align),
                    escape::html(title)
                );
            }
            out.push_str("</tr></thead>\n");
        }
        out.push_str("<tbody>\n");
        let mut named: Option<&Cell> = None;
        for row in &self.rows {
            out.push_str("<tr>");
            // A row that continues the one above it has its name, too, for those who hear the table.
            let goes_on = row.first().is_some_and(|cell| cell.text.is_empty());
            if !goes_on {
                named = row.first();
            }
            for (index, (cell, (title, align))) in row.iter().zip(&self.titles).enumerate() {
                let name = named.filter(|_| index == 0 && goes_on);
                let text = escape::html(&name.unwrap_or(cell).text);
                let inner = match cell.role {
                    _ if name.is_some() => format!("<span class=\"again\">{text}</span>"),
                    Some(role) => format!("<span class=\"{}\">{text}</span>", role.class()),
                    None => text,
                };
                // On a narrow screen rows stand one below the other, and each cell has its title.
                let title = match escape::html(title) {
                    title if title.is_empty() => title,
                    title => format!(" data-title=\"{title}\""),
                };
                // The first cell names its row, which is what a screen reader repeats.
                let _ = if index == 0 {
                    write!(out, "<th scope=\"row\"{}{title}>{inner}</th>", align_class(*align))
                } else {
                    write!(out, "<td{}{title}>{inner}</td>", align_class(*align))
                };
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n");
        out
    }
}

/// Breaks the texts of the last column into rows of their own where they are too wide, if they have room there; says
/// whether it did.
fn wrap_texts(rows: &mut Vec<Vec<Cell>>, widths: &[usize], width: usize) -> bool {
    let Some((last, others)) = widths.split_last() else { return false };
    let taken = others.iter().map(|width| width + GAP).sum::<usize>() + GAP;
    let room = width.saturating_sub(taken);
    if *last <= room || room < NARROWEST_TEXT {
        return false;
    }
    *rows = std::mem::take(rows)
        .into_iter()
        .flat_map(|mut row| {
            let Some(cell) = row.last_mut() else { return vec![row] };
            let mut lines = wrap(&cell.text, room).into_iter();
            let role = cell.role;
            cell.text = lines.next().unwrap_or_default();
            let n = row.len();
            let more = lines.map(|text| {
                let mut rest = vec![Cell::from(""); n];
                rest[n - 1] = Cell { text, role };
                rest
            });
            let more: Vec<_> = more.collect();
            std::iter::once(row).chain(more).collect()
        })
        .collect();
    true
}

/// Breaks the names of the rows into two lines where they are too wide, the second in a row of its own; says whether
/// all of them fit then.
fn break_names(rows: &mut Vec<Vec<Cell>>, titles: &[(String, Align)], width: usize) -> bool {
    let is_name = titles.first().is_some_and(|(_, align)| *align == Align::Left);
    let broken: Option<Vec<_>> = rows
        .iter()
        .map(|row| {
            row.first().map_or(Some((String::new(), None)), |cell| halves(&cell.text, width))
        })
        .collect();
    let Some(broken) = broken.filter(|_| is_name) else { return false };
    *rows = std::mem::take(rows)
        .into_iter()
        .zip(broken)
        .flat_map(|(mut row, (begin, end))| {
            let rest = end.map(|end| {
                let mut rest = vec![Cell::from(""); row.len()];
                rest[0] = Cell { text: end, role: row[0].role };
                rest
            });
            if let Some(first) = row.first_mut() {
                first.text = begin;
            }
            std::iter::once(row).chain(rest)
        })
        .collect();
    true
}

/// Breaks a name behind a character that ends a word; the second line is indented.
fn halves(name: &str, width: usize) -> Option<(String, Option<String>)> {
    const INDENT: &str = "  ";
    if columns(name) <= width {
        return Some((name.to_owned(), None));
    }
    let broken_after = |is_end: &dyn Fn(char) -> bool| {
        let ends = name.char_indices().filter(|(_, c)| is_end(*c));
        let ends = ends.map(|(at, c)| at + c.len_utf8());
        let at = ends.take_while(|&at| columns(name[..at].trim_end()) <= width).last()?;
        let (begin, end) = (name[..at].trim_end(), format!("{INDENT}{}", &name[at..]));
        let fits = columns(&end) <= width && !begin.is_empty() && !end.trim().is_empty();
        fits.then(|| (begin.to_owned(), Some(end)))
    };
    // Between words if that is possible, else behind a mark inside of one.
    broken_after(&|c| c == ' ').or_else(|| broken_after(&|c| !c.is_alphanumeric() && c != NBSP))
}

/// Cuts the names of the rows so that they can still be told apart.
fn keep_apart(rows: &mut [Vec<Cell>], width: usize, unicode: bool) {
    let names: Vec<&str> =
        rows.iter().filter_map(|row| row.first()).map(|cell| cell.text.as_str()).collect();
    let cut = distinct(&names, width, unicode);
    for (cell, name) in rows.iter_mut().filter_map(|row| row.first_mut()).zip(cut) {
        cell.text = name;
    }
}

fn align_class(align: Align) -> &'static str {
    match align {
        Align::Left => "",
        Align::Right => " class=\"number\"",
    }
}

fn line(
    out: &mut String,
    cells: &[Cell],
    titles: &[(String, Align)],
    widths: &[usize],
    style: &Style,
) {
    let mut text = String::new();
    for (index, ((cell, (_, align)), &width)) in cells.iter().zip(titles).zip(widths).enumerate() {
        text.push_str(&" ".repeat(GAP));
        let short = shorten(&cell.text.replace(NBSP, " "), width, style.unicode);
        let padded = match align {
            Align::Left if index + 1 == cells.len() => short,
            Align::Left => pad_right(&short, width),
            Align::Right => pad_left(&short, width),
        };
        text.push_str(&match cell.role {
            Some(role) => paint_inside(role, &padded, style),
            None => padded,
        });
    }
    out.push_str(text.trim_end());
    out.push('\n');
}

/// Paints the word but not the spaces around it, so that trailing ones can still be removed.
fn paint_inside(role: Role, padded: &str, style: &Style) -> String {
    let word = padded.trim();
    if word.is_empty() {
        return padded.to_owned();
    }
    let lead = padded.len() - padded.trim_start().len();
    let (before, rest) = padded.split_at(lead);
    let after = &rest[word.len()..];
    format!("{before}{}{after}", style.paint(role, word))
}

fn stacked(titles: &[(String, Align)], rows: &[Vec<Cell>], style: &Style) -> String {
    let mut out = String::new();
    let room = |indent: usize| style.width.saturating_sub(indent).max(8);
    let untitled = titles.iter().all(|(title, _)| title.is_empty());
    for row in rows {
        if untitled {
            let texts: Vec<&str> =
                row.iter().map(|cell| cell.text.as_str()).filter(|text| !text.is_empty()).collect();
            for (index, part) in wrap(&texts.join("  "), room(4)).iter().enumerate() {
                let _ = writeln!(out, "{}{part}", " ".repeat(if index == 0 { 2 } else { 4 }));
            }
            continue;
        }
        for (index, (cell, (title, _))) in row.iter().zip(titles).enumerate() {
            if cell.text.is_empty() {
                continue;
            }
            let text = if title.is_empty() {
                cell.text.clone()
            } else {
                format!("{title}: {}", cell.text)
            };
            let indent = if index == 0 { 2 } else { 4 };
            for part in wrap(&text, room(indent)) {
                let _ = writeln!(out, "{}{part}", " ".repeat(indent));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Table {
        let mut table = Table::new([
            ("subject", Align::Left),
            ("median", Align::Right),
            ("verdict", Align::Left),
        ]);
        table.push(["A".into(), "32.01 ms".into(), "".into()]);
        table.push(["速い|<b>".into(), "9.5 ms".into(), Cell::of(Role::Slower, "slower")]);
        table
    }

    #[test]
    fn columns_line_up_whatever_the_names_are() {
        insta::assert_snapshot!(example().text(&Style::PLAIN), @r"
          subject     median  verdict
          A         32.01 ms
          速い|<b>    9.5 ms  slower
        ");
    }

    #[test]
    fn a_table_too_wide_for_the_terminal_is_stacked() {
        let narrow = Style { width: 20, ..Style::PLAIN };
        insta::assert_snapshot!(example().text(&narrow), @r"
          subject: A
            median: 32.01 ms
          subject: 速い|<b>
            median: 9.5 ms
            verdict: slower
        ");
    }

    #[test]
    fn a_value_is_torn_neither_in_a_row_nor_in_lines() {
        let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
        let interval = format!("95{NBSP}% interval 1.00{NBSP}..{NBSP}2.00{NBSP}ms");
        table.push(["median".into(), Cell::from(interval)]);
        insta::assert_snapshot!(table.text(&Style { width: 34, ..Style::PLAIN }), @r"
          median 95 % interval
            1.00 .. 2.00 ms
        ");
        assert_eq!(table.text(&Style::PLAIN), "  median  95 % interval 1.00 .. 2.00 ms\n");
    }

    #[test]
    fn a_long_name_is_cut_before_the_table_is_stacked() {
        let mut table = Table::new([("subject", Align::Left), ("median", Align::Right)]);
        table.push(["a very long name of a subject".into(), "32.01 ms".into()]);
        let text = table.text(&Style { width: 30, ..Style::PLAIN });
        assert_eq!(text.lines().map(columns).max(), Some(30), "{text}");
    }

    #[test]
    fn a_long_name_is_broken_between_its_words_before_it_is_cut() {
        let mut table = Table::new([("metric", Align::Left), ("A", Align::Right)]);
        table.push(["simulated_l1_instruction_misses".into(), "1024".into()]);
        table.push(["simulated_l1_data_misses".into(), "2048".into()]);
        table.push(["instructions".into(), "4096".into()]);
        insta::assert_snapshot!(table.text(&Style { width: 32, ..Style::PLAIN }), @r"
          metric                       A
          simulated_l1_             1024
            instruction_misses
          simulated_l1_data_misses  2048
          instructions              4096
        ");
    }

    #[test]
    fn markdown_keeps_its_cells_whatever_the_names_are() {
        insta::assert_snapshot!(example().markdown(), @r"
        | subject | median | verdict |
        | :-- | --: | :-- |
        | A | 32.01 ms |  |
        | 速い\|&lt;b&gt; | 9.5 ms | **slower** |
        ");
    }

    #[test]
    fn html_escapes_every_cell() {
        let html = example().html();
        assert!(html.contains("速い|&lt;b&gt;") && !html.contains("<b>"), "{html}");
    }
}
