//! Connections that are encrypted: with a certificate that is read anew when it was renewed, and as one kind of stream beside
//! those that are not.

use std::io;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};
use std::time::Duration;

use becalm_tls::{TlsError, server};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

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
        Some(Stream::Encrypted(Box::new(agreed)))
    }
}

fn acceptor(identity: &Identity) -> Result<TlsAcceptor, TlsError> {
    let config = server(&identity.certificates, &identity.key, &[b"http/1.1"])?;
    Ok(TlsAcceptor::from(config))
}

/// A connection, encrypted or not: one type, so that the code for both is there once.
pub(super) enum Stream {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, into),
            Self::Encrypted(stream) => Pin::new(stream).poll_read(context, into),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Encrypted(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(context, parts),
            Self::Encrypted(stream) => Pin::new(stream).poll_write_vectored(context, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Encrypted(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Encrypted(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Encrypted(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
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
