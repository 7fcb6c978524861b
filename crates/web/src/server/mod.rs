//! The server: it listens on one address and answers HTTP/1.1 until it is dropped.

mod access;
mod answer;
mod connection;
mod counters;
mod decide;
mod encrypted;
mod fields;
mod guests;
mod lookup;
mod openapi;
mod projects;
mod query;
mod routes;
mod target;
mod top;
mod unconnected;
mod upload;
mod wanted;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use becalm_report::web::CommitPages;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::task::LocalSet;

use crate::history::locked;

pub use access::{Access, NewToken, TokenError};
pub use encrypted::{Encryption, EncryptionError, Identity, ReadIdentity};
pub use projects::{ProjectName, ProjectNameError, Projects};
pub use unconnected::Unconnected;

/// What a server does.
pub struct ServerOptions {
    /// Where it listens; with port 0 the system chooses one.
    pub at: SocketAddr,
    /// What the only history is called, or the list of several.
    pub title: String,
    /// The version of becalm.
    pub version: String,
    /// Where commits can be looked at, if that is known.
    pub commits: Option<CommitPages>,
    /// Who may ask.
    pub access: Access,
    /// How connections are encrypted; `None` if they are not.
    pub encryption: Option<Encryption>,
    /// Whether changes can be decided about, and records added.
    pub changes: bool,
    /// What a client may take.
    pub limits: Limits,
    /// Returns the JSON Schema of a document by its name.
    pub schema: fn(&str) -> Option<String>,
    /// Gets every answer.
    pub log: Option<Log>,
}

/// Gets every answer, from any thread.
pub type Log = Box<dyn Fn(&Answered<'_>) + Send + Sync>;

/// A request that was answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answered<'a> {
    /// How it was made.
    pub method: &'a str,
    /// Its path without what follows `?`, which may have names that are nobody's business.
    pub path: &'a str,
    /// What it was for, as the counters call it.
    pub page: &'static str,
    /// The status of the answer.
    pub status: u16,
    /// Bytes of the body.
    pub bytes: usize,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// What a client may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a record that is sent.
    pub record: usize,
    /// How long the head of a request may take, and how long a connection may be idle.
    pub head: Duration,
    /// How long a form may take to arrive, and how long nothing of a record may come.
    pub arrival: Duration,
    /// After this time a connection ends with its present answer.
    pub life: Duration,
    /// After this time it ends at once: whoever reads that slowly is not there.
    pub longest: Duration,
    /// Connections at once: a further one takes the place of the one that is idle for longest.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            record: 32 << 20,
            head: Duration::from_secs(10),
            arrival: Duration::from_secs(10),
            life: Duration::from_secs(60),
            longest: Duration::from_secs(120),
            connections: 512,
        }
    }
}

/// A server that runs until it is dropped; then it answers what was asked, and ends.
#[derive(Debug)]
pub struct Server {
    at: SocketAddr,
    scheme: &'static str,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
    /// Its other end is gone when the server has looked at its history.
    is_found: Mutex<mpsc::Receiver<()>>,
}

impl Server {
    /// Starts one. It answers at once, but whoever comes before it is [prepared](Self::is_prepared_within) may wait.
    pub fn start(shown: impl Into<Projects>, options: ServerOptions) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(async { listen(options.at) })?;
        let at = listener.local_addr()?;
        let (stop, stopped) = watch::channel(false);
        let service = routes::Service::new(shown.into(), options)?;
        let scheme = service.scheme();
        let (found, is_found) = mpsc::channel::<()>();
        let named = std::thread::Builder::new().name("web".to_owned());
        let thread = named.spawn(move || {
            let tasks = LocalSet::new();
            let service = Arc::new(service);
            // Connections to a database may not be closed from within a runtime: the last one to have them is out here.
            let kept = Arc::clone(&service);
            for project in service.projects.all() {
                let (project, found) = (Arc::clone(project), found.clone());
                runtime.spawn_blocking(move || {
                    project.look();
                    drop(found);
                });
            }
            drop(found);
            tasks.block_on(&runtime, connection::accept(listener, service, stopped));
            drop(tasks);
            // A query that hangs does not keep the server.
            runtime.shutdown_background();
            drop(kept);
        })?;
        Ok(Self { at, scheme, stop, thread: Some(thread), is_found: Mutex::new(is_found) })
    }

    /// Waits until what most pages need is found, so that nobody waits for it later; says whether it is.
    pub fn is_prepared_within(&self, time: Duration) -> bool {
        locked(&self.is_found).recv_timeout(time) == Err(mpsc::RecvTimeoutError::Disconnected)
    }

    /// Returns where it listens, with the port that it has.
    pub fn at(&self) -> SocketAddr {
        self.at
    }

    /// Returns the URL of the front page.
    pub fn url(&self) -> String {
        format!("{}://{}/", self.scheme, self.at)
    }
}

/// Connections that the kernel accepts ahead of the server: beyond these, clients try again ever more slowly.
const BACKLOG: u32 = 4096;

/// Listens at an address. One where a server has just ended is free.
fn listen(at: SocketAddr) -> io::Result<TcpListener> {
    let socket = if at.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(at)?;
    socket.listen(BACKLOG)
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
