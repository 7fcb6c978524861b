//! `--rev`: revisions of a repository, each built in a worktree of its own.
//!
//! All are built at the same place, one after the other, and moved away: compilers put the place into
//! programs, and builds of the same sources would differ otherwise. While a revision is measured a link at that
//! place leads to its build.

mod git;

use std::fs;
use std::path::{Path, PathBuf};

use becalm_model::Subject;
use becalm_runner::session::Stand;
use becalm_runner::{Interrupt, User, WorkFolder};

use self::git::{Commit, Repository};
use super::flags::MeasureFlags;
use super::layouts::Layouts;
use crate::error::CommandError;
use crate::ui::Ui;

/// The working tree as it is, in place of a revision.
const WORKING_TREE: &str = ".";

/// Revisions that were built. The worktrees are removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Revisions {
    built: Vec<Built>,
    /// Their programs, where they were built in several layouts.
    pub(crate) layouts: Layouts,
    repository: Repository,
    place: PathBuf,
    /// Dropped last: it holds everything.
    folder: Option<WorkFolder>,
    /// What was built, and what the reader of a record has to know beside that.
    pub(crate) notes: Vec<String>,
}

#[derive(Debug)]
struct Built {
    name: String,
    commit: Commit,
    folder: PathBuf,
}

impl Drop for Revisions {
    fn drop(&mut self) {
        drop(self.folder.take());
        self.repository.prune_worktrees();
    }
}

impl Revisions {
    /// Checks out every revision and builds it as the flags say, in all layouts if they ask for several. The
    /// command to be measured is `words`.
    pub(crate) fn build(
        revisions: &[String],
        words: &[String],
        flags: &MeasureFlags,
        user: Option<&User>,
        interrupt: &Interrupt,
        ui: &Ui,
    ) -> Result<Self, CommandError> {
        Layouts::refuse_senseless(flags)?;
        let repository = Repository::here(user.cloned())?;
        let mut notes = Vec::new();
        let commits = revisions
            .iter()
            .map(|name| resolve(&repository, name, &mut notes))
            .collect::<Result<Vec<_>, _>>()?;
        note_uncommitted(&repository, revisions, &mut notes)?;
        let folder = WorkFolder::for_builds(&cache(user), user).map_err(|error| {
            CommandError::measure(format!("no folder for the builds can be made: {error}"))
        })?;
        let place = folder.path().join("tree");
        let mut all = Self {
            built: Vec::new(),
            layouts: Layouts::none(revisions.len()),
            repository,
            place: place.clone(),
            folder: Some(folder),
            notes,
        };
        for (index, (name, commit)) in revisions.iter().zip(commits).enumerate() {
            all.repository.add_worktree(&place, &commit)?;
            if let Some(command) = &flags.build {
                ui.say(format!("{name} is {}, {}", commit.short(), commit.title));
                let here = place.join(all.repository.inside());
                all.make(index, command, words, &here, flags, user, interrupt, ui).map_err(
                    |error| {
                        let message = format!("{name} ({}): {}", commit.short(), error.message);
                        CommandError { message, ..error }
                    },
                )?;
            }
            let to = place.with_file_name(index.to_string());
            fs::rename(&place, &to).map_err(|error| failed(&to, &error))?;
            all.built.push(Built { name: name.clone(), commit, folder: to });
        }
        all.layouts.leave_out_repeated();
        let described = all.described(flags.build.as_deref());
        all.notes.splice(0..0, described);
        Ok(all)
    }

    /// Builds the revision that is checked out.
    #[expect(clippy::too_many_arguments, reason = "what a build needs comes from as many places")]
    fn make(
        &mut self,
        index: usize,
        command: &str,
        words: &[String],
        here: &Path,
        flags: &MeasureFlags,
        user: Option<&User>,
        interrupt: &Interrupt,
        ui: &Ui,
    ) -> Result<(), CommandError> {
        let count = Layouts::count(flags);
        for seed in 1..=count {
            Layouts::step(command, here, seed, user, interrupt, ui)?;
            if count > 1 {
                let program = found(&words[0], here, "the revision")?;
                self.layouts.keep(index, &program, here, seed, user)?;
            }
        }
        Ok(())
    }

    /// Returns a subject for each revision: the same command, started in the folder of its build.
    pub(crate) fn subjects(&self, command: &[String]) -> Result<Vec<Subject>, CommandError> {
        self.built
            .iter()
            .map(|one| {
                let mut command = command.to_vec();
                command[0] = found(&command[0], &self.start(one), &one.name)?;
                Ok(Subject {
                    name: format!("{} ({})", one.name, one.commit.short()),
                    command,
                    parameters: vec![("revision".to_owned(), one.commit.id.clone())],
                })
            })
            .collect()
    }

    fn start(&self, one: &Built) -> PathBuf {
        one.folder.join(self.repository.inside())
    }

    /// Returns where each subject stands.
    pub(crate) fn stands(&self) -> Vec<Stand> {
        let stand = |one: &Built| Stand {
            folder: one.folder.clone(),
            place: self.place.clone(),
            inside: self.repository.inside().to_owned(),
        };
        self.built.iter().map(stand).collect()
    }

    /// Says so, if the program is the same in all builds and lies inside them.
    pub(crate) fn identical(&self, command: &[String]) -> Option<String> {
        let first = Path::new(command.first()?);
        if first.is_absolute() || !command[0].contains('/') || self.built.len() < 2 {
            return None;
        }
        let files: Vec<PathBuf> = self
            .built
            .iter()
            .filter_map(|one| {
                let start = self.start(one);
                Some(start.join(found(&command[0], &start, &one.name).ok()?))
            })
            .collect();
        let are_same = files.len() == self.built.len()
            && files.windows(2).all(|two| super::same::same_content(&two[0], &two[1]));
        are_same.then(|| self.told_identical(&command[0]))
    }

    fn told_identical(&self, program: &str) -> String {
        let names: Vec<&str> = self.built.iter().map(|one| one.name.as_str()).collect();
        let (first, last) = (&self.built[0].commit, &self.built[self.built.len() - 1].commit);
        let differing = self.repository.difference(first, last).unwrap_or_default();
        let files = match &differing[..] {
            [] => "the revisions have the same files".to_owned(),
            files if files.len() <= 5 => format!("the revisions differ in {}", files.join(", ")),
            files => format!("the revisions differ in {} files", files.len()),
        };
        format!(
            "identical binaries: {program} is the same, byte for byte, in {}; {files}. Nothing was measured: what \
             is the same program is not faster or slower",
            names.join(" and ")
        )
    }

    /// Describes what was built, for the record.
    fn described(&self, command: Option<&str>) -> Vec<String> {
        let by = command.map_or("not built".to_owned(), |command| format!("built by `{command}`"));
        self.built
            .iter()
            .map(|one| format!("{} is {}, \"{}\", {by}", one.name, one.commit.id, one.commit.title))
            .collect()
    }
}

fn resolve(
    repository: &Repository,
    name: &str,
    notes: &mut Vec<String>,
) -> Result<Commit, CommandError> {
    if name != WORKING_TREE {
        return repository.commit(name);
    }
    let untracked = repository.untracked()?;
    if !untracked.is_empty() {
        notes.push(format!(
            "{} that git does not know {} no part of the working tree that was built, such as {}",
            count(untracked.len(), "file"),
            if untracked.len() == 1 { "is" } else { "are" },
            untracked[0]
        ));
    }
    if let Some(commit) = repository.working_tree()? {
        return Ok(commit);
    }
    notes.push("the working tree has no change: `.` is HEAD".to_owned());
    repository.commit("HEAD")
}

fn note_uncommitted(
    repository: &Repository,
    revisions: &[String],
    notes: &mut Vec<String>,
) -> Result<(), CommandError> {
    let changed = repository.changed()?;
    if !changed.is_empty() && !revisions.iter().any(|name| name == WORKING_TREE) {
        notes.push(format!(
            "the working tree has changes that are not committed ({}{}), and that were not measured; --rev . is \
             the working tree as it is",
            changed[0],
            if changed.len() > 1 { format!(" and {} more", changed.len() - 1) } else { String::new() }
        ));
    }
    Ok(())
}

fn count(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

fn failed(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::measure(format!("{}: {error}", path.display()))
}

/// Returns where builds go: a place of the user that is no working tree and may be executed from.
fn cache(user: Option<&User>) -> PathBuf {
    let variables = match user {
        Some(user) => user.environment(std::env::vars_os()),
        None => std::env::vars_os().collect(),
    };
    let of = |name: &str| {
        let value = variables.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value);
        value.filter(|value| !value.is_empty()).map(PathBuf::from)
    };
    of("XDG_CACHE_HOME")
        .or_else(|| of("HOME").map(|home| home.join(".cache")))
        .filter(|path| path.is_dir())
        .unwrap_or_else(std::env::temp_dir)
}

/// Puts the newest file that fits in place of a `*` in the name of a program: cargo puts a hash into the
/// names of benchmarks.
fn found(program: &str, folder: &Path, revision: &str) -> Result<String, CommandError> {
    let Some((before, after)) = program.split_once('*') else { return Ok(program.to_owned()) };
    let (parent, prefix) = before.rsplit_once('/').unwrap_or((".", before));
    let fits = |name: &str| {
        // Beside a program lies a file of what it depends on.
        name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(after)).is_some()
            && Path::new(name).extension().is_none_or(|ending| ending != "d")
    };
    let entries = fs::read_dir(folder.join(parent)).into_iter().flatten().flatten();
    let newest = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok().filter(|name| fits(name))?;
            let facts = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some((facts.modified().ok()?, name))
        })
        .max();
    newest.map(|(_, name)| format!("{parent}/{name}")).ok_or_else(|| {
        CommandError::measure(format!("{revision}: no file fits {program} in its build"))
    })
}
