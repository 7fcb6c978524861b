//! `cargo deny`: licences, duplicates and sources of what we depend on, and advisories about it.
//!
//! Everything but the advisories is known offline. Those are checked where a copy of their database lies.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::workspace::{capture, cargo, run};

/// Checks the dependencies and returns what could not be checked here.
pub(super) fn check() -> Result<Vec<String>> {
    if capture(&mut cargo(&["deny", "--version"])).is_err() {
        return Ok(vec!["dependencies: cargo-deny is not installed".to_owned()]);
    }
    run(&mut deny(&["bans", "licenses", "sources"]))?;
    if !has_advisories() {
        return Ok(vec!["advisories: there is no copy of their database here".to_owned()]);
    }
    run(&mut deny(&["advisories"]))?;
    Ok(Vec::new())
}

/// Returns a command that asks nobody outside of this machine.
fn deny(checks: &[&str]) -> std::process::Command {
    let mut command = cargo(&["deny", "--offline", "check", "--disable-fetch"]);
    command.args(checks);
    command
}

/// Says whether cargo-deny has fetched the database before.
fn has_advisories() -> bool {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    let copies = home.map(|home| home.join("advisory-dbs")).and_then(|dir| dir.read_dir().ok());
    copies.is_some_and(|mut copies| copies.next().is_some())
}
