//! Searches on queues whose answer is known, without a clock.

use becalm_model::load::{Arrivals, FindAnswer, FindLimit, Stage};
use becalm_stats::queue::Service;

use super::search::{Search, Sought, Tried, Wish};
use super::window::{Progress, is_hopeless};
use crate::schedule::{Schedule, nanos};
use crate::serve::{Queue, ServiceTime};

/// Seconds that a window takes beside its requests: threads are started, connections opened.
const BESIDE: f64 = 0.15;

/// A server in simulated time.
struct Simulated {
    queue: Queue,
    now: f64,
}

impl Simulated {
    fn window(&mut self, wish: &Wish, limit: f64, seed: u64) -> Tried {
        let Wish { rate, settle, seconds } = *wish;
        let stage = Stage { seconds: settle + seconds, from: rate, to: rate };
        let start = self.now;
        let (mut counted, mut all) = ([0.0; 2], [0.0; 2]);
        let (mut good, mut answered_in_time, mut last, mut is_cut) =
            (Vec::new(), 0, 0.0_f64, false);
        for due in Schedule::new(vec![stage], Arrivals::Poisson, seed) {
            let at = due as f64 * 1e-9;
            let answered = self.queue.answer_at(nanos(start + at)) as f64 * 1e-9 - start;
            let is_missed = answered - at >= limit;
            let count = |into: &mut [f64; 2]| {
                into[0] += f64::from(u8::from(is_missed));
                into[1] += 1.0;
            };
            count(&mut all);
            last = last.max(answered);
            if !is_missed {
                good.push(answered);
            }
            if at >= settle {
                count(&mut counted);
            }
            // One worker answers in order.
            while good.get(answered_in_time).is_some_and(|time| *time <= at) {
                answered_in_time += 1;
            }
            let (good, places) = (answered_in_time as f64, f64::INFINITY);
            let progress = Progress { rate, elapsed: at, good, ended: good, places };
            if is_hopeless(&progress, Some(limit)) {
                is_cut = true;
                break;
            }
        }
        self.now += last.max(if is_cut { 0.0 } else { settle + seconds }) + BESIDE;
        Tried { rate, missed: Some(if is_cut { all } else { counted }) }
    }
}

/// Searches on each queue.
const SEARCHES: usize = 100;

/// How often the interval had the answer, and how often the answer was within 10 %.
#[derive(Debug, Default)]
struct Outcome {
    covered: usize,
    near: usize,
}

fn searches(n: usize, seed: u64, sought: Sought, service: ServiceTime, truth: f64) -> Outcome {
    let mut outcome = Outcome::default();
    for number in (0..n as u64).map(|number| seed + number) {
        let mut search = Search::new(sought, number);
        let mut server = Simulated { queue: Queue::new(service, 1, None, number), now: 0.0 };
        let mut window = number * 1000;
        while let Some(wish) = search.next(server.now) {
            window += 1;
            search.take(server.window(&wish, sought.limit.expect("there is one"), window));
        }
        let (FindAnswer::Found { rate, low, high, .. }
        | FindAnswer::Unresolved { rate, low, high, .. }) = search.answer()
        else {
            continue;
        };
        outcome.covered += usize::from((low..=high).contains(&truth));
        outcome.near += usize::from((rate / truth - 1.0).abs() < 0.1);
    }
    outcome
}

/// Searches a range on a queue of fixed times; returns the answers.
fn answers([from, to]: [f64; 2], searches: u64) -> Vec<FindAnswer> {
    let answer = |number| {
        let mut search = Search::new(Sought { from, to, max_time: 60.0, ..sought(0.01) }, number);
        let queue = Queue::new(ServiceTime::Fixed(0.001), 1, None, number);
        let mut server = Simulated { queue, now: 0.0 };
        let mut window = number * 1000;
        while let Some(wish) = search.next(server.now) {
            window += 1;
            search.take(server.window(&wish, 0.01, window));
        }
        search.answer()
    };
    (0..searches).map(answer).collect()
}

#[test]
fn an_answer_is_never_a_rate_that_was_not_to_be_searched() {
    let truth = Service::Fixed(0.001).highest_rate(0.01, 0.01);
    for range @ [from, to] in [
        [truth * 1.5, 5000.0],
        [truth * 1.05, 5000.0],
        [truth, 5000.0],
        [truth * 0.98, 5000.0],
        [100.0, truth * 1.02],
        [100.0, truth],
        [100.0, truth * 0.95],
        [100.0, truth * 0.6],
        [truth * 0.97, truth * 1.03],
    ] {
        let mut wrong = 0;
        for answer in answers(range, 10) {
            let is_right = match answer {
                FindAnswer::Found { rate, low, high, .. } => {
                    assert!(from <= low && low <= rate && rate <= high && high <= to, "{answer:?}");
                    (low..=high).contains(&truth)
                }
                FindAnswer::Unresolved { rate, low, high, .. } => {
                    assert!((from..=to).contains(&rate), "{answer:?}");
                    (low..=high).contains(&truth)
                }
                FindAnswer::AtLeast { rate, .. } => {
                    assert!((from..=to).contains(&rate), "{answer:?}");
                    rate <= truth
                }
                FindAnswer::AtMost { rate, lowest, .. } => {
                    assert!(lowest <= rate && rate <= to, "{answer:?}");
                    truth <= rate
                }
                FindAnswer::Below { rate } => truth <= rate,
                FindAnswer::Nothing => false,
            };
            wrong += usize::from(!is_right);
        }
        // Each is wrong in 5 of 100 at most; 3 of 10 then have a chance of one in a hundred.
        assert!(wrong <= 2, "{wrong} of 10 in {range:?}");
    }
}

#[test]
fn a_truth_outside_the_range_is_said_to_be_there() {
    let truth = Service::Fixed(0.001).highest_rate(0.01, 0.01);
    let is_below = |answer: &FindAnswer| matches!(answer, FindAnswer::Below { .. });
    let far_below = answers([truth * 1.5, 5000.0], 10);
    assert!(far_below.iter().all(is_below), "{far_below:?}");
    // So near to its end that a search may leave it open on which side it lies.
    let near = answers([truth * 1.02, 5000.0], 10);
    let is_said =
        |answer: &FindAnswer| is_below(answer) || matches!(answer, FindAnswer::AtMost { .. });
    assert!(near.iter().filter(|one| is_said(one)).count() >= 8, "{near:?}");
    let beyond = answers([100.0, truth * 0.8], 10);
    let is_beyond =
        |answer: &FindAnswer| matches!(answer, FindAnswer::AtLeast { limit: FindLimit::Range, .. });
    assert!(beyond.iter().all(is_beyond), "{beyond:?}");
}

fn sought(limit: f64) -> Sought {
    Sought { permitted: 0.01, limit: Some(limit), from: 10.0, to: 100_000.0, max_time: 120.0 }
}

#[test]
fn formulas_of_queues_agree_with_their_simulation() {
    for (service, known) in [
        (ServiceTime::Fixed(0.001), Service::Fixed(0.001)),
        (ServiceTime::Exponential(0.001), Service::Exponential(0.001)),
    ] {
        let mut queue = Queue::new(service, 1, None, 4);
        let stage = Stage { seconds: 1000.0, from: 800.0, to: 800.0 };
        let mut all = (0.0, 0.0);
        for due in Schedule::new(vec![stage], Arrivals::Poisson, 3) {
            all.0 += f64::from(u8::from(queue.answer_at(due) - due >= 8_000_000));
            all.1 += 1.0;
        }
        let truth = known.share_above(800.0, 0.008);
        assert!((all.0 / all.1 / truth - 1.0).abs() < 0.1, "{} {truth}", all.0 / all.1);
    }
}

/// A server of 1 ms and a limit of 10 ms.
fn finds_the_rate_of_the_formula(service: ServiceTime, known: Service, seed: u64) {
    let truth = known.highest_rate(0.01, 0.01);
    let outcome = searches(SEARCHES, seed, sought(0.01), service, truth);
    assert!(outcome.covered * 100 >= 95 * SEARCHES, "{service:?}: {outcome:?}");
    assert!(outcome.near * 100 >= 95 * SEARCHES, "{service:?}: {outcome:?}");
}

#[test]
fn a_search_finds_the_773_requests_a_second_of_fixed_times() {
    finds_the_rate_of_the_formula(ServiceTime::Fixed(0.001), Service::Fixed(0.001), 0);
}

#[test]
fn a_search_finds_the_539_requests_a_second_of_exponential_times() {
    let known = Service::Exponential(0.001);
    finds_the_rate_of_the_formula(ServiceTime::Exponential(0.001), known, 1_000_000);
}

#[test]
fn a_generator_that_goes_no_further_is_the_limit_and_says_so() {
    let mut search = Search::new(sought(0.01), 1);
    let mut elapsed = 0.0;
    while let Some(wish) = search.next(elapsed) {
        elapsed += wish.settle + wish.seconds;
        // It cannot be believed from 5000 on, and the server misses nothing.
        let missed = (wish.rate < 5000.0).then_some([0.0, wish.rate * wish.seconds]);
        search.take(Tried { rate: wish.rate, missed });
    }
    let FindAnswer::AtLeast { rate, limit: FindLimit::Generator, .. } = search.answer() else {
        panic!("{:?}", search.answer())
    };
    assert!((2500.0..5000.0).contains(&rate), "{rate}");
    assert!(search.ceiling().is_some_and(|ceiling| ceiling >= 5000.0));
}

#[test]
fn a_server_that_misses_at_every_rate_is_below_the_range_and_one_that_never_does_beyond_it() {
    let answer = |missed: f64| {
        let mut search = Search::new(Sought { to: 5000.0, ..sought(0.01) }, 1);
        let mut elapsed = 0.0;
        while let Some(wish) = search.next(elapsed) {
            elapsed += wish.settle + wish.seconds;
            let requests = wish.rate * wish.seconds;
            search.take(Tried { rate: wish.rate, missed: Some([missed * requests, requests]) });
        }
        (search.answer(), elapsed)
    };
    let (below, elapsed) = answer(1.0);
    assert!(matches!(below, FindAnswer::Below { .. }) && elapsed < 120.0, "{below:?}");
    let (beyond, _) = answer(0.0);
    let FindAnswer::AtLeast { rate, limit: FindLimit::Range, .. } = beyond else {
        panic!("{beyond:?}")
    };
    assert!(rate > 4000.0, "{rate}");
}

#[test]
fn a_search_without_time_for_the_highest_rate_says_nothing_about_it() {
    let mut search = Search::new(Sought { max_time: 4.0, ..sought(0.01) }, 1);
    let mut elapsed = 0.0;
    while let Some(wish) = search.next(elapsed) {
        elapsed += wish.settle + wish.seconds;
        search.take(Tried { rate: wish.rate, missed: Some([0.0, wish.rate * wish.seconds]) });
    }
    assert!(matches!(search.answer(), FindAnswer::Unresolved { .. }), "{:?}", search.answer());
}

#[test]
fn windows_that_cannot_be_believed_count_for_nothing() {
    let mut search = Search::new(sought(0.01), 1);
    let mut elapsed = 0.0;
    while let Some(wish) = search.next(elapsed) {
        elapsed += wish.settle + wish.seconds;
        search.take(Tried { rate: wish.rate, missed: None });
    }
    assert_eq!(search.answer(), FindAnswer::Nothing);
}

#[test]
fn the_largest_response_time_cannot_be_searched_for() {
    let error = |text: &str| Sought::new(&text.parse().unwrap(), [1.0, 10.0], 1.0).unwrap_err();
    assert!(error("max < 1s").to_string().contains("largest"));
    assert!(error("errors < 0%").to_string().contains("between 0 and 1"));
}
