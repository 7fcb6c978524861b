//! Unary calls of gRPC against servers that answer in every way.

use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use tokio::task::spawn_local;

use super::http2::serving;
use super::*;

/// Pairs of name and value.
type Pairs = &'static [(&'static str, &'static str)];

/// An answer, piece by piece.
#[derive(Debug, Clone, Copy, Default)]
struct Reply {
    /// 200 if it is 0.
    status: u16,
    headers: Pairs,
    body: &'static [u8],
    trailers: Option<Pairs>,
    /// Ends the stream so, after what came before.
    reset: Option<Reason>,
}

const HELLO: &[u8] = b"\0\0\0\0\x05hello";

const OK: Reply = Reply {
    status: 200,
    headers: &[("content-type", "application/grpc")],
    body: HELLO,
    trailers: Some(&[("grpc-status", "0")]),
    reset: None,
};

/// What a server was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Asked {
    path: String,
    headers: HeaderMap,
    body: Vec<u8>,
}

/// A server of HTTP/2 that keeps what it was asked, and answers so.
fn answering(
    reply: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
) -> (SocketAddr, Arc<Mutex<Vec<Asked>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (keep, reply) = (Arc::clone(&asked), Arc::new(reply));
    let address = serving(&h2::server::Builder::new(), move |mut connection| {
        let (keep, reply) = (Arc::clone(&keep), Arc::clone(&reply));
        async move {
            while let Some(Ok((request, respond))) = connection.accept().await {
                let (keep, reply) = (Arc::clone(&keep), Arc::clone(&reply));
                spawn_local(async move {
                    let Some(asked) = read(request).await else { return };
                    keep.lock().unwrap().push(asked.clone());
                    // A client that goes away is none of the server's business.
                    let _ = send(reply(&asked), respond);
                });
            }
        }
    });
    (address, asked)
}

async fn read(request: Request<RecvStream>) -> Option<Asked> {
    let (head, mut stream) = request.into_parts();
    let mut body = Vec::new();
    while let Some(piece) = stream.data().await {
        body.extend_from_slice(&piece.ok()?);
    }
    Some(Asked { path: head.uri.path().to_owned(), headers: head.headers, body })
}

fn send(reply: Reply, mut respond: SendResponse<bytes::Bytes>) -> Result<(), h2::Error> {
    let headers = |pairs: Pairs| -> HeaderMap {
        let pair =
            |&(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value));
        pairs.iter().map(pair).collect()
    };
    let mut response = Response::new(());
    *response.status_mut() = http::StatusCode::from_u16(reply.status.max(200)).unwrap();
    *response.headers_mut() = headers(reply.headers);
    let is_headers_only =
        reply.body.is_empty() && reply.trailers.is_none() && reply.reset.is_none();
    let mut stream = respond.send_response(response, is_headers_only)?;
    let is_last = reply.trailers.is_none() && reply.reset.is_none();
    if !reply.body.is_empty() {
        stream.send_data(bytes::Bytes::from_static(reply.body), is_last)?;
    }
    if let Some(pairs) = reply.trailers {
        stream.send_trailers(headers(pairs))?;
    }
    if let Some(reason) = reply.reset {
        stream.send_reset(reason);
    }
    Ok(())
}

/// A scenario of calls of one method.
fn calls() -> Scenario {
    let headers = vec![("x-trace".to_owned(), "{counter}".to_owned())];
    Scenario { grpc: true, http2: true, headers, ..Scenario::default() }
}

fn calling(address: SocketAddr, scenario: &Scenario, contents: &Contents) -> Plan {
    let way = Way { protocol: Protocol::Http2, ..Way::default() };
    let target = Target::new(&format!("http://{address}/a.B/C"), way).unwrap();
    let plan = plan(target, few());
    let requests = Requests::of(&plan.target, scenario, contents).unwrap();
    Plan { requests, ..plan }
}

/// A load of calls of which each is answered so.
fn all_answered(reply: Reply, scenario: &Scenario) -> Plan {
    let (address, _) = answering(move |_| reply);
    calling(address, scenario, &Contents::default())
}

#[test]
fn a_call_is_a_frame_with_metadata_and_its_answer_is_right_if_the_status_is_ok() {
    let (address, asked) = answering(|_| OK);
    let kept =
        becalm_model::load::LoadBody { file: "m".to_owned(), bytes: 3, digest: String::new() };
    let scenario = Scenario {
        body_file: Some(kept),
        expected_body: Some(ExpectedBody::Is("hello".to_owned())),
        ..calls()
    };
    let bodies = [("m".to_owned(), bytes::Bytes::from_static(b"\x0a\x01\xff"))].into();
    let contents = Contents { bodies, ..Contents::default() };
    let loaded = run(calling(address, &scenario, &contents));
    assert_eq!(loaded.total.counts.answered, 20, "{:?}", loaded.total.failed());
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 20);
    let mut traces: Vec<u64> = Vec::new();
    for Asked { path, headers, body } in asked.iter() {
        assert_eq!((path.as_str(), &body[..]), ("/a.B/C", &b"\0\0\0\0\x03\x0a\x01\xff"[..]));
        let header = |name: &str| headers[name].to_str().unwrap();
        assert_eq!((header("te"), header("content-type")), ("trailers", "application/grpc"));
        traces.push(header("x-trace").parse().unwrap());
    }
    traces.sort_unstable();
    assert!(traces.into_iter().eq(1..=20));
}

#[test]
fn a_status_other_than_ok_is_an_error_with_its_number_and_the_words_of_the_server() {
    let nothing = Reply {
        headers: &[("grpc-status", "5"), ("grpc-message", "no%20such thing")],
        ..Reply::default()
    };
    let loaded = run(all_answered(nothing, &calls()));
    let failed = &loaded.total.failed()[0];
    assert_eq!((failed.kind, failed.status, failed.count), (FailureKind::GrpcStatus, Some(5), 20));
    assert_eq!(failed.example.as_deref(), Some("no such thing"));
    // A wrong answer is no fast one.
    assert_eq!(loaded.total.response.quantile_or_never(0.01), None);
    // After a message, as a server says it that fails in the middle.
    let late = Reply { trailers: Some(&[("grpc-status", "14")]), ..OK };
    all_fail(all_answered(late, &calls()), FailureKind::GrpcStatus, Some(14));
    // It may be the expected one.
    let expecting = Scenario { expected_status: vec![0, 5], ..calls() };
    for reply in [nothing, OK] {
        assert_eq!(run(all_answered(reply, &expecting)).total.counts.answered, 20);
    }
}

#[test]
fn an_answer_without_a_status_is_an_error_even_if_all_else_is_right() {
    let silent = Reply { trailers: None, ..OK };
    all_fail(all_answered(silent, &calls()), FailureKind::GrpcStatus, None);
    let cut_off = Reply { headers: &[("grpc-status", "0")], ..silent };
    all_fail(all_answered(cut_off, &calls()), FailureKind::GrpcStatus, None);
    let other = Reply { trailers: Some(&[("x", "y")]), ..OK };
    all_fail(all_answered(other, &calls()), FailureKind::GrpcStatus, None);
    let page = Reply { body: b"<html></html>", ..Reply::default() };
    all_fail(all_answered(page, &calls()), FailureKind::GrpcStatus, None);
    // What a proxy says is of HTTP, whatever else it says.
    let proxy = Reply { status: 503, ..OK };
    all_fail(all_answered(proxy, &calls()), FailureKind::Status, Some(503));
}

#[test]
fn an_answer_that_is_not_one_message_is_an_error() {
    let bodies: [&[u8]; 5] = [
        b"",
        b"hello world",
        b"\0\0\0\0\x06hello",
        b"\0\0\0\0\x01a\0\0\0\0\x01b",
        b"\x01\0\0\0\x05hello",
    ];
    for body in bodies {
        let plan = all_answered(Reply { body, ..OK }, &calls());
        all_fail(plan, FailureKind::GrpcMessage, None);
    }
    let expecting =
        |text: &str| Scenario { expected_body: Some(ExpectedBody::Is(text.to_owned())), ..calls() };
    all_fail(all_answered(OK, &expecting("help")), FailureKind::Body, None);
}

#[test]
fn a_call_that_is_reset_or_refused_is_closed_early() {
    for reason in [Reason::REFUSED_STREAM, Reason::CANCEL, Reason::INTERNAL_ERROR] {
        let reset = Reply { body: b"", trailers: None, reset: Some(reason), ..OK };
        all_fail(all_answered(reset, &calls()), FailureKind::Closed, None);
    }
    let in_the_message = Reply {
        body: b"\0\0\0\0\x05he",
        trailers: None,
        reset: Some(Reason::INTERNAL_ERROR),
        ..OK
    };
    all_fail(all_answered(in_the_message, &calls()), FailureKind::Closed, None);
}

#[test]
fn calls_of_several_methods_are_mixed() {
    let (address, asked) = answering(|asked| {
        let missing = Reply { headers: &[("grpc-status", "12")], ..Reply::default() };
        if asked.path == "/a.B/Get" { OK } else { missing }
    });
    let kind = |path: &str| LoadRequest {
        name: path.to_owned(),
        path: Some(path.to_owned()),
        ..calls().kinds().remove(0)
    };
    let scenario = Scenario { requests: vec![kind("/a.B/Get"), kind("/a.B/Put")], ..calls() };
    let loaded = run(calling(address, &scenario, &Contents::default()));
    let [(_, get), (_, put)] = &loaded.mix[..] else { panic!("{:?}", loaded.mix) };
    assert_eq!(get.counts.scheduled, get.counts.answered);
    assert_eq!(put.counts.scheduled, put.counts.errors);
    let asked = asked.lock().unwrap();
    let puts = asked.iter().filter(|one| one.path == "/a.B/Put").count();
    assert_eq!(puts as u64, put.counts.errors);
}

#[test]
fn a_server_is_ready_when_a_call_has_the_expected_status() {
    let ready = |reply: Reply| {
        let plan = all_answered(reply, &calls());
        let patience = Duration::from_secs(20);
        ask(plan.target, plan.requests, patience, &Interrupt::new().unwrap())
    };
    ready(OK).unwrap();
    let not_yet = Reply { headers: &[("grpc-status", "14")], ..Reply::default() };
    let error = ready(not_yet).unwrap_err().to_string();
    assert_eq!(error, "gRPC status 14 UNAVAILABLE");
}
