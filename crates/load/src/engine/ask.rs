//! One request to a server, to learn whether it answers.

use std::io;
use std::net::TcpStream;
use std::time::Duration;

use becalm_kernel::interrupt::Interrupt;
use becalm_kernel::socket::has_listener;
use becalm_model::load::Failed;

use super::mix::Requests;
use super::target::{Place, Target};
use super::{LoadError, Plan, load};
use crate::schedule::Schedule;

/// Why a server did not answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// Nobody takes connections there.
    #[error("{0}")]
    NoConnection(io::Error),
    /// There was no load.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The request failed.
    #[error("{}", .0.in_words())]
    Failed(Failed),
    /// A signal came before its answer.
    #[error("a signal came first")]
    Interrupted,
}

impl Target {
    /// Says whether somebody takes connections there, or what the system says instead.
    fn try_connecting(&self, patience: Duration) -> io::Result<()> {
        match &self.place {
            Place::Tcp(address) => TcpStream::connect_timeout(address, patience).map(drop),
            Place::Unix(path) => has_listener(path),
        }
    }

    /// Says whether somebody takes connections there.
    pub fn is_taken(&self) -> bool {
        /// Enough for this machine, whose answer comes at once.
        const PATIENCE: Duration = Duration::from_millis(500);
        self.try_connecting(PATIENCE).is_ok()
    }
}

/// Sends one request and waits at most so long for the right answer.
///
/// # Errors
///
/// What came instead.
pub fn ask(
    target: Target,
    requests: Requests,
    patience: Duration,
    interrupt: &Interrupt,
) -> Result<(), Unanswered> {
    // A server that is not there yet is asked often, and that needs no threads.
    let patience = patience.max(Duration::from_millis(1));
    target.try_connecting(patience).map_err(Unanswered::NoConnection)?;
    let plan = Plan {
        target,
        requests,
        schedule: Schedule::of_times(vec![0]),
        highest_rate: 1.0,
        time_limit: patience,
        connections: 1,
        streams: 1,
        new_connections: false,
        threads: 1,
        own_cpus: false,
        batch: None,
        pause: None,
    };
    let loaded = load(plan, interrupt, &mut |_| {})?;
    match loaded.total.failed().into_iter().next() {
        Some(failed) => Err(Unanswered::Failed(failed)),
        None if loaded.total.counts.answered == 1 => Ok(()),
        None => Err(Unanswered::Interrupted),
    }
}
