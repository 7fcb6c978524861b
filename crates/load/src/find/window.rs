//! One window: a load at a constant rate, and how many of its requests missed the limit.

use std::ops::ControlFlow;
use std::time::Duration;

use becalm_kernel::interrupt::Interrupt;
use becalm_model::load::{
    Arrivals, Distrust, FindWindow, LoadSecond, MissedShare, QuantileRange, QuantileValue, Stage,
    Trust,
};
use becalm_model::wire::worded;
use becalm_stats::threshold::Share;
use hdrhistogram::Histogram;

use super::search::{BATCHES, Sought, Tried, Wish};
use crate::engine::{Live, LoadError, Loaded, Plan, load_in_slices};
use crate::fidelity::Judged;
use crate::schedule::{Schedule, nanos};
use crate::seconds::ClosedSecond;

/// Fewest requests that should have been answered well before a window is judged hopeless.
const ENOUGH: f64 = 50.0;

/// For how many times the limit nearly everything has to have missed it: what is a cluster of misses is over by then.
const LIMITS: f64 = 20.0;

/// The least of that in seconds.
const LONG: f64 = 0.5;

/// Quantiles of the response time that a window has.
const SHOWN: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// Confidence of the interval of a window's quantile.
const CONFIDENCE: f64 = 0.95;

/// Of the misses that are permitted, the share that may be the generator's: so much less than the error of their number
/// that it does not move the answer.
const LATE: f64 = 0.1;

/// How a window goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress {
    /// Requests in a second.
    pub(super) rate: f64,
    /// Seconds since the first request was due.
    pub(super) elapsed: f64,
    /// Requests that were answered within the limit.
    pub(super) good: f64,
    /// Requests that have ended.
    pub(super) ended: f64,
    /// The most that may be under way.
    pub(super) places: f64,
}

/// Says whether a window need not go on: not even half of the requests that should be answered by now are answered within
/// the limit, and have not been for long, or so many are under way that others will soon wait for a connection. Without a
/// limit a request may take long: then half of those that have ended have no expected answer.
pub(super) fn is_hopeless(progress: &Progress, limit: Option<f64>) -> bool {
    let Progress { rate, elapsed, good, ended, places } = *progress;
    let Some(limit) = limit else { return ended >= ENOUGH && good < ended / 2.0 };
    let expected = rate * (elapsed - limit);
    let is_crowded = rate.mul_add(elapsed, -ended) > places / 2.0;
    let is_long = elapsed >= LONG.max(LIMITS * limit);
    (is_long || is_crowded) && expected >= ENOUGH && good < expected / 2.0
}

/// Loads at a rate, and says what came of it. `plan` has everything but the schedule.
pub fn try_rate(
    plan: Plan,
    wish: &Wish,
    sought: &Sought,
    (arrivals, seed): (Arrivals, u64),
    words: fn(&Distrust) -> String,
    interrupt: &Interrupt,
    live: &mut dyn FnMut(&Live<'_>),
) -> Result<(Tried, FindWindow), LoadError> {
    let rate = wish.rate;
    let slice = nanos(wish.seconds / f64::from(BATCHES)).max(1);
    // Whole slices, so that each of them counts or does not.
    let settle = becalm_model::whole((wish.settle * 1e9 / slice as f64).ceil());
    let seconds = (settle + u64::from(BATCHES)) as f64 * slice as f64 * 1e-9;
    let stage = Stage { seconds, from: rate, to: rate };
    let schedule = Schedule::new(vec![stage], arrivals, seed);
    // With batches from some rate on, the search would find that rate.
    let batch = plan.batch.or(Some(Duration::ZERO));
    let plan = Plan { schedule, highest_rate: rate, batch, ..plan };
    let (places, connections) = (plan.places() as f64, plan.connections as u64);
    let mut is_cut = false;
    let loaded = load_in_slices(plan, slice, interrupt, &mut |told| {
        live(told);
        let good = told.total.response.within(sought.limit);
        let (elapsed, ended) = (told.elapsed.as_secs_f64(), told.total.counts.scheduled as f64);
        let progress = Progress { rate, elapsed, good: good as f64, ended, places };
        is_cut = is_cut || elapsed < seconds && is_hopeless(&progress, sought.limit);
        if is_cut { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let counting = Counting { sought, settle: if is_cut { 0 } else { settle }, slice, is_cut };
    Ok(counting.conclude(&loaded, rate, connections, words))
}

/// A stretch of the window, with its response and service times decoded.
struct Slice<'a> {
    figures: &'a LoadSecond,
    response: Histogram<u64>,
    service: Histogram<u64>,
}

impl<'a> Slice<'a> {
    fn of(closed: &'a ClosedSecond) -> Self {
        let [response, service, _] = closed.histograms();
        Self { figures: &closed.figures, response, service }
    }
}

/// Which requests count.
struct Counting<'a> {
    sought: &'a Sought,
    /// Slices at the beginning whose requests do not.
    settle: u64,
    /// Nanoseconds of a slice.
    slice: u64,
    is_cut: bool,
}

impl Counting<'_> {
    fn conclude(
        &self,
        loaded: &Loaded,
        rate: f64,
        connections: u64,
        words: fn(&Distrust) -> String,
    ) -> (Tried, FindWindow) {
        let counting = loaded.seconds.iter().filter(|one| one.figures.second >= self.settle);
        let slices: Vec<Slice<'_>> = counting.map(Slice::of).collect();
        let batches: Vec<(u64, u64)> = slices.iter().map(|one| self.missed(one)).collect();
        let share = Share::of_batches(&batches);
        let late = slices.iter().map(|one| self.late(one)).sum();
        let judged = loaded.judged(connections);
        let reasons =
            if self.is_harmless(&judged, late, &share) { Vec::new() } else { judged.reasons };
        let is_valid = reasons.is_empty();
        let tried = Tried { rate, missed: is_valid.then_some([share.hits, share.total]) };
        let times = Times::of(&slices);
        let seconds = if self.is_cut {
            loaded.elapsed.as_secs_f64()
        } else {
            f64::from(BATCHES) * self.slice as f64 * 1e-9
        };
        let p99 = |which: &crate::Measure| which.quantile(0.99).map(|one| one.value);
        let window = FindWindow {
            rate,
            settled: self.settle as f64 * self.slice as f64 * 1e-9,
            seconds,
            is_cut: self.is_cut,
            counts: loaded.total.counts,
            is_unanswered: false,
            errors: loaded.total.failed(),
            missed: MissedShare {
                missed: becalm_model::whole(share.hits),
                requests: becalm_model::whole(share.total),
                late,
                dispersion: share.dispersion,
            },
            quantile: self.sought.limit.map(|_| times.range(1.0 - self.sought.permitted, &share)),
            response: SHOWN.iter().filter_map(|q| times.quantile_value(*q)).collect(),
            service_p99: p99(&loaded.total.service),
            lag_p99: p99(&loaded.total.lag),
            verdict: if is_valid { Trust::Valid } else { Trust::Invalid },
            reasons: worded(&reasons, words),
        };
        (tried, window)
    }

    /// Returns how many requests of a slice missed the limit, and how many there were.
    fn missed(&self, slice: &Slice<'_>) -> (u64, u64) {
        let LoadSecond { scheduled, answered, .. } = *slice.figures;
        (scheduled - answered + self.beyond(&slice.response), scheduled)
    }

    /// Returns how many requests of a slice missed the limit that would not have without their lag.
    fn late(&self, slice: &Slice<'_>) -> u64 {
        self.beyond(&slice.response).saturating_sub(self.beyond(&slice.service))
    }

    /// Returns how many times are not below the limit.
    fn beyond(&self, times: &Histogram<u64>) -> u64 {
        self.sought
            .limit
            .map_or(0, |limit| times.len() - times.count_between(0, nanos(limit).saturating_sub(1)))
    }

    /// Says whether the generator was late at most, and hardly any request missed the limit for it. A request that is sent
    /// late is never answered earlier, where requests are answered in turn (completion times of a queue never fall if
    /// arrivals come later), so what kept the limit would have kept it.
    fn is_harmless(&self, judged: &Judged, late: u64, share: &Share) -> bool {
        let is_late = |reason: &Distrust| {
            matches!(reason, Distrust::LateGenerator { .. } | Distrust::SlowConnecting { .. })
        };
        self.sought.limit.is_some()
            && judged.reasons.iter().all(is_late)
            && late as f64 <= LATE * self.sought.permitted * share.total
    }
}

/// Response times that are known, and how many there should be.
struct Times {
    known: Histogram<u64>,
    all: u64,
}

impl Times {
    fn of(slices: &[Slice<'_>]) -> Self {
        let mut known = crate::measure::empty();
        for slice in slices {
            known.add(&slice.response).expect("it grows");
        }
        Self { known, all: slices.iter().map(|one| one.figures.scheduled).sum() }
    }

    /// Returns the value of a quantile in seconds, if what was never answered took for ever.
    fn quantile(&self, q: f64) -> Option<f64> {
        let rank = (q * self.all as f64).ceil().max(1.0);
        (self.all > 0 && rank <= self.known.len() as f64).then(|| {
            self.known.value_at_quantile((rank - 0.5) / self.known.len() as f64) as f64 * 1e-9
        })
    }

    fn quantile_value(&self, q: f64) -> Option<QuantileValue> {
        self.quantile(q).map(|value| QuantileValue { q, value, at_least: false })
    }

    fn range(&self, q: f64, share: &Share) -> QuantileRange {
        let (low, high) = share.ranks(q, CONFIDENCE);
        QuantileRange {
            q,
            value: self.quantile(q),
            low: self.quantile(low),
            high: if high < 1.0 { self.quantile(high) } else { None },
        }
    }
}

/// Waits until a server that has more to do than it can has done it: until a request that is alone is answered.
pub fn wait_until_idle(plan: Plan, most: Duration, interrupt: &Interrupt) -> Result<(), LoadError> {
    let plan = Plan {
        schedule: Schedule::of_times(vec![0]),
        highest_rate: 1.0,
        time_limit: most,
        connections: 1,
        threads: 1,
        ..plan
    };
    load_in_slices(plan, crate::seconds::SECOND, interrupt, &mut |_| ControlFlow::Continue(()))
        .map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seconds::{Book, Collector};
    use crate::tally::{Done, Fate};

    const MS: u64 = 1_000_000;

    /// What came of a window of 2000 requests, of which some are sent late and others take long, in milliseconds.
    fn window(late: (u64, u64), long: (u64, u64)) -> (Tried, FindWindow) {
        let slice = 250 * MS;
        let mut book = Book::new(slice);
        for number in 0..2000 {
            let due = number * MS;
            let lag = if number % 70 == 1 && number / 70 < late.0 { late.1 * MS } else { 0 };
            let service = if number % 40 == 2 && number / 40 < long.0 { long.1 } else { 2 } * MS;
            let fate = Fate::Answered { written: due + lag, last: due + lag + service };
            book.begin(due);
            book.count(Done { due, taken: due + lag, starved: false, given_back: false, fate });
        }
        let mut collector = Collector::new(1);
        collector.take(0, &book.tell());
        let (total, seconds) = collector.finish();
        let loaded = Loaded {
            total,
            mix: Vec::new(),
            seconds,
            elapsed: Duration::from_secs(2),
            answering: Duration::from_secs(2),
            spin: Duration::ZERO,
            batch: Duration::ZERO,
            gaps: becalm_model::load::Gaps::default(),
            pacer: None,
            senders: Vec::new(),
        };
        let sought = &Sought {
            permitted: 0.01,
            limit: Some(0.02),
            from: 10.0,
            to: 10_000.0,
            max_time: 120.0,
        };
        let counting = Counting { sought, settle: 0, slice, is_cut: false };
        counting.conclude(&loaded, 1000.0, 100, |_| String::new())
    }

    #[test]
    fn a_late_generator_does_not_count_unless_it_decided_nothing() {
        let (tried, shown) = window((0, 0), (40, 30));
        assert_eq!((tried.missed, shown.verdict), (Some([40.0, 2000.0]), Trust::Valid));
        // More than 1 ms late, which no request misses the limit for.
        let (tried, shown) = window((25, 10), (0, 0));
        assert_eq!((tried.missed, shown.missed.late), (Some([0.0, 2000.0]), 0));
        assert!(shown.reasons.is_empty() && shown.lag_p99.is_some_and(|lag| lag > 0.001));
        let (tried, shown) = window((25, 10), (40, 30));
        assert_eq!((tried.missed, shown.missed.late), (Some([40.0, 2000.0]), 0));
        // So late that it makes the misses.
        let (tried, shown) = window((25, 30), (0, 0));
        assert_eq!((tried.missed, shown.verdict), (None, Trust::Invalid));
        assert_eq!((shown.missed.missed, shown.missed.late, shown.reasons.len()), (25, 25, 1));
    }

    #[test]
    fn a_window_is_hopeless_only_after_long_or_when_it_gets_crowded() {
        let usual =
            Progress { rate: 1000.0, elapsed: 1.0, good: 100.0, ended: 900.0, places: 1000.0 };
        let check = |progress: Progress| is_hopeless(&progress, Some(0.02));
        assert!(check(usual));
        assert!(!check(Progress { good: 600.0, ..usual }));
        assert!(!check(Progress { elapsed: 0.2, good: 20.0, ended: 30.0, ..usual }));
        assert!(check(Progress { elapsed: 0.2, good: 20.0, ended: 30.0, places: 200.0, ..usual }));
        assert!(!check(Progress { rate: 10.0, good: 0.0, ended: 0.0, ..usual }), "too few");
        // Slow answers are no errors.
        let slow = Progress { good: 100.0, ended: 100.0, places: 200.0, ..usual };
        assert!(check(slow) && !is_hopeless(&slow, None));
        assert!(is_hopeless(&Progress { good: 20.0, ..slow }, None));
        assert!(!is_hopeless(&Progress { good: 0.0, ended: 10.0, ..slow }, None), "too few");
    }
}
