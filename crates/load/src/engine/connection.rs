//! A connection: it is opened, carries requests, in one place or in several at the same time, and ends.

use std::borrow::Cow;
use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use becalm_model::load::FailureKind;
use becalm_tls::Stream;
use bytes::Bytes;
use http::Request;
use tokio::net::{TcpStream, UnixStream};
use tokio::task::spawn_local;

use super::answer::Answer;
use super::desk::Desk;
use super::failure::{Failure, NoAnswer};
use super::http1::{Http1, Wire};
use super::http2::Http2;
use super::limit::Limit;
use super::mailbox::Mailbox;
use super::redirect::{self, Next};
use super::stamped::Written;
use super::target::{Place, Protocol};
use crate::pool::{Attempt, Taken};
use crate::tally::Fate;

/// One place of an open connection; with HTTP/1.1 the connection itself.
struct Connection {
    /// Its number.
    number: usize,
    line: Line,
    /// Whether a redirect led this place to a connection of its own, of which it is the only place.
    has_moved: bool,
}

/// An exchange that is over.
struct Over {
    /// Whether the connection can go on.
    goes_on: bool,
    /// The request, if the server gave it back.
    again: Option<Taken>,
}

/// What it speaks.
enum Line {
    Http1(Http1),
    Http2(Http2),
}

/// Opens a connection and lets it carry requests until it ends.
pub(super) async fn carry(desk: Rc<Desk>, number: usize) {
    let connection = match open(&desk, number).await {
        Ok(connection) => connection,
        Err(failure) => return desk.not_opened(number, &failure),
    };
    desk.opened();
    let has_carried = Rc::new(Cell::new(false));
    let mut places = desk.places_of(number);
    let first = places.next();
    // The place that is free last is used first: with few requests at a time those with low numbers.
    let others: Vec<_> = places
        .rev()
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

/// Carries requests in one place until the connection takes no more.
async fn carry_in(
    desk: Rc<Desk>,
    place: usize,
    mut connection: Connection,
    has_carried: Rc<Cell<bool>>,
) {
    let (mailbox, mut limit) = (desk.move_in(place), Limit::new());
    let which = place - desk.places_of(connection.number).start;
    // What another connection has to send.
    let mut again = None;
    while connection.permits(which, &desk, &mailbox).await {
        let Some(taken) = connection.next(&desk, &mailbox, place).await else { break };
        // The server may permit less than before.
        if which >= connection.places() {
            desk.put_back(taken);
            continue;
        }
        // One that ends before it has carried anything does not end for want of use.
        if has_carried.replace(true) && connection.ends_now(&desk).await {
            again = Some(taken);
            break;
        }
        let (written, time) = (connection.expect(), time_for(&desk, &taken));
        let exchange = connection.exchange(&desk, &mailbox, taken, &mut limit, time, &written);
        let over = exchange.await;
        again = over.again;
        if !over.goes_on || connection.ends_now(&desk).await {
            break;
        }
        if let Some(taken) = again.take() {
            desk.put_back(taken);
        }
    }
    desk.retire(connection.number);
    if let Some(taken) = again {
        desk.put_back(taken);
    }
}

/// Opens a connection for each request, in one place of the pool.
pub(super) async fn carry_each(desk: Rc<Desk>, number: usize) {
    desk.opened();
    let mailbox = desk.move_in(number);
    let mut again = None;
    loop {
        let taken = match again.take().or_else(|| desk.next_for(number)) {
            Some(taken) => taken,
            None => poll_fn(|cx| mailbox.poll_next(cx)).await,
        };
        // The connection is a part of the exchange: its first packet is the first byte.
        let written = Written::default();
        written.set(Some(desk.clock.now()));
        mailbox.begin(taken, &written);
        let limit = time_for(&desk, &taken);
        let began = tokio::time::Instant::now();
        match open(&desk, number).await {
            Ok(mut connection) => {
                desk.count_connection();
                let left = limit.saturating_sub(began.elapsed());
                let limit = &mut Limit::new();
                let exchange = connection.exchange(&desk, &mailbox, taken, limit, left, &written);
                again = exchange.await.again;
            }
            Err(Failure { kind, words }) => {
                mailbox.end();
                let end = desk.clock.now();
                desk.count(taken, Fate::Failed { kind, status: None, words, written: None, end });
            }
        }
    }
}

/// Returns how long a request may take from now: the limit begins with its first byte, however often it is sent.
fn time_for(desk: &Desk, taken: &Taken) -> Duration {
    let limit = desk.plan.time_limit;
    match taken.attempt {
        Attempt::Second { written: Some(written) } => {
            let since = desk.clock.now().saturating_sub(written);
            limit.saturating_sub(Duration::from_nanos(since))
        }
        Attempt::First | Attempt::Second { written: None } => limit,
    }
}

async fn open(desk: &Rc<Desk>, number: usize) -> Result<Connection, Failure> {
    let is_full = Cell::new(false);
    let opening = tokio::time::timeout(desk.plan.time_limit, async {
        match &desk.plan.target.place {
            Place::Tcp(address) => {
                over(TcpStream::connect(address).await.and_then(quick), desk, number).await
            }
            Place::Unix(path) => {
                let stream = connect_local(path, &is_full).await;
                over(stream.map(|stream| Box::new(stream) as Stream), desk, number).await
            }
        }
    });
    opening.await.unwrap_or_else(|_| {
        let full = || "the server does not take the connections that wait for it".to_owned();
        Err(Failure { kind: FailureKind::TimedOut, words: is_full.get().then(full) })
    })
}

/// Connects to a local socket. While its queue is full, which is then noted, the kernel refuses, where it waits with TCP: the
/// caller has a limit.
async fn connect_local(path: &Path, is_full: &Cell<bool>) -> io::Result<UnixStream> {
    /// Short beside what a server that falls behind so far takes to answer.
    const AGAIN: Duration = Duration::from_millis(1);
    loop {
        match UnixStream::connect(path).await {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                is_full.set(true);
                tokio::time::sleep(AGAIN).await;
            }
            done => {
                is_full.set(false);
                return done;
            }
        }
    }
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
    let line = match desk.plan.target.protocol {
        Protocol::Http1 => Line::Http1(Http1::over(stream, desk.clock)),
        Protocol::Http2 => Line::Http2(Http2::over(stream, desk, number).await?),
    };
    Ok(Connection { number, line, has_moved: false })
}

impl Connection {
    /// Returns another place of the same connection, if it has several.
    fn another(&self) -> Option<Self> {
        match &self.line {
            Line::Http1(_) => None,
            Line::Http2(line) => {
                let line = Line::Http2(line.clone());
                Some(Self { number: self.number, line, has_moved: false })
            }
        }
    }

    /// Expects a request: the next write is its first.
    fn expect(&self) -> Written {
        match &self.line {
            Line::Http1(_) => Written::default(),
            Line::Http2(line) => line.expect(),
        }
    }

    fn last_read(&self) -> u64 {
        match &self.line {
            Line::Http1(line) => line.last_read(),
            Line::Http2(line) => line.last_read(),
        }
    }

    fn has_ended(&self) -> bool {
        match &self.line {
            Line::Http1(line) => line.has_ended(),
            Line::Http2(line) => line.has_ended(),
        }
    }

    /// Returns how many of its places the server permits to be used at the same time, as far as is known.
    fn places(&self) -> usize {
        match &self.line {
            Line::Http1(_) => 1,
            Line::Http2(line) => line.streams(),
        }
    }

    /// Waits until the server permits so many requests at the same time that this place is one of them; says whether it does
    /// before the connection ends.
    async fn permits(&mut self, which: usize, desk: &Desk, mailbox: &Mailbox) -> bool {
        poll_fn(|cx| {
            if which < self.places() {
                return Poll::Ready(true);
            }
            // It is in nobody's list, so nobody gives it anything; it is woken when more are permitted, and at the end.
            let _ = mailbox.poll_next(cx);
            if self.poll_end(cx, desk) { Poll::Ready(false) } else { Poll::Pending }
        })
        .await
    }

    /// Looks whether it takes no more requests; if it does, this place is woken when it ends.
    fn poll_end(&mut self, cx: &mut Context<'_>, desk: &Desk) -> bool {
        match &mut self.line {
            Line::Http1(line) => line.poll_end(cx, &desk.inbox),
            Line::Http2(line) => line.poll_end(cx),
        }
    }

    /// Says whether it takes no more requests.
    async fn ends_now(&mut self, desk: &Desk) -> bool {
        poll_fn(|cx| Poll::Ready(self.poll_end(cx, desk))).await
    }

    /// Waits for the next request; none comes to one that has ended.
    async fn next(&mut self, desk: &Desk, mailbox: &Mailbox, place: usize) -> Option<Taken> {
        if self.has_ended() {
            return None;
        }
        if let Some(taken) = desk.next_for(place) {
            return Some(taken);
        }
        poll_fn(|cx| {
            let next = mailbox.poll_next(cx);
            // It may have ended meanwhile, which shows now at the latest.
            let has_ended = self.poll_end(cx, desk);
            match next {
                Poll::Ready(taken) => Poll::Ready(Some(taken)),
                Poll::Pending if has_ended => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// Sends a request, waits so long for the answer, and counts it, unless the server gives it back for the first time. The
    /// time of its first byte is in `written`, or comes there.
    async fn exchange(
        &mut self,
        desk: &Rc<Desk>,
        mailbox: &Mailbox,
        taken: Taken,
        limit: &mut Limit,
        time: Duration,
        written: &Written,
    ) -> Over {
        mailbox.begin(taken, written);
        let template = desk.plan.requests.template(taken.number);
        let answer = limit.within(time, self.last_answer(desk, taken.number, written)).await;
        mailbox.end();
        if let (Some(Err(NoAnswer::GivenBack(_))), Attempt::First) = (&answer, taken.attempt) {
            let attempt = Attempt::Second { written: written.get() };
            return Over { goes_on: true, again: Some(Taken { attempt, ..taken }) };
        }
        let failed = |kind, status, words, end| Fate::Failed {
            kind,
            status,
            words,
            written: written.get(),
            end,
        };
        let last = self.last_read();
        let fate = match &answer {
            Some(Ok(Answer { status, not_followed: Some(words), .. })) => {
                failed(FailureKind::Redirect, Some(status.as_u16()), Some(words.clone()), last)
            }
            Some(Ok(Answer { status, .. })) if !template.expects(*status) => {
                failed(FailureKind::Status, Some(status.as_u16()), None, last)
            }
            Some(Ok(Answer { grpc: Some((status, Failure { kind, words })), .. })) => {
                failed(*kind, *status, words.clone(), last)
            }
            Some(Ok(Answer { is_right: false, .. })) => failed(FailureKind::Body, None, None, last),
            // Nothing can be read of an answer before the request was written.
            Some(Ok(_)) => Fate::Answered { written: written.get().unwrap_or(last), last },
            Some(Err(none)) => {
                let Failure { kind, words } = none.failure();
                failed(*kind, None, words.clone(), desk.clock.now())
            }
            None => failed(FailureKind::TimedOut, None, None, desk.clock.now()),
        };
        desk.count(taken, fate);
        let goes_on = match &self.line {
            Line::Http1(_) => matches!(answer, Some(Ok(_))),
            // The others go on; if the connection has ended, that shows before the next one.
            Line::Http2(_) => !self.has_moved,
        };
        Over { goes_on, again: None }
    }

    /// Sends the request of this number, follows its redirects, and reads the last answer.
    async fn last_answer(
        &mut self,
        desk: &Rc<Desk>,
        number: u64,
        written: &Written,
    ) -> Result<Answer, NoAnswer> {
        let (target, requests) = (&desk.plan.target, &desk.plan.requests);
        let template = requests.template(number);
        let most = requests.follow();
        let mut left = most;
        // What the last redirect asked for.
        let mut redirected: Option<Request<Bytes>> = None;
        loop {
            let answer = match &mut self.line {
                Line::Http1(line) => {
                    let wire = match &redirected {
                        Some(request) => Cow::Owned(Wire::of(request)),
                        None => requests.wire(target, number),
                    };
                    line.exchange(&wire, template, written, &desk.inbox).await?
                }
                Line::Http2(line) => {
                    let request = redirected.clone();
                    let request = request.unwrap_or_else(|| requests.request(target, number));
                    let answer = line.exchange(request, template).await;
                    // What a redirect asks for is a part of a request, and the first part was answered.
                    let is_part = redirected.is_some();
                    answer.map_err(|none| if is_part { none.for_good() } else { none })?
                }
            };
            if most == 0 || answer.location.is_none() {
                return Ok(answer);
            }
            let asked = redirected.unwrap_or_else(|| requests.request(target, number));
            let next = match redirect::next(target, &asked, answer.status, answer.location.as_ref())
            {
                Next::Nothing => return Ok(answer),
                Next::Refused(words) => {
                    return Ok(Answer { not_followed: Some(words), ..answer });
                }
                Next::Request(_) if left == 0 => {
                    let words = format!("the last of {most} that may be followed");
                    return Ok(Answer { not_followed: Some(words), ..answer });
                }
                Next::Request(next) => *next,
            };
            redirected = Some(next);
            left -= 1;
            if self.ends_now(desk).await {
                *self = Self { has_moved: true, ..open(desk, self.number).await? };
                desk.count_connection();
            }
        }
    }
}
