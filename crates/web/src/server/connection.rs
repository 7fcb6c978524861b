//! Connections: how many there are, how long each may take, and how they end.

use std::convert::Infallible;
use std::future::{Future as _, poll_fn};
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use becalm_tls::Stream;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{spawn_blocking, spawn_local};
use tokio::time::{sleep, timeout};

use super::encrypted::{EVERY, Encryption};
use super::guests::{Guests, Place};
use super::routes::Service;

/// How many times less time there is for the head of a request while more than half of the places are taken.
const HURRY: u32 = 10;

/// How long a server that is stopping may take to finish its answers.
const FAREWELL: Duration = Duration::from_secs(5);

/// Bytes of the head of a request.
const HEAD_BYTES: usize = 16 << 10;

/// Fields of the head of a request.
const HEAD_FIELDS: usize = 64;

/// Accepts connections until the server has to stop, and waits for the last answers.
pub(super) async fn accept(
    listener: TcpListener,
    service: Arc<Service>,
    stopped: watch::Receiver<bool>,
) {
    let connections = service.limits.connections;
    let guests = Rc::new(Guests::default());
    if service.encryption.is_some() {
        spawn_local(renew(Arc::clone(&service)));
    }
    let mut stop = stopped.clone();
    let mut stop = pin!(async move {
        let _ = stop.wait_for(|is| *is).await;
    });
    loop {
        let mut next = pin!(async {
            let (stream, _) = listener.accept().await?;
            io::Result::Ok((stream, guests.place(connections).await))
        });
        let next = poll_fn(|context| {
            if stop.as_mut().poll(context).is_ready() {
                return Poll::Ready(None);
            }
            next.as_mut().poll(context).map(Some)
        });
        match next.await {
            None => break,
            Some(Ok((stream, place))) => {
                let (service, stopped) = (Arc::clone(&service), stopped.clone());
                // Where places get rare, whoever says nothing leaves sooner.
                let is_crowded = guests.count() > connections / 2;
                let head = service.limits.head / if is_crowded { HURRY } else { 1 };
                let _ = stream.set_nodelay(true);
                spawn_local(async move {
                    let conversation = async {
                        let stream = match &service.encryption {
                            None => Some(Box::new(stream) as Stream),
                            Some(encryption) => encryption.with(stream, head).await,
                        };
                        if let Some(stream) = stream {
                            converse(stream, service, stopped, head, &place).await;
                        }
                    };
                    let (mut conversation, mut taken) =
                        (pin!(conversation), pin!(place.is_taken()));
                    let either = poll_fn(|context| match taken.as_mut().poll(context) {
                        Poll::Ready(()) => Poll::Ready(()),
                        Poll::Pending => conversation.as_mut().poll(context),
                    });
                    either.await;
                });
            }
            // Too many open files: others may be closed in a moment.
            Some(Err(_)) => sleep(Duration::from_millis(50)).await,
        }
    }
    drop(listener);
    let _ = timeout(FAREWELL, guests.all_left()).await;
}

/// Looks from time to time whether there is a new certificate.
async fn renew(service: Arc<Service>) {
    loop {
        sleep(EVERY).await;
        let service = Arc::clone(&service);
        let look = move || service.encryption.as_ref().is_some_and(Encryption::renew);
        let _ = spawn_blocking(look).await;
    }
}

/// Returns how requests are read.
fn http(head: Duration) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(head)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEAD_FIELDS);
    http
}

/// Answers a client that has said everything when its stream ends, and waits for the answers.
pub(super) async fn whole(stream: Stream, service: Arc<Service>) {
    let mut http = http(service.limits.head);
    let answer = service_fn(|request| {
        let service = Arc::clone(&service);
        async move { Ok::<_, Infallible>(service.answer(request).await) }
    });
    let _ = http.half_close(true).serve_connection(TokioIo::new(stream), answer).await;
}

/// Answers the requests of one connection.
async fn converse(
    stream: Stream,
    service: Arc<Service>,
    mut stopped: watch::Receiver<bool>,
    head: Duration,
    place: &Place,
) {
    let limits = service.limits;
    let answer = service_fn(|request| {
        let service = Arc::clone(&service);
        async move {
            place.is_busy();
            let answer = service.answer(request).await;
            place.is_idle();
            Ok::<_, Infallible>(answer)
        }
    });
    let connection = http(head).serve_connection(TokioIo::new(stream), answer);
    let mut connection = pin!(connection);
    let mut ending = pin!(async move {
        let _ = timeout(limits.life, stopped.wait_for(|is| *is)).await;
    });
    let mut is_ending = false;
    let whole = poll_fn(|context| {
        if !is_ending && ending.as_mut().poll(context).is_ready() {
            is_ending = true;
            connection.as_mut().graceful_shutdown();
        }
        connection.as_mut().poll(context)
    });
    // A client that goes away is none of the server's business.
    let _ = timeout(limits.longest, whole).await;
}
