//! Running a build command, whose output is shown if it fails.

use std::fs::File;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use becalm_runner::Interrupt;
use becalm_runner::rounds::run_to_end;
use becalm_runner::said::{last_lines, quoted};

use crate::error::Fault;
use crate::layouts::LayoutsError;
use crate::revisions::GitError;

/// Lines of a failed build that are shown.
const SHOWN_LINES: usize = 25;

/// The time given to compilers, for those that put it into programs: any will do, as long as it is
/// the same for all. <https://reproducible-builds.org/specs/source-date-epoch/>
const TIME: &str = "1";

/// Why there is no build.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The build command failed.
    #[error("the build `{command}` failed ({status}); its output ends with:{said}")]
    Failed {
        /// The command.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// The end of its output, each line after a line break.
        said: String,
    },
    /// It succeeded, but without the program.
    #[error("the build `{command}` did not make {program}")]
    NoProgram {
        /// The command.
        command: String,
        /// The program that is to be measured.
        program: String,
    },
    /// No file of the build has such a name.
    #[error("{revision}: no file in its build matches {program}")]
    NoFileFits {
        /// What was built.
        revision: String,
        /// The program as it was asked for, with a `*`.
        program: String,
    },
    /// What was to be built, and why there is none of it.
    #[error("{what}: {source}")]
    Of {
        /// What was to be built.
        what: String,
        /// Why there is none.
        source: Box<BuildError>,
    },
    /// The shell could not be started, or its output could not be kept.
    #[error("cannot run `{command}`: {source}")]
    Start {
        /// The command.
        command: String,
        /// Why.
        source: std::io::Error,
    },
    /// A signal ended it.
    #[error("stopped by signal {0} during the build; nothing was measured")]
    Stopped(i32),
    /// A file of the build cannot be put in its place.
    #[error("{}: {source}", path.display())]
    Place {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// git did not check it out.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Its layouts cannot be kept.
    #[error(transparent)]
    Layouts(#[from] LayoutsError),
}

impl BuildError {
    /// Says whether the build command failed or did not make the program, which is a property of
    /// what was to be built. Errors of the disk or git, a shell that does not start and a signal
    /// are not.
    pub fn is_of_program(&self) -> bool {
        match self {
            Self::Failed { .. } | Self::NoProgram { .. } | Self::NoFileFits { .. } => true,
            Self::Of { source, .. } => source.is_of_program(),
            Self::Start { .. }
            | Self::Stopped(_)
            | Self::Place { .. }
            | Self::Git(_)
            | Self::Layouts(_) => false,
        }
    }

    /// Says what was to be built.
    #[must_use]
    pub(crate) fn of(self, what: String) -> Self {
        Self::Of { what, source: Box::new(self) }
    }

    /// Returns which kind of failure it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Stopped(signal) => Fault::Signal(*signal),
            Self::Of { source, .. } => source.fault(),
            Self::Git(error) => error.fault(),
            Self::Layouts(error) => error.fault(),
            _ => Fault::Measurement,
        }
    }
}

/// Runs a build command in a folder.
pub(crate) fn build(command: &str, folder: &Path, interrupt: &Interrupt) -> Result<(), BuildError> {
    let failed = |source| BuildError::Start { command: command.to_owned(), source };
    let mut log = log().map_err(failed)?;
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).stdin(Stdio::null());
    shell.stdout(log.try_clone().map_err(failed)?).stderr(log.try_clone().map_err(failed)?);
    if std::env::var_os("SOURCE_DATE_EPOCH").is_none() {
        shell.env("SOURCE_DATE_EPOCH", TIME);
    }
    let status = run_to_end(shell, interrupt, 0).map_err(failed)?;
    if let Some(signal) = interrupt.signal() {
        return Err(BuildError::Stopped(signal));
    }
    if status.success() {
        return Ok(());
    }
    let said = quoted(&last_lines(&mut log, SHOWN_LINES).map_err(failed)?);
    Err(BuildError::Failed { command: command.to_owned(), status, said })
}

/// Makes a file without a name. The name that it has for a moment cannot be guessed, so that nobody
/// can put another file there.
fn log() -> std::io::Result<File> {
    let number = RandomState::new().build_hasher().finish();
    let path = std::env::temp_dir().join(format!("becalm-build-{number:016x}.log"));
    let file = File::options().create_new(true).read(true).write(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}
