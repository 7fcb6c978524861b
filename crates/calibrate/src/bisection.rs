//! Searches in made-up histories: how often the right commit is found, how sure the search says it is, and what
//! it costs, beside plain bisection with a fixed number of repeats.

use std::fmt::Write as _;

use crate::noise::{self, Noise};
use becalm_stats::bisect::{
    BuildReading, ROUNDS_OF_ENDS, State, found, most_rounds_of_commit, next_commit, posterior,
    rounds_of_step,
};
use becalm_stats::decide::paired::{self, Observation};
use becalm_stats::{Rng, normal};

/// A history to be searched.
#[derive(Debug, Clone, Copy)]
pub struct History {
    /// Name in tables.
    pub name: &'static str,
    /// Commits after the good end.
    pub commits: usize,
    /// Ratio of the new level to the old.
    pub ratio: f64,
    /// What the machine adds to each run.
    pub noise: Noise,
    /// Multiplies the noise: models have a deviation of 1 %.
    pub scale: f64,
    /// Standard deviation of what a build adds to its level by its layout.
    pub layout: f64,
    /// Share of the commits that cannot be built.
    pub broken: f64,
    /// Share of the commits that have the program of the commit before.
    pub unchanged: f64,
}

/// The history of the bar: 64 commits, 3 % slower at a random place, 2 % noise.
pub const PLAIN: History = History {
    name: "independent",
    commits: 64,
    ratio: 1.03,
    noise: noise::INDEPENDENT,
    scale: 2.0,
    layout: 0.0,
    broken: 0.0,
    unchanged: 0.0,
};

/// The histories of the published table.
pub const HISTORIES: [History; 12] = [
    PLAIN,
    History { name: "AR(1) 0.6", noise: noise::CORRELATED_6, ..PLAIN },
    History { name: "random walk", noise: noise::RANDOM_WALK, ..PLAIN },
    History { name: "spikes", noise: noise::SPIKES, ..PLAIN },
    History { name: "two modes, 6 % apart", noise: noise::BIMODAL, ..PLAIN },
    History { name: "two modes, sticky", noise: noise::BIMODAL_STICKY, ..PLAIN },
    History { name: "heavy tails", noise: noise::HEAVY_TAILS, ..PLAIN },
    History { name: "builds differ by 0.5 %", layout: 0.005, ..PLAIN },
    History { name: "1 in 5 does not build", broken: 0.2, ..PLAIN },
    History { name: "half change no program", unchanged: 0.5, ..PLAIN },
    History { name: "1000 commits", commits: 1000, ..PLAIN },
    History { name: "1 % slower, 1 % noise", ratio: 1.01, scale: 1.0, ..PLAIN },
];

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Search {
    /// As `becalm bisect` does, up to this confidence.
    Posterior(f64),
    /// So many rounds at each step; a commit is new when its level is beyond half of that of the bad end.
    Repeats(u32),
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ended {
    /// Whether the commit, or the group that was named, holds the right one; `None` if none was named.
    pub right: Option<bool>,
    /// The probability that was stated for it.
    pub stated: f64,
    /// The change that was told, as a share of the true one, where a commit was named.
    pub change: f64,
    /// Whether the interval of 95 % that was told with it holds the true one.
    pub covered: bool,
    /// Commits that were named.
    pub named: usize,
    /// Rounds, those of the ends among them.
    pub rounds: u32,
    /// Builds, those of the ends among them.
    pub builds: u32,
}

/// Rounds after which a search is given up.
const BUDGET: u32 = 2000;

/// A machine with a history on it.
struct Bench {
    rng: Rng,
    levels: Vec<f64>,
    /// What is added to each run, in time order.
    noise: Vec<f64>,
    scale: f64,
    rounds: u32,
}

impl Bench {
    fn rounds(&mut self, commit: usize, rounds: u32) -> Vec<Observation> {
        (0..rounds)
            .map(|_| {
                let at = 2 * self.rounds as usize;
                self.rounds += 1;
                let [first, second] = [at, at + 1].map(|at| self.scale * self.noise[at]);
                let candidate_first = self.rng.coin();
                let (baseline, candidate) =
                    if candidate_first { (second, first) } else { (first, second) };
                Observation {
                    baseline: baseline + self.levels[0],
                    candidate: candidate + self.levels[commit],
                    candidate_first,
                    pace: [0.0; 2],
                }
            })
            .collect()
    }
}

/// Searches one history made from `seed`.
pub fn search(history: &History, search: Search, seed: u64) -> Ended {
    let mut rng = Rng::new(seed);
    let n = history.commits;
    // What changes no program is not where a program changed.
    let mut unchanged: Vec<bool> = (0..=n).map(|_| rng.uniform() < history.unchanged).collect();
    let culprit = 1 + rng.below(n);
    unchanged[0] = false;
    unchanged[culprit] = false;
    let program: Vec<usize> =
        (0..=n).map(|commit| (0..=commit).rev().find(|&at| !unchanged[at]).unwrap_or(0)).collect();
    let layouts: Vec<f64> = (0..=n).map(|_| history.layout * rng.normal()).collect();
    let levels = (0..=n)
        .map(|commit| {
            layouts[program[commit]] + if commit >= culprit { history.ratio.ln() } else { 0.0 }
        })
        .collect();
    let broken: Vec<bool> =
        (0..=n).map(|commit| commit > 0 && commit < n && rng.uniform() < history.broken).collect();
    let noise = history.noise.draw(&mut rng, 2 * (BUDGET as usize + 100), 2);
    let bench = Bench { rng, levels, noise, scale: history.scale, rounds: 0 };
    match search {
        Search::Posterior(confidence) => {
            by_posterior(bench, culprit, &program, &broken, confidence)
        }
        Search::Repeats(rounds) => by_repeats(bench, culprit, &broken, rounds),
    }
}

fn by_posterior(
    mut bench: Bench,
    culprit: usize,
    program: &[usize],
    broken: &[bool],
    confidence: f64,
) -> Ended {
    let n = broken.len() - 1;
    let mut states = vec![State::Unknown; n + 1];
    (states[0], states[n]) = (State::Built, State::Built);
    let mut measured = vec![Vec::new(); n + 1];
    measured[n] = bench.rounds(n, ROUNDS_OF_ENDS);
    let bad = paired::level_of(&measured[n]).expect("there are rounds enough");
    let rounds = rounds_of_step(&bad, ROUNDS_OF_ENDS);
    let mut builds = 2;
    loop {
        let readings = readings(&measured, program, &states);
        let Some(posterior) = posterior(n, &readings) else {
            return ended(None, culprit, &bench, builds);
        };
        if let Some(group) = found(&posterior, &states, confidence) {
            let named = Some((group.from, group.to, group.probability));
            let truth = bench.levels[n] - bench.levels[0];
            let reach = normal::quantile(0.975) * posterior.deviation;
            return Ended {
                change: posterior.change / truth,
                covered: (posterior.change - truth).abs() <= reach,
                ..ended(named, culprit, &bench, builds)
            };
        }
        let next = next_commit(&posterior, &states).filter(|_| bench.rounds < BUDGET);
        let Some(next) = next else { return ended(None, culprit, &bench, builds) };
        if states[next] == State::Unknown {
            builds += 1;
            states[next] = if broken[next] { State::Skipped } else { State::Built };
            // The same program is not measured again; what is known of it is put together.
            let is_known = (0..=n)
                .any(|at| at != next && states[at] == State::Built && program[at] == program[next]);
            if is_known || broken[next] {
                continue;
            }
        }
        measured[next].extend(bench.rounds(next, rounds));
        if measured[next].len() >= most_rounds_of_commit(rounds) as usize {
            states[next] = State::Exhausted;
        }
    }
}

fn readings(
    measured: &[Vec<Observation>],
    program: &[usize],
    states: &[State],
) -> Vec<BuildReading> {
    let tried = |at: &usize| matches!(states[*at], State::Built | State::Exhausted);
    let mut readings = Vec::new();
    for at in (0..measured.len()).filter(tried) {
        let same: Vec<usize> = (0..measured.len())
            .filter(tried)
            .filter(|&other| program[other] == program[at])
            .collect();
        if same[0] != at {
            continue;
        }
        // The good end is measured against itself by having the same program.
        let level = if at == 0 {
            Some(paired::Level { centre: 0.0, error: 0.0, df: 10.0 })
        } else {
            let all: Vec<Observation> =
                same.iter().flat_map(|&at| measured[at].iter().copied()).collect();
            paired::level_of(&all)
        };
        readings.extend(level.map(|level| BuildReading { commits: same, level }));
    }
    readings
}

fn by_repeats(mut bench: Bench, culprit: usize, broken: &[bool], rounds: u32) -> Ended {
    let n = broken.len() - 1;
    let centre = |observations: &[Observation]| {
        observations.iter().map(Observation::log_ratio).sum::<f64>() / observations.len() as f64
    };
    let bad = centre(&bench.rounds(n, ROUNDS_OF_ENDS));
    let (mut old, mut new, mut builds) = (0, n, 2);
    loop {
        let middle = f64::midpoint(old as f64, new as f64);
        let untried = (old + 1..new).filter(|&at| !broken[at]);
        let distance = |at: usize| (at as f64 - middle).abs();
        let Some(next) = untried.min_by(|&a, &b| distance(a).total_cmp(&distance(b))) else {
            return ended(Some((old + 1, new, 1.0)), culprit, &bench, builds);
        };
        builds += 1;
        if centre(&bench.rounds(next, rounds)) / bad > 0.5 {
            new = next;
        } else {
            old = next;
        }
    }
}

fn ended(named: Option<(usize, usize, f64)>, culprit: usize, bench: &Bench, builds: u32) -> Ended {
    Ended {
        right: named.map(|(from, to, _)| (from..=to).contains(&culprit)),
        stated: named.map_or(0.0, |(.., probability)| probability),
        change: 0.0,
        covered: false,
        named: named.map_or(0, |(from, to, _)| to + 1 - from),
        rounds: bench.rounds,
        builds,
    }
}

/// What many searches came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Searches.
    pub searches: u32,
    /// Those that named a commit or a group.
    pub named: u32,
    /// Those that named the right one.
    pub right: u32,
    /// Sum of the stated probabilities of those that named one.
    pub stated: f64,
    /// Sum of the changes that were told, as shares of the true ones.
    pub change: f64,
    /// Those whose interval holds the true change.
    pub covered: u32,
    /// Rounds on average.
    pub rounds: f64,
    /// Builds on average.
    pub builds: f64,
}

/// Searches many histories.
pub fn summary(history: &History, search: Search, searches: u32, seed: u64) -> Summary {
    let mut rng = Rng::new(seed);
    let mut all = Summary {
        searches,
        named: 0,
        right: 0,
        stated: 0.0,
        change: 0.0,
        covered: 0,
        rounds: 0.0,
        builds: 0.0,
    };
    for _ in 0..searches {
        let one = self::search(history, search, rng.next_u64());
        all.named += u32::from(one.right.is_some());
        all.right += u32::from(one.right == Some(true));
        all.stated += one.stated;
        all.change += one.change;
        all.covered += u32::from(one.covered);
        all.rounds += f64::from(one.rounds) / f64::from(searches);
        all.builds += f64::from(one.builds) / f64::from(searches);
    }
    all
}

/// Returns the table of `docs/methodology/bisection.md`.
pub fn bisection_markdown(searches: u32, seed: u64) -> String {
    let mut text = String::from(
        "| history | search | right | wrong | none named | stated | change / true | covered | rounds | builds |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let rows = HISTORIES
        .iter()
        .map(|history| (history, Search::Posterior(0.95)))
        .chain([8, 16, 32].map(|rounds| (&PLAIN, Search::Repeats(rounds))));
    for (history, search) in rows {
        let one = summary(history, search, searches, seed);
        let share = |count: u32| 100.0 * f64::from(count) / f64::from(searches);
        let named = f64::from(one.named.max(1));
        let (how, stated) = match search {
            Search::Posterior(_) => (
                "becalm".to_owned(),
                format!(
                    "{:.1} % | {:.2} | {:.1} %",
                    100.0 * one.stated / named,
                    one.change / named,
                    100.0 * f64::from(one.covered) / named
                ),
            ),
            Search::Repeats(rounds) => {
                (format!("plain, {rounds} rounds a step"), "– | – | –".to_owned())
            }
        };
        let _ = writeln!(
            text,
            "| {} | {how} | {:.1} % | {:.1} % | {:.1} % | {stated} | {:.0} | {:.1} |",
            history.name,
            share(one.right),
            share(one.named - one.right),
            share(searches - one.named),
            one.rounds,
            one.builds
        );
    }
    text
}
