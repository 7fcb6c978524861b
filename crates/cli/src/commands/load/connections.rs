//! Flags of `becalm load` about connections.

use std::path::PathBuf;

use becalm_load::{Protocol, Trusted, Way};
use becalm_session::files;

use super::asked;
use crate::error::CommandError;

/// Flags about connections.
#[derive(Debug, clap::Args)]
pub(super) struct ConnectionFlags {
    /// Largest number of connections at the same time; becalm opens them on demand
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "Connections")]
    pub(super) connections: u32,

    /// Open a connection for each request; opening it is part of the service time
    #[arg(long, help_heading = "Connections")]
    pub(super) new_connections: bool,

    /// Connect to this Unix socket; the URL still gives host and path
    #[arg(long, value_name = "PATH", help_heading = "Connections")]
    pub(super) unix_socket: Option<PathBuf>,

    /// Speak HTTP/2; without TLS, from the first byte on
    #[arg(long, conflicts_with = "new_connections", help_heading = "Connections")]
    pub(super) http2: bool,

    /// Largest number of requests at the same time on one HTTP/2 connection
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Connections")]
    pub(super) streams: u32,

    /// Also trust the authorities in this file (PEM)
    #[arg(long, value_name = "FILE", help_heading = "Connections")]
    pub(super) cacert: Option<PathBuf>,

    /// Accept any certificate
    #[arg(long, short = 'k', conflicts_with = "cacert", help_heading = "Connections")]
    pub(super) insecure: bool,

    /// Threads that send [default: half of the CPUs, at most 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64), help_heading = "Connections")]
    pub(super) threads: Option<u32>,
}

impl ConnectionFlags {
    /// Returns how many threads send; more than connections would have nothing to do.
    pub(super) fn senders(&self) -> u32 {
        self.threads.unwrap_or_else(asked::threads_here).min(self.connections)
    }

    /// Returns what connections speak.
    pub(super) fn protocol(&self) -> Protocol {
        if self.http2 { Protocol::Http2 } else { Protocol::Http1 }
    }

    /// Returns how the server is reached.
    pub(super) fn way(&self) -> Result<Way, CommandError> {
        let trusted = match &self.cacert {
            Some(file) => Trusted::Also(files::read_bytes(file)?),
            None if self.insecure => Trusted::Anybody,
            None => Trusted::Public,
        };
        Ok(Way { unix_socket: self.unix_socket.clone(), protocol: self.protocol(), trusted })
    }
}
