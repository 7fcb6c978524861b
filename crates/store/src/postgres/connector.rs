//! Connects to PostgreSQL, over TLS where that is wanted.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError, mpsc};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::Duration;

use becalm_tls::{TlsError, Trust, client, server_name};
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use postgres::{Client, Config, NoTls};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::url::Encryption;

/// How long a server is waited for where the URL does not say so.
const CONNECTING: Duration = Duration::from_secs(10);

/// Why there is no connection.
pub(super) enum Unconnected {
    /// The server, or the way to it, refused.
    Refused(postgres::Error),
    /// The server did not answer in this time.
    Silent(Duration),
}

/// Attempts that still wait for a server that did not answer, by its place.
static WAITING: Mutex<Vec<(String, JoinHandle<()>)>> = Mutex::new(Vec::new());

/// Connects to the server of a place as it is wanted, in a thread of its own: the limit of the library ends with the
/// connection of TCP, and it waits for ever for a server that never answers. Such a server is waited for once at a time.
pub(super) fn connect_in_time(
    mut config: Config,
    encryption: Encryption,
    place: &str,
) -> Result<Client, Unconnected> {
    let of_a_host = config.get_connect_timeout().copied().unwrap_or(CONNECTING);
    config.connect_timeout(of_a_host);
    let hosts = u32::try_from(config.get_hosts().len()).unwrap_or(u32::MAX);
    let limit = of_a_host.saturating_mul(hosts.max(1));
    let waiting = || WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    let is_waited_for = {
        let mut waiting = waiting();
        waiting.retain(|(_, attempt)| !attempt.is_finished());
        waiting.iter().any(|(other, _)| other == place)
    };
    if is_waited_for {
        return Err(Unconnected::Silent(limit));
    }
    let (answer, answered) = mpsc::channel();
    let attempt = std::thread::spawn(move || {
        // Nobody takes what comes too late.
        let _ = answer.send(connect(&mut config, encryption));
    });
    if let Ok(result) = answered.recv_timeout(limit) {
        return result.map_err(Unconnected::Refused);
    }
    waiting().push((place.to_owned(), attempt));
    Err(Unconnected::Silent(limit))
}

/// Connects. Where TLS is preferred and fails, becalm goes without it, as libpq does.
fn connect(config: &mut Config, encryption: Encryption) -> Result<Client, postgres::Error> {
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
