//! The runs of a record as a pilot: which count, and which of their values.

use becalm_model::DisturbedRun;
use becalm_model::{Record, Unit, metric};
use becalm_report::{SteadyRun, steady_runs};
use becalm_session::MetricsError;
use becalm_stats::levels::PilotRun;
use becalm_stats::steady::{Steady, TOLERANCE, warm_up};

use super::Args;
use crate::error::CommandError;
use becalm_model::counted;

/// Which values of the runs are planned for.
pub(super) enum Values {
    Iterations,
    Metric(usize),
}

impl Values {
    pub(super) fn of(
        record: &Record,
        subjects: &[usize],
        args: &Args,
    ) -> Result<Self, CommandError> {
        let asked = args.flags.metric.iter().find(|text| *text != "auto");
        let asked = asked.map(|text| text.split(['=', '[']).next().unwrap_or(text));
        if let Some(name) = asked {
            let index = record.metric_index(name).ok_or_else(|| {
                CommandError::usage(format!("the pilot did not record the metric `{name}`"))
            })?;
            return if record.is_of_simulation(&record.metrics[index]) {
                Err(MetricsError::Simulated(name.to_owned()).into())
            } else {
                Ok(Self::Metric(index))
            };
        }
        let mut runs = subjects.iter().flat_map(|&subject| record.measured(subject));
        if runs.any(|run| run.iterations.len() > 1) {
            return Ok(Self::Iterations);
        }
        let benchmarks: Vec<usize> =
            (0..record.metrics.len()).filter(|&one| record.metrics[one].is_main()).collect();
        match benchmarks[..] {
            [] => {}
            [one] => return Ok(Self::Metric(one)),
            _ => {
                let names: Vec<&str> =
                    benchmarks.iter().map(|&one| record.metrics[one].name.as_str()).collect();
                return Err(CommandError::usage(
                    "the pilot has several benchmarks; a plan is for one",
                )
                .hint(format!("--metric NAME chooses it; there are {}", names.join(", "))));
            }
        }
        let usual = record.metric_index(record.usual_metric());
        usual
            .map(Self::Metric)
            .ok_or_else(|| CommandError::measure("the pilot recorded no time and no iterations"))
    }

    pub(super) fn name(&self, record: &Record) -> String {
        match self {
            Self::Iterations => "iteration".to_owned(),
            Self::Metric(index) => record.metrics[*index].name.clone(),
        }
    }

    pub(super) fn unit(&self, record: &Record) -> Unit {
        match self {
            Self::Iterations => Unit::Second,
            Self::Metric(index) => record.metrics[*index].unit.clone(),
        }
    }
}

/// Returns the subjects that are the same program as the first: copies made for a pilot, or those
/// of an A/A measurement. Revisions have the same command and another parameter, and benchmarks of a suite may
/// differ in nothing but their environment.
pub(super) fn same_program(record: &Record, notes: &mut Vec<String>) -> Vec<usize> {
    let Some(first) = record.subjects.first() else { return Vec::new() };
    let benchmark = |index: usize| record.suite.get(index).map(|terms| &terms.benchmark);
    let same: Vec<usize> = (0..record.subjects.len())
        .filter(|&index| {
            let one = &record.subjects[index];
            one.command == first.command
                && one.parameters == first.parameters
                && benchmark(index) == benchmark(0)
        })
        .collect();
    let others = record.subjects.len() - same.len();
    if others > 0 {
        notes.push(format!(
            "The plan is for {}; the record has {}, which it does not look at.",
            first.name,
            counted(others, "other subject")
        ));
    }
    same
}

/// Returns how many iterations to leave out at the start of every run.
pub(super) fn warmup(
    record: &Record,
    subjects: &[usize],
    values: &Values,
    notes: &mut Vec<String>,
) -> usize {
    if !matches!(values, Values::Iterations) {
        return 0;
    }
    let runs: Vec<Steady> = subjects
        .iter()
        .flat_map(|&subject| steady_runs(record, subject))
        .map(|run| run.steady)
        .collect();
    if runs.is_empty() {
        notes.push(
            "Runs with so few iterations do not show whether they settle: all iterations count."
                .to_owned(),
        );
    }
    if let Some(from) = warm_up(&runs) {
        return from;
    }
    if !runs.is_empty() {
        notes.push(
            "Some runs have no steady state (`becalm stats --steady`): the variance of iterations \
             holds for runs as long as those of the pilot, and more iterations may not average it \
             out."
                .to_owned(),
        );
    }
    let shortest = subjects
        .iter()
        .flat_map(|&subject| record.measured(subject))
        .map(|run| run.iterations.len())
        .min()
        .unwrap_or(0);
    let settled = runs.iter().filter_map(|run| run.from).max().unwrap_or(0);
    settled.min(shortest.saturating_sub(2))
}

/// Returns the runs to leave out because evidence says that something disturbed them; none when
/// that is more than a quarter, because then it is how this machine is.
pub(super) fn left_out(
    record: &Record,
    subjects: &[usize],
    disturbed: &[DisturbedRun],
    notes: &mut Vec<String>,
) -> Vec<usize> {
    let is_ours = |index: usize| {
        let run = &record.runs[index];
        run.is_measured() && subjects.contains(&run.subject)
    };
    let all = (0..record.runs.len()).filter(|&index| is_ours(index)).count();
    let ours: Vec<usize> =
        disturbed.iter().map(|one| one.run).filter(|&index| is_ours(index)).collect();
    if ours.is_empty() {
        return ours;
    }
    if ours.len() * 4 > all {
        notes.push(format!(
            "{} of {all} runs were disturbed; they count, because that is how this machine is.",
            ours.len()
        ));
        return Vec::new();
    }
    notes.push(format!("{} of {all} runs were disturbed and do not count.", ours.len()));
    ours
}

/// Says that the values inside a process are no level of the plan: a harness makes them as it likes, and how much of
/// the process each took is not in the record.
pub(super) fn note_values_inside(
    record: &Record,
    subjects: &[usize],
    values: &Values,
    notes: &mut Vec<String>,
) {
    let Values::Metric(index) = values else { return };
    let mut runs = subjects.iter().flat_map(|&subject| record.measured(subject));
    if runs.any(|run| run.part(*index).is_some_and(|part| part.iterations.len() > 1)) {
        notes.push(
            "What one of the values inside a process costs is not known. A run counts as one value, and has as many \
             inside it as in the pilot."
                .to_owned(),
        );
    }
}

/// Returns the runs that count. Refuses a record that does not tell how long they took: a plan weighs what
/// repeating costs.
pub(super) fn pilot_runs(
    record: &Record,
    subjects: &[usize],
    values: &Values,
    warmup_iterations: usize,
    left_out: &[usize],
) -> Result<Vec<PilotRun>, CommandError> {
    let is_raw = |index: &usize| record.metrics[*index].statistic.is_none();
    let wall = record.metric_index(metric::WALL_TIME).filter(is_raw);
    let mut counted = subjects.iter().flat_map(|&subject| record.measured(subject));
    if !counted.all(|run| wall.and_then(|wall| run.value(wall)).is_some_and(|time| time > 0.0)) {
        return Err(CommandError::measure(
            "the pilot does not tell how long its runs took, and a plan weighs what repeating costs",
        )
        .hint("a record that `becalm run` or `compare` saved tells it"));
    }
    let wall_of = |run: &becalm_model::Run| wall.and_then(|wall| run.value(wall)).unwrap_or(0.0);
    // Hooks, rests and the start of a process are part of what a run costs. Rounds that were made again took
    // their time too.
    let made = || record.runs.iter().filter(|run| !run.warmup);
    let first = made().map(|run| run.started).fold(f64::INFINITY, f64::min);
    let last = made().map(|run| run.started + wall_of(run)).fold(0.0, f64::max);
    let walls: f64 = made().map(wall_of).sum();
    let between = ((last - first - walls) / made().count().max(1) as f64).max(0.0);
    let runs = record
        .runs
        .iter()
        .enumerate()
        .filter(|(index, run)| {
            run.is_measured()
                && !run.is_censored()
                && subjects.contains(&run.subject)
                && !left_out.contains(index)
        })
        .filter_map(|(_, run)| {
            let (values, seconds_per_value) = match values {
                Values::Iterations => {
                    let kept = settled(&run.iterations, warmup_iterations);
                    let mean = kept.iter().sum::<f64>() / kept.len() as f64;
                    (kept, mean)
                }
                Values::Metric(index) => (vec![run.value(*index)?], 0.0),
            };
            Some(PilotRun {
                round: run.layout.unwrap_or(run.round) as usize,
                values,
                seconds: wall_of(run) + between,
                seconds_per_value,
            })
        })
        .filter(|run| !run.values.is_empty());
    Ok(runs.collect())
}

/// Returns the iterations after the warm-up without single ones far from their neighbours: what
/// interrupts one iteration does not move the median by which runs are compared.
fn settled(iterations: &[f64], warmup: usize) -> Vec<f64> {
    let run = SteadyRun::of(String::new(), iterations.to_vec(), TOLERANCE);
    let outliers = run.map_or(Vec::new(), |run| run.steady.outliers);
    let kept = |i: &usize| outliers.binary_search(i).is_err();
    (warmup..iterations.len()).filter(kept).map(|i| iterations[i]).collect()
}
