//! One connection: it is opened, carries one request after the other, and ends.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use becalm_model::load::FailureKind;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

use super::desk::Desk;
use super::failure::Failure;
use super::mailbox::Mailbox;
use super::stamped::{Stamped, Stamps, Written};
use super::target::Place;
use crate::pool::Taken;
use crate::tally::Fate;

/// What reads and writes for hyper; it is done when the connection ends.
type Driver = Pin<Box<dyn Future<Output = hyper::Result<()>>>>;

/// An open connection.
struct Connection {
    sender: SendRequest<Full<Bytes>>,
    /// Nothing once the connection has ended: what waits for an answer learns of that when the driver is gone.
    driver: Option<Driver>,
    stamps: Rc<Stamps>,
}

/// Opens a connection and lets it carry requests until it ends.
pub(super) async fn carry(desk: Rc<Desk>, number: usize) {
    let mut connection = match open(&desk).await {
        Ok(connection) => connection,
        Err(failure) => return desk.not_opened(&failure),
    };
    desk.opened();
    let mailbox = desk.move_in(number);
    // One that ends before it has carried anything does not end for want of use.
    let mut has_carried = false;
    while let Some(taken) = connection.next(&desk, &mailbox, number).await {
        if connection.driver.is_none() && has_carried {
            desk.put_back(taken);
            break;
        }
        let limit = desk.plan.time_limit;
        let stays =
            connection.exchange(&desk, &mailbox, taken, limit).await && connection.is_ready().await;
        if !stays {
            break;
        }
        has_carried = true;
    }
    desk.closed(number);
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
        match open(&desk).await {
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

async fn open(desk: &Desk) -> Result<Connection, Failure> {
    let opening = tokio::time::timeout(desk.plan.time_limit, async {
        match &desk.plan.target.place {
            Place::Tcp(address) => {
                over(TcpStream::connect(address).await.and_then(quick), desk).await
            }
            Place::Unix(path) => over(UnixStream::connect(path).await, desk).await,
        }
    });
    opening.await.unwrap_or_else(|_| Err(Failure::new(FailureKind::TimedOut)))
}

/// Lets a connection send what it has without waiting for more.
fn quick(stream: TcpStream) -> io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Speaks HTTP over a stream.
async fn over<S>(stream: io::Result<S>, desk: &Desk) -> Result<Connection, Failure>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let stream = stream.map_err(|error| Failure::of_connecting(&error))?;
    let stamps = Stamps::new(desk.clock);
    let io = TokioIo::new(Stamped::new(stream, Rc::clone(&stamps)));
    let (sender, driver) =
        http1::handshake(io).await.map_err(|error| Failure::of_exchange(&error))?;
    Ok(Connection { sender, driver: Some(Box::pin(driver)), stamps })
}

impl Connection {
    /// Waits for the next request; none comes to one that has ended.
    async fn next(&mut self, desk: &Desk, mailbox: &Mailbox, place: usize) -> Option<Taken> {
        if let Some(taken) = desk.next_for(place) {
            return Some(taken);
        }
        poll_fn(|cx| {
            let next = mailbox.poll_next(cx);
            // It may have ended meanwhile, which shows now at the latest.
            let has_ended = drive(&mut self.driver, cx);
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
        desk: &Desk,
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
        desk: &Desk,
        mailbox: &Mailbox,
        taken: Taken,
        limit: Duration,
        written: &Written,
    ) -> bool {
        mailbox.begin(taken, written);
        let request = desk.plan.request.request();
        let answer = tokio::time::timeout(limit, self.answer(request)).await;
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
            Ok(Ok(status)) if desk.plan.request.expects(*status) => {
                // Nothing can be read of an answer before the request was written.
                Fate::Answered { written: written.get().unwrap_or(last), last }
            }
            Ok(Ok(status)) => failed(FailureKind::Status, Some(status.as_u16()), None, last),
            Ok(Err(error)) => {
                let Failure { kind, words } = Failure::of_exchange(error);
                failed(kind, None, words, desk.clock.now())
            }
            Err(_) => failed(FailureKind::TimedOut, None, None, desk.clock.now()),
        };
        desk.count(taken, fate);
        matches!(answer, Ok(Ok(_)))
    }

    /// Sends a request and reads the whole answer.
    async fn answer(&mut self, request: Request<Full<Bytes>>) -> hyper::Result<StatusCode> {
        let Self { sender, driver, .. } = self;
        let exchange = async {
            let response = sender.send_request(request).await?;
            let status = response.status();
            let mut body = response.into_body();
            while let Some(frame) = body.frame().await {
                frame?;
            }
            Ok(status)
        };
        let mut exchange = pin!(exchange);
        poll_fn(|cx| {
            // In one task with its driver: what is given to it is written at once, and not when another task is woken.
            if let Poll::Ready(answer) = exchange.as_mut().poll(cx) {
                return Poll::Ready(answer);
            }
            drive(driver, cx);
            exchange.as_mut().poll(cx)
        })
        .await
    }

    /// Waits until it can take another request; says whether it can.
    async fn is_ready(&mut self) -> bool {
        poll_fn(|cx| {
            if drive(&mut self.driver, cx) {
                return Poll::Ready(false);
            }
            self.sender.poll_ready(cx).map(|ready| ready.is_ok())
        })
        .await
    }
}

/// Lets a connection read and write what it can; says whether it has ended.
fn drive(driver: &mut Option<Driver>, cx: &mut Context<'_>) -> bool {
    if driver.as_mut().is_some_and(|driver| driver.as_mut().poll(cx).is_ready()) {
        *driver = None;
    }
    driver.is_none()
}
