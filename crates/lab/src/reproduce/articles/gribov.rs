//! What a guide to stable benchmarks promises: the whole recipe, threads that do not fit, and the start of the
//! stack.

use crate::reproduce::article::{Article, Experiment, Figure, Row, Setup, Size, Values};
use crate::reproduce::condition::Condition::{
    ChangingEnvironment, ChosenCpu, Fifo, FixedEnvironment, Governor, Isolated, Nice, NoAslr,
    NoTurbo, SmtOff,
};
use crate::workloads::Workload;
use becalm_model::counted;

pub(super) const GRIBOV: Article = Article {
    name: "gribov",
    author: "Yury Gribov",
    title: "uInit, README: setting up Ubuntu for stable benchmarking",
    year: 2025,
    machine: "Ubuntu 22 and 24 on various machines",
    experiments,
};

const RUNS: usize = 20;

fn experiments(size: &Size) -> Vec<Experiment> {
    vec![recipe(), threads(size), stack()]
}

/// Runs of a small program without and with everything the guide asks for.
fn recipe() -> Experiment {
    let plain = Setup { warmup: 3, ..Setup::new(Workload::Mixed, RUNS, 30) };
    let steps = [SmtOff, Isolated, Fifo, NoTurbo, Governor, Nice, NoAslr, FixedEnvironment];
    let setups = vec![plain.clone(), plain.with(&[]).on_top_of(&steps)];
    Experiment {
        title: "As it is, and with the whole recipe".to_owned(),
        method: format!(
            "{RUNS} runs of 30 iterations of a mixed program (SPEC in the guide); the figures are of the means of \
             the runs. Services are left running"
        ),
        figures: vec![Figure::Mean, Figure::Deviation, Figure::Cv, Figure::RelativeCv],
        values: Values::RunMeans,
        setups,
        rows: vec![
            Row::new("as it is", 0, &[(Figure::Cv, "up to 5 %")]),
            Row::new("recipe", 1, &[(Figure::Cv, "< 0.5 %")]),
        ],
        ..Experiment::default()
    }
}

/// A parallel loop on reserved CPUs, with as many threads as there are and with more.
fn threads(size: &Size) -> Experiment {
    let plain =
        Setup { warmup: 5, ..Setup::new(Workload::Oversubscribed, 5, 100).with(&[Isolated]) };
    let (fitting, more) = (size.reserved, size.reserved * 2);
    Experiment {
        title: "More threads than reserved CPUs".to_owned(),
        method: "5 runs of 100 iterations of a loop in several threads, which meet after each iteration; all \
                 iterations together"
            .to_owned(),
        figures: vec![Figure::Mean, Figure::Deviation, Figure::Cv, Figure::RelativeCv],
        values: Values::Pooled,
        setups: vec![plain.tasks(fitting), plain.tasks(more)],
        rows: vec![
            Row::new(&format!("{} on {}", counted(fitting, "thread"), counted(fitting, "CPU")), 0, &[]),
            Row::new(
                &format!("{} on {}", counted(more, "thread"), counted(fitting, "CPU")),
                1,
                &[(Figure::RelativeCv, "10 x")],
            ),
        ],
        ..Experiment::default()
    }
}

/// One program whose stack starts elsewhere in every run, and one whose stack does not.
fn stack() -> Experiment {
    let plain = Setup { warmup: 3, ..Setup::new(Workload::Mixed, RUNS, 30) };
    let fixed = [ChosenCpu, NoAslr];
    Experiment {
        title: "Where the stack starts".to_owned(),
        method: format!(
            "{RUNS} runs of 30 iterations of a mixed program on one CPU, without ASLR; the figures are of the means \
             of the runs. The guide gives no CV: 5 % fluctuations are not uncommon, it says"
        ),
        figures: vec![Figure::Mean, Figure::Deviation, Figure::Cv, Figure::RelativeCv],
        values: Values::RunMeans,
        setups: vec![
            plain.with(&[ChangingEnvironment]).on_top_of(&fixed),
            plain.with(&[FixedEnvironment]).on_top_of(&fixed),
        ],
        rows: vec![
            Row::new("size of environment changes", 0, &[]),
            Row::new("environment is fixed", 1, &[]),
        ],
        ..Experiment::default()
    }
}
