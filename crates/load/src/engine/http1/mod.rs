//! HTTP/1.1 for a client that has one request at a time on a connection.
//!
//! hyper does this too, and more: it takes requests of any kind from any task, and hands answers on in pieces. For that it
//! needs half of the time that a request costs the generator; and what the generator costs is what it is late.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use becalm_tls::Stream;
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};

use super::answer::Answer;
use super::clock::Clock;
use super::expected::Look;
use super::failure::Failure;
use super::stamped::Written;
use super::template::Template;

mod chunks;
mod reading;
mod wire;

use reading::{Head, Reading};
pub(crate) use wire::Wire;

/// Into what the connections of a thread read, one after the other: what came is looked at before another one reads.
pub(crate) type Inbox = RefCell<Box<[u8]>>;

/// Returns an empty one.
pub(crate) fn inbox() -> Inbox {
    const BYTES: usize = 64 * 1024;
    RefCell::new(vec![0; BYTES].into())
}

/// A connection.
pub(super) struct Http1 {
    stream: Stream,
    clock: Clock,
    /// When bytes came the last time.
    last_read: u64,
    /// Why it can carry no other request, once that is so.
    end: Option<Failure>,
}

impl Http1 {
    pub(super) fn over(stream: Stream, clock: Clock) -> Self {
        Self { stream, clock, last_read: 0, end: None }
    }

    pub(super) fn last_read(&self) -> u64 {
        self.last_read
    }

    pub(super) fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Looks whether it ends while it carries nothing, and has this task woken when it does.
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>, inbox: &Inbox) -> bool {
        if self.end.is_none()
            && let Poll::Ready(come) = self.poll_read(cx, &mut inbox.borrow_mut())
        {
            self.end = Some(match come {
                Ok([]) => Failure::closed("the server ended the connection"),
                Ok(_) => Failure::garbage("bytes came that no request had asked for"),
                Err(error) => Failure::of_io(&error),
            });
        }
        self.has_ended()
    }

    /// Sends a request and reads the whole answer.
    ///
    /// It may be answered before all of it is sent, by a server that will not have it.
    pub(super) async fn exchange(
        &mut self,
        wire: &Wire,
        template: &Template,
        written: &Written,
        inbox: &Inbox,
    ) -> Result<Answer, Failure> {
        if let Some(end) = &self.end {
            return Err(end.clone());
        }
        let mut reading = Reading::of(wire, Look::at(template.expected_body()));
        let (mut sent, mut sends) = (0, true);
        let answer = poll_fn(|cx| {
            // An error in sending shows in reading too, after an answer if there is one.
            if sends && self.poll_send(cx, &wire.bytes, &mut sent, written).is_ready() {
                sends = false;
            }
            loop {
                let mut inbox = inbox.borrow_mut();
                let come = ready!(self.poll_read(cx, &mut inbox));
                let bytes = come.map_err(|error| Failure::of_io(&error))?;
                if bytes.is_empty() {
                    reading.end();
                } else {
                    let taken = reading.take(bytes);
                    taken.map_err(|wrong| {
                        Failure::garbage(format!("not an answer of HTTP/1.1: {wrong}"))
                    })?;
                }
                match reading.whole() {
                    Some(answer) => return Poll::Ready(Ok(answer)),
                    None if bytes.is_empty() => {
                        let words = "the connection ended before the answer did";
                        return Poll::Ready(Err(Failure::closed(words)));
                    }
                    None => {}
                }
            }
        })
        .await;
        let stays = matches!(&answer, Ok((head, _)) if head.stays);
        if !stays || wire.closes || sent < wire.bytes.len() {
            self.end = Some(Failure::closed("the connection ended with its last answer"));
        }
        let (Head { status, location, .. }, is_right) = answer?;
        Ok(Answer { status, location, is_right, grpc: None, not_followed: None })
    }

    /// Sends what is not sent yet of a request. The time of its first byte is taken before the write: the kernel may deliver
    /// it, and the server may answer, before it returns.
    fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
        sent: &mut usize,
        written: &Written,
    ) -> Poll<io::Result<()>> {
        while *sent < bytes.len() {
            let began = self.clock.now();
            let count = ready!(Pin::new(&mut self.stream).poll_write(cx, &bytes[*sent..]))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            if written.get().is_none() {
                written.set(Some(began));
            }
            *sent += count;
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    /// Reads what has come; nothing is the end.
    fn poll_read<'i>(
        &mut self,
        cx: &mut Context<'_>,
        inbox: &'i mut [u8],
    ) -> Poll<io::Result<&'i [u8]>> {
        let mut buffer = ReadBuf::new(inbox);
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer))?;
        let count = buffer.filled().len();
        if count > 0 {
            self.last_read = self.clock.now();
        }
        Poll::Ready(Ok(&inbox[..count]))
    }
}
