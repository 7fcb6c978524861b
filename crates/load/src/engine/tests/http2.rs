//! HTTP/2 against servers that permit little, and end connections in the middle.

use std::future::Future;

use h2::server::{Builder, Connection};
use http::Response;
use tokio::sync::watch;
use tokio::task::{LocalSet, spawn_local};

use super::*;

/// A server with these settings that treats each of its connections in this way.
pub(super) fn serving<F: Future<Output = ()>>(
    settings: &Builder,
    treat: impl Fn(Connection<tokio::net::TcpStream, bytes::Bytes>) -> F + Send + Sync + 'static,
) -> SocketAddr {
    let settings = settings.clone();
    server(move |stream| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        LocalSet::new().block_on(&runtime, async {
            stream.set_nonblocking(true).unwrap();
            let stream = tokio::net::TcpStream::from_std(stream).unwrap();
            let Ok(connection) = settings.handshake(stream).await else { return };
            treat(connection).await;
        });
    })
}

fn over_http2(address: SocketAddr) -> Plan {
    let way = Way { protocol: Protocol::Http2, ..Way::default() };
    plan(Target::new(&format!("http://{address}/"), way).unwrap(), few())
}

#[test]
fn a_connection_that_is_to_end_gets_no_more_requests_while_it_answers_the_last_ones() {
    /// What each connection takes before it says that it will end.
    const TAKEN: u64 = 4;
    // The first answer on a connection comes when the next connection has a request, or there are no more.
    let (seen, _) = watch::channel((0, 0));
    let seen = Arc::new(seen);
    let address = serving(&Builder::new(), move |mut connection| {
        let seen = Arc::clone(&seen);
        async move {
            let mut taken = 0;
            while let Some(Ok((_, mut respond))) = connection.accept().await {
                taken += 1;
                if taken == TAKEN {
                    connection.graceful_shutdown();
                }
                let is_first = u64::from(taken == 1);
                seen.send_modify(|(connections, requests)| {
                    (*connections, *requests) = (*connections + is_first, *requests + 1);
                });
                if taken > 1 {
                    let _ = respond.send_response(Response::new(()), true);
                    continue;
                }
                let mut later = seen.subscribe();
                let (this, _) = *later.borrow_and_update();
                spawn_local(async move {
                    let is_over = |seen: &(u64, u64)| seen.0 > this || seen.1 == 20;
                    let _ = later.wait_for(is_over).await;
                    let _ = respond.send_response(Response::new(()), true);
                });
            }
        }
    });
    let plan = Plan { connections: 1, streams: 8, ..over_http2(address) };
    let loaded = run(plan);
    assert_eq!(loaded.total.counts.answered, 20, "{:?}", loaded.total.failed());
    assert!(loaded.total.counts.connections >= 2, "{:?}", loaded.total.counts);
}

/// A server that answers with this head, and says with the first request on each connection that it will end.
fn ending_at_once(status: u16) -> SocketAddr {
    serving(&Builder::new(), move |mut connection| async move {
        while let Some(Ok((request, mut respond))) = connection.accept().await {
            connection.graceful_shutdown();
            let is_first = request.uri().path() == "/";
            let mut head = Response::builder().status(if is_first { status } else { 200 });
            head = head.header("location", "/there");
            let _ = respond.send_response(head.body(()).unwrap(), true);
        }
    })
}

#[test]
fn a_connection_may_end_with_its_first_request() {
    for streams in [1, 3, 100] {
        let loaded = run(Plan { streams, ..over_http2(ending_at_once(200)) });
        assert_eq!(loaded.total.counts.answered, 20, "{:?}", loaded.total.failed());
    }
}

#[test]
fn a_connection_that_ends_before_it_takes_anything_costs_one_request() {
    let address = serving(&Builder::new(), |mut connection| async move {
        connection.abrupt_shutdown(h2::Reason::NO_ERROR);
        while connection.accept().await.is_some() {}
    });
    all_fail(over_http2(address), FailureKind::Closed, None);
}

#[test]
fn a_redirect_may_come_with_the_end_of_its_connection() {
    let scenario = Scenario { follow: 2, ..Scenario::default() };
    for streams in [1, 3, 100] {
        let plan = Plan { streams, ..over_http2(ending_at_once(302)) };
        let requests = Requests::of(&plan.target, &scenario, &Contents::default()).unwrap();
        // Some may meet the end of their connection. Each is counted once.
        run(Plan { requests, ..plan });
    }
}

/// A server that refuses each request before it processes it, as long as `refuses` says so.
fn refusing(refuses: impl Fn(usize) -> bool + Send + Sync + 'static) -> SocketAddr {
    let refuses = Arc::new(refuses);
    serving(&Builder::new(), move |mut connection| {
        let refuses = Arc::clone(&refuses);
        async move {
            let mut taken = 0;
            while let Some(Ok((_, mut respond))) = connection.accept().await {
                taken += 1;
                if refuses(taken) {
                    respond.send_reset(h2::Reason::REFUSED_STREAM);
                } else {
                    let _ = respond.send_response(Response::new(()), true);
                }
            }
        }
    })
}

#[test]
fn a_request_that_was_refused_unprocessed_is_sent_once_more() {
    // Twice in a row, so that each is refused once, whatever their order.
    let plan = Plan { connections: 1, streams: 1, ..over_http2(refusing(|taken| taken % 2 == 1)) };
    let counts = run(plan).total.counts;
    assert_eq!((counts.answered, counts.given_back, counts.sent), (20, 20, 20));
    let always = Plan { connections: 1, ..over_http2(refusing(|_| true)) };
    let total = run(always).total;
    assert_eq!((total.counts.errors, total.counts.given_back), (20, 20));
    assert_eq!(total.failed()[0].kind, FailureKind::Closed);
}

/// A frame of HTTP/2: kind, flags, stream and payload.
fn frame(kind: u8, flags: u8, id: u32, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    [&[0, 0, length, kind, flags][..], &id.to_be_bytes(), payload].concat()
}

/// Says that no request after the first one of a connection was processed (RFC 9113, section 6.8).
fn goaway(_id: u32) -> Vec<u8> {
    frame(7, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0])
}

/// Refuses a request, and breaks the connection with the next frame: data of no stream.
fn refused_and_broken(id: u32) -> Vec<u8> {
    [frame(3, 0, id, &[0, 0, 0, 7]), frame(0, 0, 0, b"?")].concat()
}

/// A server whose first connection answers one request, and gives others this. Its other connections answer all.
fn leaving_some(others: fn(u32) -> Vec<u8>) -> SocketAddr {
    let is_first = AtomicBool::new(true);
    server(move |mut stream| {
        const SETTINGS: u8 = 4;
        const HEADERS: u8 = 1;
        let is_first = is_first.swap(false, Ordering::SeqCst);
        let _ = stream.write_all(&frame(SETTINGS, 0, 0, &[]));
        let _ = stream.read_exact(&mut [0; b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len()]);
        let mut head = [0; 9];
        while stream.read_exact(&mut head).is_ok() {
            let [_, high, low, kind, flags, id @ ..] = head;
            let _ = stream.read_exact(&mut vec![0; usize::from(u16::from_be_bytes([high, low]))]);
            let id = u32::from_be_bytes(id);
            let answer = match (kind, flags) {
                (SETTINGS, 0) => frame(SETTINGS, 1, 0, &[]),
                // A head that says 200, and ends the answer.
                (HEADERS, _) if id == 1 || !is_first => frame(HEADERS, 5, id, &[0x88]),
                (HEADERS, _) => others(id),
                _ => continue,
            };
            let _ = stream.write_all(&answer);
        }
    })
}

#[test]
fn what_a_connection_did_not_process_before_its_end_goes_over_another_one() {
    let loaded = run(Plan { connections: 1, streams: 8, ..over_http2(leaving_some(goaway)) });
    let counts = loaded.total.counts;
    assert_eq!(counts.answered, 20, "{:?}", loaded.total.failed());
    assert!(counts.given_back >= 1 && counts.connections == 2, "{counts:?}");
}

#[test]
fn what_was_refused_is_sent_again_even_if_the_connection_breaks_at_the_same_time() {
    let address = leaving_some(refused_and_broken);
    let loaded = run(Plan { connections: 1, streams: 1, ..over_http2(address) });
    let counts = loaded.total.counts;
    assert_eq!(counts.answered, 20, "{:?}", loaded.total.failed());
    assert_eq!((counts.given_back, counts.connections), (1, 2));
}

#[test]
fn a_server_that_takes_one_request_at_a_time_gets_one_at_a_time() {
    let address = serving(Builder::new().max_concurrent_streams(1), |mut connection| async move {
        while let Some(Ok((_, mut respond))) = connection.accept().await {
            let _ = respond.send_response(Response::new(()), true);
        }
    });
    let loaded = run(Plan { connections: 2, ..over_http2(address) });
    assert_eq!(loaded.total.counts.answered, 20, "{:?}", loaded.total.failed());
}
