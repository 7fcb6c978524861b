//! One loop on isolated CPUs and on others.

use crate::reproduce::article::{Article, Experiment, Figure, Row, Setup, Size, Values};
use crate::reproduce::condition::Condition::{ChosenCpu, Isolated};
use crate::workloads::Workload;

pub(super) const STINNER: Article = Article {
    name: "stinner",
    author: "Victor Stinner",
    title: "Visualize the system noise using perf and CPU isolation",
    year: 2016,
    machine: "Intel Core i7-2600, CPUs 2-3 isolated at boot, no hyper-threading, in use meanwhile",
    experiments,
};

/// Runs, values of each and warm-up, as in the article.
const RUNS: usize = 25;
const ITERATIONS: usize = 3;
const WARMUP: usize = 1;

/// Work of a value: about 50 ms. The article's is `x+y` in Python 10^7 times, 0.37 s.
const AMOUNT: u64 = 25_000;

fn experiments(_: &Size) -> Vec<Experiment> {
    use Figure::{Cv, Deviation, Excess, Maximum, Median, Minimum, RelativeCv, RelativeExcess};
    let plain = Setup {
        warmup: WARMUP,
        amount: Some(AMOUNT),
        ..Setup::new(Workload::Compute, RUNS, ITERATIONS)
    };
    let setups = vec![plain.with(&[Isolated]), plain.clone(), plain.with(&[ChosenCpu])];
    // Its standard deviation over its median stands for a CV, which it does not state.
    let row = |name: &str, setup, [median, deviation, maximum, excess]: [&str; 4], cv| {
        let stated = [
            (Minimum, "36.5 ns"),
            (Median, median),
            (Deviation, deviation),
            (Maximum, maximum),
            (Excess, excess),
        ];
        Row::new(name, setup, &stated).with_derived(Cv, cv)
    };
    let rows = vec![
        row("isolated", 0, ["36.6 ns", "0.1 ns", "36.7 ns", "0.4 %"], 0.1 / 36.6),
        // It states the ratio of the largest values above the median, of figures that are not rounded.
        row("not isolated", 1, ["36.7 ns", "1.3 ns", "43.0 ns", "17.0 %"], 1.3 / 36.7)
            .with_derived(RelativeExcess, 63.0),
        Row::new("only pinned", 2, &[]),
    ];
    vec![Experiment {
        title: "Isolated CPUs and others".to_owned(),
        method: format!(
            "{RUNS} runs of {ITERATIONS} values after {WARMUP} of warm-up, all values together. The article's \
             values are of one Python statement, these of 20 million steps of a loop: compare the shares. Here \
             CPUs are isolated while a run lasts, by control groups, and not at boot"
        ),
        figures: vec![Minimum, Median, Deviation, Cv, RelativeCv, Maximum, Excess, RelativeExcess],
        values: Values::Pooled,
        histogram: true,
        setups,
        rows,
        ..Experiment::default()
    }]
}
