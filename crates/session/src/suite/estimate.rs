//! How long a suite will take.

use becalm_model::terms::Stop;
use becalm_model::{Record, SuiteOutlook};
use becalm_runner::rounds::{OwnTerms, Spent, spent};

/// Returns what is known before the first run.
pub fn outlook(own: &[OwnTerms]) -> SuiteOutlook {
    let budgets = own.iter().filter_map(|terms| limit(terms.stop));
    SuiteOutlook {
        benchmarks: own.len(),
        limited: budgets.clone().count(),
        at_most: budgets.sum(),
        about: None,
    }
}

/// Returns the time that ends a benchmark, if only its time does.
fn limit(stop: Stop) -> Option<f64> {
    match stop {
        Stop::Until { minimum: 0 | 1, budget: Some(budget), .. } => Some(budget.as_secs_f64()),
        _ => None,
    }
}

/// Returns what the warm-up adds to that: the time from then on.
pub fn after_the_warm_up(own: &[OwnTerms], record: &Record) -> SuiteOutlook {
    let pace = spent(record, |run| run.warmup);
    let measured = spent(record, |run| !run.warmup);
    let (mut about, mut at_most, mut known) = (0.0, 0.0, 0);
    for ((terms, pace), measured) in own.iter().zip(pace).zip(measured) {
        // Without a run in its warm-up it has failed.
        let has_failed = terms.warmup > 0 && pace.runs == 0;
        let Some((likely, most)) = whole(terms.stop, pace).filter(|_| !has_failed) else {
            continue;
        };
        let left = 1.0 - terms.stop.fraction(measured.runs, measured.seconds);
        known += 1;
        about += likely * left;
        at_most += most * left;
    }
    SuiteOutlook { benchmarks: own.len(), limited: known, at_most, about: Some(about) }
}

/// Returns how long the measured runs of a benchmark take at the pace of its warm-up, and how long
/// at most; `None` if the pace is unknown.
fn whole(stop: Stop, pace: Spent) -> Option<(f64, f64)> {
    if pace.runs == 0 {
        return limit(stop).map(|limit| (limit, limit));
    }
    let run = pace.seconds / f64::from(pace.runs);
    let rounds = stop.possible_rounds(run).map(f64::from);
    let likely = rounds? * run;
    // The last run may start just before the time is up.
    let most = limit(stop).map_or(likely, |limit| limit + run);
    Some((likely, most.max(likely)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use becalm_model::terms::Goal;

    use super::*;

    fn until(minimum: u32, budget: u64) -> OwnTerms {
        let budget = Some(Duration::from_secs(budget));
        let stop = Stop::Until { minimum, maximum: None, budget, goal: Goal::Budget };
        OwnTerms { warmup: 1, stop }
    }

    #[test]
    fn before_the_start_only_budgets_are_known() {
        let rounds = OwnTerms { warmup: 1, stop: Stop::Rounds(9) };
        let outlook = outlook(&[until(1, 10), until(10, 5), rounds, until(1, 20)]);
        assert_eq!((outlook.benchmarks, outlook.limited), (4, 2));
        assert!((outlook.at_most - 30.0).abs() < 1e-9 && outlook.about.is_none());
    }

    #[test]
    fn the_warm_up_tells_the_pace() {
        let pace = Spent { runs: 2, seconds: 6.0 };
        let about = |stop| whole(stop, pace);
        assert_eq!(about(Stop::Rounds(5)), Some((15.0, 15.0)));
        assert_eq!(about(until(1, 10).stop), Some((12.0, 13.0)));
        assert_eq!(about(until(10, 5).stop), Some((30.0, 30.0)));
        assert_eq!(whole(until(1, 10).stop, Spent::default()), Some((10.0, 10.0)));
        assert_eq!(whole(Stop::Rounds(5), Spent::default()), None);
    }
}
