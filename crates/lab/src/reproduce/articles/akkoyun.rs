//! SMT with two tasks, frequency scaling with one and eight, and a warm-up that was too short.

use crate::reproduce::article::{Article, Experiment, Figure, Row, Setup, Size, Values};
use crate::reproduce::condition::Condition::{ChosenCpu, NoTurbo, SmtOff};
use crate::workloads::Workload;
use becalm_model::counted;

pub(super) const AKKOYUN: Article = Article {
    name: "akkoyun",
    author: "Kemal Akkoyun, Augusto de Oliveira",
    title: "Measuring Software Performance: Why Your Benchmarks Are Probably Lying",
    year: 2026,
    machine: "AWS m5.metal",
    experiments,
};

/// Runs and values of each, by the article's advice for numbers of both.
const RUNS: usize = 5;
const ITERATIONS: usize = 30;

/// Work of an iteration of the tasks: about 10 ms. The article's takes 0.5 to 1.5 s.
const AMOUNT: u64 = 5_000;

/// Tasks at once in the article's experiment about frequencies.
const TASKS: usize = 8;

fn experiments(size: &Size) -> Vec<Experiment> {
    vec![smt(), frequency(size), warmup()]
}

fn tasks(workload: Workload) -> Setup {
    Setup { warmup: 2, amount: Some(AMOUNT), ..Setup::new(workload, RUNS, ITERATIONS) }
}

fn times<'a>(mean: &'a str, deviation: &'a str, cv: &'a str) -> [(Figure, &'a str); 3] {
    [(Figure::Mean, mean), (Figure::Deviation, deviation), (Figure::Cv, cv)]
}

fn table(title: &str, method: String, setups: Vec<Setup>, rows: Vec<Row>) -> Experiment {
    Experiment {
        title: title.to_owned(),
        method,
        figures: vec![Figure::Mean, Figure::Deviation, Figure::Cv, Figure::RelativeCv],
        values: Values::Pooled,
        setups,
        rows,
        ..Experiment::default()
    }
}

fn smt() -> Experiment {
    let method = format!(
        "Two tasks that compute without memory, at the same time, {RUNS} runs of {ITERATIONS} iterations, all \
         together; with SMT they share a core"
    );
    let setups =
        vec![tasks(Workload::Siblings), tasks(Workload::Cores).tasks(2).on_top_of(&[SmtOff])];
    let rows = vec![
        Row::new("SMT, task 1", 0, &times("1537.64 ms", "367.29 ms", "23.887 %")),
        Row::new("SMT, task 2", 0, &times("1536.88 ms", "366.84 ms", "23.869 %")).of_task(1),
        Row::new("no SMT, task 1", 1, &times("737.37 ms", "0.32 ms", "0.044 %")),
        Row::new("no SMT, task 2", 1, &times("737.93 ms", "1.74 ms", "0.235 %")).of_task(1),
    ];
    table("Two tasks with and without SMT", method, setups, rows)
}

fn frequency(size: &Size) -> Experiment {
    let many = TASKS.min(size.cores);
    let fewer = if many < TASKS {
        format!(". The article has {TASKS} tasks; here are {} cores", size.cores)
    } else {
        String::new()
    };
    let method = format!(
        "Tasks that compute without memory, one on each core, {RUNS} runs of {ITERATIONS} iterations of the first, \
         all together{fewer}"
    );
    let one = tasks(Workload::Cores).tasks(1);
    let several = tasks(Workload::Cores).tasks(many);
    let setups = vec![
        one.clone().on_top_of(&[SmtOff]),
        several.clone().on_top_of(&[SmtOff]),
        one.with(&[NoTurbo]).on_top_of(&[SmtOff]),
        several.with(&[NoTurbo]).on_top_of(&[SmtOff]),
    ];
    let named = |state: &str, tasks: usize| format!("scaling {state}, {}", counted(tasks, "task"));
    let rows = vec![
        Row::new(&named("on", 1), 0, &times("533.97 ms", "2.046 ms", "0.383 %")),
        Row::new(&named("on", many), 1, &times("578.67 ms", "0.287 ms", "0.050 %")),
        Row::new(&named("off", 1), 2, &times("738.18 ms", "0.306 ms", "0.041 %")),
        Row::new(&named("off", many), 3, &times("739.18 ms", "0.351 ms", "0.047 %")),
    ];
    table("Frequency scaling with one task and several", method, setups, rows)
}

fn warmup() -> Experiment {
    let jit = |runs, warmup, iterations| {
        Setup { warmup, ..Setup::new(Workload::Jit, runs, iterations) }.with(&[ChosenCpu])
    };
    let method = format!(
        "A program that is interpreted first and compiled bit by bit, an iteration for each of the article's \
         seconds (there a Java service, whose time for a request was sampled each second); all values together. \
         Long is {RUNS} runs of {ITERATIONS}, the article's advice (M and N)"
    );
    let setups = vec![jit(1, 20, 15), jit(RUNS, 160, ITERATIONS)];
    let rows = vec![
        Row::new("short: 20, then 15", 0, &[(Figure::Cv, "11.80 %")]),
        Row::new("long: 160, then 30", 1, &[(Figure::Cv, "2.94 %")]),
    ];
    table("A short warm-up and a long one", method, setups, rows)
}
