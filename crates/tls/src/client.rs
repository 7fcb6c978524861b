//! Whom a connection trusts.

use std::sync::Arc;

use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::client::{WebPkiServerVerifier, verify_server_name};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

use crate::TlsError;

/// Authorities whose certificates are good, and certificates that are good themselves.
#[derive(Debug, Clone)]
pub struct Roots {
    authorities: RootCertStore,
    /// As they were given: a server that signed its own certificate shows one of these.
    themselves: Vec<CertificateDer<'static>>,
}

impl Roots {
    /// Returns those that browsers trust.
    pub fn public() -> Self {
        let roots = webpki_roots::TLS_SERVER_ROOTS.to_vec();
        Self { authorities: RootCertStore { roots }, themselves: Vec::new() }
    }

    /// Returns those of a text in PEM alone.
    pub fn of(pem: &[u8]) -> Result<Self, TlsError> {
        let nobody = Self { authorities: RootCertStore::empty(), themselves: Vec::new() };
        nobody.with(pem)
    }

    /// Adds those of a text in PEM.
    pub fn with(mut self, pem: &[u8]) -> Result<Self, TlsError> {
        let before = self.themselves.len();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(authority)?;
            self.authorities.add(certificate.clone()).map_err(authority)?;
            self.themselves.push(certificate);
        }
        if self.themselves.len() == before {
            return Err(TlsError::Authority("it contains none in PEM format".to_owned()));
        }
        Ok(self)
    }
}

fn authority(error: impl std::fmt::Display) -> TlsError {
    TlsError::Authority(error.to_string())
}

/// What is verified of the certificate of a server.
#[derive(Debug, Clone)]
pub enum Trust {
    /// Nothing: whoever is between can read and change everything.
    Anybody,
    /// That somebody who is trusted signed it, whatever its name.
    Signed(Roots),
    /// The same, and that it is of the host that is asked for.
    SignedFor(Roots),
}

/// Returns how connections agree on TLS, and on a protocol by one of these names (ALPN).
pub fn client(trust: Trust, protocols: &[&[u8]]) -> Result<Arc<ClientConfig>, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let mut config = match trust {
        Trust::SignedFor(roots) if roots.themselves.is_empty() => {
            builder.with_root_certificates(roots.authorities).with_no_client_auth()
        }
        trust => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Verifier::new(trust, provider)?))
            .with_no_client_auth(),
    };
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    Ok(Arc::new(config))
}

/// Returns a host as certificates name it.
pub fn server_name(host: &str) -> Result<ServerName<'static>, TlsError> {
    ServerName::try_from(host.to_owned()).map_err(|_| TlsError::Name(host.to_owned()))
}

/// Verifies as much as is asked for.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// Nobody is verified without it.
    chain: Option<Arc<WebPkiServerVerifier>>,
    themselves: Vec<CertificateDer<'static>>,
    checks_name: bool,
}

impl Verifier {
    fn new(trust: Trust, provider: Arc<CryptoProvider>) -> Result<Self, TlsError> {
        let (roots, checks_name) = match trust {
            Trust::Anybody => {
                let themselves = Vec::new();
                return Ok(Self { provider, chain: None, themselves, checks_name: false });
            }
            Trust::Signed(roots) => (roots, false),
            Trust::SignedFor(roots) => (roots, true),
        };
        let Roots { authorities, themselves } = roots;
        let authorities = Arc::new(authorities);
        let chain = WebPkiServerVerifier::builder_with_provider(authorities, Arc::clone(&provider));
        let chain = Some(chain.build().map_err(authority)?);
        Ok(Self { provider, chain, themselves, checks_name })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        // A certificate that signed itself is an authority by its own word, which no server may be: it is trusted because
        // exactly this one was named.
        if self.themselves.iter().any(|known| known == certificate) {
            if self.checks_name {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
            }
            return Ok(ServerCertVerified::assertion());
        }
        match chain.verify_server_cert(certificate, between, name, ocsp, now) {
            // The name is looked at last, when the signatures are good.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_are_read_or_refused() {
        assert!(client(Trust::SignedFor(Roots::public()), &[b"http/1.1"]).is_ok());
        assert!(client(Trust::Anybody, &[]).is_ok());
        for wrong in
            ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
        {
            let error = Roots::of(wrong.as_bytes()).unwrap_err();
            assert!(matches!(error, TlsError::Authority(_)), "{error}");
        }
    }

    #[test]
    fn hosts_have_names_that_certificates_can_have() {
        assert!(server_name("localhost").is_ok() && server_name("127.0.0.1").is_ok());
        assert!(matches!(server_name("a b"), Err(TlsError::Name(_))));
    }
}
