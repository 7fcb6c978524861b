//! A connection of any kind. One type for all of them: what speaks HTTP is then compiled once, not once for each kind, which
//! is worth an indirect call for each read and write.

use tokio::io::{AsyncRead, AsyncWrite};

/// What bytes go through in both directions.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Duplex for S {}

/// A connection over TCP, a socket of Unix, or TLS on one of them.
pub type Stream = Box<dyn Duplex>;
