//! A thread that sends: requests come in, connections carry them, and what became of them is counted.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use becalm_kernel::sched;
use becalm_model::load::{FailureKind, ThreadUse};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{LocalSet, spawn_local};

use super::clock::Clock;
use super::connection::{carry, carry_each};
use super::failure::Failure;
use super::mailbox::Mailbox;
use super::threads::Watch;
use super::{Plan, Told};
use crate::pool::{Arrived, Pool, Taken};
use crate::seconds::Book;
use crate::tally::{Done, Fate};

/// How often a shard tells what it has counted.
const TELLING: Duration = Duration::from_millis(100);

/// For how long requests that are under way may go on when the load is ended by a signal.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// Connections that are opened before the first request is due.
const OPENED_BEFORE: usize = 8;

/// What the tasks of a thread share.
pub(crate) struct Shard {
    pub(super) plan: Arc<Plan>,
    pub(super) clock: Clock,
    number: usize,
    pool: RefCell<Pool>,
    book: RefCell<Book>,
    mailboxes: RefCell<HashMap<usize, Rc<Mailbox>>>,
    next_number: Cell<usize>,
    connections: Cell<u64>,
    told: Sender<Told>,
}

/// The work of a thread: it sends what is handed to it, and returns when nothing more comes and nothing is under way.
pub(super) fn send(
    plan: Arc<Plan>,
    clock: Clock,
    number: usize,
    dues: UnboundedReceiver<u64>,
    told: Sender<Told>,
    is_stopped: &AtomicBool,
) -> std::io::Result<ThreadUse> {
    sched::wake_up_on_time();
    let watch = Watch::start(format!("sender {}", number + 1));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let tasks = LocalSet::new();
    let limit = plan.connections_of(number);
    let shard = Rc::new(Shard {
        plan,
        clock,
        number,
        pool: RefCell::new(Pool::new(limit, 1)),
        book: RefCell::default(),
        mailboxes: RefCell::default(),
        next_number: Cell::new(0),
        connections: Cell::new(0),
        told,
    });
    tasks.block_on(&runtime, Rc::clone(&shard).live(dues, is_stopped));
    shard.tell();
    Ok(watch.stop())
}

impl Shard {
    async fn live(self: Rc<Self>, mut dues: UnboundedReceiver<u64>, is_stopped: &AtomicBool) {
        if !self.plan.new_connections {
            for _ in 0..OPENED_BEFORE.min(self.plan.connections_of(self.number)) {
                self.pool.borrow_mut().begin_opening();
                self.open();
            }
        }
        let teller = Rc::clone(&self);
        spawn_local(async move {
            let mut ticks = tokio::time::interval(TELLING);
            loop {
                ticks.tick().await;
                teller.tell();
            }
        });
        while let Some(due) = dues.recv().await {
            self.arrive(due);
        }
        self.drain(is_stopped).await;
    }

    /// Waits until nothing is under way. What waits for a connection longer than the time limit is never sent; when the
    /// load has been stopped, everything is given up after a moment.
    async fn drain(&self, is_stopped: &AtomicBool) {
        let began = tokio::time::Instant::now();
        while !self.book.borrow().is_done() {
            let is_stopped = is_stopped.load(Ordering::Relaxed);
            let limit = if is_stopped { LAST_WAIT } else { self.plan.time_limit };
            if began.elapsed() >= limit {
                self.give_up(u64::MAX);
                if is_stopped {
                    return self.abandon();
                }
            }
            // Nothing more comes in, so nobody waits for this look.
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    fn arrive(self: &Rc<Self>, due: u64) {
        self.book.borrow_mut().begin(due);
        let arrived = self.pool.borrow_mut().arrive(due, self.clock.now());
        match arrived {
            Arrived::Sent(place, taken) => self.mailboxes.borrow()[&place].give(taken),
            Arrived::Waits => self.open_more(),
        }
    }

    fn open_more(self: &Rc<Self>) {
        while self.pool.borrow_mut().opens() {
            self.open();
        }
    }

    fn open(self: &Rc<Self>) {
        let number = self.next_number.replace(self.next_number.get() + 1);
        let shard = Rc::clone(self);
        if self.plan.new_connections {
            spawn_local(carry_each(shard, number));
        } else {
            spawn_local(carry(shard, number));
        }
    }

    pub(super) fn opened(&self) {
        self.pool.borrow_mut().opened();
        if !self.plan.new_connections {
            self.count_connection();
        }
    }

    pub(super) fn count_connection(&self) {
        self.connections.set(self.connections.get() + 1);
    }

    /// A connection could not be opened: the oldest request that waits fails with it, and those that wait too long.
    pub(super) fn not_opened(self: &Rc<Self>, failure: &Failure) {
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
        self.open_more();
    }

    pub(super) fn move_in(&self, number: usize) -> Rc<Mailbox> {
        let mailbox = Rc::new(Mailbox::default());
        self.mailboxes.borrow_mut().insert(number, Rc::clone(&mailbox));
        mailbox
    }

    pub(super) fn next_for(&self, place: usize) -> Option<Taken> {
        self.pool.borrow_mut().next_for(place)
    }

    pub(super) fn put_back(&self, taken: Taken) {
        self.pool.borrow_mut().put_back(taken);
    }

    pub(super) fn closed(self: &Rc<Self>, number: usize) {
        self.pool.borrow_mut().closed(number);
        self.mailboxes.borrow_mut().remove(&number);
        self.open_more();
    }

    pub(super) fn count(&self, taken: Taken, fate: Fate) {
        let Taken { due, taken, starved } = taken;
        self.book.borrow_mut().count(Done { due, taken, starved, fate });
    }

    fn give_up_one(&self, due_before: u64) -> Option<Taken> {
        self.pool.borrow_mut().give_up_due_before(due_before)
    }

    /// Gives up what waits and was due before this time.
    fn give_up(&self, due_before: u64) {
        let end = self.clock.now();
        while let Some(taken) = self.give_up_one(due_before) {
            self.count(taken, Fate::Unsent { end });
        }
    }

    /// Gives up what is under way.
    fn abandon(&self) {
        let end = self.clock.now();
        for mailbox in self.mailboxes.borrow().values() {
            if let Some((taken, written)) = mailbox.abandon() {
                let kind = FailureKind::Abandoned;
                self.count(taken, Fate::Failed { kind, status: None, words: None, written, end });
            }
        }
    }

    fn tell(&self) {
        let counted = self.book.borrow_mut().tell();
        let connections = self.connections.replace(0);
        // Nobody listens any more only after a failure.
        let _ = self.told.send(Told { shard: self.number, counted, connections });
    }
}
