//! The 4 MB array sum from no mitigation to several stacked ones, and the spread of its counters.

use crate::reproduce::article::{
    Article, CounterFigure, CounterTable, Experiment, Figure, Row, Setup, Size, Values,
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
    let row = |name: &str, setup, [cv, minimum, maximum, range]: [&str; 4], of_minimums| {
        let mut article = vec![(Cv, cv), (Minimum, minimum), (Maximum, maximum), (Range, range)];
        article.extend(Option::map(of_minimums, |value| (CvOfMinimums, value)));
        Row::new(name, setup, &article)
    };
    let rows = vec![
        row("baseline", 0, ["9.29 %", "907,528", "1,299,344", "391,816"], Some("2.24 %")),
        row("first CPU", 1, ["1.62 %", "861,458", "951,626", "90,168"], None),
        row("another CPU", 2, ["1.30 %", "920,958", "981,104", "60,146"], Some("2.59 %")),
        row("mlockall", 3, ["5.91 %", "865,674", "1,197,786", "332,112"], Some("1.48 %")),
        row("no ASLR", 4, ["4.93 %", "900,558", "1,086,674", "186,116"], Some("2.07 %")),
        row("all three", 5, ["2.14 %", "900,150", "993,786", "93,636"], Some("2.45 %")),
        row("all three, again", 6, ["1.11 %", "939,420", "1,004,054", "64,634"], None),
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
        counters: vec![
            CounterTable {
                figure: CounterFigure::Spread,
                before: 0,
                after: 5,
                counters: vec![
                    ("task_clock", "1.40 %", "0.46 %"),
                    ("context_switches", "2.13 %", "1.04 %"),
                    ("cpu_migrations", "54.77 %", "0.00 %"),
                    ("page_faults", "0.03 %", "0.10 %"),
                    ("cycles", "0.55 %", "0.37 %"),
                    ("stalled_cycles_frontend", "4.75 %", "4.53 %"),
                    ("instructions", "0.31 %", "0.00 %"),
                    ("branch_misses", "2.92 %", "0.08 %"),
                    ("cache_misses", "0.69 %", "0.39 %"),
                ],
            },
            CounterTable {
                figure: CounterFigure::Mean,
                before: 0,
                after: 3,
                counters: vec![("page_faults", "1,090", "183")],
            },
        ],
    }]
}
