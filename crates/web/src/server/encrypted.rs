//! Connections that are encrypted, with a certificate that is read anew when it was renewed.

use std::io;
use std::sync::Mutex;
use std::time::Duration;

use becalm_tls::{Stream, TlsError, server};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::history::locked;

/// How often the files are looked at: a certificate is renewed weeks before it ends.
pub(super) const EVERY: Duration = Duration::from_secs(60);

/// A certificate, followed by those that lead to an authority, and its key, both in PEM.
#[derive(PartialEq, Eq)]
pub struct Identity {
    /// The certificates.
    pub certificates: Vec<u8>,
    /// The key.
    pub key: Vec<u8>,
}

/// Reads them as they are now.
pub type ReadIdentity = Box<dyn Fn() -> io::Result<Identity> + Send + Sync>;

/// Why connections cannot be encrypted.
#[derive(Debug)]
pub enum EncryptionError {
    /// A file cannot be read.
    Read(io::Error),
    /// There is nothing in it that could be used.
    Tls(TlsError),
}

/// How connections are encrypted.
pub struct Encryption {
    read: ReadIdentity,
    now: Mutex<(Identity, TlsAcceptor)>,
}

impl Encryption {
    /// Encrypts with what is read now, and later with what it is renewed to.
    pub fn new(read: ReadIdentity) -> Result<Self, EncryptionError> {
        let identity = read().map_err(EncryptionError::Read)?;
        let acceptor = acceptor(&identity).map_err(EncryptionError::Tls)?;
        Ok(Self { read, now: Mutex::new((identity, acceptor)) })
    }

    /// Looks whether there is another certificate, and says whether it is used from now on. One that is half written, or is
    /// not that of the key yet, is none.
    pub(super) fn renew(&self) -> bool {
        let Ok(identity) = (self.read)() else { return false };
        if locked(&self.now).0 == identity {
            return false;
        }
        let Ok(acceptor) = acceptor(&identity) else { return false };
        *locked(&self.now) = (identity, acceptor);
        true
    }

    /// Agrees with a client on how to encrypt; `None` if that takes too long or is not possible.
    pub(super) async fn with(&self, stream: TcpStream, patience: Duration) -> Option<Stream> {
        let acceptor = locked(&self.now).1.clone();
        let agreed = timeout(patience, acceptor.accept(stream)).await.ok()?.ok()?;
        Some(Box::new(agreed))
    }
}

fn acceptor(identity: &Identity) -> Result<TlsAcceptor, TlsError> {
    let config = server(&identity.certificates, &identity.key, &[b"http/1.1"])?;
    Ok(TlsAcceptor::from(config))
}

#[cfg(test)]
mod tests {
    use becalm_testkit::{self_made_certificate, skipped};

    use super::*;

    #[test]
    fn a_renewed_certificate_is_used_and_a_broken_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        if let Err(why) = self_made_certificate(&path, "localhost") {
            return skipped(why);
        }
        let read = {
            let path = path.clone();
            move || {
                let [certificates, key] =
                    ["cert", "key"].map(|name| std::fs::read(path.join(name)));
                Ok(Identity { certificates: certificates?, key: key? })
            }
        };
        let encryption = Encryption::new(Box::new(read)).unwrap();
        assert!(!encryption.renew());
        let before = std::fs::read(path.join("cert")).unwrap();
        self_made_certificate(&path, "localhost").unwrap();
        let [cert, key] = ["cert", "key"].map(|name| std::fs::read(path.join(name)).unwrap());
        // The new key with the old certificate, and half of the new one.
        for half in [&before[..], &cert[..cert.len() / 2], b""] {
            std::fs::write(path.join("cert"), half).unwrap();
            assert!(!encryption.renew());
        }
        std::fs::write(path.join("cert"), &cert).unwrap();
        assert!(encryption.renew() && !encryption.renew());
        std::fs::remove_file(path.join("key")).unwrap();
        assert!(!encryption.renew());
        assert!(locked(&encryption.now).0 == Identity { certificates: cert, key });
    }
}
