//! One connection: it is opened, carries one request after the other, and ends.

use std::future::{Future, poll_fn};
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
use tokio::net::{TcpStream, UnixStream};

use super::failure::Failure;
use super::mailbox::Mailbox;
use super::shard::Shard;
use super::stamped::{Stamped, Stamps, Stream, Written};
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
pub(super) async fn carry(shard: Rc<Shard>, number: usize) {
    let mut connection = match open(&shard).await {
        Ok(connection) => connection,
        Err(failure) => return shard.not_opened(&failure),
    };
    shard.opened();
    let mailbox = shard.move_in(number);
    // One that ends before it has carried anything does not end for want of use.
    let mut has_carried = false;
    while let Some(taken) = connection.next(&shard, &mailbox, number).await {
        if connection.driver.is_none() && has_carried {
            shard.put_back(taken);
            break;
        }
        let limit = shard.plan.time_limit;
        let stays = connection.exchange(&shard, &mailbox, taken, limit).await
            && connection.is_ready().await;
        if !stays {
            break;
        }
        has_carried = true;
    }
    shard.closed(number);
}

/// Opens a connection for each request, in one place of the pool.
pub(super) async fn carry_each(shard: Rc<Shard>, number: usize) {
    shard.opened();
    let mailbox = shard.move_in(number);
    loop {
        let taken = match shard.next_for(number) {
            Some(taken) => taken,
            None => poll_fn(|cx| mailbox.poll_next(cx)).await,
        };
        // The connection is a part of the exchange: its first packet is the first byte.
        let written = Written::default();
        written.set(Some(shard.clock.now()));
        mailbox.begin(taken, &written);
        let limit = shard.plan.time_limit;
        let began = tokio::time::Instant::now();
        match open(&shard).await {
            Ok(mut connection) => {
                shard.count_connection();
                let left = limit.saturating_sub(began.elapsed());
                connection.exchange_from(&shard, &mailbox, taken, left, &written).await;
            }
            Err(Failure { kind, words }) => {
                mailbox.end();
                let end = shard.clock.now();
                shard.count(taken, Fate::Failed { kind, status: None, words, written: None, end });
            }
        }
    }
}

async fn open(shard: &Shard) -> Result<Connection, Failure> {
    let stream = match tokio::time::timeout(shard.plan.time_limit, connect(shard)).await {
        Ok(stream) => stream.map_err(|error| Failure::of_connecting(&error))?,
        Err(_) => return Err(Failure::new(FailureKind::TimedOut)),
    };
    let stamps = Stamps::new(shard.clock);
    let io = TokioIo::new(Stamped::new(stream, Rc::clone(&stamps)));
    let (sender, driver) =
        http1::handshake(io).await.map_err(|error| Failure::of_exchange(&error))?;
    Ok(Connection { sender, driver: Some(Box::pin(driver)), stamps })
}

async fn connect(shard: &Shard) -> std::io::Result<Box<dyn Stream>> {
    match &shard.plan.target.place {
        Place::Tcp(address) => {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream))
        }
        Place::Unix(path) => Ok(Box::new(UnixStream::connect(path).await?)),
    }
}

impl Connection {
    /// Waits for the next request; none comes to one that has ended.
    async fn next(&mut self, shard: &Shard, mailbox: &Mailbox, place: usize) -> Option<Taken> {
        if let Some(taken) = shard.next_for(place) {
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
        shard: &Shard,
        mailbox: &Mailbox,
        taken: Taken,
        limit: Duration,
    ) -> bool {
        let written = self.stamps.expect();
        self.exchange_from(shard, mailbox, taken, limit, &written).await
    }

    /// The same with a place for the time of the first byte.
    async fn exchange_from(
        &mut self,
        shard: &Shard,
        mailbox: &Mailbox,
        taken: Taken,
        limit: Duration,
        written: &Written,
    ) -> bool {
        mailbox.begin(taken, written);
        let request = shard.plan.request.request();
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
            Ok(Ok(status)) if shard.plan.request.expects(*status) => {
                // Nothing can be read of an answer before the request was written.
                Fate::Answered { written: written.get().unwrap_or(last), last }
            }
            Ok(Ok(status)) => failed(FailureKind::Status, Some(status.as_u16()), None, last),
            Ok(Err(error)) => {
                let Failure { kind, words } = Failure::of_exchange(error);
                failed(kind, None, words, shard.clock.now())
            }
            Err(_) => failed(FailureKind::TimedOut, None, None, shard.clock.now()),
        };
        shard.count(taken, fate);
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
