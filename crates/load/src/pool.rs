//! Which connection gets a request: the queue and the connections, without any I/O.

use std::collections::{BTreeSet, VecDeque};

/// A request that is due and was taken up. Times are in nanoseconds from the start of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// Which one it is, from 0 in the order in which they are due.
    pub number: u64,
    /// When it was due.
    pub due: u64,
    /// When the generator took it up.
    pub taken: u64,
    /// Whether it found all permitted connections in use.
    pub starved: bool,
    /// The how manieth time it is sent.
    pub attempt: Attempt,
}

/// The how manieth time a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// For the first time.
    First,
    /// Once more, because the server gave it back unprocessed.
    Second {
        /// When its first byte was written the first time, if one was.
        written: Option<u64>,
    },
}

/// What becomes of a request that has just been taken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrived {
    /// This place sends it now.
    Sent(usize, Taken),
    /// It waits.
    Waits,
}

/// The connections of a thread, and the requests that wait for one.
///
/// A connection has one place or, with HTTP/2, several. A request that finds a free place gets the one that was used last,
/// so that few are kept busy. Else it waits, from its due time on, and another connection is opened, up to the limit and
/// a few at a time. The places of connection `n` have the numbers from `n * width`.
#[derive(Debug)]
pub struct Pool {
    waiting: VecDeque<Taken>,
    free: Vec<usize>,
    /// Open connections that take requests, and those being opened.
    open: usize,
    /// Connections that take no more requests, and are not gone yet.
    retired: BTreeSet<usize>,
    connecting: usize,
    limit: usize,
    width: usize,
}

/// Connections that are opened at the same time: a server that is flooded with them would be measured in that, too.
const CONNECTING_AT_ONCE: usize = 16;

impl Pool {
    /// Makes one without connections, of which there may be `limit` with `width` places each.
    pub fn new(limit: usize, width: usize) -> Self {
        Self {
            waiting: VecDeque::new(),
            free: Vec::new(),
            open: 0,
            retired: BTreeSet::new(),
            connecting: 0,
            limit,
            width,
        }
    }

    /// Takes a request.
    pub fn arrive(&mut self, number: u64, due: u64, taken: u64) -> Arrived {
        if let Some(place) = self.free.pop() {
            return Arrived::Sent(
                place,
                Taken { number, due, taken, starved: false, attempt: Attempt::First },
            );
        }
        let starved = self.is_exhausted();
        self.waiting.push_back(Taken { number, due, taken, starved, attempt: Attempt::First });
        Arrived::Waits
    }

    /// Says whether another connection is to be opened now, and counts it as being opened.
    pub fn opens(&mut self) -> bool {
        let opens = self.waiting.len() > self.connecting * self.width
            && self.open < self.limit
            && self.connecting < CONNECTING_AT_ONCE;
        if opens {
            self.begin_opening();
        }
        opens
    }

    /// Counts a connection as being opened, whether or not a request waits for it.
    pub fn begin_opening(&mut self) {
        self.open += 1;
        self.connecting += 1;
    }

    /// Takes note that a connection is open.
    pub fn opened(&mut self) {
        self.connecting -= 1;
    }

    /// Takes note that a connection could not be opened, and returns the request that was to go over it: the oldest one.
    pub fn not_opened(&mut self) -> Option<Taken> {
        self.connecting -= 1;
        self.open -= 1;
        self.waiting.pop_front()
    }

    /// Takes note that an open connection takes no more requests; what it has under way goes on. Another one may be opened
    /// in its place.
    pub fn retire(&mut self, connection: usize) {
        if self.retired.insert(connection) {
            self.open -= 1;
            self.free.retain(|place| place / self.width != connection);
        }
    }

    /// Takes note that a connection is gone.
    pub fn closed(&mut self, connection: usize) {
        self.retire(connection);
        self.retired.remove(&connection);
    }

    /// Gives a place that has nothing to do the oldest request that waits; with none it is free, unless its connection takes
    /// no more.
    pub fn next_for(&mut self, place: usize) -> Option<Taken> {
        if self.retired.contains(&(place / self.width)) {
            return None;
        }
        let next = self.waiting.pop_front();
        if next.is_none() {
            self.free.push(place);
        }
        next
    }

    /// Takes back a request that no server processes: another place sends it, or it waits before all others.
    pub fn put_back(&mut self, taken: Taken) -> Arrived {
        if let Some(place) = self.free.pop() {
            return Arrived::Sent(place, taken);
        }
        // What a server gave back had its connection.
        let is_first = taken.attempt == Attempt::First;
        let starved = taken.starved || (is_first && self.is_exhausted());
        self.waiting.push_front(Taken { starved, ..taken });
        Arrived::Waits
    }

    /// Gives up the oldest request that waits, if it was due before this time.
    pub fn give_up_due_before(&mut self, time: u64) -> Option<Taken> {
        self.waiting.front().filter(|oldest| oldest.due < time)?;
        self.waiting.pop_front()
    }

    /// Says whether all permitted connections are in use: a request that is due meanwhile has to wait for one of them.
    pub fn is_exhausted(&self) -> bool {
        self.free.is_empty() && self.open >= self.limit
    }

    /// Says whether no request waits.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request that was taken up a nanosecond after it was due.
    fn taken(number: u64, due: u64, starved: bool) -> Taken {
        Taken { number, due, taken: due + 1, starved, attempt: Attempt::First }
    }

    fn arrive(pool: &mut Pool, dues: std::ops::Range<u64>) {
        for due in dues {
            assert_eq!(pool.arrive(due, due, due), Arrived::Waits);
        }
    }

    #[test]
    fn a_request_waits_from_its_due_time_and_counts_as_starved_only_at_the_limit() {
        let mut pool = Pool::new(1, 1);
        assert_eq!(pool.arrive(0, 1, 2), Arrived::Waits);
        assert!(pool.opens());
        assert_eq!(pool.arrive(1, 3, 4), Arrived::Waits);
        assert!(!pool.opens(), "one is all that is permitted");
        pool.opened();
        assert_eq!(pool.next_for(0), Some(taken(0, 1, false)));
        assert_eq!(pool.next_for(0), Some(taken(1, 3, true)));
        assert_eq!(pool.next_for(0), None);
        let at_once = Taken { taken: 5, ..taken(2, 5, false) };
        assert_eq!(pool.arrive(2, 5, 5), Arrived::Sent(0, at_once));
    }

    #[test]
    fn connections_are_opened_a_few_at_a_time_and_no_more_than_wait() {
        let mut pool = Pool::new(100, 1);
        let open = |pool: &mut Pool| std::iter::from_fn(|| pool.opens().then_some(())).count();
        arrive(&mut pool, 0..3);
        assert_eq!(open(&mut pool), 3);
        arrive(&mut pool, 0..50);
        assert_eq!(open(&mut pool), CONNECTING_AT_ONCE - 3);
        pool.opened();
        assert!(pool.next_for(0).is_some() && pool.opens());
    }

    #[test]
    fn a_connection_that_is_used_last_is_used_next() {
        let mut pool = Pool::new(2, 1);
        (0..2).for_each(|_| pool.begin_opening());
        (0..2).for_each(|connection| {
            pool.opened();
            assert_eq!(pool.next_for(connection), None);
        });
        assert!(matches!(pool.arrive(0, 0, 0), Arrived::Sent(1, _)));
        assert_eq!(pool.next_for(1), None);
        assert!(matches!(pool.arrive(1, 1, 1), Arrived::Sent(1, _)));
    }

    #[test]
    fn a_connection_that_fails_takes_the_oldest_request_with_it_and_its_place_is_free_again() {
        let mut pool = Pool::new(1, 1);
        let _ = pool.arrive(7, 7, 7);
        assert!(pool.opens());
        assert_eq!(pool.not_opened().map(|taken| taken.due), Some(7));
        assert!(pool.is_idle() && !pool.opens());
        let _ = pool.arrive(8, 8, 8);
        assert!(pool.opens());
        pool.opened();
        pool.closed(0);
        assert!(pool.opens());
    }

    #[test]
    fn a_connection_with_several_places_takes_several_requests() {
        let mut pool = Pool::new(1, 3);
        arrive(&mut pool, 0..2);
        assert!(pool.opens() && !pool.opens());
        pool.opened();
        assert_eq!([0, 1, 2].map(|place| pool.next_for(place).is_some()), [true, true, false]);
        assert!(matches!(pool.arrive(2, 2, 2), Arrived::Sent(2, _)));
        pool.put_back(Taken { taken: 2, ..taken(2, 2, false) });
        pool.closed(0);
        assert!(pool.opens());
    }

    #[test]
    fn a_connection_that_takes_no_more_requests_makes_room_for_another_before_it_is_gone() {
        let mut pool = Pool::new(1, 3);
        pool.begin_opening();
        pool.opened();
        (0..3).for_each(|place| assert_eq!(pool.next_for(place), None));
        let Arrived::Sent(2, taken) = pool.arrive(0, 0, 0) else { panic!("{pool:?}") };
        pool.retire(0);
        assert_eq!(pool.next_for(1), None);
        assert_eq!(pool.put_back(taken), Arrived::Waits, "none of its places is free any more");
        assert!(pool.opens());
        assert_eq!(pool.next_for(1), None, "it stays with the request");
        pool.opened();
        assert_eq!(pool.next_for(3), Some(taken));
        assert_eq!(pool.next_for(4), None);
        pool.closed(0);
        assert!(pool.is_idle() && matches!(pool.put_back(taken), Arrived::Sent(4, _)));
    }

    #[test]
    fn what_a_server_gave_back_is_not_starved() {
        let put_back = |attempt, starved| {
            let mut pool = Pool::new(1, 1);
            pool.begin_opening();
            assert_eq!(pool.put_back(Taken { attempt, ..taken(0, 0, starved) }), Arrived::Waits);
            pool.opened();
            pool.next_for(0).unwrap().starved
        };
        let second = Attempt::Second { written: Some(1) };
        assert!(put_back(Attempt::First, false) && put_back(second, true));
        assert!(!put_back(second, false));
    }

    #[test]
    fn what_waits_too_long_is_given_up_oldest_first() {
        let mut pool = Pool::new(0, 1);
        arrive(&mut pool, 0..3);
        assert_eq!(pool.give_up_due_before(1).map(|taken| taken.due), Some(0));
        assert_eq!(pool.give_up_due_before(1), None);
    }
}
