//! Driving programs that time themselves: which harness they are of, and what it is started with.

use std::path::Path;
use std::time::Duration;

use becalm_model::Subject;
use becalm_model::conditions::OwnTiming;
use becalm_model::terms::RunTerms;
use becalm_runner::Program;
use becalm_runner::harness::{
    HARNESSES, Harness, ResultFolder, ResultsPlace, Terms, detect, harness,
};
use becalm_runner::rounds::HarnessPlan;

/// Why a harness cannot be driven.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// Its flags could not be put in their places.
    #[error("--harness needs commands without a shell")]
    Shell,
    /// There is none of this name.
    #[error("there is no such harness; there are auto, {}", names())]
    Unknown(String),
    /// It runs all its benchmarks or none.
    #[error("{0} cannot be told which benchmarks to run, so --filter does nothing")]
    Filter(&'static str),
    /// Its results have no place.
    #[error("no folder for the results of {harness} can be made: {source}")]
    Folder {
        /// Its name.
        harness: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// A subject is of no harness.
    #[error("`{0}` looks like no harness that is known")]
    NotRecognised(String),
    /// Two subjects are of different ones.
    #[error("`{subject}` is a program of {harness}, and one before it of {other}")]
    Several {
        /// The subject.
        subject: String,
        /// Its harness.
        harness: &'static str,
        /// That of the others.
        other: &'static str,
    },
    /// Nothing is to be measured.
    #[error("there is no subject")]
    NoSubject,
}

fn names() -> String {
    HARNESSES.iter().map(|one| one.name).collect::<Vec<_>>().join(", ")
}

/// How a harness is driven.
#[derive(Debug)]
pub(crate) struct Drive {
    /// Which one, and where its results go.
    pub plan: HarnessPlan,
    /// The command of each subject.
    pub commands: Vec<Vec<String>>,
    /// Variables for all of them.
    pub environment: Vec<(String, String)>,
}

/// Which harness, and what of it.
#[derive(Debug, Clone)]
pub struct HarnessChoice {
    /// Which one; `None` for what the programs look like.
    pub harness: Option<&'static Harness>,
    /// Which of its benchmarks.
    pub filter: Option<String>,
    /// How long each may be timed in one process.
    pub time: Duration,
}

impl HarnessChoice {
    /// Returns the one of this name, or `auto`.
    pub fn named(name: &str, filter: Option<String>, time: Duration) -> Result<Self, HarnessError> {
        let harness = match name {
            "auto" => None,
            name => Some(harness(name).ok_or_else(|| HarnessError::Unknown(name.to_owned()))?),
        };
        Ok(Self { harness, filter, time })
    }

    /// Returns that of some terms, if they have one.
    pub fn of(runs: &RunTerms) -> Result<Option<Self>, HarnessError> {
        let Some(name) = &runs.harness else { return Ok(None) };
        if runs.shell.is_some() {
            return Err(HarnessError::Shell);
        }
        Self::named(name, runs.filter.clone(), runs.harness_time).map(Some)
    }
}

/// Finds out which harness it is and adds what it has to be told to the commands of the subjects, which
/// start in `folder` if not here.
pub(crate) fn drive(
    choice: &HarnessChoice,
    subjects: &[Subject],
    folder: Option<&Path>,
) -> Result<Drive, HarnessError> {
    let harness = match choice.harness {
        Some(harness) => harness,
        None => common(subjects, folder)?,
    };
    if choice.filter.is_some() && !harness.filters {
        return Err(HarnessError::Filter(harness.name));
    }
    let place = ResultFolder::create()
        .map_err(|source| HarnessError::Folder { harness: harness.name, source })?;
    let results = place.path(harness.place);
    let terms = Terms {
        time: choice.time.as_secs_f64(),
        filter: choice.filter.as_deref(),
        results: &results,
        folder: folder.unwrap_or(Path::new("")),
    };
    let mut commands = Vec::new();
    let mut environment = Vec::new();
    for subject in subjects {
        let invocation = (harness.invoke)(&subject.command, &terms);
        commands.push(invocation.words);
        environment = invocation.environment;
    }
    let timing = own_timing(harness, subjects, &commands, &results.display().to_string());
    let plan = HarnessPlan { harness, folder: place, filter: choice.filter.clone(), timing };
    Ok(Drive { plan, commands, environment })
}

/// Returns the harness that all subjects look like.
fn common(subjects: &[Subject], folder: Option<&Path>) -> Result<&'static Harness, HarnessError> {
    let start = folder.unwrap_or(Path::new(""));
    let mut found: Option<&'static Harness> = None;
    for subject in subjects {
        let path = std::env::var_os("PATH");
        let program = Program::resolve(&subject.command, path.as_deref(), folder);
        let path = program.as_ref().map_or(subject.command[0].as_ref(), Program::path);
        let path = start.join(path);
        let one = detect(&subject.command, &path, start)
            .ok_or_else(|| HarnessError::NotRecognised(subject.name.clone()))?;
        match found {
            Some(other) if other.name != one.name => {
                return Err(HarnessError::Several {
                    subject: subject.name.clone(),
                    harness: one.name,
                    other: other.name,
                });
            }
            _ => found = Some(one),
        }
    }
    found.ok_or(HarnessError::NoSubject)
}

/// Returns which flags becalm has added, for the record; the place of the results is different each time.
fn own_timing(
    harness: &Harness,
    subjects: &[Subject],
    commands: &[Vec<String>],
    results: &str,
) -> OwnTiming {
    let added = match (subjects.first(), commands.first()) {
        (Some(subject), Some(command)) => command
            .iter()
            .filter(|word| !subject.command.contains(word))
            .map(|word| word.replace(results, "RESULTS"))
            .collect(),
        _ => Vec::new(),
    };
    let reads_output = harness.place == ResultsPlace::Output;
    OwnTiming::Harness { name: harness.name.to_owned(), added, reads_output }
}
