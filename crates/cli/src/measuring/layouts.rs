//! `--build` with `{link_seed}`: the same programs, linked in several orders.

use std::fs;
use std::path::{Path, PathBuf};

use becalm_model::{SessionNote, Subject, with_causes};
use becalm_runner::{Environment, Interrupt, Program, User, WorkFolder};
use becalm_stats::decide::paired::fewest_rounds;

use super::build::{BuildError, build};
use super::flags::{BackendFlag, MeasureFlags};
use super::same::same_content;
use crate::error::CommandError;
use crate::ui::Ui;

/// Layouts that are built unless the user says otherwise.
const LAYOUTS: u32 = 10;

/// What stands for the seed in a build command.
pub(crate) const LINK_SEED: &str = "{link_seed}";

/// Programs in several layouts. The copies are removed when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Layouts {
    /// For each subject its programs, by the order of the seeds.
    programs: Vec<Vec<PathBuf>>,
    /// The seeds of these programs.
    seeds: Vec<u32>,
    /// How many were built, those that gave what another had given among them.
    built: usize,
    folder: Option<WorkFolder>,
}

impl Layouts {
    /// Says in how many layouts the flags ask for every program.
    pub(crate) fn count(flags: &MeasureFlags) -> u32 {
        let seeded = flags.build.as_ref().is_some_and(|command| command.contains(LINK_SEED));
        if seeded { flags.layouts.unwrap_or(LAYOUTS) } else { 1 }
    }

    /// Builds here by `command`, once for each seed if it asks for one, and keeps a copy of every program.
    pub(crate) fn build(
        command: &str,
        flags: &MeasureFlags,
        subjects: &[Subject],
        user: Option<&User>,
        interrupt: &Interrupt,
        ui: &Ui,
    ) -> Result<Self, CommandError> {
        Self::refuse_senseless(flags)?;
        let mut layouts = Self::none(subjects.len());
        let count = Self::count(flags);
        for seed in 1..=count {
            Self::step(command, Path::new("."), seed, user, interrupt, ui)
                .map_err(BuildError::error)?;
            if count > 1 {
                for (index, subject) in subjects.iter().enumerate() {
                    layouts.keep(index, &subject.command[0], Path::new("."), seed, user)?;
                }
            }
        }
        if count > 1 {
            ui.say(format!("what the build command writes here is now that of layout {count}"));
        }
        layouts.leave_out_repeated();
        Ok(layouts)
    }

    /// Refuses several layouts of a build that takes no seed.
    pub(crate) fn refuse_senseless(flags: &MeasureFlags) -> Result<(), CommandError> {
        if flags.layouts.is_some() && Self::count(flags) == 1 {
            return Err(CommandError::usage(format!(
                "--layouts does nothing: the build command has no {LINK_SEED}"
            )));
        }
        if flags.backend == BackendFlag::Callgrind && Self::count(flags) > 1 {
            return Err(CommandError::usage(format!(
                "--backend callgrind counts instructions, which no layout changes: leave {LINK_SEED} out of --build, or \
                 say --layouts 1"
            )));
        }
        Ok(())
    }

    /// Returns layouts of so many subjects, none of which is built yet.
    pub(crate) fn none(subjects: usize) -> Self {
        Self { programs: vec![Vec::new(); subjects], ..Self::default() }
    }

    /// Starts a subject anew, which may be one more than there are.
    pub(crate) fn open(&mut self, subject: usize) {
        self.programs.resize_with(self.programs.len().max(subject + 1), Vec::new);
        self.programs[subject].clear();
    }

    /// Removes the programs of a subject.
    pub(crate) fn forget(&mut self, subject: usize) {
        for path in self.programs.get_mut(subject).map(std::mem::take).unwrap_or_default() {
            // What stays is removed in the end.
            let _ = self.folder.as_ref().map(|folder| folder.as_owner(|| fs::remove_file(path)));
        }
    }

    /// Returns the programs of a subject, by the order of the seeds; none where there is one build.
    pub(crate) fn programs(&self, subject: usize) -> &[PathBuf] {
        self.programs.get(subject).map_or(&[], Vec::as_slice)
    }

    /// Returns those of these subjects alone, as long as these here are kept.
    pub(crate) fn of_subjects(&self, subjects: &[usize]) -> Self {
        let programs = subjects.iter().map(|&subject| self.programs(subject).to_vec()).collect();
        let mut layouts = Self { programs, ..Self::default() };
        layouts.leave_out_repeated();
        layouts
    }

    /// Puts the programs of the first subject a second time behind themselves.
    pub(crate) fn repeat_first(&mut self) {
        let again = self.programs.first().cloned().unwrap_or_default();
        self.programs.insert(1, again);
    }

    /// Runs the build command for one seed.
    pub(crate) fn step(
        command: &str,
        folder: &Path,
        seed: u32,
        user: Option<&User>,
        interrupt: &Interrupt,
        ui: &Ui,
    ) -> Result<(), BuildError> {
        let command = command.replace(LINK_SEED, &seed.to_string());
        ui.say(format!("building: {command}"));
        build(&command, folder, user, interrupt)
    }

    /// Keeps a copy of the program of a subject, as it was just built in `folder`. All copies have names of
    /// the same length: the name of a program lies on its stack.
    pub(crate) fn keep(
        &mut self,
        subject: usize,
        program: &str,
        folder: &Path,
        seed: u32,
        user: Option<&User>,
    ) -> Result<(), CommandError> {
        if !program.contains('/') || Path::new(program).is_absolute() {
            return Err(CommandError::usage(format!(
                "`{program}` is no program that is built here, so it has no layouts"
            ))
            .hint(
                "name the program by its path, as in ./prog; an interpreter cannot be linked anew",
            ));
        }
        let failed = |path: &Path, error: &std::io::Error| {
            CommandError::measure(format!("cannot keep a copy of {}: {error}", path.display()))
        };
        let from = folder.join(program);
        let place = match &self.folder {
            Some(place) => place,
            None => self
                .folder
                .insert(WorkFolder::for_programs(user).map_err(|error| failed(&from, &error))?),
        };
        let name = format!("{subject:03}-{seed:04}");
        let to = place.keep_copy(&from, &name).map_err(|error| failed(&from, &error))?;
        self.programs[subject].push(to);
        Ok(())
    }

    /// Returns the programs of a subject with its arguments.
    pub(crate) fn of(
        &self,
        subject: usize,
        command: &[String],
        environment: &Environment,
    ) -> Result<Vec<Program>, CommandError> {
        let programs = self.programs.get(subject).map_or(&[][..], Vec::as_slice);
        programs
            .iter()
            .map(|path| {
                let mut words = command.to_vec();
                words[0] = path.display().to_string();
                Program::resolve(&words, environment.get("PATH".as_ref()), None)
                    .map_err(|error| CommandError::measure(with_causes(&error)))
            })
            .collect()
    }

    /// Leaves out the layouts in which every program is as in an earlier one: they are that layout again, and
    /// say nothing more about others.
    pub(crate) fn leave_out_repeated(&mut self) {
        self.built = self.programs.first().map_or(0, Vec::len);
        let are_same = |a: usize, b: usize| {
            let mut pairs = self.programs.iter().map(|programs| (programs.get(a), programs.get(b)));
            pairs.all(|pair| matches!(pair, (Some(a), Some(b)) if same_content(a, b)))
        };
        let mut kept: Vec<usize> = Vec::new();
        for index in 0..self.built {
            if !kept.iter().any(|&earlier| are_same(earlier, index)) {
                kept.push(index);
            }
        }
        for programs in &mut self.programs {
            *programs = kept.iter().filter_map(|&index| programs.get(index).cloned()).collect();
        }
        let seed = |index: usize| u32::try_from(index + 1).expect("as many as a flag can ask for");
        self.seeds = kept.into_iter().map(seed).collect();
        if self.seeds.len() < 2 {
            self.seeds.clear();
            self.programs.iter_mut().for_each(Vec::clear);
        }
    }

    /// Returns the seeds of the layouts that rounds run; none where there is one build.
    pub(crate) fn seeds(&self) -> &[u32] {
        &self.seeds
    }

    /// Says how many different programs the seeds gave; the reader has to know if a seed changes nothing, or
    /// if there are too few for a verdict.
    pub(crate) fn note(&self, confidence: f64) -> Option<SessionNote> {
        let fewest = fewest_rounds(1.0 - confidence) as usize;
        match (self.built, self.seeds.len()) {
            (0 | 1, _) => None,
            (built, 0) => Some(SessionNote::OneLayout { built }),
            (built, different) => {
                Some(SessionNote::Layouts { built, different, too_few: different < fewest })
            }
        }
    }
}
