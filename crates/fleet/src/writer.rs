//! Sends frames, without ever making a session wait for the network.
//!
//! Between two runs the session hands over its frames; they are collected and written a few times a second, as far as
//! the connection takes them. The far end waits at two moments, and not forever: before the first run, until the near end
//! has begun its log, without which nobody could continue the session; and at the end.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::os::fd::OwnedFd;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use becalm_kernel::descriptor::set_blocking;

use crate::frame::Frame;

/// How long frames are collected.
const COLLECTED: Duration = Duration::from_millis(100);

/// How long the last frames may wait for a connection that takes nothing.
const PATIENCE: Duration = Duration::from_secs(60);

/// How much may wait before the progress line is left out.
const MUCH: usize = 1 << 16;

/// How often a writer that waits looks whether the connection takes more.
const LOOK: Duration = Duration::from_millis(5);

/// Where frames go.
#[derive(Debug)]
pub struct FrameWriter {
    state: Mutex<State>,
    /// The near end keeps the log, or is gone.
    kept: Condvar,
}

#[derive(Debug)]
struct State {
    to: File,
    waiting: Vec<u8>,
    written: Instant,
    is_lost: bool,
    log: Log,
}

/// What became of the first line of the log, which says what session it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Log {
    ToCome,
    Sent,
    /// The near end keeps it, or is gone.
    Settled,
}

impl FrameWriter {
    /// Makes one that writes to this.
    pub(crate) fn new(to: OwnedFd) -> std::io::Result<Self> {
        set_blocking(&to, false)?;
        let (waiting, written) = (Vec::new(), Instant::now());
        let state = State { to: to.into(), waiting, written, is_lost: false, log: Log::ToCome };
        Ok(Self { state: Mutex::new(state), kept: Condvar::new() })
    }

    /// Sends a frame, perhaps with those that follow soon. If it begins the log, returns when the near end keeps that, or is
    /// gone (`settle`).
    pub fn send(&self, frame: &Frame) {
        let mut state = self.state();
        if state.is_lost {
            return;
        }
        if matches!(frame, Frame::Progress(_)) && state.waiting.len() > MUCH {
            return;
        }
        state.waiting.extend_from_slice(frame.line().as_bytes());
        let may_wait = matches!(frame, Frame::Log(_) | Frame::Progress(_));
        let begins_log = matches!(frame, Frame::Log(_)) && state.log == Log::ToCome;
        if !may_wait || begins_log || state.written.elapsed() >= COLLECTED {
            state.write();
        }
        if begins_log {
            state.log = Log::Sent;
            while state.log == Log::Sent && !state.is_lost {
                let waited = self.kept.wait_timeout(state, LOOK);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                if !state.waiting.is_empty() {
                    state.write();
                }
            }
        }
    }

    /// Tells who waits that the near end keeps the log, or is gone.
    pub(crate) fn settle(&self) {
        self.state().log = Log::Settled;
        self.kept.notify_all();
    }

    /// Waits until everything is written; says whether it is.
    pub fn finish(&self) -> bool {
        let mut state = self.state();
        let mut moved = Instant::now();
        while !state.waiting.is_empty() && !state.is_lost && moved.elapsed() < PATIENCE {
            let before = state.waiting.len();
            state.write();
            if state.waiting.len() < before {
                moved = Instant::now();
            } else {
                std::thread::sleep(LOOK);
            }
        }
        state.waiting.is_empty()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What a thread that panicked left is still in order.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Writes as much as is taken at once.
    fn write(&mut self) {
        let mut done = 0;
        while done < self.waiting.len() {
            match self.to.write(&self.waiting[done..]) {
                Ok(written) => done += written,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => {
                    // Nobody listens any more; the log of the session has everything.
                    self.is_lost = true;
                    break;
                }
            }
        }
        self.waiting.drain(..done);
        self.written = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn a_connection_that_takes_nothing_stops_nobody() {
        let (mut reader, to) = std::io::pipe().unwrap();
        let writer = FrameWriter::new(to.into()).unwrap();
        let line = "x".repeat(1000);
        for _ in 0..1000 {
            writer.send(&Frame::Say(line.clone()));
        }
        let received = std::thread::spawn(move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).unwrap();
            text.lines().count()
        });
        assert!(writer.finish());
        drop(writer);
        assert_eq!(received.join().unwrap(), 1000);
    }

    #[test]
    fn the_log_begins_when_the_near_end_keeps_it() {
        let (mut reader, to) = std::io::pipe().unwrap();
        let writer = FrameWriter::new(to.into()).unwrap();
        // More than a pipe takes at once.
        let header = Frame::Log("x".repeat(1 << 20));
        let length = header.line().len();
        std::thread::scope(|scope| {
            let sending = scope.spawn(|| writer.send(&header));
            reader.read_exact(&mut vec![0; length]).unwrap();
            assert!(!sending.is_finished());
            writer.settle();
            sending.join().unwrap();
        });
        // What follows waits for nobody.
        writer.send(&Frame::Log("a run".to_owned()));
    }

    #[test]
    fn a_near_end_that_is_gone_is_not_waited_for() {
        let (_reader, to) = std::io::pipe().unwrap();
        let writer = FrameWriter::new(to.into()).unwrap();
        writer.settle();
        writer.send(&Frame::Log("header".to_owned()));
        let (reader, to) = std::io::pipe().unwrap();
        drop(reader);
        FrameWriter::new(to.into()).unwrap().send(&Frame::Log("header".to_owned()));
    }

    #[test]
    fn a_connection_that_is_gone_is_no_error() {
        let (reader, to) = std::io::pipe().unwrap();
        drop(reader);
        let writer = FrameWriter::new(to.into()).unwrap();
        writer.send(&Frame::Say("hello".to_owned()));
        writer.send(&Frame::End(0));
        assert!(!writer.finish());
    }
}
