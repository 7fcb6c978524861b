//! Connections to PostgreSQL that are encrypted.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use becalm_store::{Access, HistoryLocation, open};
use becalm_testkit::{postgres_with_tls, self_made_certificate, skipped};

use crate::support::entry;

/// Opens a history, or returns what is said about it.
fn opened(url: &str) -> Result<becalm_store::Store, String> {
    open(&HistoryLocation::parse(url), Access::Write).map_err(|error| error.to_string())
}

#[test]
fn a_connection_is_encrypted_and_verified_as_the_url_asks() {
    let server = match postgres_with_tls() {
        Ok(server) => server,
        Err(why) => return skipped(why),
    };
    let folder = tempfile::tempdir().unwrap();
    self_made_certificate(folder.path(), "localhost").unwrap();
    let url = server.database();
    let by_address = url.replace("localhost", "127.0.0.1");
    let root = |path: &Path| format!("sslrootcert={}", path.display());
    // The authority, and the certificate itself.
    let roots = server.certificates().map(|path| root(&path));
    let others = root(&folder.path().join("cert"));
    for query in ["", "sslmode=prefer", "sslmode=require"] {
        let mut store = opened(&format!("{url}?{query}")).unwrap();
        store.add(&entry(query, 1.0, 1.0)).unwrap();
    }
    let verified = |url: &str, mode: &str, roots: &str| {
        opened(&format!("{url}?sslmode={mode}&{roots}")).map(|_| ())
    };
    for roots in &roots {
        for mode in ["prefer", "require", "verify-ca", "verify-full"] {
            assert_eq!(verified(&url, mode, roots), Ok(()), "{mode} {roots}");
        }
        assert_eq!(verified(&by_address, "verify-ca", roots), Ok(()), "another name");
        let error = verified(&by_address, "verify-full", roots).unwrap_err();
        assert!(error.contains("not valid for name"), "{error}");
    }
    for mode in ["require", "verify-ca", "verify-full"] {
        let error = verified(&url, mode, &others).unwrap_err();
        assert!(error.contains("invalid peer certificate"), "{mode}: {error}");
    }
    let error = verified(&url, "verify-full", "sslrootcert=system").unwrap_err();
    assert!(error.contains("invalid peer certificate"), "{error}");
    // The server takes nothing that is not encrypted: what is above was.
    assert!(opened(&format!("{url}?sslmode=disable")).is_err());
}

#[test]
fn a_server_without_tls_gets_nothing_where_tls_is_required() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgresql://me@{}/perf?sslmode=require", server.local_addr().unwrap());
    let said = thread::spawn(move || {
        let (mut client, _) = server.accept().unwrap();
        let mut asked = [0; 8];
        client.read_exact(&mut asked).unwrap();
        client.write_all(b"N").unwrap();
        let mut more = Vec::new();
        client.read_to_end(&mut more).unwrap();
        more
    });
    let error = opened(&url).err().unwrap();
    assert!(error.contains("server does not support TLS"), "{error}");
    assert_eq!(said.join().unwrap(), b"");
}
