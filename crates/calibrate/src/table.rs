//! A table of text, as Markdown.

/// A table of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What it shows, as a heading.
    pub title: String,
    /// How to read it.
    pub explanation: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// Cells, row by row.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Returns the table as Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let mut text = format!("### {}\n\n{}\n\n", self.title, self.explanation);
        text += &line(&self.header);
        text += "|---|";
        text += &"---:|".repeat(self.header.len() - 1);
        text += "\n";
        self.rows.iter().for_each(|row| text += &line(row));
        text
    }
}

/// Returns names of columns.
pub(crate) fn titles(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}
