//! The gate over simulated histories: asked at every commit, as a project does, before the commit's value is added.
//!
//! The table is in docs/HISTORY.md; the test compares it, and prints the one that should be there.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use becalm_model::gate::{GateOutcome, GateSeries};
use becalm_model::{Direction, Unit};
use becalm_stats::Rng;
use becalm_stats::prediction::FEWEST;

use super::level::{History, Measured, against_level};
use super::standing::{Standing, StandingTerms, Value};

/// Noise of deviation 1 around 0.
#[derive(Debug, Clone, Copy)]
enum Noise {
    Independent,
    Alike,
    Spiky,
    TwoModes,
}

impl Noise {
    fn name(self) -> &'static str {
        match self {
            Self::Independent => "independent",
            Self::Alike => "AR(1) 0.3",
            Self::Spiky => "skewed, 3 % spikes",
            Self::TwoModes => "two modes, 2 apart",
        }
    }

    /// Returns how many percent of regressions of twice the margin are to be stopped within three values, at least, and of
    /// those of half of it at most. A spike fails by itself.
    fn bar(self, margin: f64) -> (f64, f64) {
        let (enough, most) = match self {
            Self::Independent => (2.0, 5.0),
            Self::Alike | Self::TwoModes => (3.0, 5.0),
            Self::Spiky => (4.0, 16.0),
        };
        (if margin >= enough { 95.0 } else { 0.0 }, most)
    }

    fn draw(self, rng: &mut Rng, last: f64) -> f64 {
        match self {
            Self::Independent => rng.normal(),
            Self::Alike => 0.3f64.mul_add(last, 0.91f64.sqrt() * rng.normal()),
            Self::Spiky => {
                let spike = if rng.uniform() < 0.03 { 8.0 } else { 0.0 };
                0.8f64.mul_add(rng.normal(), 0.6 * (rng.exponential() - 1.0)) + spike
            }
            Self::TwoModes => {
                let mode: f64 = if rng.uniform() < 0.5 { 1.0 } else { -1.0 };
                mode.mul_add(0.7, 0.7 * rng.normal())
            }
        }
    }
}

/// What the gate said over histories.
#[derive(Debug, Default)]
struct Tally {
    calm: [usize; 3],
    regressions: usize,
    stopped: usize,
    let_through: usize,
    delays: Vec<usize>,
    kept: usize,
    after: usize,
}

const COMMITS: usize = 60;
const WITHIN: usize = 3;
/// Deviation of the noise, as a share of the level.
const DEVIATION: f64 = 0.02;

fn index(outcome: GateOutcome) -> usize {
    match outcome {
        GateOutcome::Pass => 0,
        GateOutcome::Inconclusive => 1,
        GateOutcome::Fail => 2,
    }
}

/// A commit from which on a history is worse.
#[derive(Debug, Clone, Copy)]
struct Step {
    commit: usize,
    /// In margins.
    size: f64,
}

/// Asks the gate at every commit of a history.
fn replay(noise: Noise, margin: f64, step: Option<Step>, rng: &mut Rng, tally: &mut Tally) {
    let margin = margin * DEVIATION;
    let mut last = 0.0;
    let mut draw = |commit: usize| {
        last = noise.draw(rng, last);
        let worse = step.filter(|step| commit >= step.commit).map_or(0.0, |step| step.size);
        let level = worse.mul_add(margin, 1.0);
        Value { value: 100.0 * (level + DEVIATION * last), error: None }
    };
    let first: Vec<Value> = (0..FEWEST).map(&mut draw).collect();
    let terms = StandingTerms { direction: Direction::Lower, margin, confidence: 0.95 };
    let mut standing = Standing::new(terms, first);
    let outcomes: Vec<GateOutcome> =
        (FEWEST..COMMITS).map(|commit| standing.take(&[draw(commit)], false).outcome).collect();
    let calm = step.map_or(COMMITS, |step| step.commit) - FEWEST;
    for outcome in &outcomes[..calm] {
        tally.calm[index(*outcome)] += 1;
    }
    if step.is_none() {
        return;
    }
    let since = &outcomes[calm..];
    tally.regressions += 1;
    let stopped = since.iter().position(|one| *one == GateOutcome::Fail);
    tally.stopped += usize::from(stopped.is_some_and(|after| after < WITHIN));
    tally.let_through += usize::from(since[..WITHIN].iter().all(|one| *one == GateOutcome::Pass));
    if let Some(after) = stopped {
        tally.delays.push(after + 1);
        tally.after += since.len() - after;
        tally.kept += since[after..].iter().filter(|one| **one == GateOutcome::Fail).count();
    }
}

/// Returns what the gate said over 200 histories, half of them with a step of so many margins.
fn tally(noise: Noise, margin: f64, size: f64) -> Tally {
    let mut rng = Rng::new(27);
    let mut tally = Tally::default();
    for i in 0..200 {
        let step = (i % 2 == 1).then(|| Step { commit: 25 + (i / 2) % 20, size });
        replay(noise, margin, step, &mut rng, &mut tally);
    }
    tally.delays.sort_unstable();
    tally
}

fn percent(count: usize, of: usize) -> f64 {
    100.0 * count as f64 / of.max(1) as f64
}

/// Returns the table of docs/HISTORY.md.
fn table() -> String {
    let mut text = "| noise, margin in deviations | unchanged: passes | undecided | stopped | regression: stopped within \
                    3 | all 3 undecided or stopped | delay | stays stopped | half the margin: stopped within 3 |\n\
                    |---|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for noise in [Noise::Independent, Noise::Alike, Noise::Spiky, Noise::TwoModes] {
        for margin in [1.0, 2.0, 3.0, 4.0] {
            let found = tally(noise, margin, 2.0);
            let half = tally(noise, margin, 0.5);
            let calm: usize = found.calm.iter().sum();
            let [passes, undecided, stopped] = found.calm.map(|count| percent(count, calm));
            let within = percent(found.stopped, found.regressions);
            let noticed = percent(found.regressions - found.let_through, found.regressions);
            let delay = found.delays[found.delays.len() / 2];
            let kept = percent(found.kept, found.after);
            let half = percent(half.stopped, half.regressions);
            // The bar: what the noise allows to be seen is stopped, and what did not change is not.
            assert!(stopped <= 5.0, "{noise:?} {margin}: {stopped}");
            let (least, most) = noise.bar(margin);
            assert!(within >= least, "{noise:?} {margin}: {within}");
            assert!(half <= most, "{noise:?} {margin}: {half}");
            let name = noise.name();
            let _ = writeln!(
                text,
                "| {name}, {margin} | {passes:.0} % | {undecided:.0} % | {stopped:.1} % | {within:.0} % | \
                 {noticed:.0} % | {delay} | {kept:.1} % | {half:.0} % |"
            );
        }
    }
    text
}

#[test]
fn the_table_of_the_gate_is_that_of_the_documentation() {
    let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/HISTORY.md");
    let document = std::fs::read_to_string(place).unwrap();
    let table = table();
    assert!(document.contains(&table), "docs/HISTORY.md should have this table:\n{table}");
}

#[test]
fn one_value_more_says_the_same_as_the_whole_history_read_again() {
    let mut rng = Rng::new(4);
    let terms = StandingTerms { direction: Direction::Lower, margin: 0.05, confidence: 0.95 };
    let values: Vec<Value> = (0..60)
        .map(|i| {
            let level = if i < 40 { 100.0 } else { 112.0 };
            Value { value: level + 2.0 * rng.normal(), error: None }
        })
        .collect();
    let mut standing = Standing::new(terms, values[..FEWEST].to_vec());
    for (i, one) in values.iter().enumerate().skip(FEWEST) {
        let found = standing.take(&[*one], false);
        let history = History { accepted: values[..i].to_vec(), ..History::default() };
        let measured = Measured { value: *one, runs: 1, exact: false };
        let (benchmark, metric) = ("a".to_owned(), "t".to_owned());
        let of =
            GateSeries { benchmark, metric, unit: Unit::Second, parameters: BTreeMap::default() };
        let again = against_level(of, measured, &history, &terms);
        assert_eq!((again.result.outcome, again.newest), (found.outcome, found.newest), "{i}");
    }
}
