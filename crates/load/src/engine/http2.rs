//! HTTP/2 for a client that has several requests at a time on a connection; hyper speaks it.

use std::cell::OnceCell;
use std::rc::Rc;

use becalm_tls::Stream;
use bytes::Bytes;
use http::Request;
use http::header::LOCATION;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Body as _;
use hyper::client::conn::http2;
use hyper_util::rt::TokioIo;
use tokio::task::spawn_local;

use super::answer::Answer;
use super::desk::Desk;
use super::expected::Look;
use super::failure::Failure;
use super::grpc::Frames;
use super::stamped::{Stamped, Stamps, Written};
use super::template::Template;
use crate::here::Here;

/// One place of a connection.
#[derive(Clone)]
pub(super) struct Http2 {
    sender: http2::SendRequest<Full<Bytes>>,
    end: Rc<End>,
    stamps: Rc<Stamps>,
}

/// The end of a connection, once it has come, with what was wrong. A request that had not been sent by then is only said to
/// be cancelled.
type End = OnceCell<Option<Failure>>;

impl Http2 {
    pub(super) async fn over(
        stream: Stream,
        desk: &Rc<Desk>,
        number: usize,
    ) -> Result<Self, Failure> {
        let stamps = Stamps::new(desk.clock);
        let io = TokioIo::new(Stamped::new(stream, Rc::clone(&stamps)));
        let (sender, driver) =
            http2::handshake(Here, io).await.map_err(|error| Failure::of_exchange(&error))?;
        let end = Rc::<End>::default();
        let (desk, ending) = (Rc::clone(desk), Rc::clone(&end));
        spawn_local(async move {
            // Requests that are under way learn of its end from hyper, and the others here.
            let _ = ending.set(driver.await.err().map(|error| Failure::of_exchange(&error)));
            desk.wake(number);
        });
        Ok(Self { sender, end, stamps })
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

    /// Waits until it can take another request; says whether it can.
    pub(super) async fn is_ready(&mut self) -> bool {
        !self.has_ended() && self.sender.ready().await.is_ok()
    }

    /// Sends a request and reads the whole answer.
    pub(super) async fn exchange(
        &mut self,
        request: Request<Bytes>,
        template: &Template,
    ) -> Result<Answer, Failure> {
        self.exchange_or_error(request, template).await.map_err(|error| {
            let of_connection = self.end.get().cloned().flatten();
            let of_connection = of_connection.filter(|_| error.is_canceled());
            of_connection.unwrap_or_else(|| Failure::of_exchange(&error))
        })
    }

    async fn exchange_or_error(
        &mut self,
        request: Request<Bytes>,
        template: &Template,
    ) -> hyper::Result<Answer> {
        let response = self.sender.send_request(request.map(Full::new)).await?;
        let (head, mut body) = response.into_parts();
        let mut look = Look::at(template.expected_body());
        let mut call = template.expected_grpc().map(|expected| (expected, Frames::default()));
        let mut trailers = None;
        // A body with a length ends with its last byte; no further turn is needed to see its end.
        while !body.is_end_stream() {
            let Some(frame) = body.frame().await else { break };
            match (frame?.into_data(), &mut call) {
                (Ok(bytes), None) => look.take(&bytes),
                (Ok(bytes), Some((_, frames))) => {
                    frames.take(&bytes, &mut |message| look.take(message));
                }
                (Err(other), _) => trailers = other.into_trailers().ok(),
            }
        }
        let grpc = call.and_then(|(expected, frames)| {
            frames.failure(expected, &head.headers, trailers.as_ref())
        });
        let location = head.headers.get(LOCATION).cloned();
        let (status, is_right) = (head.status, look.is_right());
        Ok(Answer { status, location, is_right, grpc, not_followed: None })
    }
}
