//! Whether series of each class are classified as such: synthetic ones as timings are, and those of
//! a real JIT runtime (`warmup/README.md`).
//!
//! `cargo test -p becalm-calibrate --release steady -- --ignored --nocapture` prints
//! the whole table.

use std::collections::BTreeSet;
use std::io::Read;

use becalm_calibrate::rate::clopper_pearson;
use becalm_calibrate::steady::score::{CELLS, Score};
use becalm_calibrate::steady::{Answer, Series, made, peers, recorded};
use becalm_stats::steady::{Class, TOLERANCE, agreement, classify};
use becalm_stats::{Rng, Sample};

/// What a made-up series does, and from which iteration it is steady.
struct Truth {
    class: Class,
    from: usize,
}

/// Levels of a series of `n` iterations around 1, with what they amount to.
type Make = fn(&mut Rng, usize) -> (Vec<f64>, Truth);

fn between(rng: &mut Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * rng.uniform()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of n")]
fn share_of(rng: &mut Rng, n: usize, low: f64, high: f64) -> usize {
    (between(rng, low, high) * n as f64) as usize
}

fn flat(_: &mut Rng, n: usize) -> (Vec<f64>, Truth) {
    (vec![1.0; n], Truth { class: Class::Flat, from: 0 })
}

/// One to three tiers, each faster than the one before.
fn tiers(rng: &mut Rng, n: usize) -> (Vec<f64>, Truth) {
    let from = share_of(rng, n, 0.02, 0.7);
    let mut levels = vec![1.0; n];
    let (mut end, mut level) = (from, 1.0);
    for _ in 0..=rng.below(3) {
        level *= between(rng, 1.1, 3.0);
        levels[..end].fill(level);
        end = (end / 3).max(2);
    }
    (levels, Truth { class: Class::WarmUp, from })
}

/// A start that falls off exponentially.
fn decay(rng: &mut Rng, n: usize) -> (Vec<f64>, Truth) {
    let (height, length) = (between(rng, 1.0, 9.0), between(rng, 0.005, 0.05) * n as f64);
    let levels: Vec<f64> = (0..n).map(|i| 1.0 + height * (-(i as f64) / length).exp()).collect();
    // Steady where less than 2 % are left.
    let from = levels.iter().position(|&level| level < 1.02).unwrap_or(n);
    (levels, Truth { class: Class::WarmUp, from })
}

fn slow_down(rng: &mut Rng, n: usize) -> (Vec<f64>, Truth) {
    let from = share_of(rng, n, 0.05, 0.7);
    let mut levels = vec![1.0; n];
    levels[..from].fill(1.0 / between(rng, 1.1, 3.0));
    // Half of them warm up before they slow down.
    if rng.coin() {
        levels[..from / 4].fill(between(rng, 1.1, 3.0));
    }
    (levels, Truth { class: Class::SlowDown, from })
}

/// Levels by turns, up to the end.
fn phases(rng: &mut Rng, n: usize) -> (Vec<f64>, Truth) {
    let length = share_of(rng, n, 0.05, 0.2);
    let other = between(rng, 1.1, 3.0);
    let levels = (0..n).map(|i| if (i / length).is_multiple_of(2) { 1.0 } else { other }).collect();
    (levels, Truth { class: Class::NoSteadyState, from: 0 })
}

/// A change in the last quarter.
fn late_change(rng: &mut Rng, n: usize) -> (Vec<f64>, Truth) {
    let from = share_of(rng, n, 0.78, 0.95);
    let mut levels = vec![1.0; n];
    let ratio = between(rng, 1.1, 3.0);
    levels[..from].fill(if rng.coin() { ratio } else { 1.0 / ratio });
    (levels, Truth { class: Class::NoSteadyState, from: 0 })
}

fn growing(rng: &mut Rng, n: usize) -> (Vec<f64>, Truth) {
    let growth = between(rng, 0.5, 5.0);
    let levels = (0..n).map(|i| 1.0 + growth * i as f64 / n as f64).collect();
    (levels, Truth { class: Class::NoSteadyState, from: 0 })
}

const SERIES: [(&str, Make); 7] = [
    ("flat", flat),
    ("warm-up in tiers", tiers),
    ("warm-up that falls off", decay),
    ("slow-down", slow_down),
    ("phases by turns", phases),
    ("change in the last quarter", late_change),
    ("growing", growing),
];

/// Noise with the standard deviation 1, around 0.
type Noise = fn(&mut Rng, &mut f64) -> f64;

const NOISE: [(&str, Noise); 4] = [
    ("normal", |rng, _| rng.normal()),
    ("skewed", |rng, _| rng.exponential() - 1.0),
    ("2 % spikes of 20 sd", |rng, _| {
        rng.normal() + if rng.uniform() < 0.02 { 20.0 * rng.exponential() } else { 0.0 }
    }),
    ("autocorrelated, 0.5", |rng, memory| {
        *memory = 0.5 * *memory + 0.75_f64.sqrt() * rng.normal();
        *memory
    }),
];

#[derive(Debug, Default)]
struct Tally {
    right: u64,
    all: u64,
    /// Warm-ups and slow-downs whose steady state was found within a fiftieth of the length.
    near: u64,
}

impl Tally {
    fn share(&self) -> f64 {
        self.right as f64 / self.all as f64
    }
}

fn tally(make: Make, noise: Noise, n: usize, trials: u32) -> Tally {
    let mut rng = Rng::new(61);
    let mut tally = Tally::default();
    for _ in 0..trials {
        let (levels, truth) = make(&mut rng, n);
        let deviation = between(&mut rng, 0.003, 0.03);
        let mut memory = rng.normal();
        let values =
            levels.iter().map(|x| 1e-3 * x * (1.0 + deviation * noise(&mut rng, &mut memory)));
        let series = Sample::new(values.collect()).unwrap();
        let found = classify(&series, &[], TOLERANCE).unwrap();
        tally.all += 1;
        tally.right += u64::from(found.class == truth.class);
        tally.near += u64::from(found.from.is_some_and(|from| from.abs_diff(truth.from) <= n / 50));
    }
    tally
}

#[test]
fn made_up_series_get_their_class_in_95_percent() {
    for (name, make) in SERIES {
        let (mut right, mut all) = (0, 0);
        for (noise_name, noise) in NOISE {
            let one = tally(make, noise, 500, 20);
            // Not below 95 % by more than chance explains.
            let possible = clopper_pearson(one.right, one.all, 0.99).high;
            assert!(possible >= 0.95, "{name}, {noise_name}: {one:?}");
            right += one.right;
            all += one.all;
        }
        assert!(right * 100 >= 95 * all, "{name}: {right} of {all}");
    }
}

#[test]
fn the_steady_state_begins_where_it_does() {
    for make in [tiers, slow_down] {
        let found = tally(make, |rng, _| rng.normal(), 300, 40);
        assert!(found.near * 100 >= found.all * 90, "{found:?}");
    }
}

#[test]
#[ignore = "prints the table; run in release"]
#[expect(clippy::print_stdout, reason = "the table is the purpose")]
fn table() {
    for (name, make) in SERIES {
        for (n, trials) in [(200, 400), (500, 400), (2000, 100)] {
            let cells = NOISE.map(|(noise, draw)| {
                let one = tally(make, draw, n, trials);
                let near = 100.0 * one.near as f64 / one.all as f64;
                format!("{noise}: {:5.1} (near {near:5.1})", 100.0 * one.share())
            });
            println!("{name:27} {n:5}  {}", cells.join("  "));
        }
    }
}

/// Returns the runs of a capture, in seconds.
fn capture(text: &str) -> Vec<Sample> {
    text.split("\n\n")
        .map(|run| {
            let lines = run.lines().filter(|line| !line.starts_with('#'));
            Sample::new(lines.map(|line| 1e-6 * line.parse::<f64>().unwrap()).collect()).unwrap()
        })
        .collect()
}

#[track_caller]
fn check_real(text: &str, class: Class, from: std::ops::RangeInclusive<usize>) {
    let runs = capture(text);
    assert!(runs.len() > 1);
    let found: Vec<_> = runs.iter().map(|run| classify(run, &[], TOLERANCE).unwrap()).collect();
    for (index, run) in found.iter().enumerate() {
        assert_eq!(run.class, class, "run {index}: {:?}", run.segments);
        assert!(run.from.is_none_or(|at| from.contains(&at)), "run {index}: {:?}", run.from);
    }
    assert_eq!(agreement(&found), Some(becalm_stats::steady::Agreement::Consistent(class)));
}

#[test]
fn runs_of_a_real_jit_compiler_get_the_class_that_the_eye_gives_them() {
    check_real(include_str!("warmup/interpreted.txt"), Class::Flat, 0..=0);
    check_real(include_str!("warmup/words.txt"), Class::WarmUp, 1250..=1450);
    check_real(include_str!("warmup/shapes.txt"), Class::SlowDown, 600..=660);
    check_real(include_str!("warmup/phases.txt"), Class::NoSteadyState, 0..=0);
    check_real(include_str!("warmup/growing.txt"), Class::NoSteadyState, 0..=0);
}

/// Rows of the tables in docs/methodology/iterations.md: a rule, and how often it is right.
fn row(name: &str, score: &Score) -> String {
    format!("| {name} | {} |", score.cells().join(" | "))
}

fn known(series: &Series) -> Answer {
    let seconds = Sample::new(series.seconds.clone()).unwrap();
    Answer::of(&classify(&seconds, &series.waited, TOLERANCE).unwrap())
}

fn unknown(seconds: &[f64]) -> Answer {
    Answer::of(&classify(&Sample::new(seconds.to_vec()).unwrap(), &[], TOLERANCE).unwrap())
}

/// Scores of a rule over series with their truth.
fn score<'a>(
    series: impl IntoIterator<Item = (Answer, &'a Series)>,
    rule: impl Fn(&Series) -> Answer,
) -> Score {
    let mut score = Score::default();
    for (truth, one) in series {
        score.add(truth, rule(one), one.seconds.len());
    }
    score
}

fn each_made(all: &[made::Made]) -> impl Iterator<Item = (Answer, &Series)> {
    all.iter().map(|one| (one.truth, &one.series))
}

#[test]
fn two_hundred_made_up_series_are_answered_as_methodology_says() {
    let all = made::all(20, 1);
    let page = include_str!("../../../../docs/methodology/iterations.md");
    let with = score(each_made(&all), known);
    let without = score(each_made(&all), |one| unknown(&one.seconds));
    assert!(with.right >= 196 && without.right >= 190, "{with:?} {without:?}");
    for row in [row("becalm, waiting known", &with), row("becalm", &without)] {
        assert!(page.contains(&row), "docs/methodology/iterations.md lacks {row}");
    }
}

/// A recorded run that is judged.
struct Judged {
    truth: Answer,
    series: Series,
    is_quiet: bool,
    /// Whether it is of the half of the programs on which the rule was tuned.
    is_tuned: bool,
}

/// The runs of both recordings, each of one machine. The rule was tuned on every second program of the first.
fn recorded() -> Vec<Judged> {
    let files: [&[u8]; 2] =
        [include_bytes!("warmup/recorded.txt.gz"), include_bytes!("warmup/recorded-2.txt.gz")];
    let machines = files.map(|file| {
        let mut text = String::new();
        flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
        recorded::read(&text)
    });
    let programs: BTreeSet<&str> = machines[0].iter().map(|one| one.program.as_str()).collect();
    let tuned: Vec<&str> = programs.into_iter().step_by(2).collect();
    let judged = |all: &[recorded::Recorded], at: usize| Judged {
        truth: recorded::truth(all, at),
        series: all[at].series.clone(),
        is_quiet: all[at].is_quiet(),
        is_tuned: tuned.contains(&all[at].program.as_str()),
    };
    machines.iter().flat_map(|all| (0..all.len()).map(|at| judged(all, at))).collect()
}

/// Says which runs are of a part.
type Part = fn(&Judged) -> bool;

/// The parts of the recorded runs of which there is a table.
const PARTS: [(&str, Part); 4] = [
    ("quiet", |one| one.is_quiet),
    ("busy", |one| !one.is_quiet),
    ("together", |_| true),
    ("of programs that nothing was tuned on", |one| !one.is_tuned),
];

#[test]
fn recorded_series_are_answered_as_methodology_says() {
    let page = include_str!("../../../../docs/methodology/iterations.md");
    let all = recorded();
    for (name, is_in) in PARTS {
        let part = || all.iter().filter(|one| is_in(one)).map(|one| (one.truth, &one.series));
        let row = row("becalm", &score(part(), |one| unknown(&one.seconds)));
        assert!(page.contains(&row), "{name}: docs/methodology/iterations.md lacks {row}");
    }
}

#[test]
#[ignore = "prints the tables of docs/methodology/iterations.md, takes minutes; run in release"]
#[expect(clippy::print_stdout, reason = "the tables are the purpose")]
fn steady_tables() {
    let made = made::all(20, 1);
    let recorded = recorded();
    let mut tables: Vec<(&str, Vec<(Answer, &Series)>)> =
        vec![("made up", each_made(&made).collect())];
    for (name, is_in) in PARTS {
        let part = recorded.iter().filter(|one| is_in(one));
        tables.push((name, part.map(|one| (one.truth, &one.series)).collect()));
    }
    println!("| {} |", CELLS.join(" | "));
    for (name, all) in tables {
        println!("{name}: {}", all.len());
        println!("{}", row("becalm, waiting known", &score(all.iter().copied(), known)));
        println!("{}", row("becalm", &score(all.iter().copied(), |one| unknown(&one.seconds))));
        for (name, rule) in peers::ALL {
            println!("{}", row(name, &score(all.iter().copied(), |one| rule(&one.seconds))));
        }
    }
}
