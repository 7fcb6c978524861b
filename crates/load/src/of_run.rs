//! What a session keeps of the load of one run.

use becalm_model::load::{Distrust, LoadPart, LoadTime, RunLoad};

use crate::engine::Loaded;
use crate::tally::Tally;

/// Puts together what a record keeps of a load, and says why it cannot be believed, if it cannot.
pub fn run_load(loaded: &Loaded, seed: u64, connections: u64) -> (RunLoad, Vec<Distrust>) {
    let total = &loaded.total;
    let reasons = loaded.judged(connections).reasons;
    let load = RunLoad {
        seed,
        counts: total.counts,
        elapsed: loaded.elapsed.as_secs_f64(),
        answering: Some(loaded.answering.as_secs_f64()),
        response: total.response.latency(),
        service: total.service.latency(),
        lag: total.lag.latency(),
        errors: total.failed(),
        mix: parts(loaded),
        threads: loaded.threads().cloned().collect(),
        gaps: Some(loaded.gaps),
        invalid: !reasons.is_empty(),
        objectives: Vec::new(),
        seconds: loaded.seconds.iter().map(|second| second.figures).collect(),
        repeated: Vec::new(),
    };
    (load, reasons)
}

/// Returns what a document keeps of each kind of request.
pub(crate) fn parts(loaded: &Loaded) -> Vec<LoadPart> {
    let part = |(name, tally): &(String, Tally)| LoadPart {
        name: name.clone(),
        counts: tally.counts,
        response: tally.response.latency(),
        service: tally.service.latency(),
    };
    loaded.mix.iter().map(part).collect()
}

/// Returns a quantile as the value of a run, in seconds. A request without the expected answer counts as one that took
/// the time limit, or as long as the slowest one that was answered, if that took longer: a server that fails more never
/// looks faster.
pub fn value_of_run(loaded: &Loaded, time: LoadTime, q: f64, time_limit: f64) -> Option<f64> {
    let total = &loaded.total;
    let mut measure = match time {
        LoadTime::Response => total.response.clone(),
        LoadTime::Service => total.service.clone(),
    };
    // What failed before its first byte was written has no service time, and counts all the same.
    for _ in measure.len()..total.counts.scheduled {
        measure.censor(0);
    }
    if measure.is_empty() {
        return None;
    }
    let slowest = || measure.quantile_of_known(1.0).unwrap_or(0.0);
    Some(measure.quantile_or_never(q).unwrap_or_else(|| slowest().max(time_limit)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use becalm_model::load::{FailureKind, Gaps};

    use super::*;
    use crate::tally::{Done, Fate};

    const MS: u64 = 1_000_000;

    fn loaded(answered: usize, failed: usize) -> Loaded {
        let mut total = Tally::default();
        let mut count =
            |fate| total.count(Done { due: 0, taken: 0, starved: false, given_back: false, fate });
        for _ in 0..answered {
            count(Fate::Answered { written: 0, last: 10 * MS });
        }
        for _ in 0..failed {
            let kind = FailureKind::Status;
            let status = Some(503);
            count(Fate::Failed { kind, status, words: None, written: Some(0), end: MS / 10 });
        }
        Loaded {
            total,
            mix: Vec::new(),
            seconds: Vec::new(),
            elapsed: Duration::from_secs(4),
            answering: Duration::from_secs(2),
            spin: Duration::ZERO,
            batch: Duration::ZERO,
            gaps: Gaps::default(),
            pacer: None,
            senders: Vec::new(),
        }
    }

    #[track_caller]
    fn check(loaded: &Loaded, q: f64, expected: f64) {
        let value = value_of_run(loaded, LoadTime::Response, q, 5.0).unwrap();
        assert!((value / expected - 1.0).abs() < 0.001, "{value} instead of {expected}");
    }

    #[test]
    fn failures_that_come_fast_make_no_run_fast() {
        check(&loaded(100, 0), 0.99, 0.01);
        // Two of a hundred are more than the quantile leaves.
        check(&loaded(98, 2), 0.99, 5.0);
        check(&loaded(98, 2), 0.5, 0.01);
        assert_eq!(value_of_run(&loaded(0, 0), LoadTime::Service, 0.5, 5.0), None);
    }

    #[test]
    fn what_failed_is_never_faster_than_what_was_answered() {
        let loaded = loaded(98, 2);
        // An answer that was waited for may take longer than the limit, which begins with the first byte.
        let value = |q| value_of_run(&loaded, LoadTime::Response, q, 0.005).unwrap();
        assert!((value(0.99) / 0.01 - 1.0).abs() < 0.001 && value(0.99) >= value(0.5));
    }

    #[test]
    fn what_was_never_written_counts_in_the_service_time_too() {
        let mut loaded = loaded(90, 0);
        for _ in 0..10 {
            let kind = FailureKind::Refused;
            let fate = Fate::Failed { kind, status: None, words: None, written: None, end: MS };
            loaded.total.count(Done { due: 0, taken: 0, starved: false, given_back: false, fate });
        }
        let value = |q| value_of_run(&loaded, LoadTime::Service, q, 5.0).unwrap();
        assert!((value(0.99) - 5.0).abs() < 0.01 && (value(0.5) - 0.01).abs() < 1e-4);
    }

    #[test]
    fn a_record_keeps_counts_and_histograms() {
        let (load, distrust) = run_load(&loaded(90, 10), 7, 100);
        assert_eq!((load.seed, load.counts.answered, distrust.len()), (7, 90, 0));
        assert!((load.error_rate() - 0.1).abs() < 1e-9 && (load.throughput() - 45.0).abs() < 1e-9);
        assert!(!load.response.histogram.is_empty() && load.response.censored == 10);
        assert_eq!(load.errors[0].status, Some(503));
    }
}
