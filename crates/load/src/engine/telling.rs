//! How a thread that sends tells what it has counted.
//!
//! Its histograms go to the thread that puts them together, and come back with nothing in them: a histogram that has to grow
//! stops the thread that sends for a millisecond, so none does after the first ones.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use super::desk::Desk;
use crate::seconds::{Collector, Counted};
use crate::tally::Tally;

/// How many times a thread tells without having anything back. Where the other thread has no CPU, the figures wait here, in
/// one histogram for each second.
const MOST_AWAY: usize = 2;

/// When a thread tells what it has counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Telling {
    /// Nanoseconds of a slice of the figures.
    pub(super) slice: u64,
    /// How often it tells.
    pub(super) often: Duration,
}

/// What a thread tells.
pub(super) struct Told {
    /// Which thread.
    shard: usize,
    counted: Counted,
    connections: u64,
    back: Sender<Vec<Tally>>,
}

impl Told {
    /// Puts it together with what others told, gives the histograms back, and returns how many connections were opened.
    pub(super) fn put_into(self, collector: &mut Collector) -> u64 {
        let Self { shard, counted, connections, back } = self;
        collector.take(shard, &counted);
        // A thread that has ended needs nothing any more.
        let _ = back.send(counted.cleared());
        connections
    }
}

/// Tells for a desk.
pub(super) struct Teller {
    shard: usize,
    desk: Rc<Desk>,
    told: Sender<Told>,
    gives_back: Sender<Vec<Tally>>,
    given_back: Receiver<Vec<Tally>>,
    away: Cell<usize>,
}

impl Teller {
    /// Makes one for a thread, which tells it to whoever receives this.
    pub(super) fn new(shard: usize, desk: Rc<Desk>, told: Sender<Told>) -> Self {
        let (gives_back, given_back) = channel();
        Self { shard, desk, told, gives_back, given_back, away: Cell::new(0) }
    }

    /// Tells what has been counted since the last time, unless too much is away already.
    pub(super) fn tell(&self) {
        for cleared in self.given_back.try_iter() {
            self.away.set(self.away.get() - 1);
            self.desk.take_back(cleared);
        }
        if self.away.get() < MOST_AWAY {
            self.tell_all();
        }
    }

    /// Tells it in any case.
    pub(super) fn tell_all(&self) {
        let (counted, connections) = self.desk.tell();
        let back = self.gives_back.clone();
        self.away.set(self.away.get() + 1);
        // Nobody listens any more only after a failure.
        let _ = self.told.send(Told { shard: self.shard, counted, connections, back });
    }
}
