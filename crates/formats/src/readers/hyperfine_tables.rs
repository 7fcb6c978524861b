//! hyperfine: `--export-asciidoc` and `--export-orgmode`, rounded aggregates for people.
//!
//! - `AsciiDoc`: between lines `|===`, each cell on a line of its own, a row behind an empty line. Commands are between
//!   backquotes.
//! - org: as Markdown, with `|--+--|` below the head. Commands are between `=`.

use crate::imported::Imported;
use crate::lines::{any, lines};
use crate::readers::cells::{cells, is_rule};
use crate::readers::hyperfine_markdown::{Column, Row, column};
use crate::{Entry, File, ImportError, Takes};

pub(crate) const ASCIIDOC: Entry = Entry {
    name: "hyperfine-asciidoc",
    about: "hyperfine --export-asciidoc (aggregates only)",
    recognise: Takes::File(|file| {
        any(file, |line| line.trim() == "|===")
            && any(file, |line| {
                line.trim().strip_prefix('|').is_some_and(|cell| cell.trim() == "Command")
            })
    }),
    read: Takes::File(read_asciidoc),
};

pub(crate) const ORG: Entry = Entry {
    name: "hyperfine-org",
    about: "hyperfine --export-orgmode (aggregates only)",
    recognise: Takes::File(|file| {
        any(file, is_head) && any(file, |line| line.trim().starts_with("|--") && line.contains('+'))
    }),
    read: Takes::File(read_org),
};

fn is_head(line: &str) -> bool {
    let cells = cells(line);
    line.trim().starts_with('|')
        && cells.first() == Some(&"Command")
        && cells.get(1).is_some_and(|cell| cell.starts_with("Mean"))
}

type Columns = Vec<(Column, String)>;

fn columns_of(titles: &[&str]) -> Columns {
    titles.iter().map(|title| column(title)).map(|(kind, unit)| (kind, unit.to_owned())).collect()
}

fn add(
    imported: &mut Imported,
    file: &File,
    at: usize,
    columns: &Columns,
    cells: &[&str],
) -> Result<(), ImportError> {
    let mut row = Row::default();
    for ((kind, unit), cell) in columns.iter().zip(cells) {
        row.read(file, at, *kind, unit, cell)?;
    }
    row.add(imported);
    Ok(())
}

fn read_org(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("hyperfine");
    imported.has_only("mean");
    let mut columns = Columns::new();
    for (at, line) in lines(file)? {
        if is_head(&line) {
            columns = columns_of(&cells(&line));
        } else if line.trim().starts_with('|') && !is_rule(&line) && !columns.is_empty() {
            add(&mut imported, file, at, &columns, &cells(&line))?;
        }
    }
    Ok(imported)
}

fn read_asciidoc(file: &File) -> Result<Imported, ImportError> {
    let mut imported = Imported::of("hyperfine");
    imported.has_only("mean");
    let mut columns = Columns::new();
    let mut row: Vec<String> = Vec::new();
    let mut is_inside = false;
    for (at, line) in lines(file)? {
        let line = line.trim();
        let is_end = line == "|===";
        if is_end || line.is_empty() {
            let cells: Vec<&str> = row.iter().map(String::as_str).collect();
            if cells.first() == Some(&"Command") {
                columns = columns_of(&cells);
            } else if !cells.is_empty() && !columns.is_empty() {
                add(&mut imported, file, at, &columns, &cells)?;
            }
            row.clear();
            if is_end {
                is_inside = !is_inside;
                columns.clear();
            }
        } else if is_inside && let Some(cell) = line.strip_prefix('|') {
            row.push(cell.trim().to_owned());
        }
    }
    Ok(imported)
}
