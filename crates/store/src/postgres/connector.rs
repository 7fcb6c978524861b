//! Connects to PostgreSQL, over TLS where that is wanted.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use becalm_tls::{TlsError, Trust, client, server_name};
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use postgres::{Client, Config, NoTls};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::url::Encryption;

/// Connects as it is wanted. Where TLS is preferred and fails, becalm goes without it, as libpq does.
pub(super) fn connect(
    config: &mut Config,
    encryption: Encryption,
) -> Result<Client, postgres::Error> {
    config.ssl_mode(encryption.mode());
    match encryption {
        Encryption::Never => config.connect(NoTls),
        Encryption::Always(trust) => config.connect(Encrypting(trust)),
        Encryption::IfPossible(trust) => config.connect(Encrypting(trust)).or_else(|error| {
            if error.as_db_error().is_some() {
                return Err(error);
            }
            config.ssl_mode(Encryption::Never.mode());
            config.connect(NoTls).map_err(|_| error)
        }),
    }
}

/// Makes connectors for hosts.
#[derive(Clone)]
struct Encrypting(Trust);

/// Agrees on TLS with one host.
struct WithHost {
    connector: TlsConnector,
    name: ServerName<'static>,
}

/// A stream that is encrypted.
struct Encrypted<S>(tokio_rustls::client::TlsStream<S>);

impl<S> MakeTlsConnect<S> for Encrypting
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type TlsConnect = WithHost;
    type Error = TlsError;

    fn make_tls_connect(&mut self, host: &str) -> Result<WithHost, TlsError> {
        // A server that offers another protocol on the same port is not to take this connection for one of its own.
        let config = client(self.0.clone(), &[b"postgresql"])?;
        Ok(WithHost { connector: TlsConnector::from(config), name: server_name(host)? })
    }
}

impl<S> TlsConnect<S> for WithHost
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        let agreed = self.connector.connect(self.name, stream);
        Box::pin(async move { agreed.await.map(Encrypted) })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
