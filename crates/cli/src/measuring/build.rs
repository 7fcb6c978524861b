//! Running a build command, whose output is shown if it fails.

use std::fs::File;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Command, Stdio};

use becalm_runner::rounds::run_to_end;
use becalm_runner::{Interrupt, User};

use crate::error::CommandError;
use crate::exit::Exit;

/// Lines of a failed build that are shown.
const SHOWN_LINES: usize = 25;

/// Most of its output that is kept to be shown.
const SHOWN_BYTES: u64 = 16 << 10;

/// The time that compilers are told, for those that put it into programs: any will do, as long as it is
/// the same for all. <https://reproducible-builds.org/specs/source-date-epoch/>
const TIME: &str = "1";

/// Why there is no build.
#[derive(Debug)]
pub(crate) enum BuildError {
    /// The build command failed, or did not make the program: that says something of what was to be built.
    Failed(CommandError),
    /// The disk, git, the shell or a signal did not let it be built, which says nothing of it.
    Prevented(CommandError),
}

impl BuildError {
    /// Returns it as the end of a command, for which both are the same.
    pub(crate) fn error(self) -> CommandError {
        match self {
            Self::Failed(error) | Self::Prevented(error) => error,
        }
    }

    /// Says what was to be built.
    pub(super) fn of(self, what: &str) -> Self {
        let told = |error: CommandError| {
            let message = format!("{what}: {}", error.message);
            CommandError { message, ..error }
        };
        match self {
            Self::Failed(error) => Self::Failed(told(error)),
            Self::Prevented(error) => Self::Prevented(told(error)),
        }
    }
}

impl From<CommandError> for BuildError {
    /// What is not known to be the build's is not.
    fn from(error: CommandError) -> Self {
        Self::Prevented(error)
    }
}

/// Runs a build command in a folder.
pub(super) fn build(
    command: &str,
    folder: &Path,
    user: Option<&User>,
    interrupt: &Interrupt,
) -> Result<(), BuildError> {
    let failed =
        |error: std::io::Error| CommandError::measure(format!("cannot run `{command}`: {error}"));
    let mut log = log().map_err(failed)?;
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).stdin(Stdio::null());
    shell.stdout(log.try_clone().map_err(failed)?).stderr(log.try_clone().map_err(failed)?);
    if std::env::var_os("SOURCE_DATE_EPOCH").is_none() {
        shell.env("SOURCE_DATE_EPOCH", TIME);
    }
    if let Some(user) = user {
        user.runs(&mut shell);
    }
    let status = run_to_end(shell, interrupt, 0).map_err(failed)?;
    if let Some(signal) = interrupt.signal() {
        return Err(BuildError::Prevented(CommandError {
            exit: Exit::Signal(signal),
            message: format!("stopped by signal {signal} while building; nothing was measured"),
            hints: Vec::new(),
        }));
    }
    if status.success() {
        return Ok(());
    }
    let mut said = String::new();
    for line in tail(&mut log).map_err(failed)? {
        said.push_str("\n  ");
        said.push_str(&line);
    }
    Err(BuildError::Failed(CommandError::measure(format!(
        "the build `{command}` failed ({status}); it ends with:{said}"
    ))))
}

/// Makes a file without a name. The one that it has for a moment cannot be guessed, so that nobody can be in its way.
fn log() -> std::io::Result<File> {
    let number = RandomState::new().build_hasher().finish();
    let path = std::env::temp_dir().join(format!("becalm-build-{number:016x}.log"));
    let file = File::options().create_new(true).read(true).write(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

fn tail(log: &mut File) -> std::io::Result<Vec<String>> {
    let length = log.seek(SeekFrom::End(0))?;
    log.seek(SeekFrom::Start(length.saturating_sub(SHOWN_BYTES)))?;
    let mut bytes = Vec::new();
    log.take(SHOWN_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    Ok(lines[lines.len().saturating_sub(SHOWN_LINES)..]
        .iter()
        .map(|line| (*line).to_owned())
        .collect())
}
