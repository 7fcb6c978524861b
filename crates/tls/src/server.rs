//! With which key a server answers.

use std::sync::Arc;

use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::TlsError;

/// Returns how a server agrees on TLS, and on a protocol by one of these names (ALPN): with a certificate, followed by those
/// that lead to an authority, and its key, both in PEM.
pub fn server(
    certificates: &[u8],
    key: &[u8],
    protocols: &[&[u8]],
) -> Result<Arc<ServerConfig>, TlsError> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(certificates)
        .collect::<Result<_, _>>()
        .map_err(|error| TlsError::Certificate(error.to_string()))?;
    if chain.is_empty() {
        return Err(TlsError::Certificate("there is none in PEM format".to_owned()));
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| {
        TlsError::Key("there is none in PEM format that has no password".to_owned())
    })?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_certificate_or_no_key_is_refused() {
        assert!(matches!(server(b"", b"", &[]), Err(TlsError::Certificate(_))));
        let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(matches!(server(pem.as_bytes(), b"", &[]), Err(TlsError::Key(_))));
    }
}
