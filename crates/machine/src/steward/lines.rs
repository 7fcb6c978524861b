//! Messages over a socket: one line of JSON each, some with an open file.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use becalm_kernel::socket::{receive_with_file, send_with_file};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Room for what one call of the system returns.
const ROOM: usize = 64 << 10;

/// One end of a socket with lines on it.
#[derive(Debug)]
pub(super) struct Lines {
    socket: UnixStream,
    /// What was received behind the last line.
    pending: Vec<u8>,
}

impl Lines {
    pub(super) fn new(socket: UnixStream) -> Self {
        Self { socket, pending: Vec::new() }
    }

    /// Sends a message, and a file with it.
    pub(super) fn send(
        &self,
        message: &impl Serialize,
        file: Option<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        send_with_file(&self.socket, &line, file)
    }

    /// Waits for a message; `None` where the other end is closed.
    pub(super) fn receive<T: DeserializeOwned>(
        &mut self,
    ) -> io::Result<Option<(T, Option<OwnedFd>)>> {
        let mut file = None;
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                return Ok(Some((serde_json::from_slice(&line)?, file)));
            }
            let mut bytes = [0; ROOM];
            let (got, further) = receive_with_file(&self.socket, &mut bytes)?;
            if got == 0 {
                return Ok(None);
            }
            self.pending.extend_from_slice(&bytes[..got]);
            file = further.or(file);
        }
    }

    /// Says whether something was received that was not asked for yet.
    pub(super) fn has_more(&self) -> bool {
        !self.pending.is_empty()
    }
}

impl AsRawFd for Lines {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}
