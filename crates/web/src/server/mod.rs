//! The server: it listens on one address and answers HTTP/1.1 until it is dropped.

mod access;
mod answer;
mod connection;
mod counters;
mod decide;
mod query;
mod routes;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::LocalSet;

use crate::history::History;

pub use access::{Access, TokenError};

/// What a server does.
pub struct ServerOptions {
    /// Where it listens; with port 0 the system chooses one.
    pub at: SocketAddr,
    /// What the history is called.
    pub title: String,
    /// The version of becalm.
    pub version: String,
    /// Who may ask.
    pub access: Access,
    /// Whether changes can be decided about.
    pub decides: bool,
}

/// A server that runs until it is dropped; then it answers what was asked, and ends.
#[derive(Debug)]
pub struct Server {
    at: SocketAddr,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts one.
    pub fn start(history: History, options: ServerOptions) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind(options.at))?;
        let at = listener.local_addr()?;
        let (stop, stopped) = watch::channel(false);
        let service = routes::Service::new(history, options)?;
        let named = std::thread::Builder::new().name("web".to_owned());
        let thread = named.spawn(move || {
            let tasks = LocalSet::new();
            let service = Arc::new(service);
            // Whoever comes first does not wait for all of it.
            let looking = Arc::clone(&service);
            runtime.spawn_blocking(move || looking.look());
            tasks.block_on(&runtime, connection::accept(listener, service, stopped));
            // A query that hangs does not keep the server.
            runtime.shutdown_background();
        })?;
        Ok(Self { at, stop, thread: Some(thread) })
    }

    /// Returns where it listens, with the port that it has.
    pub fn at(&self) -> SocketAddr {
        self.at
    }

    /// Returns the URL of the front page.
    pub fn url(&self) -> String {
        format!("http://{}/", self.at)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
