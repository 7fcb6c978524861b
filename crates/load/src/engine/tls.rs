//! Whom a connection trusts, and what it speaks after TLS is agreed on.

use becalm_tls::{Roots, Trust, client, server_name};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

pub use becalm_tls::TlsError;

/// Whose certificates are good.
#[derive(Debug, Clone, Default)]
pub enum Trusted {
    /// Those of the authorities that browsers trust.
    #[default]
    Public,
    /// Also those of the authorities in this file, in PEM.
    Also(Vec<u8>),
    /// Anybody's: nothing is verified.
    Anybody,
}

/// How connections agree on TLS.
#[derive(Clone)]
pub(crate) struct Tls {
    pub(crate) connector: TlsConnector,
    pub(crate) name: ServerName<'static>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Tls {
    /// Makes a connection agree on TLS, and on a protocol by this name (ALPN).
    pub(crate) fn new(host: &str, protocol: &[u8], trusted: &Trusted) -> Result<Self, TlsError> {
        let trust = match trusted {
            Trusted::Anybody => Trust::Anybody,
            Trusted::Public => Trust::SignedFor(Roots::public()),
            Trusted::Also(pem) => Trust::SignedFor(Roots::public().with(pem)?),
        };
        let connector = TlsConnector::from(client(trust, &[protocol])?);
        Ok(Self { connector, name: server_name(host)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_are_read_or_refused() {
        assert!(Tls::new("localhost", b"http/1.1", &Trusted::Public).is_ok());
        assert!(Tls::new("127.0.0.1", b"h2", &Trusted::Anybody).is_ok());
        let none = Trusted::Also(b"no certificate".to_vec());
        let error = Tls::new("localhost", b"http/1.1", &none).unwrap_err();
        assert!(matches!(error, TlsError::Authority(_)), "{error}");
        assert!(matches!(Tls::new("a b", b"http/1.1", &Trusted::Public), Err(TlsError::Name(_))));
    }
}
