//! The server without a socket: for those who try out what any client may send.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio::runtime::Runtime;
use tokio::task::{LocalSet, spawn_local};

use super::connection::whole;
use super::routes::Service;
use super::{Projects, ServerOptions};

/// Bytes between client and server.
const BETWEEN: usize = 64 << 10;

/// A server that listens nowhere. It answers what a server with these options would answer on a connection.
pub struct Unconnected {
    service: Arc<Service>,
    runtime: Runtime,
}

impl Unconnected {
    /// Makes one.
    pub fn new(shown: impl Into<Projects>, options: ServerOptions) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { service: Arc::new(Service::new(shown.into(), options)?), runtime })
    }

    /// Returns everything that a client gets that sends these bytes, and nothing more.
    pub fn exchange(&self, sent: &[u8]) -> Vec<u8> {
        let (service, sent) = (Arc::clone(&self.service), sent.to_vec());
        LocalSet::new().block_on(&self.runtime, async {
            let (client, server) = duplex(BETWEEN);
            let (mut reading, mut writing) = tokio::io::split(client);
            spawn_local(whole(Box::new(server), service));
            spawn_local(async move {
                let _ = writing.write_all(&sent).await;
                let _ = writing.shutdown().await;
            });
            let mut answer = Vec::new();
            let _ = reading.read_to_end(&mut answer).await;
            answer
        })
    }
}

impl std::fmt::Debug for Unconnected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unconnected").finish_non_exhaustive()
    }
}
