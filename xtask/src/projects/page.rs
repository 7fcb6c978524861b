//! The table of the projects.

use anyhow::{Result, bail};

use super::table::{PROJECTS, Project};
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

/// Returns the rows of all projects: those that were tried, and what the page has of the others.
pub(super) fn merged(page: &str, rows: &[Row]) -> Vec<String> {
    let row = |project: &Project| rows.iter().find(|row| row.name == project.name).map(line);
    PROJECTS.iter().filter_map(|one| row(one).or_else(|| written(page, one))).collect()
}

/// Returns the row that a page has of a project, if it is of the releases that would be tried now.
fn written(page: &str, project: &Project) -> Option<String> {
    let [older, newer] = project.releases;
    let start = format!("| {} | {older}, {newer} |", project.name);
    page.lines().find(|line| line.starts_with(&start)).map(str::to_owned)
}

/// Returns the whole table.
pub(super) fn text(lines: &[String]) -> String {
    let worked = lines.iter().filter(|line| line.ends_with("| works |")).count();
    format!(
        "{worked} of {} work.\n\n| project | releases | harness | result |\n| --- | --- | --- | --- |\n{}",
        lines.len(),
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
        let text = text(&[line(&row(None)), line(&row(Some("a | b")))]);
        assert!(text.starts_with("1 of 2 work."));
        assert!(text.ends_with("| x | 1, 2 | go | works |\n| x | 1, 2 | go | a / b |"));
        let page = format!("a\n{BEGIN}\nold\n{END}\nb");
        assert_eq!(spliced(&page, "new").unwrap(), format!("a\n{BEGIN}\n\nnew\n\n{END}\nb"));
        assert!(spliced("a", "new").is_err());
    }

    #[test]
    fn a_row_is_kept_if_it_is_of_the_same_releases_and_not_tried_again() {
        let project = &super::super::table::PROJECTS[0];
        let [older, newer] = project.releases;
        let row = format!("| {} | {older}, {newer} | criterion | works |", project.name);
        let other = format!("| {} | 0, 1 | criterion | works |", project.name);
        assert_eq!(written(&format!("a\n{other}\n{row}\nb"), project), Some(row.clone()));
        assert_eq!(written(&other, project), None);
        assert_eq!(merged(&format!("{row}\n{other}"), &[]), [row]);
        let releases = project.releases;
        let again = Row { name: project.name, releases, harness: "go", failure: None };
        assert_eq!(merged("", &[again]).len(), 1);
    }
}
