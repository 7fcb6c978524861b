//! One exclusive node of a Slurm cluster in place of a host: the job is a file, and so are its frames, in a folder that this
//! machine and the nodes share.
//!
//! ```text
//! FOLDER/bin/becalm-HASH      the becalm that runs there
//! FOLDER/files/HASH           files of jobs
//! FOLDER/jobs/KEY/            a job: job.json, run.sh, frames.jsonl, output.txt
//! ```

mod allocation;
mod queue;

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

pub use self::allocation::{Allocation, AllocationError};
use self::queue::{Queued, State};
use crate::error::FleetError;
use crate::frame::{Frame, line};
use crate::job::{Job, Terminal};
use crate::near::Around;
use crate::program::BecalmFile;
use crate::request::Errand;
use crate::step::Step;
use crate::store::Store;

/// How often the frames are looked at.
const LOOK: Duration = Duration::from_millis(100);

/// How often Slurm is asked; its controller serves everybody.
const ASK: Duration = Duration::from_secs(2);

/// How long a shared file system may take to show the last frames of a job that is over.
const LATE: Duration = Duration::from_secs(20);

/// A cluster that is ready for jobs.
#[derive(Debug)]
pub struct Cluster {
    allocation: Allocation,
    /// The shared folder, absolute.
    folder: PathBuf,
    becalm: PathBuf,
}

impl Cluster {
    /// Prepares the shared folder.
    pub fn open(allocation: Allocation, folder: &Path) -> Result<Self, FleetError> {
        let here = |path: &Path, source| FleetError::Here { path: path.to_owned(), source };
        for part in ["bin", "jobs"] {
            let path = folder.join(part);
            let mut make = fs::DirBuilder::new();
            make.recursive(true).mode(0o700).create(&path).map_err(|source| here(&path, source))?;
        }
        let program = BecalmFile::own()?;
        let becalm = folder.join("bin").join(program.name());
        program.copy_to(&becalm)?;
        Ok(Self { allocation, folder: folder.to_owned(), becalm })
    }

    /// Carries out an errand on a node; returns its exit code.
    pub fn carry_out(
        &self,
        errand: Errand,
        terminal: Terminal,
        around: Around<'_>,
    ) -> Result<u8, FleetError> {
        let job = errand.job(&self.folder, true, terminal);
        let files = self.prepare(&job)?;
        let queued = queue::submit(
            &self.allocation,
            &files.path("run.sh"),
            &files.path("output.txt"),
            &files.0,
        )?;
        let mut watch = Watch::new(&queued, &files, around);
        watch.until_end()
    }

    /// Writes everything that the node needs.
    fn prepare(&self, job: &Job) -> Result<JobFolder, FleetError> {
        let store = Store::open(&job.store)?;
        for index in store.lacks(&job.items) {
            let item = &job.items[index];
            let content = item.open()?;
            store.receive(item, content)?;
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let key = format!("{}-{}", now.as_nanos(), std::process::id());
        let files = JobFolder(self.folder.join("jobs").join(key));
        let here = |path: PathBuf| move |source| FleetError::Here { path, source };
        fs::DirBuilder::new().mode(0o700).create(&files.0).map_err(here(files.0.clone()))?;
        let write = |name: &str, text: String| {
            let path = files.path(name);
            fs::write(&path, text).map_err(here(path))
        };
        write("job.json", line(job))?;
        write("frames.jsonl", String::new())?;
        write("output.txt", String::new())?;
        let quoted = |path: &Path| shell_words::quote(&path.to_string_lossy()).into_owned();
        let script = format!(
            "#!/bin/sh\nexec {} far-end --job {} --frames {}\n",
            quoted(&self.becalm),
            quoted(&files.path("job.json")),
            quoted(&files.path("frames.jsonl"))
        );
        write("run.sh", script)?;
        Ok(files)
    }
}

/// The folder of a job, removed with this: what was measured has arrived, or is in the log of the node's user.
#[derive(Debug)]
struct JobFolder(PathBuf);

impl JobFolder {
    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for JobFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Watches a job until it ends.
struct Watch<'a> {
    queued: &'a Queued,
    files: &'a JobFolder,
    around: Around<'a>,
    frames: Growing,
    output: Growing,
    asked: Option<Instant>,
    state: State,
    passed_on: u32,
    /// Since when Slurm has said that it is over.
    over: Option<Instant>,
}

impl<'a> Watch<'a> {
    fn new(queued: &'a Queued, files: &'a JobFolder, around: Around<'a>) -> Self {
        Self {
            queued,
            files,
            around,
            frames: Growing::new(files.path("frames.jsonl")),
            output: Growing::new(files.path("output.txt")),
            asked: None,
            state: State::Waits(String::new()),
            passed_on: around.interrupt.times(),
            over: None,
        }
    }

    fn until_end(&mut self) -> Result<u8, FleetError> {
        loop {
            self.pass_on_signals();
            for bytes in self.output.more() {
                (self.around.step)(Step::Output(&bytes));
            }
            for bytes in self.frames.more() {
                match serde_json::from_slice(&bytes) {
                    Ok(Frame::End(code)) => return Ok(code),
                    Ok(Frame::Hello { .. }) => {}
                    Ok(frame) => (self.around.hear)(frame),
                    Err(_) => return Err(self.unreadable(&bytes)),
                }
            }
            self.ask()?;
            std::thread::sleep(LOOK);
        }
    }

    /// Asks Slurm from time to time how the job is.
    fn ask(&mut self) -> Result<(), FleetError> {
        if self.asked.is_some_and(|asked| asked.elapsed() < ASK) {
            return Ok(());
        }
        self.asked = Some(Instant::now());
        self.state = self.queued.state();
        match &self.state {
            State::Waits(reason) => {
                let number = &self.queued.number;
                (self.around.step)(Step::Queued { number, reason });
                self.over = None;
            }
            State::Runs(_) => self.over = None,
            State::Over(how) => {
                let over = self.over.get_or_insert_with(Instant::now);
                if over.elapsed() > LATE || !self.frames.is_begun && how != "COMPLETED" {
                    let text = self.output.last_line().map(|line| format!(": {line}"));
                    return Err(FleetError::JobLost {
                        number: self.queued.number.clone(),
                        state: how.clone(),
                        text: text.unwrap_or_default(),
                    });
                }
            }
        }
        Ok(())
    }

    fn pass_on_signals(&mut self) {
        let times = self.around.interrupt.times();
        if times > self.passed_on {
            self.passed_on = times;
            self.queued.signal(matches!(self.state, State::Runs(_)) || self.frames.is_begun);
        }
    }

    fn unreadable(&self, bytes: &[u8]) -> FleetError {
        FleetError::Answer {
            host: format!("job {} in {}", self.queued.number, self.files.0.display()),
            text: crate::ssh::last_line(&String::from_utf8_lossy(bytes)),
        }
    }
}

/// A file to which another machine adds lines.
#[derive(Debug)]
struct Growing {
    path: PathBuf,
    read: u64,
    is_begun: bool,
    last: Vec<u8>,
}

impl Growing {
    fn new(path: PathBuf) -> Self {
        Self { path, read: 0, is_begun: false, last: Vec::new() }
    }

    /// Returns the whole lines that were added. It is opened each time, as shared file systems show the changes of others then.
    fn more(&mut self) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        let Ok(mut file) = File::open(&self.path) else { return lines };
        if file.seek(SeekFrom::Start(self.read)).is_err() {
            return lines;
        }
        let mut reader = BufReader::new(file);
        loop {
            let mut line = Vec::new();
            let is_whole =
                reader.by_ref().read_until(b'\n', &mut line).is_ok() && line.ends_with(b"\n");
            if !is_whole {
                return lines;
            }
            self.read += line.len() as u64;
            self.is_begun = true;
            self.last.clone_from(&line);
            lines.push(line);
        }
    }

    /// Returns the last line that was read.
    fn last_line(&self) -> Option<String> {
        (!self.last.is_empty()).then(|| crate::ssh::last_line(&String::from_utf8_lossy(&self.last)))
    }
}
