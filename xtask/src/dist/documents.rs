//! What goes along with the program: manual pages, completions, texts.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace::{Profile, build_becalm, capture, cargo, root, run};

/// Shells, and what each calls the file with the completions of becalm.
const SHELLS: [(&str, &str); 3] =
    [("bash", "becalm.bash"), ("zsh", "_becalm"), ("fish", "becalm.fish")];

/// Texts of the repository that every archive has.
const TEXTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Documents, each as its name and its content.
pub(super) struct Documents {
    pub(super) pages: Vec<(String, Vec<u8>)>,
    pub(super) completions: Vec<(&'static str, Vec<u8>)>,
    pub(super) texts: Vec<(&'static str, Vec<u8>)>,
}

/// Makes them all; the pages get this date.
pub(super) fn made(target: &Path, date: &str) -> Result<Documents> {
    Ok(Documents { pages: pages(target, date)?, completions: completions()?, texts: texts()? })
}

/// Returns the manual page of every command, from the same source as its help.
fn pages(target: &Path, date: &str) -> Result<Vec<(String, Vec<u8>)>> {
    let folder = target.join("man");
    // Pages of commands that are gone.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    // As the tests build it, so that nothing is built twice.
    run(&mut cargo(&["build", "--quiet", "--workspace", "--example", "man"]))?;
    let mut example = cargo(&["run", "--quiet", "--package", "becalm", "--example", "man", "--"]);
    run(example.arg(&folder).arg(date))?;
    let mut pages = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().ok().context("a page with a plain name")?;
        pages.push((name, fs::read(entry.path())?));
    }
    ensure!(!pages.is_empty(), "no manual page was written");
    pages.sort();
    Ok(pages)
}

fn completions() -> Result<Vec<(&'static str, Vec<u8>)>> {
    let becalm = build_becalm(Profile::Dev)?;
    let of = |(shell, name): (&str, &'static str)| {
        // Called by its name, it is what the completions call.
        let mut command = Command::new(&becalm);
        let text = capture(command.arg0("becalm").args(["completions", shell]))?;
        Ok((name, text.into_bytes()))
    };
    SHELLS.into_iter().map(of).collect()
}

fn texts() -> Result<Vec<(&'static str, Vec<u8>)>> {
    let read = |name: &'static str| {
        let text = fs::read(root().join(name)).with_context(|| format!("cannot read {name}"))?;
        Ok((name, text))
    };
    TEXTS.into_iter().map(read).collect()
}
