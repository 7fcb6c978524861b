use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use becalm_series::{Access, HistoryLocation, Right, open};
use becalm_testkit::{postgres, skipped, wait_until};
use becalm_web::Limits;

use super::support::{Bench, entry, exchange, get, get_with};

#[test]
fn requests_that_are_too_large_or_broken_end_and_others_are_answered() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    let long = "a".repeat(100_000);
    let many = "X: 1\r\n".repeat(200);
    let host = format!("Host: {}\r\n", server.at());
    for (what, sent) in [
        ("a long path", format!("GET /{long} HTTP/1.1\r\n{host}\r\n")),
        ("a long field", format!("GET / HTTP/1.1\r\n{host}X: {long}\r\n\r\n")),
        ("many fields", format!("GET / HTTP/1.1\r\n{host}{many}\r\n")),
        ("no HTTP", "\u{0}\u{1}\u{2}\r\n\r\n".to_owned()),
        ("another protocol", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned()),
    ] {
        // It is refused, or the connection ends; there is never a page.
        let status = exchange(server.at(), sent.as_bytes()).map(|reply| reply.status);
        assert!(status.is_none_or(|status| (400..=505).contains(&status)), "{what}: {status:?}");
    }
    assert_eq!(get(&server, "/").status, 200);
}

#[test]
fn a_form_that_is_too_large_is_refused_and_nothing_is_kept() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    // It is refused by what it says of itself, before it is read.
    let head = format!(
        "POST /changes/1@16 HTTP/1.1\r\nHost: {}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: 10485760\r\nConnection: close\r\n\r\n",
        server.at()
    );
    let reply = exchange(server.at(), head.as_bytes()).unwrap();
    assert_eq!(reply.status, 413, "{}", reply.body);
    assert!(get(&server, "/").body.contains("1\u{a0}regression, confirmed and open"));
}

#[test]
fn a_client_that_sends_half_a_request_is_let_go() {
    let bench = Bench::with_a_change();
    let limits = Limits { head: Duration::from_millis(200), ..Limits::default() };
    let server = bench.serve_limited(None, true, limits);
    let begun: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = TcpStream::connect(server.at()).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
            stream
        })
        .collect();
    // Others are answered meanwhile.
    assert_eq!(get(&server, "/").status, 200);
    for mut stream in begun {
        stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
        let mut bytes = Vec::new();
        // It ends, with or without words.
        let ended = stream.read_to_end(&mut bytes);
        assert!(
            ended.is_ok()
                || ended.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset)
        );
    }
}

#[test]
fn a_server_that_is_stopped_ends_although_clients_are_connected() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    let at = server.at();
    let mut idle = TcpStream::connect(at).unwrap();
    idle.write_all(format!("GET /health HTTP/1.1\r\nHost: {at}\r\n\r\n").as_bytes()).unwrap();
    let mut first = [0; 15];
    idle.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    drop(server);
    assert!(TcpStream::connect(at).is_err());
}

#[test]
fn a_server_over_postgresql_closes_its_connections_when_it_is_stopped() {
    let place = match postgres() {
        Ok(server) => HistoryLocation::parse(&server.database()),
        Err(why) => return skipped(why),
    };
    let bench = Bench::empty();
    let mut store = open(&place, Access::Write).unwrap();
    store.add(&entry(1)).unwrap();
    let server = bench.serve_place(place);
    assert_eq!(get(&server, "/entries").status, 200);
    // What panics while it is dropped ends the process.
    drop(server);
}

#[test]
fn whoever_asks_is_answered_however_many_others_say_nothing() {
    let bench = Bench::with_a_change();
    // Idle ones may stay for longer than any test.
    let long = Duration::from_secs(10_000);
    let limits =
        Limits { connections: 64, head: long, life: long, longest: long, ..Limits::default() };
    let server = bench.serve_limited(None, true, limits);
    let idle: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(server.at()).unwrap()).collect();
    let asked: Vec<u16> = std::thread::scope(|scope| {
        let clients: Vec<_> =
            (0..32).map(|_| scope.spawn(|| get(&server, "/entries").status)).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    assert!(asked.iter().all(|status| *status == 200), "{asked:?}");
    drop(idle);
}

#[test]
fn a_request_names_the_server_once() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    let at = server.at();
    let status = |head: &str| {
        let mut stream = TcpStream::connect(at).unwrap();
        stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    let host = format!("Host: {at}\r\n");
    assert_eq!(status(&format!("GET /entries HTTP/1.1\r\n{host}")), "200");
    assert_eq!(status(&format!("GET http://{at}/entries HTTP/1.1\r\n{host}")), "200");
    for wrong in [
        "GET /entries HTTP/1.1\r\n".to_owned(),
        format!("GET /entries HTTP/1.1\r\n{host}{host}"),
        format!("GET http://evil.example/entries HTTP/1.1\r\n{host}"),
    ] {
        assert_eq!(status(&wrong), "400", "{wrong:?}");
    }
}

#[test]
fn a_token_of_a_history_that_cannot_be_read_is_not_called_wrong() {
    let bench = Bench::with_a_change();
    let upload = bench.token("ci", &[Right::Upload]);
    let server = bench.serve_with(Some("a-token-of-the-server"), true);
    let away = bench.folder.path().join("away");
    std::fs::rename(bench.path(), &away).unwrap();
    let reply = get_with(&server, "/entries", &upload);
    assert!(reply.status == 503 && reply.body.contains("could not be read yet"), "{reply:?}");
    std::fs::rename(&away, bench.path()).unwrap();
    // It may read nothing, which the history says.
    wait_until("it is back", || get_with(&server, "/entries", &upload).status == 403);
}
