//! `--harness`: which one the subjects are programs of, and what it is told.

use std::path::Path;
use std::time::Duration;

use becalm_model::Subject;
use becalm_model::conditions::OwnTiming;
use becalm_runner::harness::{Harness, Place, ResultFolder, Terms, detect};
use becalm_runner::rounds::HarnessPlan;
use becalm_runner::{Program, User};

use super::flags::{HarnessFlag, MeasureFlags};
use crate::error::CommandError;

/// A harness that was told what to do.
#[derive(Debug)]
pub(crate) struct Told {
    /// Which one, and where its results go.
    pub(crate) plan: HarnessPlan,
    /// The command of each subject.
    pub(crate) commands: Vec<Vec<String>>,
    /// Variables for all of them.
    pub(crate) environment: Vec<(String, String)>,
}

/// What a harness is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Which one.
    pub(crate) harness: HarnessFlag,
    /// Which of its benchmarks.
    pub(crate) filter: Option<String>,
    /// How long each may be timed in one process.
    pub(crate) time: Duration,
}

impl Asked {
    /// Returns what the flags ask for, if anything.
    pub(crate) fn of(flags: &MeasureFlags) -> Result<Option<Self>, CommandError> {
        let Some(harness) = flags.harness else { return Ok(None) };
        if flags.shell.is_some() {
            return Err(CommandError::usage("--harness needs commands without a shell")
                .hint("its flags could not be put in their places; leave --shell out"));
        }
        Ok(Some(Self { harness, filter: flags.filter.clone(), time: flags.harness_time }))
    }
}

/// Finds out which harness it is and adds what it has to be told to the commands of the subjects, which
/// start in `folder` if not here.
pub(crate) fn tell(
    asked: &Asked,
    subjects: &[Subject],
    user: Option<&User>,
    folder: Option<&Path>,
) -> Result<Told, CommandError> {
    let harness = match asked.harness {
        HarnessFlag::Given(harness) => harness,
        HarnessFlag::Auto => common(subjects, folder)?,
    };
    if asked.filter.is_some() && !harness.filters {
        return Err(CommandError::usage(format!(
            "{} cannot be told which benchmarks to run, so --filter does nothing",
            harness.name
        )));
    }
    let place = ResultFolder::create(user).map_err(|error| {
        CommandError::measure(format!(
            "no folder for the results of {} can be made: {error}",
            harness.name
        ))
    })?;
    let results = place.path(harness.place);
    let terms = Terms {
        time: asked.time.as_secs_f64(),
        filter: asked.filter.as_deref(),
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
    Ok(Told { plan: HarnessPlan { harness, folder: place, timing }, commands, environment })
}

/// Returns the harness that all subjects look like.
fn common(subjects: &[Subject], folder: Option<&Path>) -> Result<&'static Harness, CommandError> {
    let start = folder.unwrap_or(Path::new(""));
    let mut found: Option<&'static Harness> = None;
    for subject in subjects {
        let path = std::env::var_os("PATH");
        let program = Program::resolve(&subject.command, path.as_deref(), folder);
        let path = program.as_ref().map_or(subject.command[0].as_ref(), Program::path);
        let path = start.join(path);
        let one = detect(&subject.command, &path, start).ok_or_else(|| {
            CommandError::usage(format!("`{}` looks like no harness that is known", subject.name))
                .hint("name it, as in --harness google-benchmark; `custom` reads what a program prints")
        })?;
        match found {
            Some(other) if other.name != one.name => {
                return Err(CommandError::usage(format!(
                    "`{}` is a program of {}, and one before it of {}",
                    subject.name, one.name, other.name
                )));
            }
            _ => found = Some(one),
        }
    }
    found.ok_or_else(|| CommandError::usage("there is no subject"))
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
    let reads_output = harness.place == Place::Output;
    OwnTiming::Harness { name: harness.name.to_owned(), added, reads_output }
}
