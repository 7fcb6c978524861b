//! The 4 MB array sum from no mitigation to several stacked ones, and the spread of its counters.

use crate::reproduce::article::{
    Article, CounterTable, Experiment, Figure, Row, Setup, Size, Values,
};
use crate::reproduce::condition::Condition::{
    ChosenCpu, Fifo, FirstCpu, Governor, Isolated, LockedMemory, NoAslr, NoTurbo, SmtOff,
};
use crate::workloads::Workload;

pub(super) const TWIGSLOT: Article = Article {
    name: "twigslot",
    author: "twigslot",
    title: "twigslot.github.io/performance-engineering/2026-02-15-perf",
    year: 2026,
    machine: "AMD Ryzen 9 5950X, Linux 6.8, governor ondemand, boost on",
    experiments,
};

/// Runs, as in the article.
const RUNS: usize = 10;
/// Sums in a run, as in the article.
const ITERATIONS: usize = 100;

fn experiments(_: &Size) -> Vec<Experiment> {
    use Figure::{Cv, CvOfMinimums, Maximum, Minimum, Range};
    let plain = Setup::new(Workload::ArraySum, RUNS, ITERATIONS);
    let best = [ChosenCpu, LockedMemory, NoAslr];
    let stacked = |needed| plain.with(&[needed]).on_top_of(&best);
    let setups = vec![
        plain.clone(),
        plain.with(&[FirstCpu]),
        plain.with(&[ChosenCpu]),
        plain.with(&[LockedMemory]),
        plain.with(&[NoAslr]),
        plain.with(&best),
        plain.with(&best),
        stacked(Governor),
        stacked(NoTurbo),
        stacked(SmtOff),
        stacked(Fifo),
        stacked(Isolated),
    ];
    let row = |name: &str, setup, [cv, minimum, maximum, range]: [f64; 4], of_minimums| {
        let mut article = vec![(Cv, cv), (Minimum, minimum), (Maximum, maximum), (Range, range)];
        article.extend(Option::map(of_minimums, |value| (CvOfMinimums, value)));
        Row::new(name, setup, &article)
    };
    let rows = vec![
        row("baseline", 0, [0.0929, 907_528.0, 1_299_344.0, 391_816.0], Some(0.0224)),
        row("first CPU", 1, [0.0162, 861_458.0, 951_626.0, 90_168.0], None),
        row("another CPU", 2, [0.0130, 920_958.0, 981_104.0, 60_146.0], Some(0.0259)),
        row("mlockall", 3, [0.0591, 865_674.0, 1_197_786.0, 332_112.0], Some(0.0148)),
        row("no ASLR", 4, [0.0493, 900_558.0, 1_086_674.0, 186_116.0], Some(0.0207)),
        row("all three", 5, [0.0214, 900_150.0, 993_786.0, 93_636.0], Some(0.0245)),
        row("all three, again", 6, [0.0111, 939_420.0, 1_004_054.0, 64_634.0], None),
        Row::new("and performance", 7, &[]),
        Row::new("and no boost", 8, &[]),
        Row::new("and SMT off", 9, &[]),
        Row::new("and SCHED_FIFO", 10, &[]),
        Row::new("and isolated", 11, &[]),
    ];
    vec![Experiment {
        title: "From no mitigation to stacked ones".to_owned(),
        method: format!(
            "{RUNS} runs of {ITERATIONS} sums of a 4 MB array, each timed; the figures are those of the run \
             whose CV is in the middle (one run in the article). The article names the last five and gives no \
             figures for them"
        ),
        figures: vec![Cv, Minimum, Maximum, Range, CvOfMinimums],
        values: Values::MiddleRun,
        in_ticks: true,
        histogram: false,
        setups,
        rows,
        counters: Some(CounterTable {
            before: 0,
            after: 5,
            counters: vec![
                ("task_clock", 0.0140, 0.0046),
                ("context_switches", 0.0213, 0.0104),
                ("cpu_migrations", 0.5477, 0.0),
                ("page_faults", 0.0003, 0.0010),
                ("cycles", 0.0055, 0.0037),
                ("instructions", 0.0031, 0.0),
                ("branch_misses", 0.0292, 0.0008),
                ("cache_misses", 0.0069, 0.0039),
            ],
        }),
    }]
}
