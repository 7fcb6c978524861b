//! Series of real programs, recorded by `cargo xtask bench warmup`, and what the programs do by themselves.
//!
//! The truth of a run comes from the other runs of its program on the quiet stage (real-time class) alone: each is
//! divided by its own level (the median of its last quarter), the median over the runs is taken iteration by
//! iteration, smoothed by a median of fifteen, and steady from the first iteration on from which it stays within
//! [`NEAR`] of the level. No change points, no outliers: nothing that any of the rules does. Quiet runs are judged too,
//! each against the others.

use becalm_stats::Sample;
use becalm_stats::center::median;
use becalm_stats::steady::Class;

use super::{Answer, Series};

/// How far the quiet runs may be from their level and be steady.
pub const NEAR: f64 = 0.05;

/// Values on either side that are smoothed over.
const SIDE: usize = 7;

/// One run of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The language and the program.
    pub program: String,
    /// Who else was on the CPUs.
    pub stage: String,
    /// Its iterations.
    pub series: Series,
}

impl Recorded {
    /// Says whether nobody took its CPU.
    pub fn is_quiet(&self) -> bool {
        self.stage == "quiet"
    }
}

/// Reads the recording of one machine, decompressed.
pub fn read(text: &str) -> Vec<Recorded> {
    let line = |line: &str| {
        let (head, values) = line.split_once(':')?;
        let mut head = head.split(' ');
        let program = format!("{} {}", head.next()?, head.next()?);
        let mut series = Series { seconds: Vec::new(), waited: Vec::new() };
        for value in values.split_whitespace() {
            let (seconds, waited) = value.split_once('+').unwrap_or((value, "0"));
            series.seconds.push(1e-6 * seconds.parse::<f64>().ok()?);
            series.waited.push(1e-6 * waited.parse::<f64>().ok()?);
        }
        Some(Recorded { program, stage: head.next()?.to_owned(), series })
    };
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|one| line(one).unwrap_or_else(|| panic!("no series: {one:.60}"))).collect()
}

/// Returns what the program of the run `of` does by itself, from its other quiet runs on the same machine.
pub fn truth(all: &[Recorded], of: usize) -> Answer {
    let is_like_it = |one: &Recorded| one.is_quiet() && one.program == all[of].program;
    let others = all.iter().enumerate().filter(|(at, one)| *at != of && is_like_it(one));
    let runs: Vec<Vec<f64>> = others
        .map(|(_, one)| {
            let level = middle(last_quarter(&one.series.seconds));
            one.series.seconds.iter().map(|x| x / level).collect()
        })
        .collect();
    let n = runs.first().map_or(0, Vec::len);
    let over_runs: Vec<f64> =
        (0..n).map(|i| middle(&runs.iter().map(|run| run[i]).collect::<Vec<_>>())).collect();
    by_eye(&over_runs)
}

/// Returns from where on smoothed values stay near their level.
fn by_eye(over_runs: &[f64]) -> Answer {
    let n = over_runs.len();
    let smooth: Vec<f64> =
        (0..n).map(|i| middle(&over_runs[i.saturating_sub(SIDE)..(i + SIDE + 1).min(n)])).collect();
    let level = middle(last_quarter(&smooth));
    let is_off = |x: &f64| (x / level - 1.0).abs() > NEAR;
    let from = smooth.iter().rposition(is_off).map_or(0, |last| last + 1);
    if from > n - n / 4 {
        return Answer::none(n);
    }
    let class = match from {
        0 => Class::Flat,
        _ if smooth[..from].iter().any(|x| *x < (1.0 - NEAR) * level) => Class::SlowDown,
        _ => Class::WarmUp,
    };
    Answer { class, from }
}

fn last_quarter(values: &[f64]) -> &[f64] {
    &values[values.len() - values.len() / 4..]
}

fn middle(values: &[f64]) -> f64 {
    Sample::new(values.to_vec()).map_or(f64::NAN, |sample| median(&sample))
}
