//! Connections: how many there are, how long each may take, and how they end.

use std::convert::Infallible;
use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout};

use super::routes::Service;

/// Connections at once; others wait to be accepted.
const CONNECTIONS: u32 = 256;

/// How long the head of a request may take, and how long a connection may be idle.
const HEAD: Duration = Duration::from_secs(10);

/// After this time a connection ends with its present answer.
const LIFE: Duration = Duration::from_secs(60);

/// After this time it ends at once: whoever reads that slowly is not there.
const LONGEST: Duration = Duration::from_secs(120);

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
    let places = Arc::new(Semaphore::new(CONNECTIONS as usize));
    let mut stop = stopped.clone();
    let mut stop = pin!(async move {
        let _ = stop.wait_for(|is| *is).await;
    });
    loop {
        let mut next = pin!(async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        });
        let next = poll_fn(|context| {
            if stop.as_mut().poll(context).is_ready() {
                return Poll::Ready(None);
            }
            next.as_mut().poll(context).map(Some)
        });
        match next.await {
            None => break,
            Some((Ok(place), Ok((stream, _)))) => {
                let (service, stopped) = (Arc::clone(&service), stopped.clone());
                spawn_local(async move {
                    converse(stream, service, stopped).await;
                    drop(place);
                });
            }
            // Too many open files: others may be closed in a moment.
            Some(_) => sleep(Duration::from_millis(50)).await,
        }
    }
    drop(listener);
    let _ = timeout(FAREWELL, places.acquire_many(CONNECTIONS)).await;
}

/// Answers the requests of one connection.
async fn converse(stream: TcpStream, service: Arc<Service>, mut stopped: watch::Receiver<bool>) {
    let _ = stream.set_nodelay(true);
    let answer = service_fn(|request| {
        let service = Arc::clone(&service);
        async move { Ok::<_, Infallible>(service.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEAD_FIELDS)
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = pin!(connection);
    let mut ending = pin!(async move {
        let _ = timeout(LIFE, stopped.wait_for(|is| *is)).await;
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
    let _ = timeout(LONGEST, whole).await;
}
