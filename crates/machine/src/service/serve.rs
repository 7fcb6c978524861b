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
    #[error("a service listens at {0} already")]
    Twice(PathBuf),
    /// What it was started with is something else.
    #[error("becalm was started with an open file (LISTEN_FDS) that is no socket which listens")]
    NoSocket,
    /// It cannot wait for callers.
    #[error("the service cannot go on: {0}")]
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
}

/// Somebody who is connected and has no steward.
#[derive(Debug)]
struct Visitor {
    lines: Lines,
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
        Ok(Self { root, policy, listener, visitors: Vec::new(), tenant: None })
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
            }
        }
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
        // One whose time is over waits for a steward that begins or ends.
        queueing().filter_map(Queueing::left).map(|left| left.max(MOMENT)).chain(look).min()
    }

    fn accept(&mut self) {
        while let Ok((socket, _)) = self.listener.accept() {
            let (Ok(peer), Ok(())) = (peer_of(&socket), socket.set_nonblocking(true)) else {
                continue;
            };
            let lines = Lines::bounded(socket, LONGEST_CALL);
            let of_user = self.visitors.iter().filter(|one| one.peer.uid == peer.uid).count();
            if self.visitors.len() >= MOST || of_user >= MOST_OF_USER {
                // Whether it hears that is its business.
                let _ = lines.send(&Answer::TooMany, None);
                continue;
            }
            self.visitors.push(Visitor { lines, peer, queueing: None });
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
        let next = self.visitors.iter().position(|one| one.queueing.is_some());
        let Some(next) = next.map(|next| self.visitors.remove(next)) else { return };
        let Visitor { lines, peer, queueing: Some(queueing) } = next else { return };
        let wait = match (queueing.wait, queueing.left()) {
            (Wait::For(_), Some(left)) => Wait::For(left),
            (wait, _) => wait,
        };
        let command = queueing.command;
        let guest = Guest { root: self.root, policy: self.policy, peer, command, wait };
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
        self.visitors.retain(|one| {
            let is_over = is_over(one);
            if is_over {
                let _ = one.lines.send(&Answer::Held(holder.clone()), None);
            }
            !is_over
        });
    }

    /// Tells those who wait what their place is, where that has changed.
    fn tell(&mut self) {
        if self.visitors.iter().all(|one| one.queueing.is_none()) {
            return;
        }
        let holder = self.holder();
        let mut place = 0;
        self.visitors.retain_mut(|one| {
            let Some(queueing) = &mut one.queueing else { return true };
            place += 1;
            let now = Some((place, holder.as_ref().map(|held| held.pid)));
            if queueing.told == now {
                return true;
            }
            queueing.told = now;
            let queued = Queued { place, holder: holder.clone() };
            one.lines.send(&Answer::Queued(queued), None).is_ok()
        });
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
        let waiting = self.visitors.iter().filter_map(|one| {
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
