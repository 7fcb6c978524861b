//! Whom a connection trusts, and what it speaks after TLS is agreed on.

use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

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

/// Why TLS cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A certificate of an authority cannot be read.
    #[error("cannot read the certificates of authorities: {0}")]
    Authority(String),
    /// The host has a name that no certificate can have.
    #[error("`{0}` is not a name that a certificate can have")]
    Name(String),
    /// The versions of TLS are not there.
    #[error("TLS cannot be used: {0}")]
    Setup(#[from] Error),
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
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?;
        let mut config = match trusted {
            Trusted::Anybody => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Unverified(provider)))
                .with_no_client_auth(),
            Trusted::Public => builder.with_root_certificates(roots(&[])?).with_no_client_auth(),
            Trusted::Also(pem) => builder.with_root_certificates(roots(pem)?).with_no_client_auth(),
        };
        config.alpn_protocols = vec![protocol.to_vec()];
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| TlsError::Name(host.to_owned()))?;
        Ok(Self { connector: TlsConnector::from(Arc::new(config)), name })
    }
}

fn roots(pem: &[u8]) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let before = roots.len();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| TlsError::Authority(error.to_string()))?;
        roots.add(certificate).map_err(|error| TlsError::Authority(error.to_string()))?;
    }
    if !pem.is_empty() && roots.len() == before {
        return Err(TlsError::Authority("it contains none in PEM format".to_owned()));
    }
    Ok(roots)
}

/// Takes any certificate, for servers of tests that have signed their own.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
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
