//! What a load needs beside its scenario: the content of files, and a secret.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use becalm_model::load::{PORT, Scenario};
use bytes::Bytes;

use super::target::{Protocol, Way, port_of_url};
use super::tls::Trusted;
use crate::schedule::Schedule;
use crate::values::Values;

/// See the head of this file.
#[derive(Clone, Default)]
pub struct Contents {
    /// What fills them in.
    pub values: Arc<Values>,
    /// The value of the header `Authorization`, for those that have none of their own.
    pub authorization: Option<String>,
    /// The bodies in files.
    pub bodies: Bodies,
    /// When requests are due, in nanoseconds from the start, if a file says that.
    pub times: Arc<[u64]>,
    /// Authorities that are trusted, too (PEM).
    pub authorities: Option<Bytes>,
}

/// Bodies by the names of their files.
pub type Bodies = BTreeMap<String, Bytes>;

impl std::fmt::Debug for Contents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without the secret.
        f.debug_struct("Contents").field("values", &self.values.rows()).finish_non_exhaustive()
    }
}

impl Contents {
    /// Returns when the requests of a scenario are due.
    pub fn schedule(&self, scenario: &Scenario, seed: u64) -> Schedule {
        if scenario.replay.is_some() {
            return Schedule::of_times(self.times.to_vec());
        }
        Schedule::new(scenario.stages.clone(), scenario.arrivals, seed)
    }

    /// Returns how the servers of a scenario are reached, at this URL.
    pub fn way(&self, scenario: &Scenario, url: &str) -> Way {
        let trusted = match &self.authorities {
            Some(authorities) => Trusted::Also(authorities.to_vec()),
            None if scenario.insecure => Trusted::Anybody,
            None => Trusted::Public,
        };
        // Servers that run at the same time need a socket each.
        let port = port_of_url(url).map(|port| port.to_string()).unwrap_or_default();
        let socket = scenario.unix_socket.as_ref().map(|path| path.replace(PORT, &port).into());
        Way { unix_socket: socket, protocol: Protocol::of(scenario), trusted }
    }
}

/// Returns the value of the header for basic authentication of `NAME:PASSWORD` (RFC 7617).
pub fn basic_authorization(name_and_password: &str) -> String {
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(name_and_password))
}

/// Returns that for a token (RFC 6750).
pub fn bearer_authorization(token: &str) -> String {
    format!("Bearer {token}")
}
