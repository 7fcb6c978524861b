//! The far end of a job: what becalm does on the other machine.
//!
//! It takes standard input and output for itself, so that nothing that a subject reads or writes gets among the frames.
//! Its input ends with the connection, and it hears from the near end every few seconds; without that it ends the
//! session as if the user had, so that the machine is put back and the log stays.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use becalm_kernel::descriptor::take_standard_streams;
use becalm_kernel::interrupt::Interrupt;
use becalm_kernel::poll;
use becalm_kernel::process::set_variables;
use becalm_kernel::user::effective_uid;
use becalm_session::Request;

use crate::frame::{Call, Frame};
use crate::job::{Job, Output, SessionWork};
use crate::parcel::is_confined;
use crate::request::FarSessionError;
use crate::store::{Store, StoreError, WorkFolder};
use crate::writer::FrameWriter;

/// How long the near end may be silent.
pub(crate) const SILENCE: Duration = Duration::from_secs(60);

/// The signal that a session gets whose user is gone.
const HANG_UP: i32 = 1;

/// Variables by which each connection differs from the last one. Subjects must not: the size of the environment moves their
/// stack.
const OF_CONNECTION: [&str; 3] = ["SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY"];

/// Longest job, in bytes: it may have a whole record.
const LONGEST: u64 = 1 << 30;

/// Why the far end cannot carry out a job.
#[derive(Debug, thiserror::Error)]
pub enum FarError {
    /// The connection ended.
    #[error("the connection ended before the job arrived")]
    Ended,
    /// Something else arrived.
    #[error("what arrived is not a job of this becalm: {0}")]
    Job(serde_json::Error),
    /// The streams cannot be used.
    #[error("cannot use the connection: {0}")]
    Stream(std::io::Error),
    /// The files have no place.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no such folder.
    #[error("cannot start in {}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The session cannot be made.
    #[error(transparent)]
    Session(#[from] FarSessionError),
}

/// The far end of a connection.
#[derive(Debug)]
pub struct FarEnd {
    input: Input,
    writer: &'static FrameWriter,
}

/// Where the job comes from.
#[derive(Debug)]
enum Input {
    /// From a becalm that listens.
    Connection(BufReader<Patient>),
    /// From a file; nobody listens.
    File(PathBuf),
}

/// A job whose files are there; they are removed with this.
#[derive(Debug)]
pub struct Received {
    work: WorkFolder,
}

impl FarEnd {
    /// Takes the streams of this process, which has one thread yet.
    pub fn start() -> Result<Self, FarError> {
        set_variables(OF_CONNECTION.map(|name| (name.into(), None)));
        let (input, output) = take_standard_streams().map_err(FarError::Stream)?;
        let input = Patient { input: input.into(), silence: SILENCE };
        Self::with(Input::Connection(BufReader::new(input)), output)
    }

    /// Takes the job from a file, and writes frames to another one.
    pub fn of_files(job: &Path, frames: &Path) -> Result<Self, FarError> {
        let frames = OpenOptions::new().append(true).create(true).open(frames);
        Self::with(Input::File(job.to_owned()), frames.map_err(FarError::Stream)?.into())
    }

    fn with(input: Input, output: OwnedFd) -> Result<Self, FarError> {
        let writer = FrameWriter::new(output).map_err(FarError::Stream)?;
        // It lives as long as the process, like the streams that it writes to.
        let writer: &'static FrameWriter = Box::leak(Box::new(writer));
        let version = env!("CARGO_PKG_VERSION").to_owned();
        writer.send(&Frame::Hello { version, root: effective_uid() == 0 });
        Ok(Self { input, writer })
    }

    /// Returns where frames go.
    pub fn writer(&self) -> &'static FrameWriter {
        self.writer
    }

    /// Receives the job; from a connection without opening a file.
    pub fn job(&mut self) -> Result<Job, FarError> {
        let line = match &mut self.input {
            Input::File(path) => std::fs::read(path),
            Input::Connection(input) => {
                let mut line = Vec::new();
                let read = input.by_ref().take(LONGEST).read_until(b'\n', &mut line);
                read.map(|_| line)
            }
        };
        let line = line.map_err(FarError::Stream)?;
        if line.is_empty() {
            return Err(FarError::Ended);
        }
        serde_json::from_slice(&line).map_err(FarError::Job)
    }

    /// Receives the files of a job, and goes to its folder. From then on the flag rises when the near end is gone, or passes
    /// on a signal.
    pub fn receive(
        mut self,
        job: &Job,
        interrupt: &'static Interrupt,
    ) -> Result<Received, FarError> {
        if let Some(Output(path)) = job.outputs.iter().find(|Output(path)| !is_confined(path)) {
            return Err(StoreError::Path { path: path.clone() }.into());
        }
        let store = Store::open(&job.store)?;
        if let Input::Connection(input) = &mut self.input {
            let lacking = store.lacks(&job.items);
            if !lacking.is_empty() {
                self.writer.send(&Frame::Wants(lacking.clone()));
                wait_for_files(input, interrupt)?;
            }
            for index in lacking {
                let item = &job.items[index];
                let mut content = input.by_ref().take(item.size());
                store.receive(item, &mut content)?;
            }
        }
        let local = job.is_shared.then(std::env::temp_dir);
        let work = store.set_up(&job.items, local.as_deref())?;
        let path = work.make(&job.folder)?;
        std::env::set_current_dir(&path).map_err(|source| FarError::Folder { path, source })?;
        self.attend(interrupt);
        Ok(Received { work })
    }

    /// Begins a job that neither brings nor wants files: nothing is made or opened for it. The flag rises as for others.
    pub fn attend(self, interrupt: &'static Interrupt) {
        let writer = self.writer;
        match self.input {
            Input::Connection(input) => {
                std::thread::spawn(move || listen(input, interrupt, &|| writer.settle()));
            }
            // The file with the frames has the log.
            Input::File(_) => writer.settle(),
        }
    }
}

impl Received {
    /// Sends back the files that the command has written.
    pub fn send_outputs(&self, job: &Job, writer: &FrameWriter) {
        for (index, Output(path)) in job.outputs.iter().enumerate() {
            // One that was not written is one that the command has not come to.
            if let Some(text) = self.work.written(path) {
                writer.send(&Frame::Output(index, text));
            }
        }
    }

    /// Returns the session that is asked for. Calls `waits` before it waits for the becalm that carried it out before, over a
    /// connection that was lost.
    pub fn request(
        &self,
        work: SessionWork,
        interrupt: &Interrupt,
        waits: &dyn Fn(),
    ) -> Result<Request, FarError> {
        Ok(work.request(&self.work, interrupt, waits)?)
    }
}

/// Input from the near end. Reading fails when that is silent for too long: a link may be dead without a word, while files
/// are sent as well as later.
#[derive(Debug)]
struct Patient {
    input: File,
    silence: Duration,
}

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let began = Instant::now();
        loop {
            // A signal ends the wait early.
            let left = self.silence.saturating_sub(began.elapsed());
            let mut entries = [poll::Entry::readable(&self.input)];
            poll::wait(&mut entries, Some(left))?;
            if entries[0].is_ready() {
                return self.input.read(buffer);
            }
            if left.is_zero() {
                let silence = format!("nothing arrived for {} s", self.silence.as_secs());
                return Err(std::io::Error::new(ErrorKind::TimedOut, silence));
            }
        }
    }
}

/// Reads what the near end has said before it heard which files are lacking.
fn wait_for_files(input: &mut impl BufRead, interrupt: &Interrupt) -> Result<(), FarError> {
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).map_err(FarError::Stream)? == 0 {
            return Err(FarError::Ended);
        }
        match serde_json::from_str(&line).map_err(FarError::Job)? {
            Call::Files => return Ok(()),
            Call::Signal(signal) => interrupt.raise(signal),
            Call::Alive | Call::Kept => {}
        }
    }
}

/// Raises the flag for each signal that is passed on, and when the near end is gone. Calls `settle` when the near end keeps
/// the log, or is gone.
fn listen(mut input: BufReader<Patient>, interrupt: &Interrupt, settle: &dyn Fn()) {
    loop {
        let mut line = String::new();
        match input.read_line(&mut line).map(|read| (read, serde_json::from_str(&line))) {
            Ok((1.., Ok(Call::Alive))) => {}
            Ok((1.., Ok(Call::Kept))) => settle(),
            Ok((1.., Ok(Call::Signal(signal)))) => interrupt.raise(signal),
            // There are no files any more.
            _ => {
                interrupt.raise(HANG_UP);
                return settle();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::io::Write as _;

    fn ends(silence: Duration) -> (BufReader<Patient>, std::io::PipeWriter) {
        let (reader, writer) = std::io::pipe().unwrap();
        let input = File::from(OwnedFd::from(reader));
        (BufReader::new(Patient { input, silence }), writer)
    }

    #[test]
    fn signals_are_passed_on_until_the_near_end_is_gone() {
        let (input, mut writer) = ends(SILENCE);
        let interrupt = Interrupt::new().unwrap();
        for call in [Call::Alive, Call::Kept, Call::Signal(15)] {
            writer.write_all(call.line().as_bytes()).unwrap();
        }
        drop(writer);
        let settled = Cell::new(0);
        listen(input, &interrupt, &|| settled.set(settled.get() + 1));
        assert_eq!((interrupt.signal(), interrupt.times()), (Some(15), 2));
        assert_eq!(settled.get(), 2);
    }

    #[test]
    fn one_that_is_silent_is_gone() {
        let (input, _writer) = ends(Duration::from_millis(1));
        let interrupt = Interrupt::new().unwrap();
        listen(input, &interrupt, &|| ());
        assert_eq!(interrupt.signal(), Some(HANG_UP));
    }

    #[test]
    fn one_that_says_something_else_is_gone() {
        let (input, mut writer) = ends(SILENCE);
        let interrupt = Interrupt::new().unwrap();
        writer.write_all(b"hello\n").unwrap();
        listen(input, &interrupt, &|| ());
        assert_eq!(interrupt.signal(), Some(HANG_UP));
    }
    #[test]
    fn one_that_is_silent_while_it_sends_is_gone_too() {
        let (mut input, mut writer) = ends(Duration::from_millis(1));
        writer.write_all(b"half a li").unwrap();
        let error = input.read_line(&mut String::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }
    #[test]
    fn what_is_said_before_the_files_is_not_taken_for_them() {
        let (mut input, mut writer) = ends(SILENCE);
        let interrupt = Interrupt::new().unwrap();
        for call in [Call::Alive, Call::Signal(15), Call::Files] {
            writer.write_all(call.line().as_bytes()).unwrap();
        }
        writer.write_all(b"content").unwrap();
        drop(writer);
        wait_for_files(&mut input, &interrupt).unwrap();
        assert_eq!(interrupt.signal(), Some(15));
        let mut rest = String::new();
        input.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "content");
        assert!(matches!(wait_for_files(&mut input, &interrupt), Err(FarError::Ended)));
    }
}
