//! HTTP/2 for a client that has several requests at a time on a connection.

use std::cell::{Cell, OnceCell};
use std::future::{Future as _, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use becalm_tls::Stream;
use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use http::Request;
use http::header::LOCATION;
use tokio::sync::Notify;
use tokio::task::spawn_local;

use super::answer::Answer;
use super::desk::Desk;
use super::expected::Look;
use super::failure::{Failure, NoAnswer};
use super::grpc::Frames;
use super::stamped::{Stamped, Stamps, Written};
use super::template::Template;

/// Flow-control windows in bytes (RFC 9113, section 5.2), of a stream and of a connection: large enough for a server that is
/// far away.
const WINDOWS: (u32, u32) = (2 << 20, 5 << 20);
/// Requests at the same time until the server has said how many it takes.
const AT_FIRST: usize = 0;

/// One place of a connection.
#[derive(Clone)]
pub(super) struct Http2 {
    sender: SendRequest<Bytes>,
    /// How many requests the server takes at the same time.
    streams: Rc<Cell<usize>>,
    end: Rc<End>,
    stamps: Rc<Stamps>,
}

/// The end of a connection, once it has come, with what was wrong.
type End = OnceCell<Option<Failure>>;

impl Http2 {
    pub(super) async fn over(
        stream: Stream,
        desk: &Rc<Desk>,
        number: usize,
    ) -> Result<Self, Failure> {
        let stamps = Stamps::new(desk.clock);
        let stamped = Stamped::new(stream, Rc::clone(&stamps));
        let mut builder = Builder::new();
        builder.initial_window_size(WINDOWS.0).initial_connection_window_size(WINDOWS.1);
        builder.initial_max_send_streams(AT_FIRST).enable_push(false);
        let shaken = builder.handshake(stamped).await;
        let (sender, mut driver) = shaken.map_err(|error| Failure::of_http2(&error))?;
        let (end, streams) = (Rc::<End>::default(), Rc::new(Cell::new(AT_FIRST)));
        let settled = Rc::new(Notify::new());
        let mut line = Self { sender, streams: Rc::clone(&streams), end: Rc::clone(&end), stamps };
        let (desk, has_settled) = (Rc::clone(desk), Rc::clone(&settled));
        spawn_local(async move {
            let ended = poll_fn(|cx| {
                let ended = Pin::new(&mut driver).poll(cx);
                let permitted = driver.max_concurrent_send_streams();
                if permitted > streams.replace(permitted) {
                    has_settled.notify_one();
                    desk.wake(number);
                }
                ended
            });
            // Requests that are under way learn of its end from their streams, and the others here.
            let _ = end.set(ended.await.err().map(|error| Failure::of_http2(&error)));
            has_settled.notify_one();
            desk.wake(number);
        });
        // Before the server has said how many it takes, some would be too many.
        while line.streams.get() == AT_FIRST && !line.has_ended() {
            settled.notified().await;
        }
        // One that takes nothing has not been opened: else another would be opened for the same requests, again and again.
        match (line.end.get(), poll_fn(|cx| Poll::Ready(line.sender.poll_ready(cx))).await) {
            (Some(Some(failure)), _) => Err(failure.clone()),
            (Some(None), _) => Err(Failure::closed("the server ended the connection")),
            (None, Poll::Ready(Err(error))) => Err(Failure::of_http2(&error)),
            (None, _) => Ok(line),
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.end.get().is_some()
    }

    /// Expects a request: the next write is its first.
    pub(super) fn expect(&self) -> Written {
        self.stamps.expect()
    }

    pub(super) fn last_read(&self) -> u64 {
        self.stamps.last_read()
    }

    /// Returns how many requests the server takes at the same time.
    pub(super) fn streams(&self) -> usize {
        self.streams.get()
    }

    /// Says whether it takes no more requests: it has ended, or will when the answers under way have come.
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> bool {
        self.has_ended() || matches!(self.sender.poll_ready(cx), Poll::Ready(Err(_)))
    }

    /// Sends a request and reads the whole answer.
    pub(super) async fn exchange(
        &mut self,
        request: Request<Bytes>,
        template: &Template,
    ) -> Result<Answer, NoAnswer> {
        self.exchange_or_error(request, template).await.map_err(|error| {
            let end = self.end.get().cloned().flatten();
            match NoAnswer::of_http2(&error) {
                // The server said so of this request, whatever the connection met then.
                given_back @ NoAnswer::GivenBack(_) => given_back,
                // What a request meets on a connection that has ended is not why that ended.
                failed @ NoAnswer::Failed(_) => end.map_or(failed, NoAnswer::Failed),
            }
        })
    }

    async fn exchange_or_error(
        &mut self,
        request: Request<Bytes>,
        template: &Template,
    ) -> Result<Answer, h2::Error> {
        let (head, body) = request.into_parts();
        poll_fn(|cx| self.sender.poll_ready(cx)).await?;
        let request = Request::from_parts(head, ());
        let (response, mut stream) = self.sender.send_request(request, body.is_empty())?;
        if !body.is_empty() {
            // It is sent as the server permits.
            stream.send_data(body, true)?;
        }
        let (head, mut body) = response.await?.into_parts();
        let mut look = Look::at(template.expected_body());
        let mut call = template.expected_grpc().map(|expected| (expected, Frames::default()));
        // A body with a length ends with its last byte; no further turn is needed to see its end.
        while !body.is_end_stream() {
            let Some(bytes) = body.data().await.transpose()? else { break };
            match &mut call {
                None => look.take(&bytes),
                Some((_, frames)) => frames.take(&bytes, &mut |message| look.take(message)),
            }
            body.flow_control().release_capacity(bytes.len())?;
        }
        let trailers = if body.is_end_stream() { None } else { body.trailers().await? };
        let grpc = call.and_then(|(expected, frames)| {
            frames.failure(expected, &head.headers, trailers.as_ref())
        });
        let location = head.headers.get(LOCATION).cloned();
        let (status, is_right) = (head.status, look.is_right());
        Ok(Answer { status, location, is_right, grpc, not_followed: None })
    }
}
