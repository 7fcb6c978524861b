//! One project: what becalm does with it, step by step until one fails.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::place::{repository, tag};
use super::table::{Project, Registry};
use crate::install;

/// What came of a project.
#[derive(Debug)]
pub(super) struct Row {
    /// Its name.
    pub(super) name: &'static str,
    /// The releases that were compared.
    pub(super) releases: [&'static str; 2],
    /// Its harness.
    pub(super) harness: &'static str,
    /// Why it did not work; `None` where all did.
    pub(super) failure: Option<String>,
}

/// How becalm ends with an answer, and without one for some benchmarks.
const ANSWERS: [i32; 2] = [0, 3];

/// From here on an exit code names the signal that ended it.
const FIRST_SIGNAL: i32 = 128;

/// A trial that a signal ended: it says nothing about the project.
#[derive(Debug)]
struct CutOff;

impl std::fmt::Display for CutOff {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("it was ended by a signal")
    }
}

impl std::error::Error for CutOff {}

/// Tries one project.
///
/// # Errors
///
/// A trial that was cut off.
pub(super) fn try_out(project: &Project, becalm: &Path, folder: &Path) -> Result<Row> {
    let failure = match steps(project, becalm, folder) {
        Ok(()) => None,
        Err(error) if error.is::<CutOff>() => return Err(error.context(project.name)),
        Err(error) => Some(said(&error, project, folder)),
    };
    Ok(Row { name: project.name, releases: project.releases, harness: project.harness, failure })
}

/// Writes why a project failed, and the edit that helps; where it was tried is nobody's concern.
fn said(error: &anyhow::Error, project: &Project, folder: &Path) -> String {
    let said = format!("{error:#}").replace(&format!("{}/", folder.display()), "");
    match project.edit {
        Some(edit) => format!("{said} ({edit})"),
        None => said,
    }
}

fn steps(project: &Project, becalm: &Path, folder: &Path) -> Result<()> {
    let home = repository(project, folder).context("it cannot be fetched")?;
    let path = path(project, folder).context("its harness cannot be installed")?;
    let said = |words: &[&str]| answered(project, becalm, &home, &path, words);
    let suite = said(&["init", "--force"])?;
    let wanted = format!("found {} ({})", project.only, project.harness);
    ensure!(suite.contains(&wanted), "init does not say `{wanted}`");
    said(&["run", "--suite", "--only", project.only, "--rounds", "2"])?;
    let [older, newer] = project.releases.map(tag);
    let mut words = vec!["compare", "--harness", project.harness, "--rounds", "2"];
    words.extend(["--rev", &older, "--rev", &newer]);
    words.extend(project.filter.into_iter().flat_map(|filter| ["--filter", filter]));
    if !project.build.is_empty() {
        words.extend(["--build", project.build]);
    }
    words.push("--");
    words.extend(project.command);
    said(&words).map(drop)
}

/// Returns where programs are looked for: Python with what the project needs goes before that of the machine.
fn path(project: &Project, folder: &Path) -> Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if project.registry == Registry::Debian {
        install::debian(project.needs)?;
    }
    if project.registry != Registry::Python {
        return Ok(path);
    }
    let python = install::python(&folder.join("python"), project.needs)?;
    let before = python.parent().map(Path::to_owned);
    Ok(std::env::join_paths(before.into_iter().chain(std::env::split_paths(&path)))?)
}

/// Runs becalm and returns what it said; fails with its last words.
fn answered(
    project: &Project,
    becalm: &Path,
    home: &Path,
    path: &OsStr,
    words: &[&str],
) -> Result<String> {
    let mut command = Command::new(becalm);
    command.args(words).envs(project.env.iter().copied());
    // Each project builds in its own folder, whatever this one does.
    command.env_remove("CARGO_TARGET_DIR");
    command.env("PATH", path).env("NO_COLOR", "1").current_dir(home).stdin(Stdio::null());
    let output = command.output().with_context(|| format!("cannot start {}", becalm.display()))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.code() {
        Some(code) if ANSWERS.contains(&code) => Ok(said),
        Some(code) if code < FIRST_SIGNAL => bail!("{}: {}", words[0], last(&said)),
        // becalm itself, or what it had started and passed on.
        _ => Err(anyhow!(CutOff)),
    }
}

/// Returns what was said in the end, as one line: of what a program says about its failure the line with the reason,
/// else the last two without becalm's count of what failed.
fn last(said: &str) -> String {
    const REASONS: [&str; 5] =
        ["No such file", "Cannot find", "cannot find", "Error: ", "[ERROR] "];
    const NOISE: [&str; 3] = ["suite: ", "warning: 2 rounds", "error: 1 of 1"];
    let is_noise = |line: &str| line.is_empty() || NOISE.iter().any(|word| line.starts_with(word));
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !is_noise(line)).collect();
    let is_reason = |line: &&&str| REASONS.iter().any(|word| line.contains(word));
    match lines.iter().find(is_reason) {
        Some(reason) => (*reason).to_owned(),
        None => lines[lines.len().saturating_sub(2)..].join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_that_was_cut_off_is_no_failure_of_the_project() {
        let ended = |code: &str| {
            let (sh, here) = (Path::new("/bin/sh"), Path::new("/"));
            let path = std::env::var_os("PATH").unwrap_or_default();
            answered(&super::super::table::PROJECTS[0], sh, here, &path, &["-c", code])
        };
        for code in ["exit 143", "kill -9 $$"] {
            assert!(ended(code).unwrap_err().is::<CutOff>(), "{code}");
        }
        assert!(ended("exit 3").is_ok());
        assert_eq!(ended("echo no >&2; exit 4").unwrap_err().to_string(), "-c: no");
    }

    #[test]
    fn a_failure_is_told_by_its_reason_or_its_last_lines() {
        assert_eq!(last("1\n2\n\n 3\nerror: 1 of 1 benchmark failed"), "2; 3");
        assert_eq!(
            last("x\nError: Cannot find module 'y'\n  at z\n}"),
            "Error: Cannot find module 'y'"
        );
        assert_eq!(last(""), "");
    }
}
