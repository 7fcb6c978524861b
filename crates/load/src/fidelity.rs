//! Whether the generator kept to the schedule, or its own fault is in the figures.

use becalm_model::load::{Distrust, FailureKind, Trust};

use crate::measure::Measure;
use crate::tally::Tally;

/// A lag below this is no fault: that of a thread that wakes up.
const LAG_FLOOR: f64 = 0.001;

/// The most that the lag may be of a response time.
const LAG_SHARE: f64 = 0.05;

/// The quantile that decides.
const DECIDING: f64 = 0.99;

/// The most that the pacer may use of its CPU: a thread that has no rest cannot be on time.
const PACER_SHARE: f64 = 0.7;

/// What has been observed of a load.
#[derive(Debug)]
pub struct Observed<'a> {
    /// All requests.
    pub tally: &'a Tally,
    /// The most connections that were permitted.
    pub connections: u64,
    /// Share of the time that the pacer used its CPU.
    pub pacer_cpu: f64,
    /// Share of the time in which the most delayed thread of the generator waited for a CPU.
    pub waited: Option<f64>,
}

/// The verdict, with its reasons and the limit of the lag.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The verdict.
    pub verdict: Trust,
    /// Why it is `invalid`.
    pub reasons: Vec<Distrust>,
    /// The most that the 99th percentile of the lag may be.
    pub lag_limit: f64,
}

/// Says whether figures are those of the server.
///
/// They are not if the 99th percentile of the lag exceeds both 1 ms and 5 % of the response time's, if anything was
/// never sent, if this machine had no port or descriptor for a connection, or if the pacer used more than 70 % of its
/// CPU. The lag is put down to the generator if it took the requests up late; else to the connections: to their number
/// if one request in a hundred found all of them in use, to their opening otherwise.
pub fn judge(observed: &Observed<'_>) -> Judged {
    let Observed { tally, connections, pacer_cpu, waited } = *observed;
    let counts = tally.counts;
    let lag_limit = lag_limit(&tally.response, DECIDING);
    let mut reasons = Vec::new();
    let exhausted = tally.failed_as(FailureKind::Exhausted);
    if exhausted > 0 {
        reasons.push(Distrust::Exhausted { requests: exhausted, scheduled: counts.scheduled });
    }
    let lag_p99 = at(&tally.lag, DECIDING);
    if lag_p99 > lag_limit {
        let limit = lag_limit;
        let share_starved = counts.starved as f64 / counts.scheduled.max(1) as f64;
        reasons.push(if at(&tally.pickup, DECIDING) > limit {
            Distrust::LateGenerator { lag_p99, limit, waited }
        } else if share_starved >= 1.0 - DECIDING {
            let (starved, scheduled) = (counts.starved, counts.scheduled);
            Distrust::PoolTooSmall { starved, scheduled, connections, lag_p99, limit }
        } else {
            Distrust::SlowConnecting { lag_p99, limit, connections: counts.connections }
        });
    }
    if counts.unsent > 0 {
        reasons.push(Distrust::Unsent { requests: counts.unsent, scheduled: counts.scheduled });
    }
    if pacer_cpu > PACER_SHARE {
        reasons.push(Distrust::BusyPacer { share: pacer_cpu, limit: PACER_SHARE });
    }
    let verdict = if reasons.is_empty() { Trust::Valid } else { Trust::Invalid };
    Judged { verdict, reasons, lag_limit }
}

/// Returns the most that a quantile of the lag may be beside that of the response time.
fn lag_limit(response: &Measure, q: f64) -> f64 {
    LAG_FLOOR.max(LAG_SHARE * at(response, q))
}

/// Says whether this quantile of the response time is free of the generator's lag, by the same rule as the verdict.
pub(crate) fn is_trusted(tally: &Tally, q: f64) -> bool {
    at(&tally.lag, q) <= lag_limit(&tally.response, q)
}

fn at(measure: &Measure, q: f64) -> f64 {
    measure.quantile(q).map_or(0.0, |one| one.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::{Done, Fate};

    const MS: u64 = 1_000_000;

    /// A request that was taken up and written so late, and took 1 ms from there.
    fn late(pickup: u64, lag: u64, starved: bool) -> Done {
        let fate = Fate::Answered { written: lag, last: lag + MS };
        Done { due: 0, taken: pickup, starved, given_back: false, fate }
    }

    fn tally(parts: &[(usize, Done)]) -> Tally {
        let mut tally = Tally::default();
        for (times, done) in parts {
            (0..*times).for_each(|_| tally.count(done.clone()));
        }
        tally
    }

    fn judged(tally: &Tally) -> Judged {
        judge(&Observed { tally, connections: 10, pacer_cpu: 0.2, waited: None })
    }

    #[test]
    fn a_little_lag_is_no_fault() {
        let judged =
            judged(&tally(&[(1000, late(20_000, 30_000, false)), (9, late(MS, 50 * MS, false))]));
        assert_eq!((judged.verdict, judged.reasons.len()), (Trust::Valid, 0));
    }

    #[test]
    fn a_generator_that_takes_requests_up_late_is_blamed() {
        let tally = tally(&[(980, late(0, 0, false)), (20, late(100 * MS, 101 * MS, false))]);
        let judged = judged(&tally);
        assert_eq!(judged.verdict, Trust::Invalid);
        assert!(
            matches!(judged.reasons[..], [Distrust::LateGenerator { lag_p99, .. }] if lag_p99 > 0.1)
        );
        assert!(is_trusted(&tally, 0.9) && !is_trusted(&tally, 0.99));
    }

    #[test]
    fn a_pool_that_is_too_small_is_named_and_the_opening_of_connections_too() {
        let starved = judged(&tally(&[(500, late(0, 0, false)), (500, late(0, 90 * MS, true))]));
        let Distrust::PoolTooSmall { starved: 500, scheduled: 1000, connections: 10, .. } =
            starved.reasons[0]
        else {
            panic!("{starved:?}")
        };
        let opening = judged(&tally(&[(500, late(0, 0, false)), (500, late(0, 90 * MS, false))]));
        assert!(matches!(opening.reasons[..], [Distrust::SlowConnecting { .. }]));
    }

    #[test]
    fn a_long_service_time_permits_more_lag() {
        let slow = Done {
            due: 0,
            taken: 0,
            starved: false,
            given_back: false,
            fate: Fate::Answered { written: 4 * MS, last: 100 * MS },
        };
        assert_eq!(judged(&tally(&[(100, slow)])).verdict, Trust::Valid);
    }

    #[test]
    fn one_request_that_was_never_sent_is_enough() {
        let unsent = Done {
            due: 0,
            taken: 0,
            starved: true,
            given_back: false,
            fate: Fate::Unsent { end: 0 },
        };
        let judged = judged(&tally(&[(1000, late(0, 0, false)), (1, unsent)]));
        assert_eq!(judged.reasons, [Distrust::Unsent { requests: 1, scheduled: 1001 }]);
    }

    #[test]
    fn what_fails_for_want_of_a_port_is_the_fault_of_the_generator() {
        let failed = |kind| {
            let fate = Fate::Failed { kind, status: None, words: None, written: None, end: 1 };
            Done { due: 0, taken: 0, starved: false, given_back: false, fate }
        };
        let reasons =
            |kind| judged(&tally(&[(1000, late(0, 0, false)), (2, failed(kind))])).reasons;
        let exhausted = Distrust::Exhausted { requests: 2, scheduled: 1002 };
        assert_eq!(reasons(FailureKind::Exhausted), [exhausted]);
        assert_eq!(reasons(FailureKind::Unreachable), []);
    }

    #[test]
    fn a_pacer_without_rest_is_not_believed() {
        let tally = tally(&[(100, late(0, 0, false))]);
        let judged =
            judge(&Observed { tally: &tally, connections: 1, pacer_cpu: 0.8, waited: None });
        assert_eq!(judged.reasons, [Distrust::BusyPacer { share: 0.8, limit: 0.7 }]);
    }
}
