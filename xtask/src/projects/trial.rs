//! One project: what becalm does with it, step by step until one fails.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

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

/// Tries one project.
pub(super) fn try_out(project: &Project, becalm: &Path, folder: &Path) -> Row {
    let failure = steps(project, becalm, folder).err().map(|error| {
        // Where it was tried is nobody's concern.
        let said = format!("{error:#}").replace(&format!("{}/", folder.display()), "");
        project.edit.map_or(said.clone(), |edit| format!("{said} ({edit})"))
    });
    Row { name: project.name, releases: project.releases, harness: project.harness, failure }
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
    if !output.status.code().is_some_and(|code| ANSWERS.contains(&code)) {
        bail!("{}: {}", words[0], last(&said));
    }
    Ok(said)
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
    fn a_failure_is_told_by_its_reason_or_its_last_lines() {
        assert_eq!(last("1\n2\n\n 3\nerror: 1 of 1 benchmark failed"), "2; 3");
        assert_eq!(
            last("x\nError: Cannot find module 'y'\n  at z\n}"),
            "Error: Cannot find module 'y'"
        );
        assert_eq!(last(""), "");
    }
}
