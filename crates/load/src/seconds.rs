//! The requests by the second in which they were due, or by another slice of time.

use std::collections::BTreeMap;

use becalm_model::load::{LoadSecond, LoadSpread};
use hdrhistogram::Histogram;

use crate::measure::Measure;
use crate::tally::Tally;

/// Nanoseconds of a second.
pub(crate) const SECOND: u64 = 1_000_000_000;

/// A second of which no request is under way any more.
#[derive(Debug, Clone)]
pub struct ClosedSecond {
    /// Its figures.
    pub figures: LoadSecond,
    /// Known response, service and lag times, encoded: a few thousand bytes, where a histogram takes a hundred times that.
    encoded: [Vec<u8>; 3],
}

impl ClosedSecond {
    fn of(second: u64, tally: &Tally) -> Self {
        let encoded = [&tally.response, &tally.service, &tally.lag].map(|measure| {
            let mut bytes = Vec::new();
            measure.encode(&mut bytes);
            bytes
        });
        Self { figures: figures(second, tally), encoded }
    }

    /// Returns the known response, service and lag times, in nanoseconds.
    pub fn histograms(&self) -> [Histogram<u64>; 3] {
        std::array::from_fn(|which| Measure::decode(&self.encoded[which]))
    }

    /// Returns how the known response times are spread.
    pub fn spread(&self) -> LoadSpread {
        let [response, ..] = self.histograms();
        let mut steps: Vec<(u32, u64)> = Vec::new();
        for value in response.iter_recorded() {
            let step = step_of(value.value_iterated_to());
            let count = value.count_at_value();
            match steps.last_mut().filter(|(last, _)| *last == step) {
                Some((_, so_far)) => *so_far += count,
                None => steps.push((step, count)),
            }
        }
        LoadSpread { second: self.figures.second, steps }
    }
}

/// Returns the tenth of a decade that a number of nanoseconds lies in.
fn step_of(nanos: u64) -> u32 {
    let step = (10.0 * (nanos.max(1) as f64).log10() + 1e-9).floor();
    u32::try_from(becalm_model::whole(step)).unwrap_or(u32::MAX)
}

fn figures(second: u64, tally: &Tally) -> LoadSecond {
    let counts = tally.counts;
    let known = |measure: &Measure, q| measure.quantile_of_known(q);
    LoadSecond {
        second,
        scheduled: counts.scheduled,
        answered: counts.answered,
        errors: counts.errors,
        starved: counts.starved,
        unsent: counts.unsent,
        response_p50: known(&tally.response, 0.5),
        response_p99: known(&tally.response, 0.99),
        response_max: known(&tally.response, 1.0),
        service_p99: known(&tally.service, 0.99),
        lag_p99: known(&tally.lag, 0.99),
        lag_max: known(&tally.lag, 1.0),
    }
}

/// What one thread has counted since it last told.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// The requests that are over, by second.
    pub(crate) tallies: BTreeMap<u64, Tally>,
    /// The same requests by kind; nothing where all are of one.
    pub(crate) kinds: Vec<Tally>,
    /// No request of an earlier second is under way, or will come.
    pub(crate) open_from: u64,
}

impl Counted {
    /// Returns its tallies for what is counted next, with nothing in them.
    pub(crate) fn cleared(self) -> Vec<Tally> {
        let mut all: Vec<Tally> = self.tallies.into_values().chain(self.kinds).collect();
        all.iter_mut().for_each(Tally::clear);
        all
    }
}

/// Tallies of a thread that are made in advance: for the last second, this one and the next.
const IN_ADVANCE: usize = 3;

/// What one thread counts: tallies by second, or slice of another length, and how many requests of each are under way.
#[derive(Debug)]
pub(crate) struct Book {
    slice: u64,
    tallies: BTreeMap<u64, Tally>,
    /// By kind; nothing where all are of one.
    kinds: Vec<Tally>,
    under_way: BTreeMap<u64, u64>,
    latest: u64,
    /// Tallies with nothing in them: they have grown, which a thread that sends has no time for.
    blank: Vec<Tally>,
}

impl Book {
    /// Makes one for slices of so many nanoseconds and so many kinds of requests.
    pub(crate) fn of_mix(slice: u64, kinds: usize) -> Self {
        Self {
            slice,
            tallies: BTreeMap::new(),
            kinds: if kinds > 1 { vec![Tally::default(); kinds] } else { Vec::new() },
            under_way: BTreeMap::new(),
            latest: 0,
            blank: (0..IN_ADVANCE).map(|_| Tally::in_advance()).collect(),
        }
    }

    /// Takes back tallies with nothing in them.
    pub(crate) fn take_back(&mut self, cleared: Vec<Tally>) {
        self.blank.extend(cleared);
    }

    /// Takes note of a request.
    pub(crate) fn begin(&mut self, due: u64) {
        self.latest = due / self.slice;
        *self.under_way.entry(self.latest).or_default() += 1;
    }

    /// Counts a request that is over, of the kind with this number.
    pub(crate) fn count_of(&mut self, kind: usize, done: crate::tally::Done) {
        let second = done.due / self.slice;
        if let Some(under_way) = self.under_way.get_mut(&second) {
            *under_way -= 1;
            if *under_way == 0 {
                self.under_way.remove(&second);
            }
        }
        if let Some(of_kind) = self.kinds.get_mut(kind) {
            of_kind.count(done.clone());
        }
        let blank = &mut self.blank;
        let tally = self.tallies.entry(second).or_insert_with(|| blank.pop().unwrap_or_default());
        tally.count(done);
    }

    /// Says whether no request is under way.
    pub(crate) fn is_done(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Returns what was counted since the last time.
    pub(crate) fn tell(&mut self) -> Counted {
        let oldest = self.under_way.first_key_value().map(|(second, _)| *second);
        let open_from = oldest.unwrap_or(self.latest);
        let blank = &mut self.blank;
        let kinds = self.kinds.iter_mut();
        Counted {
            tallies: std::mem::take(&mut self.tallies),
            kinds: kinds
                .map(|kind| std::mem::replace(kind, blank.pop().unwrap_or_default()))
                .collect(),
            open_from,
        }
    }
}

/// Puts together what the threads tell.
#[derive(Debug)]
pub(crate) struct Collector {
    /// From which second on each thread has requests.
    open_from: Vec<u64>,
    open: BTreeMap<u64, Tally>,
    closed: Vec<ClosedSecond>,
    total: Tally,
    kinds: Vec<Tally>,
    /// What came since it was last asked.
    recent: Tally,
}

impl Collector {
    /// Makes one for so many threads.
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            open_from: vec![0; threads],
            open: BTreeMap::new(),
            closed: Vec::new(),
            total: Tally::default(),
            kinds: Vec::new(),
            recent: Tally::default(),
        }
    }

    /// Takes what a thread tells.
    pub(crate) fn take(&mut self, thread: usize, counted: &Counted) {
        for (second, tally) in &counted.tallies {
            self.open.entry(*second).or_default().merge(tally);
            self.total.merge(tally);
            self.recent.merge(tally);
        }
        self.kinds.resize_with(self.kinds.len().max(counted.kinds.len()), Tally::default);
        for (ours, more) in self.kinds.iter_mut().zip(&counted.kinds) {
            ours.merge(more);
        }
        self.open_from[thread] = counted.open_from;
        let open_from = self.open_from.iter().copied().min().unwrap_or(0);
        self.close_before(open_from);
    }

    fn close_before(&mut self, open_from: u64) {
        while let Some(entry) = self.open.first_entry().filter(|entry| *entry.key() < open_from) {
            let (second, tally) = entry.remove_entry();
            self.closed.push(ClosedSecond::of(second, &tally));
        }
    }

    /// Returns what came since the last time.
    pub(crate) fn recent(&mut self) -> Tally {
        std::mem::take(&mut self.recent)
    }

    /// Returns all requests so far.
    pub(crate) fn total(&self) -> &Tally {
        &self.total
    }

    /// Returns the requests by kind; nothing where all are of one.
    pub(crate) fn kinds(&mut self) -> Vec<Tally> {
        std::mem::take(&mut self.kinds)
    }

    /// Returns everything: all requests together, and by second.
    pub(crate) fn finish(mut self) -> (Tally, Vec<ClosedSecond>) {
        self.close_before(u64::MAX);
        (self.total, self.closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::{Done, Fate};

    const MS: u64 = 1_000_000;

    impl Book {
        /// Makes one for requests of one kind.
        pub(crate) fn new(slice: u64) -> Self {
            Self::of_mix(slice, 1)
        }

        /// Counts one of them.
        pub(crate) fn count(&mut self, done: Done) {
            self.count_of(0, done);
        }
    }

    #[test]
    fn kinds_are_counted_where_there_are_several() {
        let mut collector = Collector::new(2);
        for thread in 0..2 {
            let mut book = Book::of_mix(SECOND, 2);
            for kind in [0, 1, 1] {
                book.begin(0);
                book.count_of(kind, done(0, MS));
            }
            collector.take(thread, &book.tell());
            assert_eq!(book.tell().kinds[1].counts.scheduled, 0, "told once");
        }
        let counts: Vec<u64> = collector.kinds().iter().map(|one| one.counts.scheduled).collect();
        assert_eq!((counts, collector.total().counts.scheduled), (vec![2, 4], 6));
        assert!(Book::new(SECOND).tell().kinds.is_empty());
    }

    fn done(due: u64, took: u64) -> Done {
        let fate = Fate::Answered { written: due, last: due + took };
        Done { due, taken: due, starved: false, given_back: false, fate }
    }

    #[test]
    fn a_request_counts_in_the_second_in_which_it_was_due() {
        let mut book = Book::new(SECOND);
        book.begin(900 * MS);
        book.begin(1100 * MS);
        book.count(done(1100 * MS, MS));
        let mut collector = Collector::new(1);
        collector.take(0, &book.tell());
        assert!(collector.closed.is_empty(), "the first second has a request under way");
        // It was answered in the third second.
        book.count(done(900 * MS, 1500 * MS));
        book.begin(3000 * MS);
        book.count(done(3000 * MS, MS));
        collector.take(0, &book.tell());
        let closed: Vec<u64> = collector.closed.iter().map(|one| one.figures.second).collect();
        assert_eq!(closed, [0, 1]);
        assert!(book.is_done());
        let (total, seconds) = collector.finish();
        assert_eq!(total.counts.scheduled, 3);
        assert_eq!(seconds.len(), 3);
        let slowest = seconds[0].figures.response_max.unwrap();
        assert!((slowest - 1.5).abs() < 0.01, "{slowest}");
    }

    #[test]
    fn a_spread_has_every_answered_request_in_its_tenth_of_a_decade() {
        assert_eq!([1, 9, 10, 12, 13, 1000, 1_000_000].map(step_of), [0, 9, 10, 10, 11, 30, 60]);
        let mut tally = Tally::default();
        for took in [MS, MS, 2 * MS, 200 * MS] {
            tally.count(done(0, took));
        }
        let spread = ClosedSecond::of(4, &tally).spread();
        assert_eq!((spread.second, &spread.steps[..]), (4, &[(60, 2), (63, 1), (83, 1)][..]));
    }

    #[test]
    fn tallies_are_used_again() {
        let mut book = Book::of_mix(SECOND, 2);
        let mut collector = Collector::new(1);
        let mut numbers = Vec::new();
        for second in 0..20 {
            let due = second * SECOND;
            book.begin(due);
            book.count_of(1, done(due, MS));
            let counted = book.tell();
            collector.take(0, &counted);
            book.take_back(counted.cleared());
            numbers.push(book.blank.len());
        }
        assert!(numbers[2..].iter().all(|number| *number == numbers[2]), "{numbers:?}");
        assert_eq!(collector.total().counts.scheduled, 20);
    }

    #[test]
    fn a_second_is_closed_when_every_thread_is_past_it() {
        let mut collector = Collector::new(2);
        let mut books = [Book::new(SECOND), Book::new(SECOND)];
        for (thread, book) in books.iter_mut().enumerate() {
            for due in [0, 1000 * MS] {
                book.begin(due);
                book.count(done(due, MS));
            }
            collector.take(thread, &book.tell());
            assert_eq!(collector.closed.len(), thread);
        }
        assert_eq!(collector.closed[0].figures.scheduled, 2);
        assert_eq!(collector.closed[0].histograms()[0].len(), 2);
        assert_eq!(
            (collector.recent().counts.scheduled, collector.recent().counts.scheduled),
            (4, 0)
        );
        assert_eq!(collector.total().counts.scheduled, 4);
    }
}
