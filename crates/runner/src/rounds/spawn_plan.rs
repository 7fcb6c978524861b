//! Everything that the runs of a session have in common, and why one of them could not be made.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use becalm_machine::{Choice, Chooser, Width};
use becalm_model::Metric;
use becalm_model::conditions::{Cache, IsolatedCpus, Malloc, Membind, OwnTiming, Rest};
use becalm_model::terms::FailurePolicy;

use super::client::{ServerError, Serving};
use super::hook::Hook;
use super::plan::Conditioning;
use crate::extract::{ExtractError, Extractor};
use crate::harness::{Harness, HarnessError, ResultFolder};
use crate::iterations::{SeriesError, SeriesRule};
use crate::said::quoted;
use crate::timeit;
use crate::{
    BackendError, Callgrind, CounterPlan, Environment, LaunchError, Placement, Program, RunEnergy,
    Stderr, Stdin, Stdout, WorkFolder,
};

/// Why a run could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The process could not be started or measured.
    #[error("`{subject}`: {source}")]
    Launch {
        /// Name of the subject.
        subject: String,
        /// What went wrong.
        source: LaunchError,
    },
    /// It was clear before the first run that there can be none.
    #[error("`{subject}`: {why}")]
    NotReady {
        /// Name of the subject.
        subject: String,
        /// What is wrong, in words.
        why: String,
    },
    /// It did not end well, and what it should have given is not there.
    #[error("{}; its output ends with:{}", becalm_model::with_causes(error), quoted(said))]
    Said {
        /// What is not there.
        error: Box<RunError>,
        /// Its last lines.
        said: Vec<String>,
    },
    /// A metric is not in the subject's output.
    #[error("`{subject}`: {source}")]
    Metric {
        /// Name of the subject.
        subject: String,
        /// What went wrong.
        source: ExtractError,
    },
    /// The subject's output has no iterations.
    #[error("`{subject}`: cannot read the iterations from its output: {source}")]
    Iterations {
        /// Name of the subject.
        subject: String,
        /// What went wrong.
        source: SeriesError,
    },
    /// The build of a revision cannot be put in its place.
    #[error("`{subject}`: cannot put its build in place: {source}")]
    Stand {
        /// Name of the subject.
        subject: String,
        /// What went wrong.
        source: std::io::Error,
    },
    /// A harness gave no results.
    #[error("`{subject}`: {source}")]
    Harness {
        /// Name of the subject.
        subject: String,
        /// What went wrong.
        source: Box<HarnessError>,
    },
    /// A worker gave no values.
    #[error("`{subject}`: {source}")]
    Statement {
        /// Name of the subject.
        subject: String,
        /// What went wrong.
        source: timeit::AnswerError,
    },
    /// The simulation gave no counts.
    #[error("`{subject}`: {source}")]
    Backend {
        /// Name of the subject.
        subject: String,
        /// What went wrong.
        source: BackendError,
    },
    /// The results of the run before cannot be removed.
    #[error("cannot empty the folder of the results: {0}")]
    Results(std::io::Error),
    /// The subject printed something other than it should.
    #[error("`{subject}` printed unexpected output: {difference}")]
    Output {
        /// Name of the subject.
        subject: String,
        /// Where it differs.
        difference: String,
    },
    /// A server does not serve, or cannot be loaded.
    #[error("`{subject}` {source}")]
    Server {
        /// Name of the subject.
        subject: String,
        /// What went wrong.
        source: Box<ServerError>,
    },
    /// A hook failed.
    #[error("the {hook} command `{command}` failed: {how}")]
    Hook {
        /// Which hook.
        hook: Hook,
        /// Its text.
        command: String,
        /// What happened.
        how: String,
    },
    /// The subjects were to have CPUs of their own, and have not.
    #[error("{0}")]
    NotIsolated(String),
    /// The page cache cannot be dropped.
    #[error("cannot drop the page cache, which needs root: {0}")]
    DropCache(std::io::Error),
}

impl RunError {
    /// Adds what the subject said last, where it said something and is to blame.
    #[must_use]
    pub(crate) fn with(self, said: Vec<String>) -> Self {
        if said.is_empty() || self.at_fault().is_none() {
            return self;
        }
        Self::Said { error: Box::new(self), said }
    }

    /// Returns the name of the subject whose program is to blame; `None` where the machine is, or what becalm was asked
    /// to do around the runs.
    pub fn at_fault(&self) -> Option<&str> {
        match self {
            Self::Launch { subject, source } => source.is_of_program().then_some(subject),
            Self::Said { error, .. } => error.at_fault(),
            Self::Server { subject, source } => source.is_of_server().then_some(subject),
            Self::NotReady { subject, .. }
            | Self::Metric { subject, .. }
            | Self::Iterations { subject, .. }
            | Self::Harness { subject, .. }
            | Self::Statement { subject, .. }
            | Self::Backend { subject, .. }
            | Self::Output { subject, .. } => Some(subject),
            Self::Stand { .. }
            | Self::Results(_)
            | Self::Hook { .. }
            | Self::NotIsolated(_)
            | Self::DropCache(_) => None,
        }
    }
}

/// What a run must print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expectation {
    /// Anything.
    Anything,
    /// What the first run printed.
    Same,
    /// Just this.
    Text(Vec<u8>),
}

/// Shell commands around the runs of one subject, with parameters filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hooks {
    /// Once, before the first run.
    pub setup: Option<String>,
    /// Before each run.
    pub prepare: Option<String>,
    /// After each run.
    pub conclude: Option<String>,
    /// Once, after the last run, whatever happened.
    pub cleanup: Option<String>,
}

/// A folder that stands at a place of several, such as the builds of revisions, which all were built there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stand {
    /// The folder.
    pub folder: PathBuf,
    /// The link that leads to it while its subject runs.
    pub place: PathBuf,
    /// Where in it the subject starts.
    pub inside: PathBuf,
}

impl Stand {
    /// Returns where the subject starts, whether the link leads here or not.
    pub fn built(&self) -> PathBuf {
        self.folder.join(&self.inside)
    }

    /// Lets the link lead to this folder.
    pub(crate) fn take(&self) -> std::io::Result<()> {
        if std::fs::read_link(&self.place).is_ok_and(|to| to == self.folder) {
            return Ok(());
        }
        let mut fresh = self.place.clone().into_os_string();
        fresh.push(".new");
        std::os::unix::fs::symlink(&self.folder, &fresh)?;
        std::fs::rename(&fresh, &self.place)
    }
}

/// A subject ready to be started.
#[derive(Debug)]
pub struct SpawnSubject {
    /// Its name, for errors.
    pub name: String,
    /// What to execute, or why that cannot be: its first run then fails with these words.
    pub program: Result<Program, String>,
    /// The same program in several layouts, of which each round executes one; empty if there is one.
    pub layouts: Vec<Program>,
    /// The command that is looked for again once its setup is over, which may build it.
    pub late: Option<Vec<String>>,
    /// The build that it starts in, which stands at a place of several.
    pub stand: Option<Stand>,
    /// Where it and its hooks start otherwise, if not where all do.
    pub folder: Option<PathBuf>,
    /// Commands around its runs.
    pub hooks: Hooks,
    /// The variables it sees.
    pub environment: Environment,
    /// What it reads.
    pub stdin: Stdin,
    /// How long a run may take.
    pub timeout: Option<Duration>,
    /// Metrics read from its output.
    pub extractors: Vec<Extractor>,
    /// The harness that it is a program of; `None` if it is timed from outside. Subjects may share one,
    /// with its folder.
    pub harness: Option<Rc<HarnessPlan>>,
    /// What is done with it, if it is a server.
    pub serving: Option<Serving>,
}

/// A harness, and where its results go.
#[derive(Debug)]
pub struct HarnessPlan {
    /// Which one.
    pub harness: &'static Harness,
    /// Where it leaves its results.
    pub folder: ResultFolder,
    /// Which of its benchmarks it is to run, if not all.
    pub filter: Option<String>,
    /// Its name and what it was told, for the record.
    pub timing: OwnTiming,
}

/// Everything that the runs of a session have in common.
#[derive(Debug)]
pub struct SpawnPlan {
    /// The subjects, in the order of the record.
    pub subjects: Vec<SpawnSubject>,
    /// Whether their environments keep freed memory, see [`crate::kept_memory`].
    pub malloc: Malloc,
    /// On which NUMA nodes their memory has to lie; `None` for those of isolated CPUs.
    pub membind: Option<Membind>,
    /// Where they and their hooks work, if not where becalm does. Files and programs then have to be
    /// named from the root.
    pub work_folder: Option<WorkFolder>,
    /// Where their output goes when nothing reads it.
    pub stdout: Stdout,
    /// Where their messages go.
    pub stderr: Stderr,
    /// Page cache treatment.
    pub cache: Cache,
    /// Rest after each run.
    pub rest: Rest,
    /// How to find the iterations that a run timed itself; `None` when they are not read.
    pub iterations: Option<SeriesRule>,
    /// How the values of a statement are read, where the subjects are workers that time one.
    pub statement: Option<timeit::Rule>,
    /// What counts instructions in place of the processor; `None` if nothing does.
    pub backend: Option<Callgrind>,
    /// What they must print.
    pub expectation: Expectation,
    /// Which runs that fail are taken, and have to print it too.
    pub failure: FailurePolicy,
    /// Counters to open for each run.
    pub counters: CounterPlan,
    /// Counters of the energy used during each run; `None` where it is not recorded.
    pub energy: Option<RunEnergy>,
    /// Where and as whom they run before anything is learnt.
    pub placement: Placement,
    /// Whether placement follows from the warm-up.
    pub conditioning: Conditioning,
    /// The machine's answer to "which CPUs?".
    pub chooser: Chooser,
    /// How many CPUs to choose before anything is learnt; `None` where the user named them, or
    /// where it is to be learnt.
    pub width: Option<Width>,
    /// Whether CPUs that have nothing to do wake up late, and can be kept from it (`becalm_machine::wakes_late`).
    pub wakes_late: bool,
}

impl SpawnPlan {
    /// Returns where subjects and hooks work, if not where becalm does.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.work_folder.as_ref().map(WorkFolder::path)
    }

    /// Returns where one subject and its hooks work, if not where becalm does.
    pub(crate) fn folder_of(&self, subject: usize) -> Option<PathBuf> {
        let own = &self.subjects[subject];
        let stand = own.stand.as_ref().map(|stand| stand.place.join(&stand.inside));
        stand.or_else(|| own.folder.clone()).or_else(|| self.folder().map(Path::to_owned))
    }

    /// Returns the metrics that are read from the output of some subject, each once.
    pub(crate) fn read_metrics(&self) -> Vec<Metric> {
        let mut metrics: Vec<Metric> = Vec::new();
        for extractor in self.subjects.iter().flat_map(|subject| &subject.extractors) {
            let metric = extractor.metric();
            if !metrics.iter().any(|known| known.name == metric.name) {
                metrics.push(metric.clone());
            }
        }
        metrics
    }

    /// Returns the metrics of loads, each once.
    pub(crate) fn load_metrics(&self) -> Vec<Metric> {
        let mut metrics: Vec<Metric> = Vec::new();
        for serving in self.subjects.iter().filter_map(|subject| subject.serving.as_ref()) {
            let is_new = |one: &&Metric| !metrics.iter().any(|known| known.name == one.name);
            let new: Vec<Metric> =
                serving.client.metrics().iter().filter(is_new).cloned().collect();
            metrics.extend(new);
        }
        metrics
    }

    /// Returns the names of the variables that some subject sees, sorted.
    pub(crate) fn variables(&self) -> Vec<String> {
        let names = self.subjects.iter().flat_map(|subject| subject.environment.names());
        let names: BTreeSet<String> =
            names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.into_iter().collect()
    }

    /// Returns how subjects time themselves, each way once; empty if all are timed from outside.
    pub(crate) fn own_timing(&self) -> Vec<OwnTiming> {
        let harnesses = self.subjects.iter().filter_map(|subject| subject.harness.as_ref());
        let statement = self.statement.as_ref().map(|rule| &rule.timing);
        let mut ways: Vec<OwnTiming> = Vec::new();
        for timing in harnesses.map(|plan| &plan.timing).chain(statement) {
            if !ways.contains(timing) {
                ways.push(timing.clone());
            }
        }
        ways
    }
}

/// Gives the subjects CPUs that nobody else uses, once it is known which.
pub trait Isolate: fmt::Debug {
    /// Takes the CPUs of a choice away from everything else.
    ///
    /// # Errors
    ///
    /// If it was tried and failed. Where it cannot be tried at all, that is a limit of the choice
    /// that is returned.
    fn isolate(&self, choice: &Choice) -> Result<Isolated, String>;
}

/// What happened to isolation.
#[derive(Debug, Clone)]
pub struct Isolated {
    /// Where the subject and becalm run, with what could not be had among its limits.
    pub choice: Choice,
    /// Control group that the subject has to enter.
    pub control_group: Option<PathBuf>,
    /// The CPUs that were taken away from everything else; `None` if none were.
    pub taken: Option<IsolatedCpus>,
}

/// Variables as `--env NAME=VALUE` gives them.
pub fn parse_variable(text: &str) -> Option<(OsString, OsString)> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty())?;
    Some((name.into(), value.into()))
}

/// Where a subject's output goes, as `--output` gives it.
pub fn parse_output(text: &str) -> (Stdout, Stderr) {
    match text {
        "null" => (Stdout::Null, Stderr::Kept),
        "inherit" => (Stdout::Inherit, Stderr::Inherit),
        file => (Stdout::File(PathBuf::from(file)), Stderr::Kept),
    }
}
