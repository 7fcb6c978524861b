//! This side of a job: connects, sends, passes signals on, and receives what the far end reports.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use becalm_kernel::interrupt::Interrupt;

use crate::error::FleetError;
use crate::frame::{Call, Frame, line};
use crate::hosts::Host;
use crate::install::{Installed, install};
use crate::job::Terminal;
use crate::parcel::Item;
use crate::request::Errand;
use crate::ssh::{Ssh, Tail, last_line};
use crate::step::Step;

/// How often the far end hears that this one is alive. It gives up after [`crate::far::SILENCE`].
const HEARTBEAT: Duration = Duration::from_secs(10);

/// How soon a signal of the user is passed on.
const LATENCY: Duration = Duration::from_millis(50);

/// Longest frame, in bytes: a whole record may be one.
const LONGEST: u64 = 1 << 30;

/// A host that is ready for jobs.
#[derive(Debug)]
pub struct Connection {
    ssh: Ssh,
    installed: Installed,
}

impl Connection {
    /// Connects, and copies becalm there if it is not there yet.
    pub fn open(host: &Host, step: &dyn Fn(Step<'_>)) -> Result<Self, FleetError> {
        let ssh = Ssh::new(host)?;
        let installed = install(&ssh, step)?;
        Ok(Self { ssh, installed })
    }

    /// Returns the host.
    pub fn host(&self) -> &Host {
        self.ssh.host()
    }

    /// Returns what is known of becalm there.
    pub fn installed(&self) -> &Installed {
        &self.installed
    }

    /// Carries out an errand there; returns its exit code.
    pub fn carry_out(
        &self,
        errand: Errand,
        terminal: Terminal,
        around: Around<'_>,
    ) -> Result<u8, FleetError> {
        let wants_root = errand.wants_root;
        let job = errand.job(&self.installed.store, false, terminal);
        let mut talk = Talk::start(&self.ssh, &self.installed.becalm, wants_root, around)?;
        match talk.next()? {
            Frame::Hello { version, root } if version == job.version => {
                if wants_root && !root {
                    (talk.around.step)(Step::NotRoot);
                }
            }
            Frame::Hello { version, .. } => {
                let host = self.host().name.clone();
                return Err(FleetError::Version { host, there: version, here: job.version });
            }
            other => return Err(talk.unexpected(&other.line())),
        }
        talk.say(line(&job).as_bytes());
        talk.has_begun = true;
        let mut has_log = false;
        loop {
            match talk.next()? {
                Frame::End(code) => {
                    talk.end();
                    return Ok(code);
                }
                Frame::Wants(wanted) => talk.send(&job.items, &wanted)?,
                frame => {
                    let begins_log = matches!(frame, Frame::Log(_)) && !has_log;
                    (talk.around.hear)(frame);
                    if begins_log {
                        has_log = true;
                        talk.say(Call::Kept.line().as_bytes());
                    }
                }
            }
        }
    }
}

/// What a job has around it on this side.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// The signals of the user.
    pub interrupt: &'a Interrupt,
    /// Who is shown steps.
    pub step: &'a dyn Fn(Step<'_>),
    /// Who receives frames.
    pub hear: &'a dyn Fn(Frame),
}

impl std::fmt::Debug for Around<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Around")
    }
}

/// What arrives from `ssh`.
enum Arrival {
    Line(Vec<u8>),
    Error(Vec<u8>),
    /// Standard output has ended.
    End,
}

/// A talk with a far end.
struct Talk<'a> {
    ssh: &'a Ssh,
    child: Child,
    input: Option<ChildStdin>,
    arrivals: Receiver<Arrival>,
    around: Around<'a>,
    /// The job is sent. Nothing may precede it, however long the far end takes to start.
    has_begun: bool,
    /// How many signals were passed on.
    passed_on: u32,
    said: Instant,
    /// The end of what arrived on standard error.
    errors: Tail,
}

impl<'a> Talk<'a> {
    fn start(
        ssh: &'a Ssh,
        becalm: &str,
        wants_root: bool,
        around: Around<'a>,
    ) -> Result<Self, FleetError> {
        let becalm = shell_words::quote(becalm).into_owned();
        // sudo asks nobody for a password here; without permission becalm starts as the user, and says what it lacks.
        let script = if wants_root {
            format!(
                "if [ \"$(id -u)\" != 0 ] && sudo -n -l {becalm} far-end >/dev/null 2>&1; then exec sudo -n \
                 -- {becalm} far-end; fi; exec {becalm} far-end"
            )
        } else {
            format!("exec {becalm} far-end")
        };
        let mut child = ssh.start(&script)?;
        let (to, arrivals) = channel();
        let input = child.stdin.take();
        if let Some(output) = child.stdout.take() {
            let to = to.clone();
            std::thread::spawn(move || read_lines(output, &to));
        }
        if let Some(errors) = child.stderr.take() {
            std::thread::spawn(move || read_errors(errors, &to));
        }
        let passed_on = around.interrupt.times();
        let (said, errors) = (Instant::now(), Tail::default());
        let has_begun = false;
        Ok(Self { ssh, child, input, arrivals, around, has_begun, passed_on, said, errors })
    }

    /// Waits for the next frame; meanwhile passes signals on.
    fn next(&mut self) -> Result<Frame, FleetError> {
        loop {
            match self.arrivals.recv_timeout(LATENCY) {
                Ok(Arrival::Line(bytes)) => {
                    return serde_json::from_slice(&bytes)
                        .map_err(|_| self.unexpected(&String::from_utf8_lossy(&bytes)));
                }
                Ok(Arrival::Error(bytes)) => self.take_error(&bytes),
                Ok(Arrival::End) | Err(RecvTimeoutError::Disconnected) => return Err(self.lost()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.has_begun {
                self.keep_alive();
            } else if let Some(signal) = self.around.interrupt.signal() {
                return Err(FleetError::Stopped(signal));
            }
        }
    }

    fn take_error(&mut self, bytes: &[u8]) {
        self.errors.add(bytes);
        (self.around.step)(Step::Output(bytes));
    }

    fn keep_alive(&mut self) {
        let times = self.around.interrupt.times();
        if times > self.passed_on {
            self.passed_on = times;
            let signal = self.around.interrupt.signal().unwrap_or_default();
            self.say(Call::Signal(signal).line().as_bytes());
        } else if self.said.elapsed() >= HEARTBEAT {
            self.say(Call::Alive.line().as_bytes());
        }
    }

    fn say(&mut self, bytes: &[u8]) {
        self.said = Instant::now();
        let Some(input) = &mut self.input else { return };
        let said = input.write_all(bytes).and_then(|()| input.flush());
        // If the other end is gone, what it said last tells why; reading comes to that.
        if said.is_err() {
            self.input = None;
        }
    }

    /// Sends the files that the far end lacks.
    fn send(&mut self, items: &[Item], wanted: &[usize]) -> Result<(), FleetError> {
        self.say(Call::Files.line().as_bytes());
        let size = wanted.iter().filter_map(|&index| items.get(index)).map(Item::size).sum();
        let Some(input) = &mut self.input else { return Ok(()) };
        let (interrupt, step) = (self.around.interrupt, self.around.step);
        let mut to = Counted { to: input, sent: 0, size, is_closed: false, step, interrupt };
        for item in wanted.iter().filter_map(|&index| items.get(index)) {
            match item.send(&mut to) {
                Ok(()) => {}
                Err(_) if interrupt.signal().is_some() => {
                    return Err(FleetError::Stopped(interrupt.signal().unwrap_or_default()));
                }
                Err(_) if to.is_closed => {
                    // A far end that fails, as for lack of space, stops reading, and has said why.
                    self.input = None;
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn unexpected(&self, said: &str) -> FleetError {
        FleetError::Answer { host: self.ssh.host().name.clone(), text: last_line(said) }
    }

    /// Returns why the connection ended.
    fn lost(&mut self) -> FleetError {
        self.input = None;
        // Standard error ends with the process; what it says arrives before that.
        while let Ok(Arrival::Error(bytes)) = self.arrivals.recv_timeout(Duration::from_secs(5)) {
            self.take_error(&bytes);
        }
        let _ = self.child.wait();
        self.ssh.lost(&self.errors.text())
    }

    /// Waits for the end of `ssh`.
    fn end(mut self) {
        self.input = None;
        while let Ok(arrival) = self.arrivals.recv_timeout(Duration::from_secs(5)) {
            if let Arrival::Error(bytes) = arrival {
                self.take_error(&bytes);
            }
        }
        let _ = self.child.wait();
    }
}

impl Drop for Talk<'_> {
    fn drop(&mut self) {
        // The far end sees the end of its input, and ends its session.
        self.input = None;
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Counts what is sent, and stops when the user wants it.
struct Counted<'a> {
    to: &'a mut ChildStdin,
    sent: u64,
    size: u64,
    is_closed: bool,
    step: &'a dyn Fn(Step<'_>),
    interrupt: &'a Interrupt,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.interrupt.signal().is_some() {
            return Err(std::io::Error::other("interrupted"));
        }
        let written = self.to.write(bytes);
        self.is_closed = matches!(&written, Err(error) if error.kind() == ErrorKind::BrokenPipe);
        let written = written?;
        self.sent += written as u64;
        (self.step)(Step::Sending { sent: self.sent, size: self.size });
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}

fn read_lines(from: impl std::io::Read, to: &Sender<Arrival>) {
    let mut from = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        let arrival = match from.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
            Ok(1..) if line.ends_with(b"\n") => Arrival::Line(line),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            _ => Arrival::End,
        };
        let is_last = matches!(arrival, Arrival::End);
        if to.send(arrival).is_err() || is_last {
            return;
        }
    }
}

fn read_errors(mut from: impl std::io::Read, to: &Sender<Arrival>) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if to.send(Arrival::Error(buffer[..read].to_vec())).is_err() {
            return;
        }
    }
}
