//! One exclusive node of a Slurm cluster in place of a host: the job is a file, and so are its frames, in a folder that this
//! machine and the nodes share.
//!
//! ```text
//! FOLDER/bin/becalm-HASH      the becalm that runs there
//! FOLDER/files/HASH           files of jobs
//! FOLDER/jobs/KEY/            a job: job.json, run.sh, frames.jsonl, output.txt
//! ```

mod allocation;
mod growing;
mod nodes;
mod queue;

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

pub use self::allocation::{Allocation, AllocationError};
pub(crate) use self::growing::Growing;
pub(crate) use self::nodes::{Node, nodes};
use self::queue::State;
pub(crate) use self::queue::{Queued, State as JobState, own_jobs, submit};
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
pub(crate) const LATE: Duration = Duration::from_secs(20);

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
            "becalm",
            &files.path("run.sh"),
            &files.path("output.txt"),
            &files.0,
        )?;
        let mut watch = Watch::new(&queued, &files, around);
        watch.until_end()
    }

    /// Puts the files of a job into the shared folder.
    pub(crate) fn send_files(job: &Job) -> Result<(), FleetError> {
        let store = Store::open(&job.store)?;
        for index in store.lacks(&job.items) {
            let item = &job.items[index];
            let content = item.open()?;
            store.receive(item, content)?;
        }
        Ok(())
    }

    /// Returns the words of the script by which a node carries out the job of a file and writes frames to another.
    pub(crate) fn call(&self, job: &Path, frames: &Path) -> String {
        let quoted = |path: &Path| shell_words::quote(&path.to_string_lossy()).into_owned();
        format!(
            "{} far-end --job {} --frames {}",
            quoted(&self.becalm),
            quoted(job),
            quoted(frames)
        )
    }

    /// Returns what is asked for.
    pub fn allocation(&self) -> &Allocation {
        &self.allocation
    }

    /// Returns the shared folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the becalm that nodes start.
    pub fn becalm(&self) -> &Path {
        &self.becalm
    }

    /// Writes everything that the node needs.
    fn prepare(&self, job: &Job) -> Result<JobFolder, FleetError> {
        Self::send_files(job)?;
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
        let call = self.call(&files.path("job.json"), &files.path("frames.jsonl"));
        let script = format!("#!/bin/sh\nexec {call}\n");
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
