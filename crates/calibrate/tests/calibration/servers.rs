//! Quantiles of windows of servers in turns.

use becalm_calibrate::Looks;
use becalm_calibrate::rate::clopper_pearson;
use becalm_calibrate::servers::{Arrivals, QUEUES, Queue, rounds_in_budget};

const SEED: u64 = 26;
const WINDOW: f64 = 2.0;

fn windows(queue: &Queue, q: f64) -> becalm_calibrate::servers::Windows {
    queue.windows((WINDOW, q), Arrivals::OfRound, 200, SEED)
}

#[test]
fn equal_servers_are_seldom_called_different() {
    const TRIALS: u32 = 1500;
    let plan = Looks::sequential(rounds_in_budget(WINDOW), 0.01, 0.05, 1);
    for queue in &QUEUES {
        for q in [0.5, 0.99] {
            let tally = windows(queue, q).tally(&plan, 1.0, (TRIALS, SEED));
            let alarms = tally.above + tally.below;
            let rate = clopper_pearson(alarms, u64::from(TRIALS), 0.999);
            assert!(rate.low <= 0.05, "{} p{q}: {alarms} of {TRIALS}", queue.name);
        }
    }
}

#[test]
fn a_p99_that_is_higher_by_a_tenth_is_found_within_a_minute_where_requests_do_not_wait_for_each_other()
 {
    let plan = Looks::sequential(rounds_in_budget(WINDOW), 0.01, 0.05, 1);
    let queue = QUEUES.iter().find(|queue| queue.name == "many workers").unwrap();
    let tally = windows(queue, 0.99).tally(&plan, 1.1, (500, SEED));
    assert!(tally.above >= 400 && tally.below == 0, "{tally:?}");
}

#[test]
fn a_median_that_is_higher_by_a_fiftieth_is_found_within_a_minute_where_there_is_little_queue() {
    let plan = Looks::sequential(rounds_in_budget(WINDOW), 0.01, 0.05, 1);
    let queue = QUEUES.iter().find(|queue| queue.name == "bimodal").unwrap();
    let tally = windows(queue, 0.5).tally(&plan, 1.02, (500, SEED));
    assert!(tally.above >= 400 && tally.below == 0, "{tally:?}");
}

#[test]
fn the_same_due_times_for_both_sides_make_ratios_more_exact() {
    let queue = QUEUES.iter().find(|queue| queue.name == "M/M/1 at 0.8").unwrap();
    let spread = |arrivals| queue.windows((WINDOW, 0.5), arrivals, 400, SEED).spread();
    let (same, own) = (spread(Arrivals::OfRound), spread(Arrivals::Own));
    assert!(same < 0.9 * own, "{same} {own}");
}
