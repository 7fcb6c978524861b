//! What the tasks of a thread that sends share: the requests that wait, the connections, and what is counted.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use becalm_model::load::{FailureKind, Gaps};
use tokio::sync::Notify;

use super::Plan;
use super::clock::Clock;
use super::dues::Dues;
use super::failure::Failure;
use super::http1::{self, Inbox};
use super::mailbox::Mailbox;
use super::pacer::Due;
use crate::pool::{Arrived, Attempt, Pool, Taken};
use crate::seconds::{Book, Counted};
use crate::tally::{Done, Fate, Tally};

/// The state of a thread. Its tasks take turns, so a borrow never lasts until another one.
pub(super) struct Desk {
    pub(super) plan: Arc<Plan>,
    pub(super) clock: Clock,
    pub(super) inbox: Inbox,
    pool: RefCell<Pool>,
    book: RefCell<Book>,
    /// The requests to come, where the thread keeps the time itself.
    dues: Option<RefCell<Dues>>,
    /// Those of the places that are taken, by number.
    mailboxes: RefCell<Vec<Option<Rc<Mailbox>>>>,
    /// How many numbers of connections were given out, and those of connections that are gone, for others.
    numbers: Cell<usize>,
    unused: RefCell<Vec<usize>>,
    connections: Cell<u64>,
    /// Whether there ever was one.
    has_opened: Cell<bool>,
    /// Another connection may be wanted.
    changed: Notify,
}

impl Desk {
    /// Makes one for a thread that may have `limit` connections.
    pub(super) fn new(
        plan: Arc<Plan>,
        clock: Clock,
        limit: usize,
        slice: u64,
        dues: Option<Dues>,
    ) -> Rc<Self> {
        let pool = RefCell::new(Pool::new(limit, plan.width()));
        let book = RefCell::new(Book::of_mix(slice, plan.requests.names().count()));
        Rc::new(Self {
            plan,
            clock,
            inbox: http1::inbox(),
            pool,
            book,
            dues: dues.map(RefCell::new),
            mailboxes: RefCell::default(),
            numbers: Cell::new(0),
            unused: RefCell::default(),
            connections: Cell::new(0),
            has_opened: Cell::new(false),
            changed: Notify::new(),
        })
    }

    /// Takes a request that is due.
    pub(super) fn arrive(&self, due: Due) {
        self.arrive_at(due, self.clock.now());
    }

    fn arrive_at(&self, Due { number, time }: Due, now: u64) {
        self.book.borrow_mut().begin(time);
        let arrived = self.pool.borrow_mut().arrive(number, time, now);
        self.pass_on(arrived);
    }

    fn pass_on(&self, arrived: Arrived) {
        match arrived {
            Arrived::Sent(place, taken) => {
                let mailboxes = self.mailboxes.borrow();
                mailboxes[place].as_ref().expect("a free place has one").give(taken);
            }
            Arrived::Waits => self.changed.notify_one(),
        }
    }

    /// Takes up what is due, where the thread keeps the time, and returns when the next request is. If very many are due, some
    /// are left for the next time: whoever calls it looks in between whether the load goes on.
    pub(super) fn take_up(&self) -> Option<u64> {
        const MOST: usize = 10_000;
        let dues = self.dues.as_ref()?;
        if let Some(now) = self.clock.since_the_start() {
            let take = || dues.borrow_mut().take(now);
            for due in std::iter::from_fn(take).take(MOST) {
                self.arrive_at(due, now);
            }
        }
        dues.borrow_mut().next_time()
    }

    /// Takes up nothing more.
    pub(super) fn stop_taking(&self) {
        if let Some(dues) = &self.dues {
            dues.borrow_mut().stop();
        }
    }

    /// Returns the gaps with which requests were taken up, where the thread keeps the time.
    pub(super) fn gaps(&self) -> Option<Gaps> {
        self.dues.as_ref().map(|dues| dues.borrow().handed().gaps())
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

    /// Returns the number of another connection.
    pub(super) fn number(&self) -> usize {
        self.unused
            .borrow_mut()
            .pop()
            .unwrap_or_else(|| self.numbers.replace(self.numbers.get() + 1))
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
    pub(super) fn not_opened(&self, number: usize, failure: &Failure) {
        self.unused.borrow_mut().push(number);
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
        let mut mailboxes = self.mailboxes.borrow_mut();
        if mailboxes.len() <= place {
            mailboxes.resize(place + 1, None);
        }
        mailboxes[place] = Some(Rc::clone(&mailbox));
        mailbox
    }

    /// Wakes the places of a connection that wait.
    pub(super) fn wake(&self, number: usize) {
        let mailboxes = self.mailboxes.borrow();
        let all = self.places_of(number).filter_map(|place| mailboxes.get(place)?.as_ref());
        all.for_each(|mailbox| mailbox.wake());
    }

    /// Gives a place that has nothing to do the oldest request that waits, or the next one if it is due by now.
    pub(super) fn next_for(&self, place: usize) -> Option<Taken> {
        let mut pool = self.pool.borrow_mut();
        if let Some(dues) = &self.dues
            && pool.is_idle()
            && let Some(now) = self.clock.since_the_start()
            && let Some(Due { number, time }) = dues.borrow_mut().take(now)
        {
            self.book.borrow_mut().begin(time);
            let starved = pool.is_exhausted();
            let attempt = Attempt::First;
            return Some(Taken { number, due: time, taken: now, starved, attempt });
        }
        pool.next_for(place)
    }

    /// Takes back a request that no server processes.
    pub(super) fn put_back(&self, taken: Taken) {
        let arrived = self.pool.borrow_mut().put_back(taken);
        self.pass_on(arrived);
    }

    /// A connection takes no more requests; its places that wait learn of that.
    pub(super) fn retire(&self, number: usize) {
        self.pool.borrow_mut().retire(number);
        self.wake(number);
        self.changed.notify_one();
    }

    /// A connection is gone.
    pub(super) fn closed(&self, number: usize) {
        self.pool.borrow_mut().closed(number);
        // They are empty: a place takes what it was given even if its connection has ended meanwhile.
        for place in self.places_of(number) {
            if let Some(mailbox) = self.mailboxes.borrow_mut().get_mut(place) {
                *mailbox = None;
            }
        }
        self.unused.borrow_mut().push(number);
        self.changed.notify_one();
    }

    pub(super) fn count(&self, taken: Taken, fate: Fate) {
        let Taken { number, due, taken, starved, attempt } = taken;
        let kind = self.plan.requests.kind_of(number);
        let (given_back, fate) = match attempt {
            Attempt::First => (false, fate),
            Attempt::Second { written } => (true, fate.of_second(written)),
        };
        self.book.borrow_mut().count_of(kind, Done { due, taken, starved, given_back, fate });
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
        for mailbox in self.mailboxes.borrow().iter().flatten() {
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

    /// Takes back tallies with nothing in them.
    pub(super) fn take_back(&self, cleared: Vec<Tally>) {
        self.book.borrow_mut().take_back(cleared);
    }

    /// Returns what was counted since the last time, and how many connections were opened.
    pub(super) fn tell(&self) -> (Counted, u64) {
        (self.book.borrow_mut().tell(), self.connections.replace(0))
    }
}
