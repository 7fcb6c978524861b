//! How many requests a server answers at most: each connection sends the next one at once, over more and more connections.

use std::ops::ControlFlow;
use std::time::Duration;

use becalm_kernel::interrupt::Interrupt;

use crate::engine::{LoadError, Plan, load_in_slices};
use crate::schedule::Schedule;

/// The most connections that are tried.
const MOST: usize = 256;

/// By what the rate has to grow for more connections to be worth a try.
const GROWS: f64 = 1.05;

/// For how long each number of connections is tried, in seconds: as long as this, and until there are some answers, but not
/// longer than that.
const TRIED: f64 = 1.0;
const SOME: u64 = 5;
const LONGEST: f64 = 10.0;

/// Requests that wait to be sent in such a try: more than any server answers in that time.
const REQUESTS: usize = 300_000;

/// How often it is seen how far it is, in nanoseconds.
const LOOK: u64 = 50_000_000;

/// The most that a server has answered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capacity {
    /// Answers in a second.
    pub rate: f64,
    /// Over how many connections.
    pub connections: usize,
    /// Requests before this number were used up.
    pub sent: u64,
}

/// Which number of connections is tried next.
#[derive(Debug)]
struct Ramp {
    tried: Vec<Capacity>,
    /// The most connections that are tried.
    most: usize,
}

impl Ramp {
    /// Makes one that does not go beyond what is permitted.
    fn up_to(permitted: usize) -> Self {
        Self { tried: Vec::new(), most: permitted.clamp(1, MOST) }
    }

    /// Returns the next number of connections; `None` if more are of no use, or not permitted.
    fn next(&self) -> Option<usize> {
        let Some(last) = self.tried.last() else { return Some(1) };
        let is_of_use = match self.tried[..] {
            [.., before, last] => last.rate > before.rate * GROWS,
            _ => true,
        };
        (is_of_use && last.connections < self.most).then(|| self.most.min(last.connections * 2))
    }

    fn best(&self) -> Option<Capacity> {
        let answered = self.tried.iter().filter(|one| one.rate > 0.0);
        answered.copied().max_by(|a, b| a.rate.total_cmp(&b.rate))
    }
}

/// Says whether a try of so many seconds with so many answers is long enough. Few answers are enough of a server that takes
/// seconds for each.
fn shows_rate(elapsed: f64, answered: u64) -> bool {
    elapsed >= LONGEST || elapsed >= TRIED && answered >= SOME
}

/// Measures what a server can do; `None` if it answered nothing or a signal came. `plan` has everything but the
/// schedule; of its connections no more are opened.
pub fn capacity(plan: &Plan, interrupt: &Interrupt) -> Result<Option<Capacity>, LoadError> {
    let mut ramp = Ramp::up_to(plan.connections);
    while let Some(connections) = ramp.next() {
        let first = (ramp.tried.len() * REQUESTS) as u64;
        let plan = Plan {
            requests: plan.requests.clone().starting_at(first),
            schedule: Schedule::of_times(vec![0; REQUESTS]),
            highest_rate: f64::MAX,
            connections,
            // One place each.
            streams: 1,
            ..plan.clone()
        };
        let (mut rate, mut is_over) = (0.0, false);
        load_in_slices(plan, LOOK, interrupt, &mut |live| {
            let elapsed = live.elapsed.as_secs_f64();
            let answered = live.total.counts.answered;
            // To give up what waits takes time too, in which nothing is sent.
            if !is_over && live.elapsed > Duration::ZERO {
                rate = answered as f64 / elapsed;
            }
            let are_used_up = live.total.counts.scheduled >= REQUESTS as u64;
            is_over = is_over || are_used_up || shows_rate(elapsed, answered);
            if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if interrupt.signal().is_some() {
            return Ok(None);
        }
        ramp.tried.push(Capacity { rate, connections, sent: 0 });
    }
    let sent = (ramp.tried.len() * REQUESTS) as u64;
    Ok(ramp.best().map(|best| Capacity { sent, ..best }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Protocol, Target, Template, Wanted, Way};
    use crate::serve::{Busy, Listening, Options, Server, ServiceTime};

    /// Goes up the ramp of a server whose rate is this function of the connections, and which may have many.
    fn climb(rate: impl Fn(usize) -> f64) -> (Vec<usize>, Option<Capacity>) {
        climb_to(1000, rate)
    }

    fn climb_to(permitted: usize, rate: impl Fn(usize) -> f64) -> (Vec<usize>, Option<Capacity>) {
        let mut ramp = Ramp::up_to(permitted);
        while let Some(connections) = ramp.next() {
            ramp.tried.push(Capacity { rate: rate(connections), connections, sent: 0 });
        }
        (ramp.tried.iter().map(|one| one.connections).collect(), ramp.best())
    }

    #[test]
    fn more_connections_are_tried_as_long_as_they_help() {
        // Four workers of 1 ms.
        let (tried, best) = climb(|connections| 1000.0 * connections.min(4) as f64);
        assert_eq!(tried, [1, 2, 4, 8]);
        assert!((best.unwrap().rate - 4000.0).abs() < 1e-9);
        let (tried, best) = climb(|connections| connections as f64);
        assert_eq!((tried.last(), best.unwrap().connections), (Some(&256), 256));
        // One that gets slower with more.
        let (tried, best) = climb(|connections| 100.0 / connections as f64);
        assert_eq!((tried, best.unwrap().connections), (vec![1, 2], 1));
        assert_eq!(climb(|_| 0.0).1, None);
    }

    #[test]
    fn a_slow_server_has_time_for_some_answers() {
        assert!(!shows_rate(0.9, 1000) && shows_rate(1.0, 1000));
        assert!(!shows_rate(5.0, 2) && shows_rate(7.0, 5) && shows_rate(10.0, 0));
    }

    #[test]
    fn no_more_connections_are_tried_than_are_permitted() {
        let tried = |permitted| climb_to(permitted, |connections| connections as f64).0;
        assert_eq!(tried(1), [1]);
        assert_eq!(tried(2), [1, 2]);
        assert_eq!(tried(6), [1, 2, 4, 6]);
        assert_eq!(tried(300).last(), Some(&256));
    }

    #[test]
    fn a_server_answers_no_more_than_its_workers_can() {
        let options = Options {
            at: Listening::Tcp("127.0.0.1:0".parse().unwrap()),
            service: ServiceTime::Fixed(0.02),
            workers: 2,
            stalls: None,
            busy: Busy::Sleep,
            answer_bytes: 2,
            seed: 1,
        };
        let server = Server::start(&options).unwrap();
        for protocol in [Protocol::Http1, Protocol::Http2] {
            let target = Target::new(&server.url(), Way { protocol, ..Way::default() }).unwrap();
            let plan = Plan {
                requests: Template::new(&target, Wanted::default()).unwrap().into(),
                target,
                schedule: Schedule::of_times(Vec::new()),
                highest_rate: 1.0,
                time_limit: Duration::from_secs(10),
                connections: 8,
                streams: 1,
                new_connections: false,
                threads: 1,
                own_cpus: false,
                batch: None,
                pause: None,
            };
            let found = capacity(&plan, &Interrupt::new().unwrap()).unwrap().unwrap();
            // Two of 20 ms are 100 in a second; a busy machine gives fewer.
            assert!(found.rate > 0.0 && found.rate <= 101.0, "{found:?}");
        }
    }
}
