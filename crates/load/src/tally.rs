//! What became of requests, counted.

use std::collections::BTreeMap;

use becalm_model::load::{Failed, FailureKind, LoadCounts};

use crate::measure::Measure;

/// A request that is over. Times are in nanoseconds from the start of the load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// When it was due.
    pub due: u64,
    /// When the generator took it up.
    pub taken: u64,
    /// Whether it found all permitted connections in use.
    pub starved: bool,
    /// Whether a server gave it back unprocessed, so that it was sent once more.
    pub given_back: bool,
    /// How it ended.
    pub fate: Fate,
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// With the expected answer.
    Answered {
        /// When its first byte was written.
        written: u64,
        /// When the last byte of the answer was read.
        last: u64,
    },
    /// Without it.
    Failed {
        /// How.
        kind: FailureKind,
        /// The status of the answer, if there was one.
        status: Option<u16>,
        /// What the system or the protocol says about it.
        words: Option<String>,
        /// When its first byte was written, if one was.
        written: Option<u64>,
        /// When that was known.
        end: u64,
    },
    /// It was never given to a connection.
    Unsent {
        /// When it was given up.
        end: u64,
    },
}

impl Fate {
    /// Returns the same for the second attempt at a request that a server gave back: its service began with the first one,
    /// and if it was not sent again, that is the server's fault.
    #[must_use]
    pub fn of_second(self, first_written: Option<u64>) -> Self {
        match self {
            Self::Answered { written, last } => {
                Self::Answered { written: first_written.unwrap_or(written), last }
            }
            Self::Failed { kind, status, words, written, end } => {
                Self::Failed { kind, status, words, written: first_written.or(written), end }
            }
            Self::Unsent { end } => Self::Failed {
                kind: FailureKind::Closed,
                status: None,
                words: Some("the server gave it back unprocessed".to_owned()),
                written: first_written,
                end,
            },
        }
    }
}

/// The requests of a second, or of all of them.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// How many requests came how far. Connections are counted elsewhere.
    pub counts: LoadCounts,
    /// From due to the last byte of the answer.
    pub response: Measure,
    /// From the first byte to the last one.
    pub service: Measure,
    /// From due to the first byte.
    pub lag: Measure,
    /// From due until the generator took the request up.
    pub pickup: Measure,
    /// When the last byte of the last expected answer was read.
    pub last_answer: u64,
    failures: BTreeMap<(FailureKind, Option<u16>), (u64, Option<String>)>,
}

/// Until this many nanoseconds a tally that is made in advance need not grow.
const REACH: u64 = 1_000_000_000;

impl Tally {
    /// Makes one in advance: to grow takes some hundred microseconds, which a thread that sends has only before the start.
    pub(crate) fn in_advance() -> Self {
        let measure = || Measure::reaching(REACH);
        Self {
            response: measure(),
            service: measure(),
            lag: measure(),
            pickup: measure(),
            ..Self::default()
        }
    }

    /// Forgets all requests, and stays as large as it has grown.
    pub(crate) fn clear(&mut self) {
        let Self { counts, response, service, lag, pickup, last_answer, failures } = self;
        (*counts, *last_answer) = (LoadCounts::default(), 0);
        [response, service, lag, pickup].into_iter().for_each(Measure::clear);
        failures.clear();
    }

    /// Counts a request.
    pub fn count(&mut self, done: Done) {
        let Done { due, taken, starved, given_back, fate } = done;
        let since_due = |time: u64| time.saturating_sub(due);
        self.counts.scheduled += 1;
        self.counts.starved += u64::from(starved);
        self.counts.given_back += u64::from(given_back);
        self.pickup.record(since_due(taken));
        match fate {
            Fate::Answered { written, last } => {
                self.counts.sent += 1;
                self.counts.answered += 1;
                self.last_answer = self.last_answer.max(last);
                self.response.record(since_due(last));
                self.service.record(last.saturating_sub(written));
                self.lag.record(since_due(written));
            }
            Fate::Failed { kind, status, words, written, end } => {
                self.counts.errors += 1;
                self.response.censor(since_due(end));
                if let Some(written) = written {
                    self.counts.sent += 1;
                    self.service.censor(end.saturating_sub(written));
                    self.lag.record(since_due(written));
                }
                let (count, _) = self.failures.entry((kind, status)).or_insert((0, words));
                *count += 1;
            }
            Fate::Unsent { end } => {
                self.counts.unsent += 1;
                self.response.censor(since_due(end));
                self.lag.censor(since_due(end));
            }
        }
    }

    /// Adds all requests of another one.
    pub fn merge(&mut self, other: &Self) {
        let (ours, more) = (&mut self.counts, &other.counts);
        ours.scheduled += more.scheduled;
        ours.sent += more.sent;
        ours.answered += more.answered;
        ours.errors += more.errors;
        ours.starved += more.starved;
        ours.given_back += more.given_back;
        ours.unsent += more.unsent;
        ours.connections += more.connections;
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.lag.merge(&other.lag);
        self.pickup.merge(&other.pickup);
        self.last_answer = self.last_answer.max(other.last_answer);
        for (key, (count, words)) in &other.failures {
            let (ours, _) = self.failures.entry(*key).or_insert_with(|| (0, words.clone()));
            *ours += count;
        }
    }

    /// Returns how many requests failed in a way.
    pub(crate) fn failed_as(&self, kind: FailureKind) -> u64 {
        let of_kind = self.failures.iter().filter(|((one, _), _)| *one == kind);
        of_kind.map(|(_, (count, _))| count).sum()
    }

    /// Returns what failed, the most frequent first.
    pub fn failed(&self) -> Vec<Failed> {
        let failed = |(&(kind, status), (count, words)): (&(FailureKind, _), &(u64, _))| Failed {
            kind,
            status,
            count: *count,
            example: Option::clone(words),
        };
        let mut all: Vec<Failed> = self.failures.iter().map(failed).collect();
        all.sort_by_key(|one| std::cmp::Reverse(one.count));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn done(fate: Fate) -> Done {
        Done { due: 100 * MS, taken: 101 * MS, starved: false, given_back: false, fate }
    }

    fn failed(kind: FailureKind, status: Option<u16>, written: Option<u64>) -> Fate {
        let words = Some("reset".to_owned());
        Fate::Failed { kind, status, words, written, end: 150 * MS }
    }

    #[track_caller]
    fn p50(measure: &Measure) -> (u64, bool) {
        let found = measure.quantile(0.5).unwrap();
        (becalm_model::whole((found.value * 1e4).round()), found.at_least)
    }

    #[test]
    fn response_is_lag_and_service() {
        let mut tally = Tally::default();
        tally.count(done(Fate::Answered { written: 102 * MS, last: 110 * MS }));
        let tenths = [&tally.response, &tally.service, &tally.lag, &tally.pickup].map(p50);
        assert_eq!(tenths, [(100, false), (80, false), (20, false), (10, false)]);
    }

    #[test]
    fn the_service_of_what_a_server_gave_back_begins_with_its_first_byte() {
        let again = |fate: Fate, first| {
            let mut tally = Tally::default();
            tally.count(Done { given_back: true, ..done(fate.of_second(first)) });
            (p50(&tally.service).0, p50(&tally.lag).0, tally.counts.sent)
        };
        let answered = Fate::Answered { written: 108 * MS, last: 110 * MS };
        assert_eq!(again(answered.clone(), Some(102 * MS)), (80, 20, 1));
        assert_eq!(again(answered, None), (20, 80, 1));
        let failure = failed(FailureKind::Closed, None, None);
        assert_eq!(again(failure, Some(102 * MS)), (480, 20, 1));
        // It was sent, whatever became of it then.
        let mut tally = Tally::default();
        let unsent = Fate::Unsent { end: 400 * MS }.of_second(Some(102 * MS));
        tally.count(Done { given_back: true, ..done(unsent) });
        let counts = tally.counts;
        assert_eq!((counts.unsent, counts.errors, counts.given_back), (0, 1, 1));
    }

    #[test]
    fn nothing_is_dropped() {
        let mut tally = Tally::default();
        tally.count(done(Fate::Answered { written: 102 * MS, last: 110 * MS }));
        tally.count(done(failed(FailureKind::Refused, None, None)));
        tally.count(done(failed(FailureKind::Status, Some(503), Some(103 * MS))));
        tally.count(Done { starved: true, ..done(Fate::Unsent { end: 400 * MS }) });
        let counts = tally.counts;
        assert_eq!(counts.scheduled, counts.answered + counts.errors + counts.unsent);
        assert_eq!((counts.scheduled, counts.sent, counts.starved), (4, 2, 1));
        assert_eq!(tally.response.len(), 4);
        // What was refused was never sent, by no fault of the generator; what is unsent lags.
        assert_eq!((tally.service.len(), tally.lag.len()), (2, 3));
        assert_eq!(p50(&tally.response), (500, true));
    }

    #[test]
    fn what_is_cleared_counts_as_if_it_were_new() {
        let all = [
            done(Fate::Answered { written: 102 * MS, last: 110 * MS }),
            done(failed(FailureKind::Status, Some(503), Some(103 * MS))),
            done(Fate::Unsent { end: 400 * MS }),
        ];
        let (mut new, mut used) = (Tally::default(), Tally::in_advance());
        for one in &all {
            used.count(one.clone());
        }
        used.clear();
        for tally in [&mut new, &mut used] {
            for one in &all {
                tally.count(one.clone());
            }
        }
        assert_eq!((new.counts, new.failed()), (used.counts, used.failed()));
        let latency = |tally: &Tally| {
            let Tally { response, service, lag, pickup, .. } = tally;
            [response, service, lag, pickup].map(|measure| measure.latency().quantiles)
        };
        assert_eq!(latency(&new), latency(&used));
    }

    #[test]
    fn failures_are_counted_by_kind_and_status_with_the_first_example() {
        let mut tally = Tally::default();
        let statuses = [(1, 500), (2, 503)];
        for (times, status) in statuses {
            for _ in 0..times {
                tally.count(done(failed(FailureKind::Status, Some(status), Some(101 * MS))));
            }
        }
        let mut all = Tally::default();
        all.merge(&tally);
        all.merge(&tally);
        let told: Vec<_> = all.failed().into_iter().map(|one| (one.status, one.count)).collect();
        assert_eq!(told, [(Some(503), 4), (Some(500), 2)]);
        assert_eq!(all.failed()[0].example.as_deref(), Some("reset"));
        assert_eq!((all.counts.scheduled, all.response.len()), (6, 6));
    }

    #[test]
    fn the_last_answer_is_the_last_expected_one_of_all() {
        let answered = |last| done(Fate::Answered { written: 102 * MS, last: last * MS });
        let (mut one, mut other) = (Tally::default(), Tally::default());
        for last in [120, 110] {
            one.count(answered(last));
        }
        one.count(done(failed(FailureKind::Status, Some(503), Some(101 * MS))));
        other.count(answered(115));
        other.merge(&one);
        assert_eq!((one.last_answer, other.last_answer), (120 * MS, 120 * MS));
        one.clear();
        assert_eq!(one.last_answer, 0);
    }
}
