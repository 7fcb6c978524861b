//! `becalm serve` on a history, and connections to it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use becalm_kernel::{signal, wait};

/// A server that runs.
pub(super) struct Serving {
    child: Child,
    pub(super) address: String,
}

impl Serving {
    pub(super) fn start(becalm: &Path, place: &str) -> Result<Self> {
        let mut command = Command::new(becalm);
        command.args(["serve", "--listen", "127.0.0.1:0", "--store", place]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().context("its output")?).read_line(&mut line)?;
        let address = line.trim().strip_prefix("http://").map(|rest| rest.trim_end_matches('/'));
        let address = address.with_context(|| format!("{line:?} names no server"))?.to_owned();
        Ok(Self { child, address })
    }

    pub(super) fn connect(&self) -> Result<Connection> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream: BufReader::new(stream), host: self.address.clone() })
    }

    /// Ends it, and returns how much memory it had at most, in bytes.
    pub(super) fn stop(mut self) -> Result<u64> {
        // A shell that starts this in the background has interrupts ignored, here and in the server.
        signal::send(self.child.id(), signal::SIGTERM)?;
        // Its last words go nowhere.
        drop(self.child.stdout.take());
        let (_, used) = wait::reap(i32::try_from(self.child.id())?)?;
        Ok(used.max_rss)
    }
}

/// A connection that stays open from one request to the next.
pub(super) struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

/// Asks for a path, and returns the bytes of the answer.
pub(super) fn ask(connection: &mut Connection, path: &str) -> Result<usize> {
    let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", connection.host);
    connection.stream.get_mut().write_all(head.as_bytes())?;
    let mut length = None;
    let mut line = String::new();
    connection.stream.read_line(&mut line)?;
    ensure!(line.starts_with("HTTP/1.1 200"), "{path}: {}", line.trim());
    loop {
        line.clear();
        connection.stream.read_line(&mut line)?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.trim().parse()?);
        }
    }
    let mut body = vec![0; length.context("an answer without a length")?];
    connection.stream.read_exact(&mut body)?;
    Ok(body.len())
}
