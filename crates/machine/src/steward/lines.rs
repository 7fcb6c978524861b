//! Messages over a socket: one line of JSON each, some with an open file.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use becalm_kernel::socket::{let_go, receive_bytes, receive_with_file, send_with_file};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Room for what one call of the system returns.
const ROOM: usize = 8 << 10;

/// One end of a socket with lines on it.
#[derive(Debug)]
pub(crate) struct Lines {
    socket: UnixStream,
    /// What was received behind the last line.
    pending: Vec<u8>,
    /// Whether the other end may send files, and lines of any length.
    trust: Trust,
}

#[derive(Debug, Clone, Copy)]
enum Trust {
    Any,
    /// Lines of at most this many bytes, and no file.
    LinesUpTo(usize),
}

impl Lines {
    pub(crate) fn new(socket: UnixStream) -> Self {
        Self { socket, pending: Vec::new(), trust: Trust::Any }
    }

    /// The same from somebody who may be hostile: with lines of at most this many bytes, and no
    /// file. Who sends more is no becalm.
    pub(crate) fn bounded(socket: UnixStream, longest: usize) -> Self {
        Self { socket, pending: Vec::new(), trust: Trust::LinesUpTo(longest) }
    }

    /// Closes the socket of somebody who may be hostile, and waits for nobody.
    pub(crate) fn let_go(self) {
        let_go(self.socket);
    }

    /// Returns the socket. What was received and not asked for is lost.
    pub(crate) fn into_socket(self) -> UnixStream {
        self.socket
    }

    /// Sends a message, and a file with it.
    pub(crate) fn send(
        &self,
        message: &impl Serialize,
        file: Option<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        send_with_file(&self.socket, &line, file)
    }

    /// Waits for a message; `None` where the other end is closed.
    pub(crate) fn receive<T: DeserializeOwned>(
        &mut self,
    ) -> io::Result<Option<(T, Option<OwnedFd>)>> {
        let mut file = None;
        loop {
            if let Some(message) = self.take()? {
                return Ok(Some((message, file)));
            }
            let (is_open, further) = self.fill()?;
            if !is_open {
                return Ok(None);
            }
            file = further.or(file);
        }
    }

    /// Receives what has come, and waits where nothing has; says whether the other end is open still.
    pub(crate) fn fill(&mut self) -> io::Result<(bool, Option<OwnedFd>)> {
        let mut bytes = [0; ROOM];
        let (got, file) = match self.trust {
            Trust::Any => receive_with_file(&self.socket, &mut bytes)?,
            Trust::LinesUpTo(_) => (receive_bytes(&self.socket, &mut bytes)?, None),
        };
        self.pending.extend_from_slice(&bytes[..got]);
        Ok((got != 0, file))
    }

    /// Returns the next message, where the whole of it was received.
    pub(crate) fn take<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let end = self.pending.iter().position(|byte| *byte == b'\n');
        if let Trust::LinesUpTo(longest) = self.trust
            && end.unwrap_or(self.pending.len()) > longest
        {
            return Err(io::Error::other("a line is too long"));
        }
        let Some(end) = end else { return Ok(None) };
        let line: Vec<u8> = self.pending.drain(..=end).collect();
        Ok(Some(serde_json::from_slice(&line)?))
    }

    /// Says whether something was received that was not asked for yet.
    pub(crate) fn has_more(&self) -> bool {
        !self.pending.is_empty()
    }
}

impl AsRawFd for Lines {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek as _, Write as _};
    use std::os::fd::AsFd as _;

    use super::*;
    use crate::isolate::Partition;
    use crate::steward::failure::Of;
    use crate::steward::request::{IsolationRequest, Request};
    use crate::tune::{LockError, TuneError, Wait};

    fn ends() -> (Lines, Lines) {
        let (one, other) = UnixStream::pair().unwrap();
        (Lines::new(one), Lines::new(other))
    }

    #[test]
    fn requests_come_as_they_were_sent_one_by_one() {
        let (becalm, mut steward) = ends();
        let isolation = IsolationRequest {
            cpus: "2-3".parse().unwrap(),
            partition: Partition::Balanced,
            without: vec!["irqbalance".to_owned()],
        };
        let begin = Request::Begin { command: "a\nb".to_owned(), wait: Wait::Forever };
        let sent = [begin, Request::Isolate(isolation), Request::HoldLatency { microseconds: 2 }];
        for request in &sent {
            becalm.send(request, None).unwrap();
        }
        for request in &sent {
            let (got, file): (Request, _) = steward.receive().unwrap().unwrap();
            assert_eq!(format!("{got:?}"), format!("{request:?}"));
            assert!(file.is_none());
        }
        assert!(!steward.has_more());
        drop(becalm);
        assert!(steward.receive::<Request>().unwrap().is_none(), "the end is no error");
    }

    #[test]
    fn who_sends_lines_without_an_end_is_not_listened_to() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut lines = Lines::bounded(ours, 10);
        theirs.write_all(b"0\n123456789").unwrap();
        lines.fill().unwrap();
        assert_eq!(lines.take::<u32>().unwrap(), Some(0));
        assert_eq!(lines.take::<u32>().unwrap(), None, "it is not whole yet");
        theirs.write_all(b"01").unwrap();
        lines.fill().unwrap();
        assert!(lines.take::<u32>().is_err());
    }

    #[test]
    fn a_file_comes_with_its_message() {
        let (mut becalm, steward) = ends();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0").unwrap();
        steward.send(&Ok::<(), Of>(()), Some(file.as_fd())).unwrap();
        let (answer, got): (Result<(), Of>, _) = becalm.receive().unwrap().unwrap();
        assert!(answer.is_ok());
        let mut got = std::fs::File::from(got.unwrap());
        let mut text = String::new();
        got.rewind().unwrap();
        got.read_to_string(&mut text).unwrap();
        assert_eq!(text, "0");
    }

    #[test]
    fn errors_mean_the_same_at_both_ends() {
        let (mut becalm, steward) = ends();
        let source = io::Error::from_raw_os_error(13);
        let error = TuneError::Lock(LockError::Make { path: "/run/becalm/lock".into(), source });
        let text = error.to_string();
        steward.send(&Err::<(), _>(error), None).unwrap();
        let (got, _): (Result<(), TuneError>, _) = becalm.receive().unwrap().unwrap();
        let got = got.unwrap_err();
        assert_eq!(got.to_string(), text);
        assert!(matches!(got, TuneError::Lock(lock) if lock.needs_root()));
    }
}
