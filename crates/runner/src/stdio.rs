//! What a subject reads and where its output goes.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use becalm_kernel::{descriptor, file};

use crate::launch_error::LaunchError;
use crate::said::Kept;

/// What a subject reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: `/dev/null`.
    #[default]
    Null,
    /// A file, opened afresh for every run so that each reads it from its start.
    File(PathBuf),
}

/// Where the standard output of a subject goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdout {
    /// Nowhere: `/dev/null`. Some programs notice and do less work.
    #[default]
    Null,
    /// Where becalm's goes.
    Inherit,
    /// Where its standard error goes.
    WithErrors,
    /// Into [`crate::Finished::output`], through a pipe, at most [`MAX_CAPTURE`] bytes.
    Capture,
    /// Into a file, emptied before every run so that each does the same work.
    File(PathBuf),
}

/// Where the standard error of a subject goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stderr {
    /// Nowhere: `/dev/null`.
    #[default]
    Null,
    /// Into memory, of which [`crate::Finished::said`] has the end where the subject fails.
    Kept,
    /// Where becalm's goes.
    Inherit,
}

/// Most bytes of output that are captured; a subject that writes more is ended.
pub const MAX_CAPTURE: usize = 64 << 20;

/// What the pipe holds, so that a chatty subject seldom has to wait for becalm to read. The
/// kernel's limit for users other than root (`/proc/sys/fs/pipe-max-size`) is 1 MiB by default.
const PIPE_BYTES: i32 = 1 << 20;

/// The open files of one run.
pub(crate) struct Connections {
    stdin: Option<File>,
    stdout: Option<File>,
    writer: Option<io::PipeWriter>,
    stderr: Option<RawFd>,
    null: RawFd,
    inherit_stdout: bool,
    is_with_errors: bool,
}

impl Connections {
    pub(crate) fn open(
        stdin: &Stdin,
        stdout: &Stdout,
        stderr: Stderr,
        kept: Option<&Kept>,
        cwd: Option<&Path>,
    ) -> Result<(Self, Option<Capture>), LaunchError> {
        let base = cwd.unwrap_or(Path::new(""));
        let mut connections = Self {
            stdin: None,
            stdout: None,
            writer: None,
            stderr: match stderr {
                Stderr::Inherit => None,
                Stderr::Null | Stderr::Kept => {
                    Some(kept.map_or(null()?, |kept| kept.file().as_raw_fd()))
                }
            },
            null: null()?,
            inherit_stdout: *stdout == Stdout::Inherit,
            is_with_errors: false,
        };
        let mut capture = None;
        if let Stdin::File(path) = stdin {
            let role = "standard input";
            let file = open_at_once(OpenOptions::new().read(true), &base.join(path))
                .map_err(|source| open_error(path, role, source))?;
            let kind =
                file.metadata().map_err(|source| open_error(path, role, source))?.file_type();
            if kind.is_fifo() || kind.is_socket() {
                return Err(LaunchError::ReadOnce { path: path.clone() });
            }
            connections.stdin = Some(file);
        }
        match stdout {
            Stdout::Null | Stdout::Inherit => {}
            Stdout::WithErrors => connections.is_with_errors = true,
            Stdout::File(path) => {
                let role = "standard output";
                let mut options = OpenOptions::new();
                options.write(true).create(true).truncate(true);
                let file = open_at_once(&mut options, &base.join(path));
                connections.stdout = Some(file.map_err(|source| open_error(path, role, source))?);
            }
            Stdout::Capture => {
                let (reader, writer) = Capture::open().map_err(|source| LaunchError::System {
                    operation: "make a pipe for the command's output",
                    source,
                })?;
                connections.writer = Some(writer);
                capture = Some(reader);
            }
        }
        Ok((connections, capture))
    }

    /// Returns the descriptors for the child; they are all above 2, as the standard library makes
    /// sure at start that the first three are in use.
    pub(crate) fn descriptors(&self) -> [Option<RawFd>; 3] {
        let file = |file: &Option<File>| file.as_ref().map(AsRawFd::as_raw_fd);
        let writer = self.writer.as_ref().map(AsRawFd::as_raw_fd);
        let stdout = if self.is_with_errors {
            self.stderr
        } else {
            file(&self.stdout).or(writer).or((!self.inherit_stdout).then_some(self.null))
        };
        [file(&self.stdin).or(Some(self.null)), stdout, self.stderr]
    }
}

/// Opens a file; a named pipe too without waiting until somebody opens its other end, which no signal would end.
/// Whoever writes to one that nobody reads gets `ENXIO`.
///
/// # Errors
///
/// What the kernel says.
pub fn open_at_once(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.custom_flags(file::O_NONBLOCK).open(path)?;
    descriptor::set_blocking(&file, true)?;
    Ok(file)
}

fn open_error(path: &Path, role: &'static str, source: io::Error) -> LaunchError {
    LaunchError::Open { path: path.to_owned(), role, source }
}

/// Returns `/dev/null`, opened once for the whole process.
fn null() -> Result<RawFd, LaunchError> {
    static NULL: OnceLock<File> = OnceLock::new();
    if let Some(file) = NULL.get() {
        return Ok(file.as_raw_fd());
    }
    let path = Path::new("/dev/null");
    let file = OpenOptions::new().read(true).write(true).open(path);
    let file = file.map_err(|source| open_error(path, "standard input and output", source))?;
    Ok(NULL.get_or_init(|| file).as_raw_fd())
}

/// The reading end of the pipe that the subject writes to.
#[derive(Debug)]
pub(crate) struct Capture {
    pipe: File,
    bytes: Vec<u8>,
}

/// What a [`Capture`] has after what was there has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drained {
    /// More can come.
    Open,
    /// Every writer has closed its end.
    Closed,
    /// The limit has been passed; the rest is not read.
    TooMuch,
}

impl Capture {
    fn open() -> io::Result<(Self, io::PipeWriter)> {
        let (reader, writer) = io::pipe()?;
        // Only the reading end: a subject that finds its output full has to be made to wait.
        descriptor::set_blocking(&reader, false)?;
        descriptor::enlarge_pipe(&reader, PIPE_BYTES);
        let pipe = File::from(std::os::fd::OwnedFd::from(reader));
        Ok((Self { pipe, bytes: Vec::new() }, writer))
    }

    /// Reads everything that is in the pipe now.
    pub(crate) fn drain(&mut self) -> io::Result<Drained> {
        // One byte past the limit tells a subject that wrote too much from one that wrote exactly
        // as much as is allowed.
        let room = MAX_CAPTURE + 1 - self.bytes.len();
        match (&self.pipe).take(room as u64).read_to_end(&mut self.bytes) {
            _ if self.bytes.len() > MAX_CAPTURE => Ok(Drained::TooMuch),
            Ok(_) => Ok(Drained::Closed),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Drained::Open),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl AsRawFd for Capture {
    fn as_raw_fd(&self) -> RawFd {
        self.pipe.as_raw_fd()
    }
}
