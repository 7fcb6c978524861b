//! The documentation as a folder of static pages that a browser opens from disk: no server, no network,
//! and nothing that needs a script but the search.
//!
//! Start reading in `outline.rs`, which says what is a page and in which group it stands. A page lies where its
//! Markdown file lies, so that links between them stay as they are but for the ending. Files below `docs/` that a
//! page links to (images, schemas) are copied beside it; what links to sources stays as text.

mod document;
mod links;
mod outline;
mod pages;
mod paths;
pub(crate) mod picture;
mod search;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::workspace::root;

/// Where the site lies unless the command line says otherwise, below the root of the repository.
pub(crate) const FOLDER: &str = "target/site";

/// The file by which a folder is known to hold a site.
const INDEX: &str = "search-index.js";

/// The files of the site by their paths.
type Files = BTreeMap<String, Vec<u8>>;

/// Builds the site and writes it into a folder, which may hold an earlier site and nothing else.
pub(crate) fn write(folder: &Path) -> Result<()> {
    let files = pages::build(&root())?;
    empty(folder)?;
    for (name, bytes) in &files {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)
                .with_context(|| format!("cannot create {}", parent.display()))?;
        }
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    println!("{}: {} files; open index.html there", folder.display(), files.len());
    Ok(())
}

/// Fails with every link that leads nowhere: in the Markdown files of the repository, and on the site.
pub(crate) fn check() -> Result<()> {
    let mut broken = links::broken(&root())?;
    broken.extend(links::broken_on_site(&pages::build(&root())?));
    ensure!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
    Ok(())
}

/// Removes an earlier site, so that no page of it stays.
fn empty(folder: &Path) -> Result<()> {
    let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    if is_empty {
        return Ok(());
    }
    ensure!(
        folder.join(INDEX).exists(),
        "{} holds something else than a site; name another folder",
        folder.display()
    );
    fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))
}
