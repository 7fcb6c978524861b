//! TLS: whom a connection trusts, and with which key a server answers.
//!
//! One place for `load`, which connects to servers, `store`, which connects to PostgreSQL, and `web`, which is connected to, so
//! that there is one implementation with one provider of cryptography. It opens no file and no connection: certificates and
//! keys arrive as the PEM that somebody has read. Start reading in `client.rs`.

mod client;
mod server;
mod stream;

use tokio_rustls::rustls;

pub use client::{Roots, Trust, client, server_name};
pub use server::server;
pub use stream::{Duplex, Stream};

/// Why TLS cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A certificate of an authority cannot be read.
    #[error("cannot read the certificates of authorities: {0}")]
    Authority(String),
    /// The certificate of a server cannot be read.
    #[error("cannot read the certificate: {0}")]
    Certificate(String),
    /// The key of a server cannot be read.
    #[error("cannot read the key: {0}")]
    Key(String),
    /// The host has a name that no certificate can have.
    #[error("`{0}` is not a name that a certificate can have")]
    Name(String),
    /// The versions of TLS are not there, or the key is not that of the certificate.
    #[error("TLS cannot be used: {0}")]
    Setup(#[from] rustls::Error),
}
