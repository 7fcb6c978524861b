//! Bursts after idleness, on a machine that is tuned step by step.

use crate::reproduce::article::{Article, Experiment, Figure, Row, Setup, Size, Values};
use crate::reproduce::condition::Condition::{ChosenCpu, Governor, NoTurbo, SmtOff};
use crate::workloads::Workload;

pub(super) const ALVAREZ: Article = Article {
    name: "alvarez",
    author: "David Álvarez Rosa",
    title: "Tuning a Server for Benchmarking",
    year: 2026,
    machine: "AMD Ryzen 7 PRO 8700GE",
    experiments,
};

/// Repetitions and iterations, as in the article.
const RUNS: usize = 10;
const ITERATIONS: usize = 200;

fn experiments(_: &Size) -> Vec<Experiment> {
    use Figure::{Cv, Deviation, Mean, RelativeCv};
    let plain = Setup::new(Workload::BurstSum, RUNS, ITERATIONS);
    let setups = vec![
        plain.clone(),
        plain.with(&[ChosenCpu]),
        plain.with(&[Governor]).on_top_of(&[ChosenCpu]),
        plain.with(&[SmtOff]).on_top_of(&[ChosenCpu, Governor]),
        plain.with(&[NoTurbo]).on_top_of(&[ChosenCpu, Governor, SmtOff]),
        plain.with(&[Governor]),
    ];
    let row = |name: &str, setup, [mean, deviation, cv]: [&str; 3]| {
        Row::new(name, setup, &[(Mean, mean), (Deviation, deviation), (Cv, cv)])
    };
    let rows = vec![
        row("untuned", 0, ["99.6 us", "2.70 us", "2.72 %"]),
        row("and one CPU", 1, ["55.3 us", "0.59 us", "1.06 %"]),
        row("and performance", 2, ["54.9 us", "0.43 us", "0.79 %"]),
        row("and SMT off", 3, ["55.3 us", "0.15 us", "0.26 %"]),
        row("and turbo off", 4, ["55.5 us", "0.14 us", "0.26 %"]),
        Row::new("performance alone", 5, &[(Mean, "54.5 us")]),
    ];
    vec![Experiment {
        title: "Step by step, each row on top of the one before".to_owned(),
        method: format!(
            "{RUNS} runs of {ITERATIONS} bursts of 256 sums of 4096 doubles, each after 2 ms of idleness that is \
             not timed; the figures are of the means of the runs"
        ),
        figures: vec![Mean, Deviation, Cv, RelativeCv],
        values: Values::RunMeans,
        setups,
        rows,
        ..Experiment::default()
    }]
}
