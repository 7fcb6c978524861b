//! The server: it answers every request of HTTP/1.1 and HTTP/2, when its queue says so.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

use becalm_kernel::{clock, sched};
use becalm_tls::Stream;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::oneshot;
use tokio::task::{LocalSet, spawn_local};

use super::alarm::Alarm;
use super::truth::{Queue, ServiceTime, Stalls};
use super::workers::Workers;
use crate::files::permit_connections;
use crate::here::Here;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listening {
    /// At an address of TCP; with port 0 the system chooses one.
    Tcp(SocketAddr),
    /// At a socket of Unix, which must not be there yet.
    Unix(PathBuf),
}

/// How a worker is busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Busy {
    /// It waits, as for a disk: the answer comes exactly when the queue says.
    Sleep,
    /// It computes.
    Cpu,
}

/// What a server does.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it listens.
    pub at: Listening,
    /// How long a request takes a worker.
    pub service: ServiceTime,
    /// How many work at the same time.
    pub workers: usize,
    /// When nobody works, counted from the first request.
    pub stalls: Option<Stalls>,
    /// How they are busy.
    pub busy: Busy,
    /// Bytes of each answer's body.
    pub answer_bytes: usize,
    /// By how much chance decides.
    pub seed: u64,
}

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct Server {
    at: Listening,
    answered: Arc<AtomicU64>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts one.
    pub fn start(options: &Options) -> io::Result<Self> {
        /// More than any generator opens by default.
        const CONNECTIONS: u64 = 10_000;
        // With fewer it serves fewer.
        let _ = permit_connections(CONNECTIONS);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(Listener::bind(&options.at))?;
        let at = listener.place(&options.at)?;
        let answered = Arc::new(AtomicU64::new(0));
        let work = match options.busy {
            Busy::Sleep => {
                let Options { service, workers, stalls, seed, .. } = *options;
                let queue = Mutex::new(Queue::new(service, workers, stalls, seed));
                Work::Sleep(queue, Alarm::start()?)
            }
            Busy::Cpu => Work::Cpu(Workers::start(
                options.workers,
                options.service,
                options.stalls,
                options.seed,
            )?),
        };
        let answers = Answers {
            work,
            began: OnceLock::new(),
            body: Bytes::from(vec![b'.'; options.answer_bytes]),
            answered: Arc::clone(&answered),
        };
        let (stop, stopped) = oneshot::channel();
        let named = std::thread::Builder::new().name("server".to_owned());
        let thread = named.spawn(move || {
            sched::wake_up_on_time();
            let tasks = LocalSet::new();
            let answers = Rc::new(answers);
            tasks.block_on(&runtime, async {
                spawn_local(listener.accept(answers));
                let _ = stopped.await;
            });
        })?;
        Ok(Self { at, answered, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns where it listens, with the port that it has.
    pub fn at(&self) -> &Listening {
        &self.at
    }

    /// Returns the URL of it.
    pub fn url(&self) -> String {
        match &self.at {
            Listening::Tcp(address) => format!("http://{address}/"),
            Listening::Unix(_) => "http://localhost/".to_owned(),
        }
    }

    /// Returns how many requests it has answered.
    pub fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if let Listening::Unix(path) = &self.at {
            let _ = std::fs::remove_file(path);
        }
    }
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    async fn bind(at: &Listening) -> io::Result<Self> {
        Ok(match at {
            Listening::Tcp(address) => Self::Tcp(TcpListener::bind(address).await?),
            Listening::Unix(path) => Self::Unix(UnixListener::bind(path)?),
        })
    }

    fn place(&self, asked: &Listening) -> io::Result<Listening> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(Listening::Tcp),
            Self::Unix(_) => Ok(asked.clone()),
        }
    }

    async fn accept(self, answers: Rc<Answers>) {
        loop {
            if let Ok(stream) = self.next().await {
                spawn_local(Rc::clone(&answers).serve(stream));
            }
        }
    }

    async fn next(&self) -> io::Result<Stream> {
        Ok(match self {
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                let _ = stream.set_nodelay(true);
                Box::new(stream)
            }
            Self::Unix(listener) => Box::new(listener.accept().await?.0),
        })
    }
}

/// What all connections share.
#[derive(Debug)]
struct Answers {
    work: Work,
    /// When the first request came.
    began: OnceLock<u64>,
    body: Bytes,
    answered: Arc<AtomicU64>,
}

#[derive(Debug)]
enum Work {
    Sleep(Mutex<Queue>, Alarm),
    Cpu(Workers),
}

impl Answers {
    async fn serve(self: Rc<Self>, stream: Stream) {
        // A client that goes away is none of the server's business.
        let _ = self.converse(stream).await;
    }

    /// Speaks the protocol that the client begins with.
    async fn converse(self: Rc<Self>, mut stream: Stream) -> io::Result<()> {
        /// What a connection of HTTP/2 begins with, and no method of HTTP/1.1.
        const PREFACE: &[u8] = b"PRI";
        let mut first = [0; PREFACE.len()];
        stream.read_exact(&mut first).await?;
        let answer = service_fn(|request| Rc::clone(&self).answer(request));
        let (reader, writer) = tokio::io::split(stream);
        let whole = tokio::io::join(first.as_slice().chain(reader), writer);
        let whole = TokioIo::new(whole);
        let ended = if first == PREFACE {
            http2::Builder::new(Here).serve_connection(whole, answer).await
        } else {
            http1::Builder::new().serve_connection(whole, answer).await
        };
        ended.map_err(io::Error::other)
    }

    async fn answer(
        self: Rc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        let arrived = clock::monotonic_nanos();
        let began = *self.began.get_or_init(|| arrived);
        let mut body = request.into_body();
        while let Some(Ok(_)) = body.frame().await {}
        let (done, is_done) = oneshot::channel();
        match &self.work {
            Work::Sleep(queue, alarm) => {
                let since = arrived.saturating_sub(began);
                let queue = || queue.lock().unwrap_or_else(PoisonError::into_inner);
                let time = began + queue().answer_at(since);
                if time > clock::monotonic_nanos() {
                    alarm.at(time, done);
                    let _ = is_done.await;
                }
            }
            Work::Cpu(workers) => {
                workers.take(began, done);
                let _ = is_done.await;
            }
        }
        self.answered.fetch_add(1, Ordering::Relaxed);
        Ok(Response::new(Full::new(self.body.clone())))
    }
}
