//! `cargo deny`: licences, duplicates and sources of what we depend on, and advisories about it.
//!
//! Everything but the advisories is said by the crates themselves. Those are checked where a copy of their database lies.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::workspace::{capture, cargo, run};

/// Checks the dependencies and returns what could not be checked here.
pub(super) fn check() -> Result<Vec<String>> {
    if capture(&mut cargo(&["deny", "--version"])).is_err() {
        return Ok(vec!["dependencies: cargo-deny is not installed".to_owned()]);
    }
    // Cargo fetches what was not built here, such as what other systems need, to know its licence.
    run(&mut cargo(&["deny", "--locked", "check", "bans", "licenses", "sources"]))?;
    if !has_advisories() {
        return Ok(vec!["advisories: there is no copy of their database here".to_owned()]);
    }
    run(&mut cargo(&["deny", "--offline", "check", "advisories"]))?;
    Ok(Vec::new())
}

/// Says whether cargo-deny has fetched the database before.
fn has_advisories() -> bool {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    let copies = home.map(|home| home.join("advisory-dbs")).and_then(|dir| dir.read_dir().ok());
    copies.is_some_and(|mut copies| copies.next().is_some())
}
