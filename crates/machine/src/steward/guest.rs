//! The steward of a user who has come by the service, and may have less than one who has root by sudo.
//!
//! Whoever is at the other end may be hostile: it can send anything at any time, or nothing. So nothing here waits for
//! it, everything that it can make grow is bounded, and each request is carried out only as far as the policy allows:
//! knobs within a profile, a few CPUs, a few times, for a limited time. It gets no file of root's: the list of processes
//! of a control group would let it move everybody's, so its own enter through a gate, by which the kernel says who
//! stands there.

use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use becalm_kernel::ending::block_endings;
use becalm_kernel::poll::{self, Entry};
use becalm_kernel::socket::{Peer, ask_for_senders, receive_sender};
use becalm_kernel::{errno, process, wait};
use becalm_model::{CpuSet, ProcessIdentity};
use serde::Serialize;

use super::failure::Of;
use super::homes::Homes;
use super::lines::Lines;
use super::request::{KnobRequest, Request};
use super::serve::{Serving, guardian};
use super::{IsolationRequest, work_for};
use crate::cgroup::members::{home_of, move_to, parent_of, user_of};
use crate::isolate::{Attempt, IsolateError};
use crate::service::{Answer, NotAllowed, Policy, Reply};
use crate::tune::{JournalFileError, NotKept, Recovered, Tuning, TurnError, Wait};
use crate::{SysRoot, Topology};

/// Most bytes of a request.
const LONGEST_REQUEST: usize = 64 << 10;

/// How often the machine is changed for one session: each time adds to the journal.
const MOST_CHANGES: usize = 32;

/// How long an answer may wait until somebody reads it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whom a steward of the service works for.
#[derive(Debug)]
pub(crate) struct Guest<'a> {
    /// The machine.
    pub(crate) root: &'a SysRoot,
    /// What is allowed.
    pub(crate) policy: &'a Policy,
    /// The user's process when it called.
    pub(crate) process: ProcessIdentity,
    /// The same by the kernel's word, with its user.
    pub(crate) peer: Peer,
    /// Its command, in words.
    pub(crate) command: String,
    /// How long to queue where somebody takes the lock who does not come by the service.
    pub(crate) wait: Wait,
}

/// Splits off a steward for a guest at the other end of `socket`; returns its number.
pub(crate) fn split_off(guest: &Guest<'_>, socket: UnixStream) -> io::Result<u32> {
    let service = std::process::id();
    process::split(socket, |socket| {
        // Before it is looked at: whoever has this number later is not the parent.
        let Ok(watched) = wait::pidfd(service) else { return };
        if std::os::unix::process::parent_id() != service || block_endings().is_err() {
            return;
        }
        process::set_variables(std::env::vars_os().map(|(name, _)| (name, None)));
        work_for(guest.process);
        let _ = serve(guest, socket, &watched);
    })
}

/// Serves until the guest has gone or has finished, the time is up or the service has ended. Whatever ends it, the machine
/// is put back.
fn serve(guest: &Guest<'_>, socket: UnixStream, service: &OwnedFd) -> io::Result<()> {
    let line = kept_open(&socket)?;
    line.set_write_timeout(Some(PATIENCE))?;
    let lines = Lines::bounded(socket, LONGEST_REQUEST);
    let stop = || {
        let mut entries = [Entry::readable(&lines), Entry::readable(service)];
        let looked = poll::wait(&mut entries, Some(Duration::ZERO));
        looked.is_err() || entries.iter().any(Entry::is_ready)
    };
    let command = format!("{}, for user {}", guest.command, guest.peer.uid);
    let root = guest.root;
    let begun = Tuning::begin(root, &command, guardian(root), guest.wait, &stop);
    let (tuning, begun) = match begun {
        Ok((tuning, recovered)) => (Some(tuning), Ok(recovered)),
        Err(error) => (None, Err(error)),
    };
    lines.send(&Answer::Begun(begun), None)?;
    if tuning.is_none() {
        return Ok(());
    }
    let mut hosting = Hosting::new(guest, lines, line);
    hosting.serving.tuning = tuning;
    let served = serve_until_the_end(&mut hosting, service);
    // Where it is put back already there is nothing left to do.
    let _ = hosting.put_back();
    served
}

/// Returns a socket that this process has open until it ends, so that closing another descriptor of it never is the last
/// close: that one waits for what the guest has put in there, and at the end of a process nothing lingers.
fn kept_open(socket: &UnixStream) -> io::Result<&'static UnixStream> {
    Ok(Box::leak(Box::new(socket.try_clone()?)))
}

fn serve_until_the_end(hosting: &mut Hosting<'_>, service: &OwnedFd) -> io::Result<()> {
    loop {
        let left = hosting.left();
        if left == Some(Duration::ZERO) {
            hosting.say_time_up();
            break;
        }
        let gate = hosting.gate.as_ref().map_or(Entry::none(), |gate| Entry::readable(&gate.ours));
        let mut entries = [Entry::readable(&hosting.serving.lines), gate, Entry::readable(service)];
        poll::wait(&mut entries, left)?;
        let [request, gate, service] = entries;
        if service.is_ready() {
            break;
        }
        if gate.is_ready() {
            hosting.admit()?;
        }
        if request.is_ready() && !hosting.hear()? {
            break;
        }
    }
    Ok(())
}

/// The way into a control group: who sends a byte by `theirs` is put into it, and answered.
struct Gate {
    ours: UnixStream,
    theirs: UnixStream,
}

struct Hosting<'a> {
    policy: &'a Policy,
    peer: Peer,
    serving: Serving<'a>,
    /// The guest's socket once more, for how long it may keep an answer waiting.
    line: &'static UnixStream,
    /// When the time is up; `None` for never.
    end: Option<Instant>,
    changes: usize,
    gate: Option<Gate>,
    homes: Homes,
}

/// Whether the guest may ask for more.
type GoesOn = bool;

impl<'a> Hosting<'a> {
    fn new(guest: &Guest<'a>, lines: Lines, line: &'static UnixStream) -> Self {
        let Guest { root, policy, peer, .. } = guest;
        let serving = Serving::new(root, lines);
        let end = Instant::now().checked_add(policy.limit);
        Self {
            policy,
            peer: *peer,
            serving,
            line,
            end,
            changes: 0,
            gate: None,
            homes: Homes::default(),
        }
    }

    /// Returns how long the guest may have the machine still; `None` for ever.
    fn left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Answers what has come, as long as there is time: who reads answers slowly has none more than others.
    fn hear(&mut self) -> io::Result<GoesOn> {
        let (is_open, _) = self.serving.lines.fill()?;
        while let Some(request) = self.serving.lines.take()? {
            let left = self.left().unwrap_or(PATIENCE);
            if left.is_zero() {
                // The loop says so.
                return Ok(true);
            }
            self.line.set_write_timeout(Some(left.min(PATIENCE)))?;
            if !self.answer(request)? {
                return Ok(false);
            }
        }
        Ok(is_open)
    }

    fn answer(&mut self, request: Request) -> io::Result<GoesOn> {
        match request {
            Request::Turn(request) => {
                let turned = match self.allows_turn(&request) {
                    Ok(()) => self.turn(request),
                    Err(refused) => Err(refused.into()),
                };
                self.say(&turned)?;
            }
            Request::Isolate(request) => {
                let taken = self.isolate(&request);
                self.say(&taken)?;
            }
            Request::OpenGroup => self.open_gate()?,
            Request::HoldLatency { .. } => self.say(&Err::<(), Of>(Of(refused())))?,
            Request::Keep => {
                let why = io::Error::other(
                    "the service of this machine tunes it only while a command runs (--hold)",
                );
                let kept = NotKept { why, restored: self.put_back() };
                self.say(&Err::<becalm_model::ProcessIdentity, _>(kept))?;
                return Ok(false);
            }
            Request::Finish => {
                let restored = self.put_back();
                self.say(&restored)?;
                return Ok(false);
            }
            // No becalm asks the service for these.
            Request::Begin { .. }
            | Request::Stop
            | Request::DropPageCache
            | Request::Energy
            | Request::Tracepoints
            | Request::Remember(_) => return Ok(false),
        }
        Ok(true)
    }

    fn say(&self, answer: &impl Serialize) -> io::Result<()> {
        self.serving.lines.send(&Reply::Answer(answer), None)
    }

    /// Says that the time is up, puts the machine back, and says what came of it, to a guest that listens: nobody is waited
    /// for before the machine is as it was.
    fn say_time_up(&mut self) {
        let seconds = self.policy.limit.as_secs();
        let _ = self.line.set_nonblocking(true);
        let told = self.serving.lines.send(&Reply::<()>::TimeUp { seconds }, None);
        let restored = self.put_back();
        if told.is_ok() {
            let _ = self.serving.lines.send(&Reply::<()>::PutBack(restored), None);
        }
    }

    fn allows_turn(&mut self, request: &KnobRequest) -> Result<(), NotAllowed> {
        self.changes += 1;
        if self.changes > MOST_CHANGES {
            return Err(NotAllowed::TooOften(MOST_CHANGES));
        }
        if !self.policy.allows(&request.request) {
            return Err(NotAllowed::Knobs(self.policy.names()));
        }
        Ok(())
    }

    fn turn(
        &mut self,
        mut request: KnobRequest,
    ) -> Result<(crate::tune::TuningPlan, Vec<crate::tune::Applied>), TurnError> {
        let online = Topology::read(self.serving.root)
            .map_err(|error| JournalFileError::Steward(error.to_string()))?
            .online;
        if request.cpus.is_empty() || !request.cpus.difference(&online).is_empty() {
            return Err(NotAllowed::Cpus(request.cpus).into());
        }
        // Where everybody else's work goes is not the guest's business.
        let others = online.difference(&request.cpus);
        request.housekeeping = if others.is_empty() { online } else { others };
        self.serving.turn(request)
    }

    fn isolate(&mut self, request: &IsolationRequest) -> Result<Attempt, JournalFileError> {
        self.changes += 1;
        match self.refuses_isolation(&request.cpus) {
            Some(refused) => Ok(Attempt { cleared: Vec::new(), taken: Err(refused) }),
            None => self.serving.isolate(request),
        }
    }

    fn refuses_isolation(&self, cpus: &CpuSet) -> Option<IsolateError> {
        let most = self.policy.isolated_cpus;
        if cpus.is_empty() {
            // No CPU is not too many, and still its group would be a way out of the limits of a session.
            return Some(IsolateError::NoCpus);
        }
        let is_refused = cpus.len() > most || self.changes > MOST_CHANGES;
        is_refused.then(|| IsolateError::NotAllowed { cpus: cpus.clone(), most })
    }

    fn open_gate(&mut self) -> io::Result<()> {
        if self.serving.group.is_none() {
            return self.say(&Err::<(), Of>(Of(io::Error::from_raw_os_error(errno::ENOENT))));
        }
        if self.gate.is_none() {
            let (ours, theirs) = UnixStream::pair()?;
            ask_for_senders(&ours)?;
            // Nobody who stands there is waited for.
            kept_open(&ours)?.set_nonblocking(true)?;
            self.gate = Some(Gate { ours, theirs });
        }
        let theirs = self.gate.as_ref().map(|gate| gate.theirs.as_fd());
        self.serving.lines.send(&Reply::Answer(Ok::<(), Of>(())), theirs)
    }

    /// Puts the process that stands at the gate into the group, and tells it so.
    fn admit(&mut self) -> io::Result<()> {
        let Some(gate) = &self.gate else { return Ok(()) };
        let Some(comer) = receive_sender(&gate.ours)? else { return Ok(()) };
        let entered = self.enter(&comer);
        let number = entered.err().map_or(0, |error| error.raw_os_error().unwrap_or(errno::EIO));
        let Some(gate) = &self.gate else { return Ok(()) };
        (&gate.ours).write_all(&[u8::try_from(number).unwrap_or(u8::MAX)])
    }

    fn enter(&mut self, comer: &Peer) -> io::Result<()> {
        let root = self.serving.root;
        let Some(group) = &self.serving.group else { return Err(refused()) };
        if comer.uid != self.peer.uid || comer.pid == 0 {
            return Err(refused());
        }
        // It waits for the answer. While it lives, and even until it is reaped, nobody else has its number.
        let process = wait::pidfd(comer.pid)?;
        let live = SysRoot::default();
        if user_of(&live, comer.pid) != Some(self.peer.uid) || has_ended(&process)? {
            return Err(refused());
        }
        self.homes.note(root, comer.pid, group);
        root.write(format!("{group}/cgroup.procs"), &comer.pid.to_string())?;
        if has_ended(&process)? && user_of(&live, comer.pid) != Some(self.peer.uid) {
            // It was killed meanwhile, and another user's new process, which got its number, was moved.
            put_beside_its_parent(root, comer.pid, group);
            return Err(refused());
        }
        Ok(())
    }

    /// Puts the machine back. Whoever is left in the group goes home first, to the limits of its own session.
    fn put_back(&mut self) -> Result<Recovered, JournalFileError> {
        if let Some(group) = &self.serving.group {
            self.homes.send_home(self.serving.root, group);
        }
        self.serving.finish()
    }
}

/// Says whether the process of a [`wait::pidfd`] has ended, whether or not it was reaped.
fn has_ended(process: &OwnedFd) -> io::Result<bool> {
    let mut entry = [Entry::readable(process)];
    poll::wait(&mut entry, Some(Duration::ZERO))?;
    Ok(entry[0].is_ready())
}

/// Moves a process that has just been started out of the group: a new process is where its parent is.
fn put_beside_its_parent(root: &SysRoot, pid: u32, group: &str) {
    let home = parent_of(root, pid).and_then(|parent| home_of(root, parent, group));
    if let Some(home) = home {
        move_to(root, pid, &home);
    }
}

fn refused() -> io::Error {
    io::Error::from_raw_os_error(errno::EPERM)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use becalm_kernel::socket::peer_of;
    use becalm_testkit::FakeTree;

    use crate::isolate::Partition;
    use crate::tune::task::this_process;

    const GROUP: &str = "/sys/fs/cgroup/becalm";
    const HOME: &str = "/sys/fs/cgroup/user.slice/x.scope";

    /// A machine with a group for a subject, whose processes come from a group of their own.
    fn tree() -> FakeTree {
        let pid = std::process::id();
        FakeTree::new()
            .file("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
            .file(format!("/proc/{pid}/cgroup"), "0::/user.slice/x.scope\n")
            .file(format!("{GROUP}/cgroup.procs"), "")
            .file(format!("{HOME}/cgroup.procs"), "")
    }

    /// A guest that is this process, and what it hears.
    fn hosted<'a>(root: &'a SysRoot, policy: &'a Policy) -> (Hosting<'a>, Lines) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let peer = peer_of(&ours).unwrap();
        let process = this_process();
        let guest = Guest { root, policy, process, peer, command: String::new(), wait: Wait::No };
        let line = kept_open(&ours).unwrap();
        let mut hosting = Hosting::new(&guest, Lines::bounded(ours, LONGEST_REQUEST), line);
        hosting.serving.group = Some(GROUP.to_owned());
        (hosting, Lines::new(theirs))
    }

    fn gate(hosting: &mut Hosting<'_>, heard: &mut Lines) -> UnixStream {
        assert!(hosting.answer(Request::OpenGroup).unwrap());
        let (answer, file) = heard.receive::<Reply<Result<(), Of>>>().unwrap().unwrap();
        assert!(matches!(answer, Reply::Answer(Ok(()))));
        UnixStream::from(file.unwrap())
    }

    fn answer(gate: &mut UnixStream) -> u8 {
        let mut byte = [u8::MAX];
        gate.read_exact(&mut byte).unwrap();
        byte[0]
    }

    #[test]
    fn who_stands_at_the_gate_is_let_in_and_sent_home_in_the_end() {
        let (tree, policy) = (tree(), Policy::default());
        let root = SysRoot::new(tree.path());
        let (mut hosting, mut heard) = hosted(&root, &policy);
        let mut gate = gate(&mut hosting, &mut heard);
        // Whatever is written there, it is the writer who enters.
        gate.write_all(b"7").unwrap();
        hosting.admit().unwrap();
        assert_eq!(answer(&mut gate), 0);
        let pid = std::process::id().to_string();
        let members = |group: &str| root.read(format!("{group}/cgroup.procs")).value().unwrap();
        assert_eq!(members(GROUP), pid);
        assert_eq!(members(HOME), "");
        assert_eq!(hosting.put_back().unwrap(), Recovered::Nothing);
        assert_eq!(members(HOME), pid);
        // Nobody enters what is gone.
        gate.write_all(b"0").unwrap();
        hosting.admit().unwrap();
        assert_eq!(i32::from(answer(&mut gate)), errno::EPERM);
    }

    #[test]
    fn a_group_without_cpus_is_not_made_for_anybody() {
        let (tree, mut policy) = (tree(), Policy::default());
        let root = SysRoot::new(tree.path());
        for most in [0, 2] {
            policy.isolated_cpus = most;
            let (mut hosting, _heard) = hosted(&root, &policy);
            hosting.serving.group = None;
            let request = IsolationRequest {
                cpus: CpuSet::new(),
                partition: Partition::Isolated,
                without: Vec::new(),
            };
            let taken = hosting.isolate(&request).unwrap().taken;
            assert_eq!(taken.unwrap_err(), IsolateError::NoCpus);
            assert_eq!(hosting.serving.group, None);
        }
    }

    #[test]
    fn nobody_else_is_let_in() {
        let (tree, policy) = (tree(), Policy::default());
        let root = SysRoot::new(tree.path());
        let (mut hosting, mut heard) = hosted(&root, &policy);
        let mut gate = gate(&mut hosting, &mut heard);
        hosting.peer.uid = hosting.peer.uid.wrapping_add(1);
        gate.write_all(b"0").unwrap();
        hosting.admit().unwrap();
        assert_eq!(i32::from(answer(&mut gate)), errno::EPERM);
        assert_eq!(root.read(format!("{GROUP}/cgroup.procs")).value().unwrap(), "");
    }

    #[test]
    fn who_has_ended_before_it_is_let_in_is_refused() {
        let (tree, policy) = (tree(), Policy::default());
        let root = SysRoot::new(tree.path());
        let (mut hosting, _heard) = hosted(&root, &policy);
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let process = wait::pidfd(child.id()).unwrap();
        poll::wait(&mut [Entry::readable(&process)], None).unwrap();
        // It is not reaped, so that its number and its user are still known.
        let comer = Peer { pid: child.id(), ..hosting.peer };
        assert_eq!(hosting.enter(&comer).unwrap_err().raw_os_error(), Some(errno::EPERM));
        assert_eq!(root.read(format!("{GROUP}/cgroup.procs")).value().unwrap(), "");
        child.wait().unwrap();
    }

    #[test]
    fn a_process_that_got_the_number_of_another_one_goes_to_where_its_parent_is() {
        let tree = tree()
            .file("/proc/90/status", "PPid:\t89\n")
            .file("/proc/89/cgroup", "0::/user.slice/x.scope\n");
        let root = SysRoot::new(tree.path());
        put_beside_its_parent(&root, 90, GROUP);
        assert_eq!(root.read(format!("{HOME}/cgroup.procs")).value().unwrap(), "90");
    }

    #[test]
    fn a_guest_whose_time_is_up_hears_so_and_what_became_of_the_machine() {
        let (tree, policy) = (tree(), Policy::default());
        let root = SysRoot::new(tree.path());
        let (mut hosting, mut heard) = hosted(&root, &policy);
        hosting.say_time_up();
        let (reply, _) = heard.receive::<Reply<()>>().unwrap().unwrap();
        let Reply::TimeUp { seconds } = reply else { panic!("{reply:?}") };
        let (reply, _) = heard.receive::<Reply<()>>().unwrap().unwrap();
        let Reply::PutBack(restored) = reply else { panic!("{reply:?}") };
        assert_eq!((seconds, restored.unwrap()), (3600, Recovered::Nothing));
    }

    #[test]
    fn who_reads_nothing_is_not_waited_for_when_the_time_is_up() {
        let (tree, policy) = (tree(), Policy::default());
        let root = SysRoot::new(tree.path());
        let (mut hosting, _heard) = hosted(&root, &policy);
        hosting.line.set_nonblocking(true).unwrap();
        while hosting.say(&()).is_ok() {}
        hosting.line.set_nonblocking(false).unwrap();
        hosting.line.set_write_timeout(None).unwrap();
        hosting.say_time_up();
    }

    #[test]
    fn requests_after_the_end_are_not_answered() {
        let (tree, policy) = (tree(), Policy::default());
        let root = SysRoot::new(tree.path());
        let (mut hosting, mut heard) = hosted(&root, &policy);
        hosting.end = Some(Instant::now());
        for _ in 0..3 {
            heard.send(&Request::OpenGroup, None).unwrap();
        }
        assert!(hosting.hear().unwrap());
        hosting.say_time_up();
        let (reply, _) = heard.receive::<Reply<()>>().unwrap().unwrap();
        assert!(matches!(reply, Reply::TimeUp { .. }), "{reply:?}");
    }

    #[test]
    fn a_file_that_comes_along_ends_the_visit_and_is_not_closed_here() {
        let (tree, policy) = (tree(), Policy::default());
        let root = SysRoot::new(tree.path());
        let (mut hosting, heard) = hosted(&root, &policy);
        let (reader, writer) = io::pipe().unwrap();
        heard.send(&Request::OpenGroup, Some(writer.as_fd())).unwrap();
        drop(writer);
        assert!(hosting.hear().is_err());
        let mut entry = [Entry::readable(&reader)];
        poll::wait(&mut entry, Some(Duration::ZERO)).unwrap();
        assert!(!entry[0].is_ready(), "it lies in the socket");
    }
}
