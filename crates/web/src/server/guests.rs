//! Who has a connection, and who leaves first when all places are taken.
//!
//! A guest that waits for its next request, or has not said all of it, gives its place to a new one: those who were idle
//! for longest leave first. So whoever asks at once is answered, however many others hold connections and say nothing. A
//! guest whose request is being answered stays, and one that has just come.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// How long a guest may be idle in any case: whoever has just come is about to ask.
const GRACE: Duration = Duration::from_millis(50);

/// The connections that there are.
#[derive(Debug, Default)]
pub(super) struct Guests {
    all: RefCell<BTreeMap<u64, Rc<Guest>>>,
    next: Cell<u64>,
    /// Somebody became idle, or left.
    changed: Notify,
}

/// One connection.
#[derive(Debug)]
struct Guest {
    /// Since when it says nothing; `None` while a request of it is answered.
    idle: Cell<Option<Instant>>,
    /// It has to leave.
    leaves: Notify,
}

/// The place of a connection, which it has until this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    guests: Rc<Guests>,
    number: u64,
    guest: Rc<Guest>,
}

impl Guests {
    /// Returns a place where at most `most` are taken: if need be that of the one that is idle for longest.
    pub(super) async fn place(self: &Rc<Self>, most: usize) -> Place {
        while self.count() >= most {
            match self.idlest() {
                None => self.changed.notified().await,
                Some((since, number)) if since.elapsed() >= GRACE => self.dismiss(number),
                Some((since, _)) => {
                    let _ = timeout_at(since + GRACE, self.changed.notified()).await;
                }
            }
        }
        let guest = Rc::new(Guest { idle: Cell::new(Some(Instant::now())), leaves: Notify::new() });
        let number = self.next.replace(self.next.get() + 1);
        self.all.borrow_mut().insert(number, Rc::clone(&guest));
        Place { guests: Rc::clone(self), number, guest }
    }

    /// Returns how many there are.
    pub(super) fn count(&self) -> usize {
        self.all.borrow().len()
    }

    /// Waits until all have left.
    pub(super) async fn all_left(&self) {
        while self.count() > 0 {
            self.changed.notified().await;
        }
    }

    /// Returns the one that is idle for longest, and since when; `None` if none is.
    fn idlest(&self) -> Option<(Instant, u64)> {
        let all = self.all.borrow();
        all.iter().filter_map(|(number, guest)| Some((guest.idle.get()?, *number))).min()
    }

    /// Takes somebody's place.
    fn dismiss(&self, number: u64) {
        if let Some(guest) = self.all.borrow_mut().remove(&number) {
            guest.leaves.notify_one();
        }
    }
}

impl Place {
    /// Waits until it has to be given up.
    pub(super) async fn is_taken(&self) {
        self.guest.leaves.notified().await;
    }

    /// A request is answered from now on.
    pub(super) fn is_busy(&self) {
        self.guest.idle.set(None);
    }

    /// The answer is on its way.
    pub(super) fn is_idle(&self) {
        self.guest.idle.set(Some(Instant::now()));
        self.guests.changed.notify_one();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.guests.all.borrow_mut().remove(&self.number);
        self.guests.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::task::{LocalSet, spawn_local};

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        LocalSet::new().block_on(&runtime, work)
    }

    #[test]
    fn whoever_is_idle_for_longest_leaves_for_a_new_one() {
        block_on(async {
            let guests = Rc::new(Guests::default());
            let first = guests.place(2).await;
            let second = guests.place(2).await;
            first.is_busy();
            let third = guests.place(2).await;
            second.is_taken().await;
            assert_eq!(guests.count(), 2);
            // What was dismissed takes nothing with it when it ends.
            drop(second);
            assert_eq!(guests.count(), 2);
            first.is_idle();
            let _fourth = guests.place(2).await;
            third.is_taken().await;
        });
    }

    #[test]
    fn where_all_are_busy_a_new_one_waits_for_the_first_to_be_done() {
        block_on(async {
            let guests = Rc::new(Guests::default());
            let only = Rc::new(guests.place(1).await);
            only.is_busy();
            let busy = Rc::clone(&only);
            spawn_local(async move { busy.is_idle() });
            let next = guests.place(1).await;
            only.is_taken().await;
            drop(next);
            guests.all_left().await;
        });
    }
}
