//! A subject between its start and its end.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use becalm_kernel::clock;
use becalm_kernel::clone::Started;
use becalm_kernel::interrupt::Interrupt;
use becalm_kernel::poll::{self, Entry};
use becalm_kernel::signal::{SIGKILL, SIGTERM};
use becalm_kernel::wait::{self, Sent, Usage};
use becalm_model::{CpuSet, Outcome};

use crate::counters::CounterPlan;
use crate::launch::{Finished, Launch, start};
use crate::launch_error::LaunchError;
use crate::main_thread::Seen;
use crate::said::{Kept, lines_of};
use crate::stdio::{Capture, Connections, Drained, MAX_CAPTURE, Stderr};

/// Runs a subject once and waits for its end; nothing of it is left running.
///
/// When `interrupt` is raised the subject and everything in its process group are ended. Two runs at the
/// same time need an interrupt each: the first to notice takes the wake-up from the other.
pub fn launch(
    launch: &Launch<'_>,
    counters: &CounterPlan,
    interrupt: &Interrupt,
) -> Result<Finished, LaunchError> {
    let mut running = Running::start(launch, counters, interrupt)?;
    let watched = running.watch(launch.timeout, interrupt);
    running.finish(watched, launch.timeout, counters, interrupt)
}

/// How long a subject may take to end by itself after SIGTERM, before SIGKILL.
const GRACE: Duration = Duration::from_millis(500);

/// A subject that has been started. What is not brought to its end with [`Running::finish`] is killed with its group.
#[derive(Debug)]
pub(crate) struct Running {
    started: Started,
    capture: Option<Capture>,
    kept: Option<Kept>,
    /// As the user wrote it.
    command: String,
    /// The CPUs that it was given.
    cpus: Option<CpuSet>,
    is_reaped: bool,
}

impl Running {
    /// Starts a subject.
    pub(crate) fn start(
        launch: &Launch<'_>,
        counters: &CounterPlan,
        interrupt: &Interrupt,
    ) -> Result<Self, LaunchError> {
        if let Some(signal) = interrupt.signal() {
            return Err(LaunchError::Interrupted { signal });
        }
        // Without memory for it what a failing subject says is lost, and nothing else.
        let kept = (launch.stderr == Stderr::Kept).then(Kept::open).and_then(Result::ok);
        let (connections, capture) = Connections::open(
            launch.stdin,
            launch.stdout,
            launch.stderr,
            kept.as_ref(),
            launch.cwd,
        )?;
        let started = start(launch, counters, &connections)?;
        // The writing end of the pipe has to be the subject's alone.
        drop(connections);
        Ok(Self {
            started,
            capture,
            kept,
            command: launch.program.name().to_owned(),
            cpus: launch.placement.affinity.clone(),
            is_reaped: false,
        })
    }

    /// Waits until it has ended; says why if becalm had to end it.
    pub(crate) fn watch(
        &mut self,
        timeout: Option<Duration>,
        interrupt: &Interrupt,
    ) -> Result<Option<Cause>, LaunchError> {
        let Self { started, capture, kept, command, .. } = self;
        watch(&*command, timeout, started, capture.as_mut(), kept.as_ref(), interrupt)
    }

    /// Returns the number of its process group.
    pub(crate) fn group(&self) -> u32 {
        self.started.pid.unsigned_abs()
    }

    /// Waits until it has ended, at most so long; says whether it has.
    pub(crate) fn ends_within(&self, patience: Duration) -> bool {
        let mut entries = [Entry::readable(&self.started.pidfd)];
        let until = clock::monotonic_raw() + patience;
        loop {
            let left = until.saturating_sub(clock::monotonic_raw());
            // What cannot be waited for is looked at again later.
            let waited = poll::wait(&mut entries, Some(left));
            if entries[0].is_ready() {
                return true;
            }
            if waited.is_err() || left.is_zero() {
                return false;
            }
        }
    }

    /// Makes room for what it says further on.
    pub(crate) fn forget_beginning(&self) {
        if let Some(kept) = &self.kept {
            kept.forget_beginning();
        }
    }

    /// Says whether a line of what it has said so far contains a text.
    pub(crate) fn has_said(&self, text: &str) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.contains(text))
    }

    /// Asks it to end, and waits for that at most so long; not at all if the request cannot come to it.
    pub(crate) fn ask_to_end(&self, patience: Duration) {
        if wait::kill_subject(self.started.pid, SIGTERM) == Sent::Done {
            self.ends_within(patience);
        }
    }

    /// Brings it to its end, if it has not ended, and gathers what it used.
    pub(crate) fn finish(
        mut self,
        watched: Result<Option<Cause>, LaunchError>,
        timeout: Option<Duration>,
        counters: &CounterPlan,
        interrupt: &Interrupt,
    ) -> Result<Finished, LaunchError> {
        let ended = clock::monotonic_raw_nanos();
        let wall = ended.saturating_sub(self.started.released) as f64 * 1e-9;
        let seen = Seen::of(&self.started, wall, self.cpus.as_ref());
        if let Err(error @ LaunchError::NotOurs { .. }) = watched {
            // It has not ended, and waiting for it could take for ever.
            self.is_reaped = true;
            return Err(error);
        }
        let (status, usage) = self.end()?;
        let usage = usage.since(&self.started.used);
        let main_thread = seen.figures(&usage);
        let counters = counters.read(std::mem::take(&mut self.started.counters), &usage);
        // Whoever asked becalm to stop may have asked the subject too, which was faster.
        let mut cause = watched?.or_else(|| interrupt.signal().map(Cause::Interrupted));
        let output = match self.capture.take() {
            Some(mut capture) => {
                // What was still in the pipe when the subject ended.
                if capture.drain().map_err(reading)? == Drained::TooMuch {
                    cause = Some(Cause::TooMuchOutput);
                }
                Some(capture.into_bytes())
            }
            None => None,
        };
        let command = std::mem::take(&mut self.command);
        let outcome = match (cause, status.code()) {
            (Some(Cause::Interrupted(signal)), _) => {
                return Err(LaunchError::Interrupted { signal });
            }
            (Some(Cause::TooMuchOutput), _) => {
                return Err(LaunchError::OutputTooLarge { command, limit: MAX_CAPTURE });
            }
            (Some(Cause::WantsTerminal), _) => {
                return Err(LaunchError::WantsTerminal { command });
            }
            (Some(Cause::TimedOut), _) => Outcome::TimedOut,
            (None, Some(code)) => Outcome::Exited(code),
            (None, None) => Outcome::Signalled(status.signal().unwrap_or(0)),
        };
        let mut said = Vec::new();
        if let Some(kept) = self.kept.take().filter(|_| outcome != Outcome::Exited(0)) {
            said = kept.last_lines(SHOWN_LINES);
            if said.is_empty() {
                said = lines_of(output.as_deref().unwrap_or_default(), SHOWN_LINES);
            }
        }
        // How long it takes to end on request is not part of its own time.
        let bound = timeout.filter(|_| outcome == Outcome::TimedOut);
        Ok(Finished {
            released: Duration::from_nanos(self.started.released),
            wall: bound.map_or(wall, |timeout| wall.min(timeout.as_secs_f64())),
            outcome,
            user_time: usage.user,
            system_time: usage.system,
            max_rss: usage.max_rss,
            voluntary_switches: usage.voluntary_switches,
            involuntary_switches: usage.involuntary_switches,
            minor_faults: usage.minor_faults,
            major_faults: usage.major_faults,
            main_thread_time: main_thread.map(|thread| thread.ran),
            run_delay: main_thread.map(|thread| thread.waited),
            pace: None,
            counters,
            output,
            said,
        })
    }

    /// Kills every process of the group that remains, and reaps them.
    fn end(&mut self) -> Result<(ExitStatus, Usage), LaunchError> {
        // Before the leader is reaped, while its number cannot mean another group. Also ends the
        // leader, should watching it have failed.
        let sent = wait::kill_subject(self.started.pid, SIGKILL);
        self.is_reaped = true;
        // One of another user that has ended and is not reaped cannot be sent anything either.
        if sent == Sent::NotAllowed && !self.ends_within(Duration::ZERO) {
            // It goes on, and waiting for it could take for ever.
            let command = self.command.clone();
            return Err(LaunchError::NotOurs { command, pid: self.started.pid });
        }
        let ended = wait::reap(self.started.pid)
            .map_err(|source| LaunchError::System { operation: "wait for the command", source })?;
        wait::reap_orphans(self.started.pid);
        Ok(ended)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_reaped {
            let _ = self.end();
        }
    }
}

/// Why becalm ended a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    TimedOut,
    TooMuchOutput,
    Interrupted(i32),
    WantsTerminal,
}

/// Time between two looks whether a subject was stopped, which wakes nobody up.
const LOOK: Duration = Duration::from_secs(1);

/// The same where what it says is kept in memory, which nobody can fill meanwhile.
const LOOK_AT_KEPT: Duration = Duration::from_millis(200);

/// Lines that a failing subject said last.
const SHOWN_LINES: usize = 10;

/// Waits until the subject has ended, without reaping it; says why if becalm had to end it.
fn watch(
    command: &str,
    timeout: Option<Duration>,
    started: &Started,
    mut capture: Option<&mut Capture>,
    kept: Option<&Kept>,
    interrupt: &Interrupt,
) -> Result<Option<Cause>, LaunchError> {
    let group = started.pid;
    let look = if kept.is_some() { LOOK_AT_KEPT } else { LOOK };
    let mut cause = None;
    // How often the user had asked to stop when it was last acted upon.
    let mut asked = 0;
    let mut deadline = timeout.map(|timeout| Duration::from_nanos(started.released) + timeout);
    let mut entries = [
        Entry::readable(&started.pidfd),
        Entry::readable(interrupt),
        capture.as_deref().map_or_else(Entry::none, Entry::readable),
    ];
    loop {
        let left = deadline.map(|deadline| deadline.saturating_sub(clock::monotonic_raw()));
        poll::wait(&mut entries, Some(left.map_or(look, |left| left.min(look))))
            .map_err(|source| LaunchError::System { operation: "wait for the command", source })?;
        if entries[0].is_ready() {
            return Ok(cause);
        }
        if let Some(kept) = kept {
            kept.forget_beginning();
        }
        // Whoever writes is not stopped.
        let is_silent = !entries.iter().any(Entry::is_ready);
        let mut signal = None;
        if entries[2].is_ready()
            && let Some(capture) = &mut capture
        {
            match capture.drain().map_err(reading)? {
                Drained::Open => {}
                Drained::Closed => entries[2] = Entry::none(),
                Drained::TooMuch => {
                    entries[2] = Entry::none();
                    cause = Some(Cause::TooMuchOutput);
                    signal = Some(SIGKILL);
                }
            }
        }
        if let Some(interrupted) = interrupt.signal()
            && interrupt.times() > asked
        {
            interrupt.rearm();
            asked = interrupt.times();
            if asked > 1 || cause.is_some() {
                signal = Some(SIGKILL);
            } else {
                signal = Some(SIGTERM);
                deadline = Some(clock::monotonic_raw() + GRACE);
            }
            cause = Some(Cause::Interrupted(interrupted));
        } else if deadline.is_some_and(|deadline| deadline <= clock::monotonic_raw()) {
            if cause.is_none() {
                cause = Some(Cause::TimedOut);
                signal = Some(SIGTERM);
                deadline = Some(clock::monotonic_raw() + GRACE);
            } else {
                signal = Some(SIGKILL);
                // Nothing outlives SIGKILL but a wait in the kernel, and that ends when it ends.
                deadline = None;
            }
        } else if is_silent && cause.is_none() && wait::wants_terminal(group) {
            cause = Some(Cause::WantsTerminal);
            signal = Some(SIGKILL);
        }
        if let Some(signal) = signal
            && wait::kill_subject(group, signal) == Sent::NotAllowed
        {
            return Err(LaunchError::NotOurs { command: command.to_owned(), pid: group });
        }
    }
}

fn reading(source: std::io::Error) -> LaunchError {
    LaunchError::System { operation: "read the output of the command", source }
}
