//! A connection: it is opened, carries requests, in one place or in several at the same time, and ends.

use std::cell::{Cell, OnceCell};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use becalm_model::load::FailureKind;
use becalm_tls::Stream;
use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Body as _;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, UnixStream};
use tokio::task::spawn_local;

use super::desk::Desk;
use super::expected::Look;
use super::failure::Failure;
use super::grpc::Frames;
use super::mailbox::Mailbox;
use super::redirect::{self, Next};
use super::stamped::{Stamped, Stamps, Written};
use super::target::{Place, Protocol};
use super::template::Template;
use crate::here::Here;
use crate::pool::Taken;
use crate::tally::Fate;

/// One place of an open connection; with HTTP/1.1 the connection itself.
struct Connection {
    /// Its number.
    number: usize,
    sender: Sender,
    driver: Driver,
    stamps: Rc<Stamps>,
}

/// A whole answer.
struct Answer {
    status: StatusCode,
    /// Whether its body is the right one.
    is_right: bool,
    /// What is wrong with it as an answer of gRPC, with the status of that.
    grpc: Option<(Option<u16>, Failure)>,
    /// Where it redirects to, if that is not followed.
    not_followed: Option<String>,
}

/// Where requests go in.
enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

/// What reads and writes for hyper, until the connection ends.
struct Driver {
    /// With one place, in its task. Nothing once the connection has ended: what waits for an answer learns of that when it
    /// is gone. With several places it is a task of its own.
    here: Option<Pin<Box<dyn Future<Output = hyper::Result<()>>>>>,
    end: Rc<End>,
}

/// The end of a connection, once it has come, with what was wrong. A request that had not been sent by then is only said to
/// be cancelled.
type End = OnceCell<Option<Failure>>;

/// Opens a connection and lets it carry requests until it ends.
pub(super) async fn carry(desk: Rc<Desk>, number: usize) {
    let connection = match open(&desk, number).await {
        Ok(connection) => connection,
        Err(failure) => return desk.not_opened(&failure),
    };
    desk.opened();
    let has_carried = Rc::new(Cell::new(false));
    let mut places = desk.places_of(number);
    let first = places.next();
    let others: Vec<_> = places
        .filter_map(|place| {
            let (desk, has_carried) = (Rc::clone(&desk), Rc::clone(&has_carried));
            Some(spawn_local(carry_in(desk, place, connection.another()?, has_carried)))
        })
        .collect();
    if let Some(place) = first {
        carry_in(Rc::clone(&desk), place, connection, has_carried).await;
    }
    for other in others {
        let _ = other.await;
    }
    desk.closed(number);
}

/// Carries requests in one place until the connection ends.
async fn carry_in(
    desk: Rc<Desk>,
    place: usize,
    mut connection: Connection,
    has_carried: Rc<Cell<bool>>,
) {
    let mailbox = desk.move_in(place);
    while let Some(taken) = connection.next(&desk, &mailbox, place).await {
        // One that ends before it has carried anything does not end for want of use.
        if connection.driver.has_ended() && has_carried.get() {
            return desk.put_back(taken);
        }
        let limit = desk.plan.time_limit;
        let stays =
            connection.exchange(&desk, &mailbox, taken, limit).await && connection.is_ready().await;
        if !stays {
            return;
        }
        has_carried.set(true);
    }
}

/// Opens a connection for each request, in one place of the pool.
pub(super) async fn carry_each(desk: Rc<Desk>, number: usize) {
    desk.opened();
    let mailbox = desk.move_in(number);
    loop {
        let taken = match desk.next_for(number) {
            Some(taken) => taken,
            None => poll_fn(|cx| mailbox.poll_next(cx)).await,
        };
        // The connection is a part of the exchange: its first packet is the first byte.
        let written = Written::default();
        written.set(Some(desk.clock.now()));
        mailbox.begin(taken, &written);
        let limit = desk.plan.time_limit;
        let began = tokio::time::Instant::now();
        match open(&desk, number).await {
            Ok(mut connection) => {
                desk.count_connection();
                let left = limit.saturating_sub(began.elapsed());
                connection.exchange_from(&desk, &mailbox, taken, left, &written).await;
            }
            Err(Failure { kind, words }) => {
                mailbox.end();
                let end = desk.clock.now();
                desk.count(taken, Fate::Failed { kind, status: None, words, written: None, end });
            }
        }
    }
}

async fn open(desk: &Rc<Desk>, number: usize) -> Result<Connection, Failure> {
    let opening = tokio::time::timeout(desk.plan.time_limit, async {
        match &desk.plan.target.place {
            Place::Tcp(address) => {
                over(TcpStream::connect(address).await.and_then(quick), desk, number).await
            }
            Place::Unix(path) => {
                let stream = UnixStream::connect(path).await;
                over(stream.map(|stream| Box::new(stream) as Stream), desk, number).await
            }
        }
    });
    opening.await.unwrap_or_else(|_| Err(Failure::new(FailureKind::TimedOut)))
}

/// Lets a connection send what it has without waiting for more.
fn quick(stream: TcpStream) -> io::Result<Stream> {
    stream.set_nodelay(true)?;
    Ok(Box::new(stream))
}

/// Agrees on TLS, if that is asked for, and speaks HTTP over a stream.
async fn over(
    stream: io::Result<Stream>,
    desk: &Rc<Desk>,
    number: usize,
) -> Result<Connection, Failure> {
    let stream = stream.map_err(|error| Failure::of_connecting(&error))?;
    match &desk.plan.target.tls {
        None => speak(stream, desk, number).await,
        Some(tls) => {
            let agreed = tls.connector.connect(tls.name.clone(), stream).await;
            let stream = agreed.map_err(|error| Failure::of_tls(&error))?;
            speak(Box::new(stream), desk, number).await
        }
    }
}

async fn speak(stream: Stream, desk: &Rc<Desk>, number: usize) -> Result<Connection, Failure> {
    let stamps = Stamps::new(desk.clock);
    let io = TokioIo::new(Stamped::new(stream, Rc::clone(&stamps)));
    let failed = |error: hyper::Error| Failure::of_exchange(&error);
    let (sender, driver) = match desk.plan.target.protocol {
        Protocol::Http1 => {
            // In one piece: gathering a head and a body costs the system more than copying them together.
            let (sender, driver) =
                http1::Builder::new().writev(false).handshake(io).await.map_err(failed)?;
            (Sender::Http1(sender), Driver { here: Some(Box::pin(driver)), end: Rc::default() })
        }
        Protocol::Http2 => {
            let (sender, driver) = http2::handshake(Here, io).await.map_err(failed)?;
            let end = Rc::<End>::default();
            let (desk, ending) = (Rc::clone(desk), Rc::clone(&end));
            spawn_local(async move {
                // Requests that are under way learn of its end from hyper, and the others here.
                come(&ending, driver.await);
                desk.wake(number);
            });
            (Sender::Http2(sender), Driver { here: None, end })
        }
    };
    Ok(Connection { number, sender, driver, stamps })
}

/// Notes how a connection ended.
fn come(end: &End, result: hyper::Result<()>) {
    let _ = end.set(result.err().map(|error| Failure::of_exchange(&error)));
}

impl Driver {
    /// Lets a connection read and write what it can; says whether it has ended.
    fn drive(&mut self, cx: &mut Context<'_>) -> bool {
        if let Some(here) = &mut self.here
            && let Poll::Ready(result) = here.as_mut().poll(cx)
        {
            come(&self.end, result);
            self.here = None;
        }
        self.has_ended()
    }

    fn has_ended(&self) -> bool {
        self.end.get().is_some()
    }
}

impl Connection {
    /// Returns another place of the same connection, if it has several.
    fn another(&self) -> Option<Self> {
        match &self.sender {
            Sender::Http1(_) => None,
            Sender::Http2(sender) => Some(Self {
                number: self.number,
                sender: Sender::Http2(sender.clone()),
                driver: Driver { here: None, end: Rc::clone(&self.driver.end) },
                stamps: Rc::clone(&self.stamps),
            }),
        }
    }

    /// Waits for the next request; none comes to one that has ended.
    async fn next(&mut self, desk: &Desk, mailbox: &Mailbox, place: usize) -> Option<Taken> {
        if self.driver.has_ended() {
            return None;
        }
        if let Some(taken) = desk.next_for(place) {
            return Some(taken);
        }
        poll_fn(|cx| {
            let next = mailbox.poll_next(cx);
            // It may have ended meanwhile, which shows now at the latest.
            let has_ended = self.driver.drive(cx);
            match next {
                Poll::Ready(taken) => Poll::Ready(Some(taken)),
                Poll::Pending if has_ended => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// Sends a request, waits for the answer, counts it, and says whether the connection can go on.
    async fn exchange(
        &mut self,
        desk: &Rc<Desk>,
        mailbox: &Mailbox,
        taken: Taken,
        limit: Duration,
    ) -> bool {
        let written = self.stamps.expect();
        self.exchange_from(desk, mailbox, taken, limit, &written).await
    }

    /// The same with a place for the time of the first byte.
    async fn exchange_from(
        &mut self,
        desk: &Rc<Desk>,
        mailbox: &Mailbox,
        taken: Taken,
        limit: Duration,
        written: &Written,
    ) -> bool {
        mailbox.begin(taken, written);
        let template = desk.plan.requests.template(taken.number);
        let answer = tokio::time::timeout(limit, self.last_answer(desk, taken.number)).await;
        mailbox.end();
        let failed = |kind, status, words, end| Fate::Failed {
            kind,
            status,
            words,
            written: written.get(),
            end,
        };
        let last = self.stamps.last_read();
        let fate = match &answer {
            Ok(Ok(Answer { status, not_followed: Some(words), .. })) => {
                failed(FailureKind::Redirect, Some(status.as_u16()), Some(words.clone()), last)
            }
            Ok(Ok(Answer { status, .. })) if !template.expects(*status) => {
                failed(FailureKind::Status, Some(status.as_u16()), None, last)
            }
            Ok(Ok(Answer { grpc: Some((status, Failure { kind, words })), .. })) => {
                failed(*kind, *status, words.clone(), last)
            }
            Ok(Ok(Answer { is_right: false, .. })) => failed(FailureKind::Body, None, None, last),
            // Nothing can be read of an answer before the request was written.
            Ok(Ok(_)) => Fate::Answered { written: written.get().unwrap_or(last), last },
            Ok(Err(Failure { kind, words })) => {
                failed(*kind, None, words.clone(), desk.clock.now())
            }
            Err(_) => failed(FailureKind::TimedOut, None, None, desk.clock.now()),
        };
        desk.count(taken, fate);
        match &self.sender {
            Sender::Http1(_) => matches!(answer, Ok(Ok(_))),
            // The others go on; if the connection has ended, that shows before the next one.
            Sender::Http2(_) => true,
        }
    }

    /// Sends the request of this number, follows its redirects, and reads the last answer.
    async fn last_answer(&mut self, desk: &Rc<Desk>, number: u64) -> Result<Answer, Failure> {
        let (target, requests) = (&desk.plan.target, &desk.plan.requests);
        let template = requests.template(number);
        let mut request = requests.request(target, number);
        let mut left = requests.follow();
        if left == 0 {
            return self.answer(request, template).await.map(|(answer, _)| answer);
        }
        loop {
            let (answer, headers) = self.answer(request.clone(), template).await?;
            request = match redirect::next(target, &request, answer.status, &headers) {
                Next::Nothing => return Ok(answer),
                Next::Refused(words) => return Ok(Answer { not_followed: Some(words), ..answer }),
                Next::Request(_) if left == 0 => {
                    let words = format!("the last of {} that may be followed", requests.follow());
                    return Ok(Answer { not_followed: Some(words), ..answer });
                }
                Next::Request(next) => *next,
            };
            left -= 1;
            if !self.is_ready().await {
                *self = open(desk, self.number).await?;
                desk.count_connection();
            }
        }
    }

    /// Sends a request and reads the whole answer.
    async fn answer(
        &mut self,
        request: Request<Full<Bytes>>,
        template: &Template,
    ) -> Result<(Answer, HeaderMap), Failure> {
        let answer = self.answer_or_error(request, template).await;
        answer.map_err(|error| {
            let of_connection = self.driver.end.get().cloned().flatten();
            let of_connection = of_connection.filter(|_| error.is_canceled());
            of_connection.unwrap_or_else(|| Failure::of_exchange(&error))
        })
    }

    async fn answer_or_error(
        &mut self,
        request: Request<Full<Bytes>>,
        template: &Template,
    ) -> hyper::Result<(Answer, HeaderMap)> {
        let Self { sender, driver, .. } = self;
        // How many parts of the answer have come.
        let parts = Cell::new(0);
        let exchange = async {
            let response = match sender {
                Sender::Http1(sender) => sender.send_request(request).await?,
                Sender::Http2(sender) => sender.send_request(request).await?,
            };
            let (head, mut body) = response.into_parts();
            parts.set(1);
            let mut look = Look::at(template.expected_body());
            let mut call = template.expected_grpc().map(|expected| (expected, Frames::default()));
            let mut trailers = None;
            // A body with a length ends with its last byte; no further turn is needed to see its end.
            while !body.is_end_stream() {
                let Some(frame) = body.frame().await else { break };
                parts.set(parts.get() + 1);
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
            let is_right = look.is_right();
            let answer = Answer { status: head.status, is_right, grpc, not_followed: None };
            Ok((answer, head.headers))
        };
        let mut exchange = pin!(exchange);
        // In one task with its driver: what is given to it is written at once, and not when another task is woken.
        let mut is_given = false;
        poll_fn(|cx| {
            if !is_given {
                is_given = true;
                if let Poll::Ready(answer) = exchange.as_mut().poll(cx) {
                    return Poll::Ready(answer);
                }
            }
            loop {
                driver.drive(cx);
                let before = parts.get();
                let answer = exchange.as_mut().poll(cx);
                // The driver hands on the next part only when one has been taken.
                if answer.is_ready() || parts.get() == before {
                    return answer;
                }
            }
        })
        .await
    }

    /// Waits until it can take another request; says whether it can.
    async fn is_ready(&mut self) -> bool {
        poll_fn(|cx| {
            if self.driver.drive(cx) {
                return Poll::Ready(false);
            }
            let ready = match &mut self.sender {
                Sender::Http1(sender) => sender.poll_ready(cx),
                Sender::Http2(sender) => sender.poll_ready(cx),
            };
            ready.map(|ready| ready.is_ok())
        })
        .await
    }
}
