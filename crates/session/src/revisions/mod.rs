//! `--rev`: revisions of a repository, each built in a worktree of its own.
//!
//! All are built at the same place, one after the other, and moved away: compilers put the place
//! into programs, and builds of the same sources would differ otherwise. While a revision is
//! measured, a link at that place leads to its build.

mod documentation;
mod git;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use becalm_model::terms::RunTerms;
use becalm_model::{Revision, SessionNote, Subject, with_causes};
use becalm_runner::rounds::Stand;
use becalm_runner::{Interrupt, Program, WorkFolder};

pub use self::documentation::is_documentation;
pub use self::git::{Commit, GitError, Lineage, MainBranch, Repository, Signed};

use crate::build::BuildError;
use crate::error::Fault;
use crate::event::{Event, Listener};
use crate::layouts::{Layouts, LayoutsError};

/// The working tree as it is, in place of a revision.
const WORKING_TREE: &str = ".";

/// Why there are no builds of revisions.
#[derive(Debug, thiserror::Error)]
pub enum RevisionsError {
    /// They have no place.
    #[error("cannot create a temporary folder for the builds: {0}")]
    Folder(std::io::Error),
    /// git does not answer.
    #[error(transparent)]
    Git(#[from] GitError),
    /// They cannot be built in several layouts.
    #[error(transparent)]
    Layouts(#[from] LayoutsError),
    /// One of them cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// git cannot include a change in a submodule.
    #[error(
        "--rev .: the submodule {0} has changes, which the snapshot of the working tree cannot \
         include"
    )]
    ChangedSubmodule(String),
}

impl RevisionsError {
    /// Returns which kind of failure it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Folder(_) => Fault::Measurement,
            Self::Git(error) => error.fault(),
            Self::Layouts(error) => error.fault(),
            Self::Build(error) => error.fault(),
            Self::ChangedSubmodule(_) => Fault::Usage,
        }
    }
}

/// Revisions that were built. The worktrees are removed when this is dropped.
#[derive(Debug)]
pub struct Revisions {
    built: Vec<Built>,
    /// Their programs, where they were built in several layouts.
    layouts: Layouts,
    repository: Repository,
    place: PathBuf,
    /// Dropped last: it holds everything.
    folder: Option<WorkFolder>,
    /// What was built, and what the reader of a record has to know about that.
    notes: Vec<SessionNote>,
}

/// What a session has to know about the builds that it measures, which the caller keeps.
#[derive(Debug, Default)]
pub struct Builds {
    /// Where each subject is.
    pub stands: Vec<Stand>,
    /// Their programs, where they were built in several layouts.
    pub layouts: Layouts,
    /// What the reader of a record has to know of them.
    pub notes: Vec<SessionNote>,
}

/// How revisions are built.
#[derive(Clone, Copy)]
pub struct Recipe<'a> {
    /// The command to be measured.
    pub words: &'a [String],
    /// How it is built.
    pub runs: &'a RunTerms,
    /// What ends it early.
    pub interrupt: &'a Interrupt,
    /// Who receives its events.
    pub listener: Listener<'a>,
}

#[derive(Debug, Clone)]
struct Built {
    name: String,
    commit: Commit,
    folder: PathBuf,
}

impl Drop for Revisions {
    fn drop(&mut self) {
        drop(self.folder.take());
        self.repository.forget_worktrees();
    }
}

impl Revisions {
    /// Starts with none.
    pub fn none(repository: Repository, recipe: Recipe<'_>) -> Result<Self, RevisionsError> {
        Layouts::refuse_senseless(recipe.runs)?;
        let folder = WorkFolder::for_builds(&cache()).map_err(RevisionsError::Folder)?;
        Ok(Self {
            built: Vec::new(),
            layouts: Layouts::none(0),
            repository,
            place: folder.path().join("tree"),
            folder: Some(folder),
            notes: Vec::new(),
        })
    }

    /// Checks out every revision and builds it as the flags say, in all layouts if they ask for several.
    pub fn build(revisions: &[String], recipe: Recipe<'_>) -> Result<Self, RevisionsError> {
        let repository = Repository::here("--rev")?;
        let mut notes = Vec::new();
        let commits = revisions
            .iter()
            .map(|name| resolve(&repository, name, &mut notes))
            .collect::<Result<Vec<_>, _>>()?;
        note_uncommitted(&repository, revisions, &mut notes)?;
        let mut all = Self::none(repository, recipe)?;
        for (name, commit) in revisions.iter().zip(commits) {
            all.add(name, commit, recipe)?;
        }
        all.layouts.leave_out_repeated();
        all.warn_of_missing(recipe);
        all.notes = all.described(recipe.runs.build.as_deref());
        all.notes.extend(notes);
        Ok(all)
    }

    /// Warns of a program that is not in the repository if nothing builds it.
    fn warn_of_missing(&self, recipe: Recipe<'_>) {
        let program = &recipe.words[0];
        if recipe.runs.build.is_some() || !is_inside(program) || program.contains('*') {
            return;
        }
        let missing = self.built.iter().find(|one| !self.start(one).join(program).exists());
        if let Some(one) = missing {
            recipe.listener.hears(Event::NotBuilt { revision: &one.name, program });
        }
    }

    /// Checks out and builds one more revision; returns its number. If that fails, nothing of it
    /// stays.
    pub fn add(
        &mut self,
        name: &str,
        commit: Commit,
        recipe: Recipe<'_>,
    ) -> Result<usize, BuildError> {
        let index = self.built.len();
        let place = self.place.clone();
        // It may still be the link that led to the last one that was measured.
        let _ = fs::remove_file(&place);
        let checked_out = self.repository.add_worktree(&place, &commit);
        let made = checked_out.map_err(BuildError::from).and_then(|()| {
            let Some(command) = &recipe.runs.build else { return Ok(()) };
            recipe.listener.hears(Event::BuildingRevision { name, commit: &commit });
            self.make(index, command, recipe)
        });
        let to = place.with_file_name(index.to_string());
        let made = made.and_then(|()| {
            fs::rename(&place, &to).map_err(|source| BuildError::Place { path: to.clone(), source })
        });
        if let Err(error) = made {
            let _ = fs::remove_dir_all(&place);
            // Ctrl-C ends git too: that says nothing of the revision.
            return Err(match recipe.interrupt.signal() {
                Some(signal) => BuildError::Stopped(signal),
                None => error.of(format!("{name} ({})", commit.short())),
            });
        }
        self.built.push(Built { name: name.to_owned(), commit, folder: to });
        Ok(index)
    }

    /// Builds the revision that is checked out.
    fn make(&mut self, index: usize, command: &str, recipe: Recipe<'_>) -> Result<(), BuildError> {
        let Recipe { words, runs, interrupt, listener } = recipe;
        let here = self.place.join(self.repository.inside());
        let count = Layouts::count(runs);
        self.layouts.open(index);
        for seed in 1..=count {
            Layouts::step(command, &here, seed, interrupt, listener)?;
            if count > 1 {
                let program = found(&words[0], &here, "the revision")?;
                if is_inside(&program) && !here.join(&program).exists() {
                    return Err(BuildError::NoProgram { command: command.to_owned(), program });
                }
                self.layouts.keep(index, &program, &here, seed)?;
            }
        }
        Ok(())
    }

    /// Removes a build that is no longer needed, in all its layouts; the others keep their numbers.
    pub fn forget(&mut self, index: usize) {
        // What stays is removed in the end.
        let _ = fs::remove_dir_all(&self.built[index].folder);
        self.layouts.forget(index);
    }

    /// Returns all builds.
    pub fn all(&mut self) -> Builds {
        Builds {
            stands: self.stands(),
            layouts: std::mem::take(&mut self.layouts),
            notes: self.notes.clone(),
        }
    }

    /// Returns some of the builds.
    pub fn some(&self, indices: &[usize]) -> Builds {
        let stands = self.stands();
        Builds {
            stands: indices.iter().map(|&index| stands[index].clone()).collect(),
            layouts: self.layouts.of_subjects(indices),
            notes: Vec::new(),
        }
    }

    /// Returns what is the same for builds of the same program, byte for byte, and for those of a
    /// script whose revisions have the same sources; `None` if the program is not part of the
    /// build.
    pub fn program(&self, index: usize, command: &[String]) -> Option<String> {
        if !is_inside(command.first()?) {
            return None;
        }
        let layouts = self.layouts.programs(index);
        let start = self.start(&self.built[index]);
        let files = if layouts.is_empty() {
            vec![start.join(found(&command[0], &start, &self.built[index].name).ok()?)]
        } else {
            layouts.to_vec()
        };
        let mut ids = files
            .iter()
            .map(|file| self.repository.content(file).ok())
            .collect::<Option<Vec<String>>>()?;
        if is_script(&files[0]) {
            let sources = self.repository.sources(&self.built[index].commit).ok()?;
            let list = self.place.with_file_name("sources");
            fs::write(&list, sources).ok()?;
            ids.push(self.repository.content(&list).ok()?);
        }
        Some(ids.join(" "))
    }

    /// Returns the subject of one build: the command, started in its folder.
    pub fn subject(&self, index: usize, command: &[String]) -> Result<Subject, BuildError> {
        let one = &self.built[index];
        let mut command = command.to_vec();
        let asked = command[0].clone();
        command[0] = found(&asked, &self.start(one), &one.name)?;
        Ok(Subject {
            name: format!("{} ({})", one.name, one.commit.short()),
            parameters: Vec::new(),
            revision: Some(Revision {
                built: one.commit.id.clone(),
                changes_of: one.commit.changes_of.clone(),
                program: Some(asked).filter(|asked| *asked != command[0]),
            }),
            command,
        })
    }

    /// Says why the program of a build cannot be started, if it is one of the build.
    pub fn wrong_with(&self, index: usize, subject: &Subject) -> Option<String> {
        let start = self.start(&self.built[index]);
        let found = Program::resolve(&subject.command, None, Some(&start));
        let error = found.err().filter(|_| is_inside(&subject.command[0]))?;
        Some(format!("`{}`: {}", subject.name, with_causes(&error)))
    }

    /// Returns a subject for each revision.
    pub fn subjects(&self, command: &[String]) -> Result<Vec<Subject>, BuildError> {
        (0..self.built.len()).map(|index| self.subject(index, command)).collect()
    }

    /// Gives the builds other names, one for each.
    pub fn rename(&mut self, names: &[&str]) {
        for (one, name) in self.built.iter_mut().zip(names) {
            (*name).clone_into(&mut one.name);
        }
    }

    /// Appends the first build a second time, to be measured against itself.
    pub fn repeat_first(&mut self, name: &str) {
        let again = Built { name: name.to_owned(), ..self.built[0].clone() };
        self.built.insert(1, again);
        self.layouts.repeat_first();
    }

    fn start(&self, one: &Built) -> PathBuf {
        one.folder.join(self.repository.inside())
    }

    /// Returns where each subject is.
    fn stands(&self) -> Vec<Stand> {
        let stand = |one: &Built| Stand {
            folder: one.folder.clone(),
            place: self.place.clone(),
            inside: self.repository.inside().to_owned(),
        };
        self.built.iter().map(stand).collect()
    }

    /// Says so if the program is the same in all builds and lies inside them. A script does not
    /// show what it starts: there the sources have to be the same too.
    pub fn identical(&self, command: &[String]) -> Option<SessionNote> {
        if !is_inside(command.first()?) || self.built.len() < 2 {
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
            && files.windows(2).all(|two| crate::same::same_content(&two[0], &two[1]));
        let are_same = are_same && (!is_script(&files[0]) || self.have_same_sources());
        are_same.then(|| self.identical_builds(&command[0]))
    }

    fn have_same_sources(&self) -> bool {
        let sources = |one: &Built| self.repository.sources(&one.commit).ok();
        let all: Option<Vec<String>> = self.built.iter().map(sources).collect();
        all.is_some_and(|all| all.windows(2).all(|two| two[0] == two[1]))
    }

    fn identical_builds(&self, program: &str) -> SessionNote {
        let (first, last) = (&self.built[0].commit, &self.built[self.built.len() - 1].commit);
        SessionNote::IdenticalBuilds {
            program: program.to_owned(),
            revisions: self.built.iter().map(|one| one.name.clone()).collect(),
            differing: self.repository.difference(first, last).unwrap_or_default(),
        }
    }

    /// Describes what was built, for the record.
    fn described(&self, command: Option<&str>) -> Vec<SessionNote> {
        self.built
            .iter()
            .map(|one| SessionNote::Revision {
                name: one.name.clone(),
                commit: one.commit.id.clone(),
                title: one.commit.title.clone(),
                built_by: command.map(str::to_owned),
            })
            .collect()
    }
}

fn resolve(
    repository: &Repository,
    name: &str,
    notes: &mut Vec<SessionNote>,
) -> Result<Commit, RevisionsError> {
    if name != WORKING_TREE {
        return Ok(repository.commit("--rev", name)?);
    }
    let untracked = repository.untracked()?;
    if !untracked.is_empty() {
        let (files, such_as) = (untracked.len(), untracked[0].clone());
        notes.push(SessionNote::UntrackedFiles { files, such_as });
    }
    if let Some(path) = repository.changed_submodules()?.first() {
        return Err(RevisionsError::ChangedSubmodule(path.clone()));
    }
    if let Some(commit) = repository.working_tree()? {
        return Ok(commit);
    }
    notes.push(SessionNote::WorkingTreeUnchanged);
    Ok(repository.commit("--rev", "HEAD")?)
}

fn note_uncommitted(
    repository: &Repository,
    revisions: &[String],
    notes: &mut Vec<SessionNote>,
) -> Result<(), GitError> {
    let changed = repository.changed()?;
    if !changed.is_empty() && !revisions.iter().any(|name| name == WORKING_TREE) {
        let (path, more) = (changed[0].clone(), changed.len() - 1);
        notes.push(SessionNote::UncommittedChanges { path, more });
    }
    Ok(())
}

/// Says whether a program lies where it is started, and so is one of each build.
fn is_inside(program: &str) -> bool {
    program.contains('/') && !Path::new(program).is_absolute()
}

/// Returns where builds go: a place of the user that is not a working tree and allows programs to
/// be executed.
fn cache() -> PathBuf {
    let of =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    of("XDG_CACHE_HOME")
        .or_else(|| of("HOME").map(|home| home.join(".cache")))
        .filter(|path| path.is_dir())
        .unwrap_or_else(std::env::temp_dir)
}

fn is_script(program: &Path) -> bool {
    let mut beginning = [0; 2];
    fs::File::open(program)
        .is_ok_and(|mut file| file.read_exact(&mut beginning).is_ok() && &beginning == b"#!")
}

/// Replaces a `*` in the name of a program by the newest file that matches: cargo puts a hash into
/// the names of benchmarks.
fn found(program: &str, folder: &Path, revision: &str) -> Result<String, BuildError> {
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
    newest.map(|(_, name)| format!("{parent}/{name}")).ok_or_else(|| BuildError::NoFileFits {
        revision: revision.to_owned(),
        program: program.to_owned(),
    })
}
