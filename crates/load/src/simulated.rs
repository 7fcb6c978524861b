//! The whole way of a request without a clock: schedule, pool, a server of known truth, and the counting.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use becalm_model::load::{Arrivals, Distrust, Stage, Trust};

use crate::fidelity::{Judged, Observed, is_trusted, judge};
use crate::pool::{Arrived, Pool, Taken};
use crate::schedule::Schedule;
use crate::serve::{Queue, ServiceTime, Stalls};
use crate::tally::{Done, Fate, Tally};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;

/// When, over which connection; due, taken and written; whether it was starved.
type Answer = (u64, usize, [u64; 3], bool);

/// A load as it would go on a machine without delays of its own.
struct Simulation {
    schedule: Schedule,
    queue: Queue,
    connections: usize,
    /// When the generator does nothing: from, until.
    freeze: Option<(u64, u64)>,
    /// When it gives up what still waits.
    end: u64,
}

impl Simulation {
    /// Returns when the generator does what is to be done at `time`.
    fn acts(&self, time: u64) -> u64 {
        match self.freeze {
            Some((from, until)) if (from..until).contains(&time) => until,
            _ => time,
        }
    }

    fn run(mut self) -> (Tally, Judged) {
        let mut pool = Pool::new(self.connections, 1);
        let mut tally = Tally::default();
        let mut answers: BinaryHeap<Reverse<Answer>> = BinaryHeap::new();
        let mut dues = self.schedule.clone().peekable();
        let mut opened = 0;
        loop {
            let arrival = dues.peek().map(|due| self.acts(*due));
            let answer = answers.peek().map(|Reverse((time, ..))| self.acts(*time));
            let (Some(now), is_arrival) = (match (arrival, answer) {
                (Some(arrival), Some(answer)) if answer <= arrival => (Some(answer), false),
                (Some(arrival), _) => (Some(arrival), true),
                (None, answer) => (answer, false),
            }) else {
                break;
            };
            let mut sent: Vec<(usize, Taken)> = Vec::new();
            if is_arrival {
                let due = dues.next().expect("it was there");
                if let Arrived::Sent(connection, taken) = pool.arrive(0, due, now) {
                    sent.push((connection, taken));
                }
                while pool.opens() {
                    pool.opened();
                    sent.extend(pool.next_for(opened).map(|taken| (opened, taken)));
                    opened += 1;
                }
            } else {
                let Reverse((_, connection, [due, taken, written], starved)) =
                    answers.pop().expect("it was there");
                let fate = Fate::Answered { written, last: now };
                tally.count(Done { due, taken, starved, given_back: false, fate });
                let next = if now < self.end { pool.next_for(connection) } else { None };
                sent.extend(next.map(|taken| (connection, taken)));
            }
            for (connection, Taken { due, taken, starved, .. }) in sent {
                let answered = self.queue.answer_at(now);
                answers.push(Reverse((answered, connection, [due, taken, now], starved)));
            }
        }
        while let Some(Taken { due, taken, starved, .. }) = pool.give_up_due_before(u64::MAX) {
            tally.count(Done {
                due,
                taken,
                starved,
                given_back: false,
                fate: Fate::Unsent { end: self.end },
            });
        }
        let connections = self.connections as u64;
        let judged = judge(&Observed { tally: &tally, connections, pacer_cpu: 0.0, waited: None });
        (tally, judged)
    }
}

/// 2000 requests a second for 10 s at even distances, on a server that takes 50 us.
fn usual() -> Simulation {
    let stages = vec![Stage { seconds: 10.0, from: 2000.0, to: 2000.0 }];
    Simulation {
        schedule: Schedule::new(stages, Arrivals::Even, 1),
        queue: Queue::new(ServiceTime::Fixed(50e-6), 8, None, 1),
        connections: 1000,
        freeze: None,
        end: 20 * SECOND,
    }
}

fn stall() -> Stalls {
    Stalls { first: 5 * SECOND, length: 200 * MS, every: None }
}

/// Asserts a quantile, within what 8 workers need to catch up and the resolution of the histogram.
#[track_caller]
fn check(measure: &crate::Measure, q: f64, milliseconds: f64) {
    let found = measure.quantile(q).unwrap();
    assert!(!found.at_least);
    let off = (found.value * 1e3 - milliseconds).abs();
    assert!(off < 0.02 * milliseconds + 0.001, "{q}: {found:?}, expected {milliseconds} ms");
}

#[test]
fn one_stall_of_the_server_is_seen_as_every_user_would_have_seen_it() {
    let queue = Queue::new(ServiceTime::Fixed(50e-6), 8, Some(stall()), 1);
    let (tally, judged) = Simulation { queue, ..usual() }.run();
    // 400 of 20,000 requests wait from 0 to 200 ms: the longest hundredth begins at 100 ms.
    check(&tally.response, 0.5, 0.05);
    check(&tally.response, 0.99, 100.0);
    check(&tally.response, 0.999, 190.0);
    check(&tally.service, 0.99, 100.0);
    assert_eq!((tally.counts.scheduled, tally.counts.answered), (20_000, 20_000));
    assert_eq!((judged.verdict, tally.counts.starved), (Trust::Valid, 0));
    assert!(is_trusted(&tally, 0.999));
}

#[test]
fn a_pool_that_is_too_small_for_a_stall_shows_the_same_response_times() {
    let queue = Queue::new(ServiceTime::Fixed(50e-6), 8, Some(stall()), 1);
    let (tally, judged) = Simulation { queue, connections: 10, ..usual() }.run();
    check(&tally.response, 0.99, 100.0);
    check(&tally.response, 0.999, 190.0);
    // The service time alone, which most generators show, knows nothing of the stall.
    check(&tally.service, 0.99, 0.05);
    assert!(matches!(judged.reasons[..], [Distrust::PoolTooSmall { .. }]), "{judged:?}");
}

#[test]
fn a_stall_of_the_generator_is_put_down_to_the_generator() {
    let freeze = Some((5 * SECOND, 5 * SECOND + 200 * MS));
    let (tally, judged) = Simulation { freeze, ..usual() }.run();
    check(&tally.response, 0.99, 100.0);
    check(&tally.lag, 0.99, 100.0);
    // 400 requests at once, which 8 workers answer within 2.5 ms.
    assert!(tally.service.quantile(0.99).unwrap().value < 0.003);
    assert_eq!(judged.verdict, Trust::Invalid);
    assert!(matches!(judged.reasons[..], [Distrust::LateGenerator { .. }]), "{judged:?}");
}

#[test]
fn ten_connections_to_a_server_of_ten_milliseconds_cannot_carry_two_thousand_a_second() {
    let queue = Queue::new(ServiceTime::Fixed(0.01), 1000, None, 1);
    let simulation = Simulation { queue, connections: 10, end: 15 * SECOND, ..usual() };
    let (tally, judged) = simulation.run();
    let counts = tally.counts;
    assert_eq!(counts.scheduled, 20_000);
    assert_eq!(counts.answered + counts.unsent, 20_000);
    // A thousand in a second, for 15 s.
    assert!((14_980..=15_000).contains(&counts.answered), "{counts:?}");
    check(&tally.service, 0.99, 10.0);
    let p99 = tally.response.quantile(0.99).unwrap();
    assert!(p99.at_least && p99.value > 5.0, "{p99:?}");
    // The last of which it is known that it was answered.
    assert!(!tally.response.quantile(0.25).unwrap().at_least);
    let why = judged.reasons;
    let [Distrust::PoolTooSmall { connections: 10, .. }, Distrust::Unsent { .. }] = why[..] else {
        panic!("{why:?}")
    };
}

#[test]
fn the_response_time_of_one_worker_is_that_of_the_formula() {
    // M/M/1 at 70 %: exponential with mean 1 ms / 0.3; 200 s are 140,000 requests.
    let stages = vec![Stage { seconds: 200.0, from: 700.0, to: 700.0 }];
    let schedule = Schedule::new(stages, Arrivals::Poisson, 11);
    let queue = Queue::new(ServiceTime::Exponential(0.001), 1, None, 12);
    let (tally, judged) = Simulation { schedule, queue, end: 300 * SECOND, ..usual() }.run();
    assert_eq!(judged.verdict, Trust::Valid);
    for q in [0.5, 0.9, 0.99] {
        let truth = -(1.0_f64 - q).ln() * 0.001 / 0.3;
        let found = tally.response.quantile(q).unwrap().value;
        // Neighbouring requests wait together, so 140,000 of them say less than as many alone.
        assert!((found / truth - 1.0).abs() < 0.1, "{q}: {found} {truth}");
    }
}
