//! The table of the projects.

use anyhow::{Result, bail};

use super::trial::Row;

const BEGIN: &str = "<!-- BEGIN: projects -->";
const END: &str = "<!-- END: projects -->";

/// Returns the row of a project.
pub(super) fn line(row: &Row) -> String {
    let [older, newer] = row.releases;
    let result = match &row.failure {
        None => "works".to_owned(),
        // A bar would begin another cell.
        Some(failure) => failure.replace('|', "/").replace('\n', " "),
    };
    format!("| {} | {older}, {newer} | {} | {result} |", row.name, row.harness)
}

/// Returns the whole table.
pub(super) fn text(rows: &[Row]) -> String {
    let worked = rows.iter().filter(|row| row.failure.is_none()).count();
    let lines: Vec<String> = rows.iter().map(line).collect();
    format!(
        "{worked} of {} work.\n\n| project | releases | harness | result |\n| --- | --- | --- | --- |\n{}",
        rows.len(),
        lines.join("\n")
    )
}

/// Returns `page` with `text` between the markers.
pub(super) fn spliced(page: &str, text: &str) -> Result<String> {
    let Some((before, rest)) = page.split_once(BEGIN) else { bail!("the page lacks `{BEGIN}`") };
    let Some((_, after)) = rest.split_once(END) else { bail!("the page lacks `{END}`") };
    Ok(format!("{before}{BEGIN}\n\n{text}\n\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_are_rows_between_the_markers() {
        let row = |failure: Option<&str>| Row {
            name: "x",
            releases: ["1", "2"],
            harness: "go",
            failure: failure.map(str::to_owned),
        };
        let text = text(&[row(None), row(Some("a | b"))]);
        assert!(text.starts_with("1 of 2 work."));
        assert!(text.ends_with("| x | 1, 2 | go | works |\n| x | 1, 2 | go | a / b |"));
        let page = format!("a\n{BEGIN}\nold\n{END}\nb");
        assert_eq!(spliced(&page, "new").unwrap(), format!("a\n{BEGIN}\n\nnew\n\n{END}\nb"));
        assert!(spliced("a", "new").is_err());
    }
}
