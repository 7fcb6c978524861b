//! The steward's side: each request is carried out by what becalm itself would call if it were root.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

use becalm_kernel::ending::block_endings;
use becalm_kernel::poll::{self, Entry};
use becalm_kernel::{errno, process};
use serde::Serialize;

use super::IsolationRequest;
use super::failure::Of;
use super::lines::Lines;
use super::request::{KnobRequest, Request};
use crate::cgroup::{CgroupVersion, find_mount};
use crate::energy::KeptCounters;
use crate::isolate::Attempt;
use crate::knobs::Situation;
use crate::tune::{
    Applied, JournalFileError, NotKept, Recovered, TuneError, Tuning, TuningPlan, TurnError, Wait,
};
use crate::{MitigationEffects, SysRoot, Topology, page_cache, tracefs};

/// Answers requests until the other end is closed, and puts back then what is not put back yet.
pub(super) fn serve(socket: UnixStream) {
    // What ends becalm by the terminal must not end who puts the machine back.
    if block_endings().is_err() {
        return;
    }
    // Nothing that a variable names is looked for, or handed to what is started.
    process::set_variables(std::env::vars_os().map(|(name, _)| (name, None)));
    let root = SysRoot::default();
    let mut steward = Serving::new(&root, Lines::new(socket));
    // An error is a becalm that died in the middle of a message.
    while let Ok(Some((request, _))) = steward.lines.receive() {
        if steward.answer(request).is_err() {
            break;
        }
    }
    // Dropping what is tuned lets the guardian put it back, and waits for that.
}

/// More characters of a command are not kept.
const LONGEST_COMMAND: usize = 200;

/// Returns words of becalm's for whoever reads them on a terminal.
pub(crate) fn for_people(command: &str) -> String {
    command.chars().filter(|c| !is_hidden(*c)).take(LONGEST_COMMAND).collect()
}

/// Says whether a character controls how others are shown: it could make a line say something else.
fn is_hidden(c: char) -> bool {
    let is_format = matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
    );
    c.is_control() || is_format
}

/// A machine that is changed for somebody at the other end of a socket.
pub(super) struct Serving<'a> {
    pub(super) root: &'a SysRoot,
    pub(super) lines: Lines,
    pub(super) tuning: Option<Tuning<'a>>,
    /// Folder of the control group that was made last.
    pub(super) group: Option<String>,
    /// Counters of energy, once somebody has asked for them.
    energy: KeptCounters,
}

impl<'a> Serving<'a> {
    pub(super) fn new(root: &'a SysRoot, lines: Lines) -> Self {
        Self { root, lines, tuning: None, group: None, energy: KeptCounters::default() }
    }

    fn answer(&mut self, request: Request) -> io::Result<()> {
        let root = self.root;
        match request {
            Request::Begin { command, wait } => {
                let begun = self.begin(&command, wait);
                let begun = begun.map(|(tuning, recovered)| {
                    self.tuning = Some(tuning);
                    recovered
                });
                self.say(&begun)
            }
            // It came after the answer that it was for.
            Request::Stop => Ok(()),
            Request::Turn(request) => {
                let answer = self.turn(request);
                self.say(&answer)
            }
            Request::Isolate(request) => {
                let answer = self.isolate(&request);
                self.say(&answer)
            }
            Request::OpenGroup => match self.open_group() {
                Ok(file) => self.lines.send(&Ok::<(), Of>(()), Some(file.as_fd())),
                Err(error) => self.say(&Err::<(), Of>(Of(error))),
            },
            Request::HoldLatency { microseconds } => {
                let answer = match &mut self.tuning {
                    Some(tuning) => tuning.hold_latency(microseconds),
                    None => Err(not_begun()),
                };
                self.say(&answer.map_err(Of))
            }
            Request::Finish => {
                let finished = self.finish();
                self.say(&finished)
            }
            Request::Keep => {
                let kept = match self.tuning.take() {
                    Some(tuning) => tuning.keep(),
                    None => Err(NotKept { why: not_begun(), restored: Ok(Recovered::Nothing) }),
                };
                self.say(&kept)
            }
            Request::DropPageCache => self.say(&page_cache::drop_page_cache(root).map_err(Of)),
            Request::Tracepoints => self.say(&Ok::<_, Of>(tracefs::descriptions(root))),
            Request::Energy => {
                let reading = self.energy.reading(root);
                self.say(&Ok::<_, Of>(reading))
            }
            Request::Remember(effects) => {
                self.say(&MitigationEffects::add(root, effects).map_err(Of))
            }
        }
    }

    fn say(&self, answer: &impl Serialize) -> io::Result<()> {
        self.lines.send(answer, None)
    }

    fn begin(&self, command: &str, wait: Wait) -> Result<(Tuning<'a>, Recovered), TuneError> {
        // Whoever says anything before there is an answer, or nothing for ever, no longer wants one.
        let stop = || {
            let mut entry = [Entry::readable(&self.lines)];
            let looked = poll::wait(&mut entry, Some(std::time::Duration::ZERO));
            self.lines.has_more() || looked.is_err() || entry[0].is_ready()
        };
        leave_the_callers_group(self.root);
        Tuning::begin(self.root, &for_people(command), guardian(self.root), wait, &stop)
    }

    pub(super) fn finish(&mut self) -> Result<Recovered, JournalFileError> {
        self.group = None;
        self.tuning.take().map_or(Ok(Recovered::Nothing), Tuning::finish)
    }

    pub(super) fn turn(
        &mut self,
        request: KnobRequest,
    ) -> Result<(TuningPlan, Vec<Applied>), TurnError> {
        let KnobRequest { cpus, housekeeping, request } = request;
        let tuning = self.tuning.as_mut().ok_or_else(no_journal)?;
        let topology = Topology::read(self.root)
            .map_err(|error| JournalFileError::Steward(error.to_string()))?;
        let (root, topology, request) = (self.root, &topology, &request);
        tuning.turn(&Situation { root, topology, cpus, housekeeping, request })
    }

    pub(super) fn isolate(
        &mut self,
        request: &IsolationRequest,
    ) -> Result<Attempt, JournalFileError> {
        let tuning = self.tuning.as_mut().ok_or_else(no_journal)?;
        let attempt = tuning.isolate(request)?;
        self.group = attempt.taken.as_ref().ok().map(|taken| taken.isolation.group.clone());
        Ok(attempt)
    }

    fn open_group(&self) -> io::Result<File> {
        let group = self.group.as_ref().ok_or_else(not_begun)?;
        self.root.open_to_hold(format!("{group}/cgroup.procs"))
    }
}

/// Goes to the control group at the top, with the guardian that is started later: whoever called becalm may own the one
/// that it was called in, and can freeze or kill all of it. Where that is refused, as in a container, nothing else is
/// lost.
fn leave_the_callers_group(root: &SysRoot) {
    let mounts = root.read("/proc/self/mountinfo").value().unwrap_or_default();
    if let Some(mount) = find_mount(&mounts, CgroupVersion::V2, "") {
        let _ = root.write(mount.point.join("cgroup.procs"), &std::process::id().to_string());
    }
}

fn not_begun() -> io::Error {
    io::Error::from_raw_os_error(errno::ENOENT)
}

fn no_journal() -> JournalFileError {
    JournalFileError::Steward("nothing is changed before the machine's lock is held".to_owned())
}

/// The command line of a guardian: this very program, with nothing of whoever called it.
pub(super) fn guardian(root: &SysRoot) -> std::process::Command {
    let mut command = crate::tune::guardian_of(root);
    command.env_clear();
    command
}
