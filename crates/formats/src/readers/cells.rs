//! Rows of cells between bars, as tables in Markdown and in org files have them.

use std::borrow::Cow;

/// Splits a row at the bars that are not escaped.
pub(super) fn cells(line: &str) -> Vec<&str> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').filter(|line| !line.ends_with('\\')).unwrap_or(line);
    let mut cells = Vec::new();
    let mut start = 0;
    for (at, _) in line.match_indices('|') {
        if !line[..at].ends_with('\\') {
            cells.push(line[start..at].trim());
            start = at + 1;
        }
    }
    cells.push(line[start..].trim());
    cells
}

/// Says whether a row only separates the head from the others: `|:---|---:|`, `|--+--|`.
pub(super) fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|')
        && line.contains("--")
        && line.bytes().all(|byte| b"|:-+ ".contains(&byte))
}

/// Returns what stands in a cell without the marks of code and emphasis.
pub(super) fn plain(cell: &str) -> Cow<'_, str> {
    let cell = cell.trim_matches('*').trim_matches('`');
    if cell.contains("\\|") { Cow::Owned(cell.replace("\\|", "|")) } else { Cow::Borrowed(cell) }
}
