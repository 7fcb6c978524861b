//! A connection that notes when bytes of a request were written and bytes of an answer read.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::clock::Clock;

/// When a request's first byte was written; nothing before.
pub(crate) type Written = Rc<Cell<Option<u64>>>;

/// The times of a connection.
#[derive(Debug)]
pub(crate) struct Stamps {
    clock: Clock,
    /// Requests that have been given to the connection and of which nothing is written yet.
    unwritten: RefCell<Vec<Written>>,
    last_read: Cell<u64>,
}

impl Stamps {
    pub(crate) fn new(clock: Clock) -> Rc<Self> {
        Rc::new(Self { clock, unwritten: RefCell::default(), last_read: Cell::new(0) })
    }

    /// Expects a request: the next write is its first.
    pub(crate) fn expect(&self) -> Written {
        let written = Written::default();
        self.unwritten.borrow_mut().push(Rc::clone(&written));
        written
    }

    /// Returns when the last byte was read.
    pub(crate) fn last_read(&self) -> u64 {
        self.last_read.get()
    }

    fn wrote(&self, began: u64) {
        self.unwritten.borrow_mut().drain(..).for_each(|written| written.set(Some(began)));
    }
}

/// A stream with stamps.
pub(crate) struct Stamped<S> {
    stream: S,
    stamps: Rc<Stamps>,
}

impl<S> Stamped<S> {
    pub(crate) fn new(stream: S, stamps: Rc<Stamps>) -> Self {
        Self { stream, stamps }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stamped<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.stamps.last_read.set(self.stamps.clock.now());
        }
        result
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stamped<S> {
    /// The time is taken before the write: the kernel may deliver the bytes, and the server may answer, before it returns.
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let began = self.stamps.clock.now();
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        if let Poll::Ready(Ok(1..)) = result {
            self.stamps.wrote(began);
        }
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let began = self.stamps.clock.now();
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        if let Poll::Ready(Ok(1..)) = result {
            self.stamps.wrote(began);
        }
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    #[test]
    fn the_first_write_and_the_last_read_are_noted() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (near, mut far) = tokio::io::duplex(64);
        let stamps = Stamps::new(Clock::starting_in(0));
        let mut stamped = Stamped::new(near, Rc::clone(&stamps));
        runtime.block_on(async {
            stamped.write_all(b"nobody expects this").await.unwrap();
            let (one, two) = (stamps.expect(), stamps.expect());
            assert_eq!(one.get(), None);
            stamped.write_all(b"a").await.unwrap();
            let first = one.get();
            assert!(first.is_some() && first == two.get());
            stamped.write_all(b"b").await.unwrap();
            assert_eq!(one.get(), first);
            far.write_all(b"xy").await.unwrap();
            let mut bytes = [0; 2];
            stamped.read_exact(&mut bytes).await.unwrap();
            assert!(stamps.last_read() >= first.unwrap());
        });
    }
}
