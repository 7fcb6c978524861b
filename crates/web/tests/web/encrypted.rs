use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use becalm_testkit::{self_made_certificate, skipped};
use becalm_tls::{Roots, Trust, client, server_name};
use becalm_web::{Encryption, Identity, Limits, Server};
use tokio_rustls::rustls::{ClientConnection, StreamOwned};

use super::support::Bench;

/// Asks for a path over TLS, and returns all that comes back.
fn get(server: &Server, path: &str, trust: Trust) -> std::io::Result<String> {
    let config = client(trust, &[b"http/1.1"]).unwrap();
    let connection = ClientConnection::new(config, server_name("localhost").unwrap()).unwrap();
    let stream = TcpStream::connect(server.at())?;
    stream.set_read_timeout(Some(Duration::from_secs(300)))?;
    let mut stream = StreamOwned::new(connection, stream);
    let host = format!("Host: localhost:{}", server.at().port());
    stream.write_all(
        format!("GET {path} HTTP/1.1\r\n{host}\r\nConnection: close\r\n\r\n").as_bytes(),
    )?;
    let mut text = String::new();
    let read = stream.read_to_string(&mut text);
    if text.is_empty() { read.map(|_| text) } else { Ok(text) }
}

#[test]
fn connections_are_encrypted_with_the_certificate_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    if let Err(why) = self_made_certificate(folder.path(), "localhost") {
        return skipped(why);
    }
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let certificate = Arc::new(read("cert"));
    let key = Arc::new(read("key"));
    let given = Arc::clone(&certificate);
    let identity = move || Ok(Identity { certificates: given.to_vec(), key: key.to_vec() });
    let encryption = Encryption::new(Box::new(identity)).unwrap();
    let limits = Limits { head: Duration::from_millis(500), ..Limits::default() };
    let bench = Bench::with_a_change();
    let server = bench.serve_encrypted(encryption, limits);
    assert!(server.url().starts_with("https://"));
    // Those who say nothing, and those who speak without TLS, are let go; nothing is answered in clear.
    let mut silent = TcpStream::connect(server.at()).unwrap();
    let plain = format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", server.at());
    let mut stream = TcpStream::connect(server.at()).unwrap();
    stream.write_all(plain.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    assert!(!bytes.starts_with(b"HTTP"), "{bytes:?}");
    let trusted = || Trust::SignedFor(Roots::of(&certificate).unwrap());
    let page = get(&server, "/", trusted()).unwrap();
    assert!(page.starts_with("HTTP/1.1 200 OK") && page.ends_with("</html>\n"), "{page}");
    let feed = get(&server, "/feed.atom", trusted()).unwrap();
    assert!(feed.contains("https://localhost:") && !feed.contains("http://localhost"), "{feed}");
    assert!(get(&server, "/", Trust::SignedFor(Roots::public())).is_err());
    let _ = silent.read_to_end(&mut bytes);
}
