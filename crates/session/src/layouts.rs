//! `--build` with `{link_seed}`: the same programs, linked in several orders.

use std::fs;
use std::path::{Path, PathBuf};

use becalm_model::conditions::Backend;
use becalm_model::terms::RunTerms;
use becalm_model::{SessionNote, Subject, with_causes};
use becalm_runner::{Environment, Interrupt, LaunchError, Program, WorkFolder};
use becalm_stats::decide::paired::fewest_rounds;

use crate::build::{BuildError, build};
use crate::error::Fault;
use crate::event::{Event, Listener};
use crate::same::same_content;

/// Layouts that are built unless the user says otherwise.
const LAYOUTS: u32 = 10;

/// The placeholder of the seed in a build command.
pub const LINK_SEED: &str = "{link_seed}";

/// Why a program cannot be built in several layouts.
#[derive(Debug, thiserror::Error)]
pub enum LayoutsError {
    /// The build takes no seed.
    #[error("--layouts does nothing: the build command does not contain {LINK_SEED}")]
    NoSeed,
    /// Instructions do not depend on it.
    #[error(
        "--backend callgrind counts instructions, which do not depend on the layout: remove \
         {LINK_SEED} from --build, or set --layouts 1"
    )]
    Counted,
    /// The program is not one that is built here.
    #[error("`{0}` is not a program that is built here, so it has no layouts")]
    NotBuilt(String),
    /// There is no space for it, or no permission.
    #[error("cannot keep a copy of {}: {source}", path.display())]
    Copy {
        /// The program.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A copy cannot be started.
    #[error("{}", with_causes(.0))]
    Program(LaunchError),
}

impl LayoutsError {
    /// Returns which kind of failure it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::NoSeed | Self::Counted | Self::NotBuilt(_) => Fault::Usage,
            Self::Copy { .. } | Self::Program(_) => Fault::Measurement,
        }
    }
}

/// Programs in several layouts. The copies are removed when this is dropped.
#[derive(Debug, Default)]
pub struct Layouts {
    /// For each subject its programs, by the order of the seeds.
    programs: Vec<Vec<PathBuf>>,
    /// The seeds of these programs.
    seeds: Vec<u32>,
    /// How many were built, including those identical to others.
    built: usize,
    folder: Option<WorkFolder>,
}

impl Layouts {
    /// Says whether every program is there in one layout alone.
    pub fn is_single(&self) -> bool {
        self.seeds.is_empty()
    }

    /// Says in how many layouts every program is wanted.
    pub fn count(runs: &RunTerms) -> u32 {
        let seeded = runs.build.as_ref().is_some_and(|command| command.contains(LINK_SEED));
        if seeded { runs.layouts.unwrap_or(LAYOUTS) } else { 1 }
    }

    /// Builds here by `command`, once for each seed if it asks for one, and keeps a copy of every program.
    pub fn build(
        command: &str,
        runs: &RunTerms,
        subjects: &[Subject],
        interrupt: &Interrupt,
        listener: Listener<'_>,
    ) -> Result<Self, BuildError> {
        Self::refuse_senseless(runs)?;
        let mut layouts = Self::none(subjects.len());
        let count = Self::count(runs);
        for seed in 1..=count {
            Self::step(command, Path::new("."), seed, interrupt, listener)?;
            if count > 1 {
                for (index, subject) in subjects.iter().enumerate() {
                    layouts.keep(index, &subject.command[0], Path::new("."), seed)?;
                }
            }
        }
        if count > 1 {
            listener.hears(Event::LastLayoutStays(count));
        }
        layouts.leave_out_repeated();
        Ok(layouts)
    }

    /// Refuses several layouts of a build that takes no seed.
    pub fn refuse_senseless(runs: &RunTerms) -> Result<(), LayoutsError> {
        if runs.layouts.is_some() && Self::count(runs) == 1 {
            return Err(LayoutsError::NoSeed);
        }
        if runs.backend == Backend::Callgrind && Self::count(runs) > 1 {
            return Err(LayoutsError::Counted);
        }
        Ok(())
    }

    /// Returns layouts of so many subjects, none of which is built yet.
    pub fn none(subjects: usize) -> Self {
        Self { programs: vec![Vec::new(); subjects], ..Self::default() }
    }

    /// Starts a subject anew, which may be one more than there are.
    pub fn open(&mut self, subject: usize) {
        self.programs.resize_with(self.programs.len().max(subject + 1), Vec::new);
        self.programs[subject].clear();
    }

    /// Removes the programs of a subject.
    pub fn forget(&mut self, subject: usize) {
        for path in self.programs.get_mut(subject).map(std::mem::take).unwrap_or_default() {
            // What stays is removed in the end.
            let _ = fs::remove_file(path);
        }
    }

    /// Returns the programs of a subject, by the order of the seeds; none if there is one build.
    pub fn programs(&self, subject: usize) -> &[PathBuf] {
        self.programs.get(subject).map_or(&[], Vec::as_slice)
    }

    /// Returns those of these subjects alone, as long as these here are kept.
    pub fn of_subjects(&self, subjects: &[usize]) -> Self {
        let programs = subjects.iter().map(|&subject| self.programs(subject).to_vec()).collect();
        let mut layouts = Self { programs, ..Self::default() };
        layouts.leave_out_repeated();
        layouts
    }

    /// Puts the programs of the first subject a second time behind themselves.
    pub fn repeat_first(&mut self) {
        // Without a build command there are none.
        if let Some(first) = self.programs.first().cloned() {
            self.programs.insert(1, first);
        }
    }

    /// Runs the build command for one seed.
    pub fn step(
        command: &str,
        folder: &Path,
        seed: u32,
        interrupt: &Interrupt,
        listener: Listener<'_>,
    ) -> Result<(), BuildError> {
        let command = command.replace(LINK_SEED, &seed.to_string());
        listener.hears(Event::Building(&command));
        build(&command, folder, interrupt)
    }

    /// Keeps a copy of the program of a subject, as it was just built in `folder`. All copies have names of
    /// the same length: the name of a program lies on its stack.
    pub fn keep(
        &mut self,
        subject: usize,
        program: &str,
        folder: &Path,
        seed: u32,
    ) -> Result<(), LayoutsError> {
        if !program.contains('/') || Path::new(program).is_absolute() {
            return Err(LayoutsError::NotBuilt(program.to_owned()));
        }
        let failed = |source| LayoutsError::Copy { path: folder.join(program), source };
        let from = folder.join(program);
        let place = match &self.folder {
            Some(place) => place,
            None => self.folder.insert(WorkFolder::for_programs().map_err(failed)?),
        };
        let name = format!("{subject:03}-{seed:04}");
        let to = place.keep_copy(&from, &name).map_err(failed)?;
        self.programs[subject].push(to);
        Ok(())
    }

    /// Returns the programs of a subject with its arguments.
    pub fn of(
        &self,
        subject: usize,
        command: &[String],
        environment: &Environment,
    ) -> Result<Vec<Program>, LayoutsError> {
        let programs = self.programs.get(subject).map_or(&[][..], Vec::as_slice);
        programs
            .iter()
            .map(|path| {
                let mut words = command.to_vec();
                words[0] = path.display().to_string();
                Program::resolve(&words, environment.get("PATH".as_ref()), None)
                    .map_err(LayoutsError::Program)
            })
            .collect()
    }

    /// Removes the layouts in which every program is the same as in an earlier one: they are that
    /// layout again, and add no information.
    pub fn leave_out_repeated(&mut self) {
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

    /// Returns the seeds of the layouts that rounds run; none if there is one build.
    pub fn seeds(&self) -> &[u32] {
        &self.seeds
    }

    /// Says how many different programs the seeds gave; the reader has to know if a seed changes nothing, or
    /// if there are too few for a verdict.
    pub fn note(&self, confidence: f64) -> Option<SessionNote> {
        let fewest = fewest_rounds(1.0 - confidence) as usize;
        match (self.built, self.seeds.len()) {
            (0 | 1, _) => None,
            (built, 0) => Some(SessionNote::LayoutsAlike { built }),
            (built, different) => {
                Some(SessionNote::Layouts { built, different, too_few: different < fewest })
            }
        }
    }
}
