//! Servers in turns: windows of simulated queues, of which each gives the logarithm of a quantile, decided as sessions are.
//!
//! A window has requests at random times, and one worker that takes them in order (Lindley's recursion: a request waits for
//! what is left of the work before it) or one for each request; and stalls in which nobody is served. Each window is a server process of its own,
//! with a level of its own. The two windows of a round may have the same due times, as in real sessions, or own ones.
//!
//! Windows are drawn once for a table and sessions take pairs of them at random, each pair in either direction by a coin:
//! so the ratio of equal servers is 1 exactly, whatever was drawn.

use becalm_stats::decide::paired::Observation;
use becalm_stats::{Rng, schedule};

use crate::table::{Table, titles};
use crate::tally::{ALPHA, MARGIN, Tally, percent};
use crate::trial::Looks;

/// A server under load.
#[derive(Debug, Clone, Copy)]
pub struct Queue {
    /// Name in tables.
    pub name: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
    /// Requests in a second.
    pub rate: f64,
    /// Seconds that a request takes.
    service: fn(&mut Rng) -> f64,
    /// Who serves.
    workers: Workers,
    /// Stalls in a second, and how long one is in seconds.
    stalls: (f64, f64),
    /// Standard deviation of the logarithm of the level of a process.
    level: f64,
}

/// Who serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Workers {
    /// One worker, in the order of arrival.
    One,
    /// One for each request: nobody waits for another.
    Many,
}

const fn queue(
    name: &'static str,
    description: &'static str,
    service: fn(&mut Rng) -> f64,
) -> Queue {
    Queue {
        name,
        description,
        rate: 2000.0,
        service,
        workers: Workers::One,
        stalls: (0.0, 0.0),
        level: 0.01,
    }
}

/// The servers of the table.
pub const QUEUES: [Queue; 6] = [
    Queue {
        workers: Workers::Many,
        ..queue(
            "many workers",
            "exponential service of 5 ms, and nobody waits for another",
            |rng| 5e-3 * rng.exponential(),
        )
    },
    queue("M/M/1 at 0.5", "exponential service of 250 µs: waiting times are moderate", |rng| {
        250e-6 * rng.exponential()
    }),
    queue("M/M/1 at 0.8", "exponential service of 400 µs: the queue hardly ever empties", |rng| {
        400e-6 * rng.exponential()
    }),
    queue("bimodal", "3 % of the requests take 2 ms, the others 100 µs", |rng| {
        if rng.uniform() < 0.03 { 2e-3 } else { 100e-6 }
    }),
    queue(
        "cliff",
        "1 % of the requests take 5 ms, the others 100 µs: p99 lies at the edge",
        |rng| {
            if rng.uniform() < 0.01 { 5e-3 } else { 100e-6 }
        },
    ),
    Queue {
        stalls: (0.5, 0.05),
        ..queue("stalls", "100 µs, and every two seconds on average a stall of 50 ms", |_| 100e-6)
    },
];

/// Whose due times a window has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// Those of its round.
    OfRound,
    /// Its own.
    Own,
}

/// Windows of a server, two and two.
#[derive(Debug, Clone)]
pub struct Windows {
    /// Logarithms of the quantile of each pair.
    pairs: Vec<[f64; 2]>,
}

impl Queue {
    /// Returns the logarithm of a quantile of the response times of a window of `seconds`.
    fn window(&self, seconds: f64, q: f64, arrivals: &mut Rng, rng: &mut Rng) -> f64 {
        let level = (self.level * rng.normal()).exp();
        let mut times = Vec::new();
        let (mut now, mut free) = (0.0, 0.0_f64);
        let (stalls, length) = self.stalls;
        let mut next_stall = if stalls > 0.0 { rng.exponential() / stalls } else { f64::INFINITY };
        loop {
            now += arrivals.exponential() / self.rate;
            if now >= seconds {
                break;
            }
            while next_stall <= now.max(free) {
                free = free.max(next_stall) + length;
                next_stall += rng.exponential() / stalls;
            }
            let begins = if self.workers == Workers::One { free.max(now) } else { now };
            let ends = begins + (self.service)(rng) * level;
            if self.workers == Workers::One {
                free = ends;
            }
            times.push(ends - now);
        }
        let rank = becalm_place(q * times.len() as f64).min(times.len().saturating_sub(1));
        let (_, at, _) = times.select_nth_unstable_by(rank, f64::total_cmp);
        at.ln()
    }

    /// Draws pairs of windows.
    pub fn windows(
        &self,
        (seconds, q): (f64, f64),
        arrivals: Arrivals,
        pairs: usize,
        seed: u64,
    ) -> Windows {
        let mut rng = Rng::new(seed);
        let pair = || {
            let times = rng.split();
            let mut own = || match arrivals {
                Arrivals::OfRound => times.clone(),
                Arrivals::Own => rng.split(),
            };
            let mut of_both = [own(), own()];
            [0, 1].map(|side: usize| self.window(seconds, q, &mut of_both[side], &mut rng.split()))
        };
        Windows { pairs: std::iter::repeat_with(pair).take(pairs).collect() }
    }
}

/// Turns a number that is not negative into a place.
fn becalm_place(number: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank of a list")]
    let place = number as usize;
    place
}

impl Windows {
    /// Returns the standard deviation of the log ratio of a round.
    pub fn spread(&self) -> f64 {
        let squares = self.pairs.iter().map(|[a, b]| (a - b).powi(2));
        (squares.sum::<f64>() / self.pairs.len() as f64).sqrt()
    }

    /// Returns the rounds of a session in which the quantile of the candidate is `ratio` times that of the baseline.
    fn session(&self, rounds: u32, ratio: f64, rng: &mut Rng) -> Vec<Observation> {
        let seed = rng.next_u64();
        (0..rounds)
            .map(|round| {
                let mut pair = self.pairs[rng.below(self.pairs.len())];
                if rng.coin() {
                    pair.reverse();
                }
                let [baseline, candidate] = pair;
                Observation {
                    baseline,
                    candidate: candidate + ratio.ln(),
                    candidate_first: schedule::order(seed, round, 2)[0] == 1,
                    pace: [0.0; 2],
                }
            })
            .collect()
    }

    /// Counts the answers of so many sessions.
    pub fn tally(&self, plan: &Looks, ratio: f64, trials: (u32, u64)) -> Tally {
        Tally::of_sessions(trials, |rng| plan.decide(&self.session(plan.maximum(), ratio, rng)))
    }
}

/// Seconds of a session of the table, with what each window takes beside its load.
const BUDGET: f64 = 60.0;
/// Seconds that starting, warming up and stopping a server take.
const BESIDE: f64 = 0.5;
/// Seconds of a window.
const WINDOW: f64 = 2.0;
/// Pairs of windows that are drawn.
const PAIRS: usize = 400;

/// Returns how many rounds of two windows fit into the budget.
pub fn rounds_in_budget(window: f64) -> u32 {
    u32::try_from(becalm_place(BUDGET / (2.0 * (window + BESIDE)))).unwrap_or(u32::MAX)
}

/// Returns the table of the appendix.
pub fn servers_markdown(trials: u32, seed: u64) -> String {
    let plan = Looks::sequential(rounds_in_budget(WINDOW), MARGIN, ALPHA, 1);
    let rows = QUEUES.iter().flat_map(|queue| {
        [0.99, 0.5].map(|q| {
            let windows = |arrivals| queue.windows((WINDOW, q), arrivals, PAIRS, seed);
            let (same, own) = (windows(Arrivals::OfRound), windows(Arrivals::Own));
            let found = |ratio: f64| {
                let tally = same.tally(&plan, ratio, (trials, seed + 1));
                percent(tally.rate(tally.above))
            };
            let equal = same.tally(&plan, 1.0, (trials, seed + 2));
            vec![
                format!("{}, p{}", queue.name, q * 100.0),
                format!("{:.1} %", 100.0 * own.spread()),
                format!("{:.1} %", 100.0 * same.spread()),
                percent(equal.different()),
                found(1.02),
                found(1.05),
                found(1.1),
                found(1.2),
            ]
        })
    });
    let table = Table {
        title: "Servers in turns".to_owned(),
        explanation: format!(
            "Sessions of up to {} rounds of two windows of {WINDOW} s, as many as fit into {BUDGET} s with {BESIDE} s beside each window; \
             margin {MARGIN}, {trials} sessions each. Spread is the standard deviation of the log ratio of a round, \
             with due times of each window's own and with those of its round; the other columns have the latter. A \
             false alarm is a difference between equal servers; the columns on the right are how often a quantile \
             that is higher by so much is found.",
            rounds_in_budget(WINDOW),
        ),
        header: titles(&[
            "server",
            "spread, own times",
            "spread, same times",
            "false alarms",
            "2 %",
            "5 %",
            "10 %",
            "20 %",
        ]),
        rows: rows.collect(),
    };
    let list = QUEUES.map(|queue| format!("- **{}**: {}\n", queue.name, queue.description));
    format!("{}\n{}", table.markdown(), list.concat())
}
