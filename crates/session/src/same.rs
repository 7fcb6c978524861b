//! Subjects that are the same program: a comparison of them shows what the machine does.

use std::fs::{File, Metadata};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use becalm_model::{SessionNote, Subject};
use becalm_runner::rounds::SpawnSubject;

/// A command would be measured twice after different setups: all setups run before the first run,
/// so the later one replaces what the earlier one has built.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{earlier}` and `{later}` are the same command after different setups; all setups run before \
     the first run, so the later one would replace what the earlier one made"
)]
pub struct ReplacedBySetup {
    /// One subject.
    pub earlier: String,
    /// The other.
    pub later: String,
}

/// Returns a note for every subject that is the same as an earlier one. Inside a simulation
/// (`is_wrapped`) only commands can be distinguished.
pub(crate) fn notes(
    started: &[SpawnSubject],
    subjects: &[Subject],
    is_wrapped: bool,
) -> Vec<SessionNote> {
    let mut notes = Vec::new();
    for later in 1..subjects.len() {
        notes.extend((0..later).find_map(|earlier| {
            let [a, b] = [earlier, later].map(|index| (&started[index], &subjects[index]));
            note(a, b, is_wrapped)
        }));
    }
    notes
}

/// Returns the programs that subjects start, but those of builds, which are made anew for each session, of the same commit.
pub(crate) fn given_programs(started: &[SpawnSubject]) -> impl Iterator<Item = &Path> {
    let given = started.iter().filter(|subject| subject.stand.is_none());
    given.filter_map(|subject| Some(subject.program.as_ref().ok()?.path()))
}

/// Returns a note for every program whose file changed after the resumed session had begun. The
/// time of the inode counts: a program that is moved or copied into place may keep the time of its
/// content.
pub fn changed_since<'a>(
    started_at: f64,
    programs: impl Iterator<Item = &'a Path>,
) -> Vec<SessionNote> {
    let mut paths: Vec<&Path> = programs.collect();
    paths.sort_unstable();
    paths.dedup();
    let changed_at = |facts: Metadata| facts.ctime() as f64 + facts.ctime_nsec() as f64 * 1e-9;
    let is_later = |path: &&Path| path.metadata().is_ok_and(|facts| changed_at(facts) > started_at);
    let changed = paths.into_iter().filter(is_later);
    changed.map(|path| SessionNote::ProgramChanged { path: path.display().to_string() }).collect()
}

/// Refuses a command that would be measured twice after different setups.
pub(crate) fn refuse_replaced(
    started: &[SpawnSubject],
    subjects: &[Subject],
) -> Result<(), ReplacedBySetup> {
    for (later, subject) in subjects.iter().enumerate() {
        let is_replaced = |earlier: &usize| {
            subjects[*earlier].command == subject.command
                && started[*earlier].stand.is_none()
                && started[*earlier].hooks.setup != started[later].hooks.setup
                && hooks_of_runs(&started[*earlier]) == hooks_of_runs(&started[later])
        };
        if let Some(earlier) = (0..later).find(is_replaced) {
            return Err(ReplacedBySetup {
                earlier: subjects[earlier].name.clone(),
                later: subject.name.clone(),
            });
        }
    }
    Ok(())
}

/// What is done around each run.
fn hooks_of_runs(subject: &SpawnSubject) -> [Option<&String>; 2] {
    [subject.hooks.prepare.as_ref(), subject.hooks.conclude.as_ref()]
}

fn note(
    a: (&SpawnSubject, &Subject),
    b: (&SpawnSubject, &Subject),
    is_wrapped: bool,
) -> Option<SessionNote> {
    let (names, commands) = ((&a.0.name, &b.0.name), (&a.1.command, &b.1.command));
    if hooks_of_runs(a.0) != hooks_of_runs(b.0) {
        return None;
    }
    let are_builds = a.0.stand.is_some();
    if commands.0 == commands.1 && !are_builds {
        return Some(SessionNote::SameCommand { subjects: [names.0.clone(), names.1.clone()] });
    }
    // What is started is then the same for all.
    if is_wrapped {
        return None;
    }
    let (Some(file_a), Some(file_b)) = (file(a.0), file(b.0)) else { return None };
    let programs = (file_a, file_b);
    // The same build twice is what was asked for.
    if are_builds && programs.0 == programs.1 {
        return None;
    }
    if commands.0.get(1..) == commands.1.get(1..) && same_content(&programs.0, &programs.1) {
        let programs = [programs.0, programs.1].map(|path| path.display().to_string());
        return Some(SessionNote::SameProgram { programs });
    }
    None
}

/// Returns the file of a subject, which may lie in a build.
fn file(subject: &SpawnSubject) -> Option<PathBuf> {
    let path = subject.program.as_ref().ok()?.path();
    let built = subject.stand.as_ref().map(|stand| stand.built().join(path));
    Some(built.unwrap_or_else(|| path.to_owned()))
}

/// Says whether two files have the same bytes; `false` if one cannot be read. They are read piece
/// by piece: becalm's own memory is a floor under the `max_rss` of its subjects.
pub(crate) fn same_content(a: &Path, b: &Path) -> bool {
    let (Ok(facts_a), Ok(facts_b)) = (a.metadata(), b.metadata()) else { return false };
    if (facts_a.dev(), facts_a.ino()) == (facts_b.dev(), facts_b.ino()) {
        return true;
    }
    let (Ok(file_a), Ok(file_b)) = (File::open(a), File::open(b)) else { return false };
    facts_a.len() == facts_b.len()
        && equal(BufReader::new(file_a), BufReader::new(file_b)).unwrap_or(false)
}

fn equal(mut a: impl BufRead, mut b: impl BufRead) -> std::io::Result<bool> {
    loop {
        let (left, right) = (a.fill_buf()?, b.fill_buf()?);
        let length = left.len().min(right.len());
        if left[..length] != right[..length] || left.is_empty() != right.is_empty() {
            return Ok(false);
        }
        if length == 0 {
            return Ok(true);
        }
        a.consume(length);
        b.consume(length);
    }
}
