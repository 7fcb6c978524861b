//! `cargo xtask projects`: published projects as they are, from the registries of their languages.
//!
//! Of each project two releases become two commits of a repository. Then `becalm init`, `becalm run --suite` and
//! `becalm compare --rev` have to work without an edit.

mod page;
mod place;
mod registry;
mod table;
mod trial;

use std::path::PathBuf;

use anyhow::{Result, ensure};

use self::table::{PROJECTS, Project};
use self::trial::Row;
use crate::workspace::{Profile, build_becalm, root};

/// Try published projects as they are: init, run --suite, compare --rev of two releases
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which projects; all if none is named
    names: Vec<String>,

    /// Write the table into docs/HARNESSES.md; projects that are not named keep the row that they have
    #[arg(long)]
    write: bool,

    /// Use this becalm instead of building one
    #[arg(long, value_name = "PATH")]
    becalm: Option<PathBuf>,
}

const PAGE: &str = "docs/HARNESSES.md";

/// Tries the projects and prints the table, a row as soon as it is known and all at the end.
pub(crate) fn run(args: &Args) -> Result<()> {
    for name in &args.names {
        ensure!(PROJECTS.iter().any(|one| one.name == name), "there is no project `{name}` here");
    }
    let becalm = match &args.becalm {
        Some(path) => path.canonicalize()?,
        None => build_becalm(Profile::Release)?,
    };
    // Not below this workspace, of which cargo would take their packages for members.
    let folder = std::env::temp_dir().join("becalm-projects");
    let mut rows: Vec<Row> = Vec::new();
    let is_wanted =
        |project: &Project| args.names.is_empty() || args.names.iter().any(|n| n == project.name);
    for project in PROJECTS.iter().filter(|project| is_wanted(project)) {
        let row = trial::try_out(project, &becalm, &folder)?;
        println!("{}", page::line(&row));
        rows.push(row);
    }
    if args.write {
        // Read now and not before: the trials take long enough for somebody to change the page.
        let path = root().join(PAGE);
        let page = std::fs::read_to_string(&path)?;
        std::fs::write(&path, page::spliced(&page, &page::text(&page::merged(&page, &rows)))?)?;
    } else {
        let lines: Vec<String> = rows.iter().map(page::line).collect();
        println!("\n{}", page::text(&lines));
    }
    Ok(())
}
