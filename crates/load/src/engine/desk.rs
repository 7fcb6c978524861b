//! What the tasks of a thread that sends share: the requests that wait, the connections, and what is counted.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use becalm_model::load::FailureKind;
use tokio::sync::Notify;

use super::Plan;
use super::clock::Clock;
use super::failure::Failure;
use super::mailbox::Mailbox;
use super::pacer::Due;
use crate::pool::{Arrived, Pool, Taken};
use crate::seconds::{Book, Counted};
use crate::tally::{Done, Fate};

/// The state of a thread. Its tasks take turns, so a borrow never lasts until another one.
pub(super) struct Desk {
    pub(super) plan: Arc<Plan>,
    pub(super) clock: Clock,
    pool: RefCell<Pool>,
    book: RefCell<Book>,
    mailboxes: RefCell<HashMap<usize, Rc<Mailbox>>>,
    connections: Cell<u64>,
    /// Whether there ever was one.
    has_opened: Cell<bool>,
    /// Another connection may be wanted.
    changed: Notify,
}

impl Desk {
    /// Makes one for a thread that may have `limit` connections.
    pub(super) fn new(plan: Arc<Plan>, clock: Clock, limit: usize, slice: u64) -> Rc<Self> {
        let pool = RefCell::new(Pool::new(limit, plan.width()));
        let book = RefCell::new(Book::of_mix(slice, plan.requests.names().count()));
        Rc::new(Self {
            plan,
            clock,
            pool,
            book,
            mailboxes: RefCell::default(),
            connections: Cell::new(0),
            has_opened: Cell::new(false),
            changed: Notify::new(),
        })
    }

    /// Takes a request that is due.
    pub(super) fn arrive(&self, Due { number, time }: Due) {
        self.book.borrow_mut().begin(time);
        let arrived = self.pool.borrow_mut().arrive(number, time, self.clock.now());
        match arrived {
            Arrived::Sent(place, taken) => self.mailboxes.borrow()[&place].give(taken),
            Arrived::Waits => self.changed.notify_one(),
        }
    }

    /// Waits until another connection may be wanted.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Says whether another connection is to be opened now, and counts it as being opened.
    pub(super) fn opens(&self) -> bool {
        self.pool.borrow_mut().opens()
    }

    /// Counts a connection as being opened, whether or not a request waits for it.
    pub(super) fn begin_opening(&self) {
        self.pool.borrow_mut().begin_opening();
    }

    /// A connection is open.
    pub(super) fn opened(&self) {
        self.pool.borrow_mut().opened();
        if !self.plan.new_connections {
            self.count_connection();
        }
        self.changed.notify_one();
    }

    pub(super) fn count_connection(&self) {
        self.connections.set(self.connections.get() + 1);
        self.has_opened.set(true);
    }

    /// A connection could not be opened: the oldest request that waits fails with it, and those that wait too long.
    pub(super) fn not_opened(&self, failure: &Failure) {
        let now = self.clock.now();
        let failed = |taken| {
            let Failure { kind, words } = failure.clone();
            let fate = Fate::Failed { kind, status: None, words, written: None, end: now };
            self.count(taken, fate);
        };
        let oldest = self.pool.borrow_mut().not_opened();
        if let Some(taken) = oldest {
            failed(taken);
        }
        if failure.kind == FailureKind::TimedOut {
            let limit = u64::try_from(self.plan.time_limit.as_nanos()).unwrap_or(u64::MAX);
            while let Some(taken) = self.give_up_one(now.saturating_sub(limit)) {
                failed(taken);
            }
        }
        self.changed.notify_one();
    }

    /// Returns the places of a connection.
    pub(super) fn places_of(&self, number: usize) -> Range<usize> {
        let width = self.plan.width();
        number * width..(number + 1) * width
    }

    pub(super) fn move_in(&self, place: usize) -> Rc<Mailbox> {
        let mailbox = Rc::new(Mailbox::default());
        self.mailboxes.borrow_mut().insert(place, Rc::clone(&mailbox));
        mailbox
    }

    /// Wakes the places of a connection that wait.
    pub(super) fn wake(&self, number: usize) {
        let mailboxes = self.mailboxes.borrow();
        let all = self.places_of(number).filter_map(|place| mailboxes.get(&place));
        all.for_each(|mailbox| mailbox.wake());
    }

    pub(super) fn next_for(&self, place: usize) -> Option<Taken> {
        self.pool.borrow_mut().next_for(place)
    }

    pub(super) fn put_back(&self, taken: Taken) {
        self.pool.borrow_mut().put_back(taken);
    }

    pub(super) fn closed(&self, number: usize) {
        let mut pool = self.pool.borrow_mut();
        pool.closed(number);
        for place in self.places_of(number) {
            // A place that was given a request after it had ended has nobody who takes it.
            let mailbox = self.mailboxes.borrow_mut().remove(&place);
            if let Some(taken) = mailbox.and_then(|mailbox| mailbox.untaken()) {
                pool.put_back(taken);
            }
        }
        self.changed.notify_one();
    }

    pub(super) fn count(&self, taken: Taken, fate: Fate) {
        let Taken { number, due, taken, starved } = taken;
        let kind = self.plan.requests.kind_of(number);
        self.book.borrow_mut().count_of(kind, Done { due, taken, starved, fate });
    }

    fn give_up_one(&self, due_before: u64) -> Option<Taken> {
        self.pool.borrow_mut().give_up_due_before(due_before)
    }

    /// Gives up everything that waits. Where no connection was ever opened, that is the server's fault, and none of too few
    /// connections.
    pub(super) fn give_up(&self) {
        let end = self.clock.now();
        let is_connected = self.has_opened.get();
        while let Some(taken) = self.give_up_one(u64::MAX) {
            let kind = FailureKind::TimedOut;
            let no_connection =
                Fate::Failed { kind, status: None, words: None, written: None, end };
            self.count(taken, if is_connected { Fate::Unsent { end } } else { no_connection });
        }
    }

    /// Gives up what is under way.
    pub(super) fn abandon(&self) {
        let end = self.clock.now();
        for mailbox in self.mailboxes.borrow().values() {
            if let Some((taken, written)) = mailbox.abandon() {
                let kind = FailureKind::Abandoned;
                self.count(taken, Fate::Failed { kind, status: None, words: None, written, end });
            }
        }
    }

    /// Says whether nothing is under way.
    pub(super) fn is_done(&self) -> bool {
        self.book.borrow().is_done()
    }

    /// Returns what was counted since the last time, and how many connections were opened.
    pub(super) fn tell(&self) -> (Counted, u64) {
        (self.book.borrow_mut().tell(), self.connections.replace(0))
    }
}
