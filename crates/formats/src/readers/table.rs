//! Tables of CSV with a header.

use std::collections::HashMap;

use crate::{File, ImportError};

/// A table that is read row by row. Rows may be shorter than the header.
pub(crate) struct Table<'a> {
    file: &'a File,
    /// Lines of the file before the table.
    before: usize,
    reader: csv::Reader<&'a [u8]>,
    header: csv::StringRecord,
    columns: HashMap<String, usize>,
    row: csv::StringRecord,
}

/// One row of a table.
pub(crate) struct Row<'a> {
    file: &'a File,
    before: usize,
    columns: &'a HashMap<String, usize>,
    cells: &'a csv::StringRecord,
}

impl<'a> Table<'a> {
    pub(crate) fn of(file: &'a File) -> Result<Self, ImportError> {
        let mut rows = csv::ReaderBuilder::new();
        rows.flexible(true).trim(csv::Trim::Headers);
        Self::read(file, file.text()?, 0, &rows)
    }

    /// The same for a table that begins with the first line that is such a one.
    pub(crate) fn behind(
        file: &'a File,
        is_head: impl Fn(&str) -> bool,
    ) -> Result<Self, ImportError> {
        Self::separated(file, b',', is_head)
    }

    /// The same with another letter between the cells.
    pub(crate) fn separated(
        file: &'a File,
        separator: u8,
        is_head: impl Fn(&str) -> bool,
    ) -> Result<Self, ImportError> {
        let text = file.text()?;
        let (mut before, mut at) = (0, 0);
        for line in text.split_inclusive('\n') {
            if is_head(line.trim_end()) {
                break;
            }
            before += 1;
            at += line.len();
        }
        let mut rows = csv::ReaderBuilder::new();
        rows.flexible(true).delimiter(separator).trim(csv::Trim::Headers);
        Self::read(file, &text[at..], before, &rows)
    }

    /// The same where every row has to be as long as the header.
    pub(crate) fn strict(file: &'a File) -> Result<Self, ImportError> {
        Self::read(file, file.text()?, 0, &csv::ReaderBuilder::new())
    }

    fn read(
        file: &'a File,
        text: &'a str,
        before: usize,
        as_is: &csv::ReaderBuilder,
    ) -> Result<Self, ImportError> {
        let mut reader = as_is.from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| refused(file, &error))?.clone();
        let columns = header.iter().enumerate().map(|(at, name)| (name.to_owned(), at)).collect();
        Ok(Self { file, before, reader, header, columns, row: csv::StringRecord::new() })
    }

    pub(crate) fn header(&self) -> &csv::StringRecord {
        &self.header
    }

    /// Refuses a table without this column.
    pub(crate) fn require(&self, column: &str) -> Result<(), ImportError> {
        if self.columns.contains_key(column) {
            return Ok(());
        }
        let found: Vec<&str> = self.header.iter().collect();
        let expected = format!("a column `{column}`");
        Err(ImportError::at_line(self.file, 1, &expected, &found.join(",")))
    }

    pub(crate) fn next(&mut self) -> Result<Option<Row<'_>>, ImportError> {
        let is_there =
            self.reader.read_record(&mut self.row).map_err(|error| refused(self.file, &error))?;
        Ok(is_there.then_some(Row {
            file: self.file,
            before: self.before,
            columns: &self.columns,
            cells: &self.row,
        }))
    }
}

impl Row<'_> {
    /// Returns the cell of a column; an empty text where there is none.
    pub(crate) fn text(&self, column: &str) -> &str {
        self.columns.get(column).and_then(|at| self.cells.get(*at)).unwrap_or_default()
    }

    pub(crate) fn cells(&self) -> &csv::StringRecord {
        self.cells
    }

    pub(crate) fn line(&self) -> usize {
        self.before + line_of(self.cells.position())
    }

    pub(crate) fn wrong(&self, expected: &str, found: &str) -> ImportError {
        ImportError::at_line(self.file, self.line(), expected, found)
    }
}

/// Returns the line of a row or of an error.
pub(super) fn line_of(position: Option<&csv::Position>) -> usize {
    let line = position.map_or(1, csv::Position::line);
    usize::try_from(line).unwrap_or(usize::MAX)
}

/// Says why a row cannot be read.
pub(super) fn refused(file: &File, error: &csv::Error) -> ImportError {
    ImportError::at_line(file, line_of(error.position()), "a row of CSV", &error.to_string())
}
