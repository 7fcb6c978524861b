//! The service itself: it takes calls, keeps the queue, and starts one steward after the other. It changes nothing.
//!
//! Callers may be hostile. What they can make it keep is bounded (connections of a user and of all, bytes of a line),
//! it never waits for one of them, and reads no line of theirs but the first.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, os};

use becalm_kernel::poll::{self, Entry};
use becalm_kernel::socket::{Peer, is_listening, peer_of};
use becalm_kernel::{descriptor, wait};
use becalm_model::ProcessIdentity;
use becalm_model::wire::Holder;

use super::answer::{Answer, Held, Queued, Status, Waiting};
use super::call::{Call, VERSION, Wish};
use super::{Policy, SOCKET};
use crate::SysRoot;
use crate::steward::{Guest, Lines, for_people, split_off};
use crate::tune::{self, Wait, journal, task};

/// Most bytes of a call.
const LONGEST_CALL: usize = 4 << 10;
/// Most connections of all users.
const MOST: usize = 256;
/// Most connections of one user.
const MOST_OF_USER: usize = 16;
/// How often is looked whether somebody who did not come by the service has given the machine free.
const LOOK: Duration = Duration::from_millis(100);

/// How long is waited at least until something is looked at again.
const MOMENT: Duration = Duration::from_millis(10);
/// How long a steward may take to end after it has given the machine free.
const LAST_BREATH: Duration = Duration::from_secs(2);
/// How long a steward may take to put the machine back after its time. One that takes longer is ended, and its guardian
/// puts it back.
const GRACE: Duration = Duration::from_secs(60);
/// Users of whom is known who had the machine last.
const MOST_REMEMBERED: usize = 1024;

/// Why there is no service.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It cannot listen.
    #[error("cannot listen at {path}: {source}")]
    Listen {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is one already.
    #[error("a service already listens at {0}")]
    Twice(PathBuf),
    /// What it was started with is something else.
    #[error("becalm was started with an open file (LISTEN_FDS) that is not a listening socket")]
    NoSocket,
    /// It cannot wait for callers.
    #[error("the service cannot continue: {0}")]
    System(#[from] io::Error),
}

/// Returns the socket that systemd has made for this process; where it has made none, makes one, for root and `group`. To be
/// called before anything is opened.
pub fn listen(root: &SysRoot, group: Option<u32>) -> Result<UnixListener, ServeError> {
    let variable = |name| std::env::var(name).ok().and_then(|value| value.parse::<u32>().ok());
    if variable("LISTEN_PID") == Some(std::process::id()) && variable("LISTEN_FDS") == Some(1) {
        let socket = descriptor::handed_over().filter(is_listening);
        return socket.map(UnixListener::from).ok_or(ServeError::NoSocket);
    }
    let path = root.resolve(Path::new(SOCKET));
    if UnixStream::connect(&path).is_ok() {
        return Err(ServeError::Twice(path));
    }
    make(&path, group).map_err(|source| ServeError::Listen { path, source })
}

fn make(path: &Path, group: Option<u32>) -> io::Result<UnixListener> {
    journal::make_folder(path.parent().unwrap_or(path))?;
    // What a service left that was killed.
    if fs::symlink_metadata(path).is_ok_and(|facts| facts.file_type().is_socket()) {
        fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    os::unix::fs::chown(path, None, group)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o660))?;
    Ok(listener)
}

/// A service at work.
#[derive(Debug)]
pub struct Server<'a> {
    root: &'a SysRoot,
    policy: &'a Policy,
    listener: UnixListener,
    /// Whoever has called, in this order.
    visitors: Vec<Visitor>,
    tenant: Option<Tenant>,
    /// Users who had the machine, the last one first: all others come before them.
    served: Vec<u32>,
}

/// Somebody who is connected and has no steward.
#[derive(Debug)]
struct Visitor {
    lines: Lines,
    process: ProcessIdentity,
    peer: Peer,
    queueing: Option<Queueing>,
}

/// Somebody who waits for the machine.
#[derive(Debug)]
struct Queueing {
    command: String,
    wait: Wait,
    since: Instant,
    /// What was said last.
    told: Option<(usize, Option<u32>)>,
}

impl Queueing {
    /// Returns how long it may still wait; `None` for ever.
    fn left(&self) -> Option<Duration> {
        match self.wait {
            Wait::No => Some(Duration::ZERO),
            Wait::For(time) => Some(time.saturating_sub(self.since.elapsed())),
            Wait::Forever => None,
        }
    }
}

/// Somebody who has a steward.
#[derive(Debug)]
struct Tenant {
    steward: u32,
    ended: OwnedFd,
    peer: Peer,
    command: String,
    since: Instant,
}

impl<'a> Server<'a> {
    /// Makes a service of a socket. This process has one thread.
    pub fn new(
        root: &'a SysRoot,
        policy: &'a Policy,
        listener: UnixListener,
    ) -> Result<Self, ServeError> {
        listener.set_nonblocking(true)?;
        Ok(Self { root, policy, listener, visitors: Vec::new(), tenant: None, served: Vec::new() })
    }

    /// Serves until it is ended by a signal. Its stewards see that, and put the machine back.
    pub fn run(mut self) -> Result<(), ServeError> {
        loop {
            self.step()?;
        }
    }

    /// Waits until something happens, and does what is to be done then.
    fn step(&mut self) -> Result<(), ServeError> {
        let tenant = self.tenant.as_ref().map_or(Entry::none(), |one| Entry::readable(&one.ended));
        let mut entries = vec![Entry::readable(&self.listener), tenant];
        entries.extend(self.visitors.iter().map(|one| Entry::readable(&one.lines)));
        poll::wait(&mut entries, self.patience())?;
        if entries[1].is_ready()
            && let Some(tenant) = self.tenant.take()
        {
            let _ = wait::reap(tenant.steward.cast_signed());
        }
        let ready: Vec<bool> = entries[2..].iter().map(Entry::is_ready).collect();
        for (mut visitor, is_ready) in std::mem::take(&mut self.visitors).into_iter().zip(ready) {
            if !is_ready || self.hear(&mut visitor).unwrap_or(false) {
                self.visitors.push(visitor);
            } else {
                visitor.lines.let_go();
            }
        }
        self.end_overdue();
        if entries[0].is_ready() {
            self.accept();
        }
        self.give();
        self.send_away();
        self.tell();
        Ok(())
    }

    /// Returns how long nothing can happen that no file tells of.
    fn patience(&self) -> Option<Duration> {
        let queueing = || self.visitors.iter().filter_map(|one| one.queueing.as_ref());
        let look = (self.tenant.is_none() && queueing().next().is_some()).then_some(LOOK);
        let overdue = self.tenant.as_ref().and_then(|one| self.until_overdue(one));
        // One whose time is over waits for a steward that begins or ends.
        let waiting = queueing().filter_map(Queueing::left).map(|left| left.max(MOMENT));
        waiting.chain(look).chain(overdue.map(|left| left.max(MOMENT))).min()
    }

    /// Returns how long a steward has until it is ended; `None` for ever.
    fn until_overdue(&self, tenant: &Tenant) -> Option<Duration> {
        let most = self.policy.limit.checked_add(GRACE)?;
        Some(most.saturating_sub(tenant.since.elapsed()))
    }

    /// Ends a steward that has not put the machine back in time.
    fn end_overdue(&self) {
        let Some(tenant) = &self.tenant else { return };
        if self.until_overdue(tenant).is_some_and(|left| left.is_zero()) {
            let _ = wait::kill(&tenant.ended);
        }
    }

    fn accept(&mut self) {
        loop {
            let socket = match self.listener.accept() {
                Ok((socket, _)) => socket,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // Without a descriptor for it whoever calls has to wait, and so has this loop.
                Err(_) => return std::thread::sleep(MOMENT),
            };
            let known = (peer_of(&socket), socket.set_nonblocking(true));
            let lines = Lines::bounded(socket, LONGEST_CALL);
            let (Ok(peer), Ok(())) = known else {
                lines.let_go();
                continue;
            };
            let of_user = self.visitors.iter().filter(|one| one.peer.uid == peer.uid).count();
            if self.visitors.len() >= MOST || of_user >= MOST_OF_USER {
                // Whether it hears that is its business.
                let _ = lines.send(&Answer::TooMany, None);
                lines.let_go();
                continue;
            }
            let process = tune::task::named(peer.pid);
            self.visitors.push(Visitor { lines, process, peer, queueing: None });
        }
    }

    /// Hears what a visitor says; returns whether it stays. One that queues has nothing more to say.
    fn hear(&mut self, visitor: &mut Visitor) -> io::Result<bool> {
        let (is_open, _) = visitor.lines.fill()?;
        if !is_open || visitor.queueing.is_some() {
            return Ok(false);
        }
        let Some(Call { version, wish }) = visitor.lines.take()? else { return Ok(true) };
        if version != VERSION {
            visitor.lines.send(&Answer::OtherVersion(VERSION.to_owned()), None)?;
            return Ok(false);
        }
        match wish {
            Wish::Status => {
                visitor.lines.send(&Answer::Status(self.status()), None)?;
                Ok(false)
            }
            Wish::Machine { command, wait } => {
                let (command, since) = (for_people(&command), Instant::now());
                visitor.queueing = Some(Queueing { command, wait, since, told: None });
                Ok(true)
            }
        }
    }

    /// Gives the machine to the next one, where nobody has it.
    fn give(&mut self) {
        if self.tenant.is_some() || tune::is_held(self.root) {
            return;
        }
        let next = self.queue().first().copied();
        let Some(next) = next.map(|next| self.visitors.remove(next)) else { return };
        let Visitor { lines, process, peer, queueing: Some(queueing) } = next else { return };
        remember(&mut self.served, peer.uid);
        self.served.truncate(MOST_REMEMBERED);
        let wait = match (queueing.wait, queueing.left()) {
            (Wait::For(_), Some(left)) => Wait::For(left),
            (wait, _) => wait,
        };
        let command = queueing.command;
        let guest = Guest { root: self.root, policy: self.policy, process, peer, command, wait };
        let socket = lines.into_socket();
        // Where one of these fails the socket is closed, which says so.
        let split = socket.set_nonblocking(false).and_then(|()| split_off(&guest, socket));
        let Ok(steward) = split else { return };
        let Ok(ended) = wait::pidfd(steward) else { return };
        let (command, since) = (guest.command, Instant::now());
        self.tenant = Some(Tenant { steward, ended, peer, command, since });
    }

    /// Tells those whose time to wait is over who has the machine.
    fn send_away(&mut self) {
        let is_due = |one: &Visitor| {
            let left = one.queueing.as_ref().and_then(Queueing::left);
            left.is_some_and(|left| left.is_zero())
        };
        if !self.visitors.iter().any(is_due) {
            return;
        }
        let is_held = tune::is_held(self.root);
        let is_over = |one: &Visitor| {
            let waited = one.queueing.as_ref().map_or(Duration::ZERO, |one| one.since.elapsed());
            is_due(one) && (is_held || waited >= LAST_BREATH)
        };
        let holder = self
            .holder()
            .map(|held| Holder { process: task::named(held.pid), command: held.command });
        let all = std::mem::take(&mut self.visitors);
        let (over, stay): (Vec<Visitor>, Vec<Visitor>) = all.into_iter().partition(is_over);
        self.visitors = stay;
        for one in over {
            let _ = one.lines.send(&Answer::Held(holder.clone()), None);
            one.lines.let_go();
        }
    }

    /// Tells those who wait what their place is, where that has changed.
    fn tell(&mut self) {
        if self.visitors.iter().all(|one| one.queueing.is_none()) {
            return;
        }
        let holder = self.holder();
        let mut gone = Vec::new();
        for (ahead, index) in self.queue().into_iter().enumerate() {
            let one = &mut self.visitors[index];
            let Some(queueing) = &mut one.queueing else { continue };
            let place = ahead + 1;
            let now = Some((place, holder.as_ref().map(|held| held.pid)));
            if queueing.told == now {
                continue;
            }
            queueing.told = now;
            let queued = Queued { place, holder: holder.clone() };
            if one.lines.send(&Answer::Queued(queued), None).is_err() {
                gone.push(index);
            }
        }
        gone.sort_unstable();
        for index in gone.into_iter().rev() {
            self.visitors.remove(index).lines.let_go();
        }
    }

    /// Returns the places of those who wait for the machine, the next one first.
    fn queue(&self) -> Vec<usize> {
        let waiting = self.visitors.iter().enumerate();
        let waiting = waiting.filter(|(_, one)| one.queueing.is_some());
        in_turns(waiting.map(|(place, one)| (place, one.peer.uid)).collect(), &self.served)
    }

    /// Returns who has the machine. The lock says so; between two of its holders the service does.
    fn holder(&self) -> Option<Held> {
        let of_lock = tune::holder(self.root);
        let is_tenants =
            |one: &Tenant| of_lock.as_ref().is_none_or(|holder| holder.process.pid == one.peer.pid);
        if let Some(tenant) = self.tenant.as_ref().filter(|one| is_tenants(one)) {
            let held = tenant.since.elapsed();
            return Some(Held {
                uid: Some(tenant.peer.uid),
                pid: tenant.peer.pid,
                command: tenant.command.clone(),
                held: Some(held.as_secs()),
                left: Some(self.policy.limit.saturating_sub(held).as_secs()),
            });
        }
        let Holder { process, command } = of_lock?;
        Some(Held { uid: None, pid: process.pid, command, held: None, left: None })
    }

    fn status(&self) -> Status {
        let waiting = self.queue().into_iter().filter_map(|place| {
            let one = &self.visitors[place];
            let queueing = one.queueing.as_ref()?;
            Some(Waiting {
                uid: one.peer.uid,
                pid: one.peer.pid,
                command: queueing.command.clone(),
                waited: queueing.since.elapsed().as_secs(),
            })
        });
        Status {
            holder: self.holder(),
            waiting: waiting.collect(),
            profiles: self.policy.names(),
            isolated_cpus: self.policy.isolated_cpus,
            limit: self.policy.limit.as_secs(),
        }
    }
}

/// Notes that a user has had the machine, after all others.
fn remember(served: &mut Vec<u32>, uid: u32) {
    served.retain(|one| *one != uid);
    served.insert(0, uid);
}

/// Puts those who wait, each with a user, in the order in which they have the machine: of all users the one comes next who
/// has not had it for the longest time, with the request that came first.
fn in_turns(mut waiting: Vec<(usize, u32)>, served: &[u32]) -> Vec<usize> {
    let mut served = served.to_vec();
    let mut order = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        // Who had it last is the first of the list, and who never had it behind all of them.
        let rank = |uid: u32| served.iter().position(|one| *one == uid).unwrap_or(usize::MAX);
        let latest = waiting.iter().map(|(_, uid)| rank(*uid)).max();
        let next = waiting.iter().position(|(_, uid)| Some(rank(*uid)) == latest).unwrap_or(0);
        let (place, uid) = waiting.remove(next);
        remember(&mut served, uid);
        order.push(place);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(waiting: &[u32], served: &[u32], expected: &[usize]) {
        assert_eq!(in_turns(waiting.iter().copied().enumerate().collect(), served), expected);
    }

    #[test]
    fn users_have_the_machine_in_turns() {
        check(&[1, 1, 1, 2], &[], &[0, 3, 1, 2]);
        check(&[1, 1, 2, 3, 3], &[], &[0, 2, 3, 1, 4]);
    }

    #[test]
    fn who_had_it_last_comes_after_all_others() {
        check(&[1, 2], &[1], &[1, 0]);
        check(&[3, 1, 2], &[1, 2, 3], &[0, 2, 1]);
        check(&[], &[1], &[]);
    }
}
