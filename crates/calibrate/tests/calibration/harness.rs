//! How often comparisons of harness results are wrong where processes differ more than the values inside
//! them: 1.5 % between processes and 0.5 % within, as layouts and hash seeds make it.
//!
//! Nothing differs between the two sides, so every difference found is a false alarm. Tests that take all
//! values as if they were independent are run on the same data, to show what the data are like.
//!
//! `cargo test -p becalm-calibrate --release harness -- --ignored --nocapture` prints the table
//! of docs/methodology/harnesses.md.

use becalm_calibrate::peers::{mann_whitney, welch};
use becalm_model::terms::Primary;
use becalm_model::{Metric, Outcome, Part, Record, RecordKind, Run, Subject, Unit, Verdict};
use becalm_runner::conclude::{Pairing, Shape, compare_all_separate, comparisons};
use becalm_runner::rounds::Judgement;
use becalm_stats::{Rng, Sample};

const BETWEEN: f64 = 0.015;
const WITHIN: f64 = 0.005;
const TRIALS: u32 = 1000;
/// Trials behind a figure of the table.
const TRIALS_OF_TABLE: u32 = 20_000;

/// Of 1000 trials at 5 % so many are false alarms in one of a thousand series: the 99.9 % point of the
/// binomial distribution.
const LIMIT: u32 = 73;

struct Design {
    benchmarks: usize,
    processes: u32,
    values: usize,
}

fn records(design: &Design, rng: &mut Rng) -> [Record; 2] {
    let mut metric = |index: usize| {
        let name = format!("benchmark{index}");
        Metric { benchmark: Some(name.clone()), ..Metric::lower(&name, Unit::Second) }
    };
    let mut record = Record::empty(RecordKind::Comparison);
    record.metrics = (0..design.benchmarks).map(&mut metric).collect();
    [record.clone(), record].map(|mut record| {
        record.subjects.push(Subject::new("a", vec![]));
        for round in 0..design.processes {
            let parts = (0..design.benchmarks).map(|metric| {
                let process = BETWEEN * rng.normal();
                let mut iterations: Vec<f64> =
                    (0..design.values).map(|_| (process + WITHIN * rng.normal()).exp()).collect();
                let in_order = iterations.clone();
                iterations.sort_by(f64::total_cmp);
                Part { metric, value: iterations[design.values / 2], iterations: in_order }
            });
            record.runs.push(run(0, round, parts.collect()));
        }
        record
    })
}

fn run(subject: usize, round: u32, parts: Vec<Part>) -> Run {
    Run {
        subject,
        round,
        order: (round + u32::try_from(subject).unwrap()) % 2,
        warmup: false,
        discarded: false,
        started: f64::from(round),
        outcome: Outcome::Exited(0),
        values: vec![],
        parts,
        iterations: vec![],
        evidence: None,
        padding: 0,
        layout: None,
        load: None,
    }
}

/// Puts two records side by side, as if they had been measured in rounds.
fn interleaved([old, new]: &[Record; 2]) -> Record {
    let mut record = old.clone();
    record.subjects.push(Subject::new("b", vec![]));
    record.runs.extend(new.runs.iter().map(|one| run(1, one.round, one.parts.clone())));
    record
}

fn differs(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Faster | Verdict::Slower)
}

/// Counts the trials in which any benchmark is called different, by this rule.
fn alarms(design: &Design, trials: u32, rule: impl Fn(&[Record; 2]) -> bool) -> u32 {
    let mut rng = Rng::new(20_261_121);
    let alarms = (0..trials).filter(|_| rule(&records(design, &mut rng))).count();
    u32::try_from(alarms).unwrap()
}

fn by_becalm(records: &[Record; 2]) -> bool {
    let judgement =
        Judgement { confidence: 0.95, margin: 0.0, primary: Primary::Benchmarks(vec![]) };
    comparisons(&interleaved(records), &judgement, &Shape::single())
        .iter()
        .any(|one| differs(one.verdict))
}

fn by_diff([old, new]: &[Record; 2]) -> bool {
    let pairing =
        |metric: &Metric| Pairing { baseline: 0, candidate: 0, metric: metric.name.clone() };
    let pairings: Vec<Pairing> = old.metrics.iter().map(pairing).collect();
    compare_all_separate(old, new, &pairings, 0.95, 0.0).iter().any(|one| differs(one.verdict))
}

fn by_welch([old, new]: &[Record; 2]) -> bool {
    welch(&pooled(old), &pooled(new), 0.95).is_ok_and(|found| found.p < 0.05)
}

fn by_ranks([old, new]: &[Record; 2]) -> bool {
    mann_whitney(&pooled(old), &pooled(new)).p < 0.05
}

fn pooled(record: &Record) -> Sample {
    let values = record.runs.iter().flat_map(|run| run.parts[0].iterations.clone()).collect();
    Sample::new(values).unwrap()
}

const TEN: Design = Design { benchmarks: 10, processes: 12, values: 10 };
/// As pyperf measures.
const PYPERF: Design = Design { benchmarks: 1, processes: 20, values: 3 };
/// As `go test -count=10` does.
const GO: Design = Design { benchmarks: 1, processes: 1, values: 10 };

#[test]
fn ten_benchmarks_in_twelve_processes_raise_no_more_false_alarms_than_stated() {
    let (live, separate) = (alarms(&TEN, TRIALS, by_becalm), alarms(&TEN, TRIALS, by_diff));
    assert!(live <= LIMIT && separate <= LIMIT, "{live} and {separate} of {TRIALS}");
}

#[test]
fn what_pooled_tests_call_different_is_not() {
    let (live, separate) = (alarms(&PYPERF, TRIALS, by_becalm), alarms(&PYPERF, TRIALS, by_diff));
    let welch = alarms(&PYPERF, TRIALS, by_welch);
    let rank = alarms(&GO, TRIALS, by_ranks);
    let never = alarms(&GO, TRIALS, by_diff);
    assert!(live <= LIMIT && separate <= LIMIT, "{live} and {separate} of {TRIALS}");
    assert_eq!(never, 0, "one process decides nothing");
    assert!(welch > 200 && rank > 500, "the data are not what they should be: {welch} {rank}");
}

#[test]
#[ignore = "prints the table; run in release"]
#[expect(clippy::print_stdout, reason = "the table is printed")]
fn print_the_table() {
    let share = |design, rule: fn(&[Record; 2]) -> bool| {
        100.0 * f64::from(alarms(design, TRIALS_OF_TABLE, rule)) / f64::from(TRIALS_OF_TABLE)
    };
    println!("becalm, 20 x 3           {:.1} %", share(&PYPERF, by_becalm));
    println!("becalm, ten of 12 x 10   {:.1} %", share(&TEN, by_becalm));
    println!("diff, 20 x 3             {:.1} %", share(&PYPERF, by_diff));
    println!("diff, ten of 12 x 10     {:.1} %", share(&TEN, by_diff));
    println!("Welch, pooled, 20 x 3    {:.1} %", share(&PYPERF, by_welch));
    println!("Mann-Whitney, 1 x 10     {:.1} %", share(&GO, by_ranks));
}
