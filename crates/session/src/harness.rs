//! Driving programs that time themselves: which harness they use, and with what they are started.

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
    /// Its flags could not be inserted.
    #[error("--harness needs commands without a shell")]
    Shell,
    /// There is none of this name.
    #[error("there is no such harness; the harnesses are auto, {}", names())]
    Unknown(String),
    /// It runs all its benchmarks or none.
    #[error("{0} has no way to choose benchmarks, so --filter does nothing")]
    Filter(&'static str),
    /// Its results have no place.
    #[error("cannot create a temporary folder for the results of {harness}: {source}")]
    Folder {
        /// Its name.
        harness: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// A subject uses no known harness.
    #[error("`{0}` is not a program of a harness that becalm recognises")]
    NotRecognised(String),
    /// Two subjects use different ones.
    #[error("`{subject}` is a program of {harness}, and an earlier one of {other}")]
    Several {
        /// The subject.
        subject: String,
        /// Its harness.
        harness: &'static str,
        /// That of the others.
        other: &'static str,
    },
    /// There is nothing to measure.
    #[error("no command to measure was given")]
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
    /// Which one; `None` to detect it from the programs.
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

/// Detects the harness and adds its flags to the commands of the subjects, which start in `folder`
/// if not here.
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

/// Returns the harness that all subjects appear to use.
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

/// Returns the flags that becalm has added, for the record; the place of the results is different
/// each time.
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
