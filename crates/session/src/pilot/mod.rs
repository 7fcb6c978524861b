//! The runs of a record as a pilot: which count, and which of their values.

mod comparison;

use becalm_model::{DisturbedRun, Note, PlanNote, Record, Run, Unit, metric};
use becalm_stats::levels::PilotRun;
use becalm_stats::steady::{Steady, TOLERANCE, classify, warm_up};
use becalm_stats::{Sample, Violation};

use crate::error::{Error, Fault};
use crate::metrics::MetricsError;

pub use comparison::ComparisonPilot;

/// Why a record cannot serve as a pilot.
#[derive(Debug, thiserror::Error)]
pub enum PilotError {
    /// It does not have the metric.
    #[error("the pilot did not record the metric `{0}`")]
    NotRecorded(String),
    /// It has several benchmarks.
    #[error("the pilot has several benchmarks; a plan is for one")]
    SeveralBenchmarks(Vec<String>),
    /// It has nothing that takes time.
    #[error("the pilot recorded no time and no iterations")]
    NoTime,
    /// It does not contain what repeating costs.
    #[error(
        "the pilot does not contain how long its runs took, and a plan has to weigh the cost of \
         repeating"
    )]
    NoCost,
    /// It has too few pairs of runs.
    #[error("the pilot has {have} pairs of runs, and the plan of a comparison needs {needed}")]
    TooFewPairs {
        /// How many it needs.
        needed: u32,
        /// How many there are.
        have: usize,
    },
    /// Its values are not enough.
    #[error("the pilot is not enough for a plan: {0}")]
    TooLittle(#[from] Violation),
}

impl PilotError {
    /// Returns which kind of failure it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::NotRecorded(_) | Self::SeveralBenchmarks(_) => Fault::Usage,
            Self::NoTime | Self::NoCost | Self::TooFewPairs { .. } | Self::TooLittle(_) => {
                Fault::Measurement
            }
        }
    }
}

/// What of a record counts for a plan.
#[derive(Debug)]
pub struct PilotRuns {
    /// The subject that is planned for.
    pub subject: String,
    /// The metric; `iteration` for times that the subject measured itself.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// The runs, with their values.
    pub runs: Vec<PilotRun>,
    /// Iterations skipped at the start of every run.
    pub warmup_iterations: usize,
    /// What the reader has to know.
    pub notes: Vec<Note>,
}

impl PilotRuns {
    /// Looks through a record for the metric `asked` for, or else its main metric.
    pub fn of(
        record: &Record,
        disturbed: &[DisturbedRun],
        asked: Option<&str>,
    ) -> Result<Self, Error> {
        let mut notes = Vec::new();
        let subjects = same_program(record);
        let first = subjects.first().map_or("", |&subject| &record.subjects[subject].name);
        note_others(first, record.subjects.len() - subjects.len(), &mut notes);
        let values = Values::of(record, &subjects, asked)?;
        let warmup_iterations = warmup(record, &subjects, &values, &mut notes);
        let disturbed = left_out(record, &subjects, disturbed, &mut notes);
        let runs = pilot_runs(record, &subjects, &values, warmup_iterations, &disturbed)?;
        note_values_inside(record, &subjects, &values, &mut notes);
        let (metric, unit) = (values.name(record), values.unit(record));
        let subject = first.to_owned();
        Ok(Self { subject, metric, unit, runs, warmup_iterations, notes })
    }
}

/// Which values of the runs are planned for.
enum Values {
    Iterations,
    Metric(usize),
}

impl Values {
    fn of(record: &Record, subjects: &[usize], asked: Option<&str>) -> Result<Self, Error> {
        if let Some(name) = asked {
            return metric_of(record, name).map(Self::Metric);
        }
        let mut runs = subjects.iter().flat_map(|&subject| record.measured(subject));
        if runs.any(|run| run.iterations.len() > 1) {
            return Ok(Self::Iterations);
        }
        if let Some(one) = benchmark_of(record)? {
            return Ok(Self::Metric(one));
        }
        let usual = record.metric_index(record.usual_metric());
        Ok(usual.map(Self::Metric).ok_or(PilotError::NoTime)?)
    }

    fn name(&self, record: &Record) -> String {
        match self {
            Self::Iterations => "iteration".to_owned(),
            Self::Metric(index) => record.metrics[*index].name.clone(),
        }
    }

    fn unit(&self, record: &Record) -> Unit {
        match self {
            Self::Iterations => Unit::Second,
            Self::Metric(index) => record.metrics[*index].unit.clone(),
        }
    }
}

/// Returns the metric of this name, which has to be measured and not simulated.
fn metric_of(record: &Record, name: &str) -> Result<usize, Error> {
    let index =
        record.metric_index(name).ok_or_else(|| PilotError::NotRecorded(name.to_owned()))?;
    if record.is_of_simulation(&record.metrics[index]) {
        return Err(MetricsError::Simulated(name.to_owned()).into());
    }
    Ok(index)
}

/// Returns the one benchmark of a harness, if the record is of one.
fn benchmark_of(record: &Record) -> Result<Option<usize>, PilotError> {
    let benchmarks: Vec<usize> =
        (0..record.metrics.len()).filter(|&one| record.metrics[one].is_main()).collect();
    match benchmarks[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => {
            let name = |&one: &usize| record.metrics[one].name.clone();
            Err(PilotError::SeveralBenchmarks(benchmarks.iter().map(name).collect()))
        }
    }
}

/// Returns the subjects that are the same program as the first: copies made for a pilot, or those
/// of an A/A measurement. Revisions have the same command and another parameter, and benchmarks of a suite may
/// differ in nothing but their environment.
fn same_program(record: &Record) -> Vec<usize> {
    let Some(first) = record.subjects.first() else { return Vec::new() };
    let benchmark = |index: usize| record.suite.get(index).map(|terms| &terms.benchmark);
    (0..record.subjects.len())
        .filter(|&index| {
            let one = &record.subjects[index];
            one.command == first.command
                && one.parameters == first.parameters
                && one.revision == first.revision
                && benchmark(index) == benchmark(0)
        })
        .collect()
}

/// Says that a record has subjects that are not planned for.
fn note_others(planned: &str, others: usize, notes: &mut Vec<Note>) {
    if others > 0 {
        notes.push(PlanNote::OtherSubjects { planned: planned.to_owned(), others }.into());
    }
}

/// Returns how many iterations to skip at the start of every run.
fn warmup(record: &Record, subjects: &[usize], values: &Values, notes: &mut Vec<Note>) -> usize {
    if !matches!(values, Values::Iterations) {
        return 0;
    }
    let runs: Vec<Steady> = subjects
        .iter()
        .flat_map(|&subject| record.measured(subject))
        .filter_map(|run| steady(&run.iterations))
        .collect();
    if runs.is_empty() {
        notes.push(PlanNote::TooFewIterations.into());
    }
    if let Some(from) = warm_up(&runs) {
        return from;
    }
    if !runs.is_empty() {
        notes.push(PlanNote::NeverSteady.into());
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

/// Returns the runs to skip because evidence says that something disturbed them; none if that is
/// more than a quarter, because then this machine is like that.
fn left_out(
    record: &Record,
    subjects: &[usize],
    disturbed: &[DisturbedRun],
    notes: &mut Vec<Note>,
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
    let count = ours.len() * 4 > all;
    notes.push(PlanNote::Disturbed { runs: ours.len(), of: all, count }.into());
    if count { Vec::new() } else { ours }
}

/// Says that the values inside a process are not a level of the plan: the harness decides how many
/// it makes, and how much of the process each took is not in the record.
fn note_values_inside(record: &Record, subjects: &[usize], values: &Values, notes: &mut Vec<Note>) {
    let Values::Metric(index) = values else { return };
    let mut runs = subjects.iter().flat_map(|&subject| record.measured(subject));
    if runs.any(|run| run.part(*index).is_some_and(|part| part.iterations.len() > 1)) {
        notes.push(PlanNote::CostInside.into());
    }
}

/// What runs cost.
struct Costs {
    /// The metric of how long a run took.
    wall: usize,
    /// Seconds between the runs, for each of them.
    between: f64,
}

impl Costs {
    /// Refuses a record that does not contain how long the runs of these subjects took: a plan has
    /// to weigh the cost of repeating.
    fn of(record: &Record, subjects: &[usize]) -> Result<Self, PilotError> {
        let is_raw = |index: &usize| record.metrics[*index].statistic.is_none();
        let wall = record.metric_index(metric::WALL_TIME).filter(is_raw);
        let wall = wall.ok_or(PilotError::NoCost)?;
        let mut counted = subjects.iter().flat_map(|&subject| record.measured(subject));
        if !counted.all(|run| run.value(wall).is_some_and(|time| time > 0.0)) {
            return Err(PilotError::NoCost);
        }
        let wall_of = |run: &Run| run.value(wall).unwrap_or(0.0);
        // Hooks, rests and the start of a process are part of what a run costs. Rounds that were made again took
        // their time too.
        let made = || record.runs.iter().filter(|run| !run.warmup);
        let first = made().map(|run| run.started).fold(f64::INFINITY, f64::min);
        let last = made().map(|run| run.started + wall_of(run)).fold(0.0, f64::max);
        let walls: f64 = made().map(wall_of).sum();
        let between = ((last - first - walls) / made().count().max(1) as f64).max(0.0);
        Ok(Self { wall, between })
    }

    /// Returns the seconds that a run took.
    fn of_run(&self, run: &Run) -> f64 {
        run.value(self.wall).unwrap_or(0.0) + self.between
    }
}

/// Returns the runs that count.
fn pilot_runs(
    record: &Record,
    subjects: &[usize],
    values: &Values,
    warmup_iterations: usize,
    left_out: &[usize],
) -> Result<Vec<PilotRun>, PilotError> {
    let costs = Costs::of(record, subjects)?;
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
                seconds: costs.of_run(run),
                seconds_per_value,
            })
        })
        .filter(|run| !run.values.is_empty());
    Ok(runs.collect())
}

/// Returns the iterations after the warm-up without single ones far from their neighbours: what
/// interrupts one iteration does not move the median by which runs are compared.
fn settled(iterations: &[f64], warmup: usize) -> Vec<f64> {
    let outliers = steady(iterations).map_or(Vec::new(), |steady| steady.outliers);
    let kept = |i: &usize| outliers.binary_search(i).is_err();
    (warmup..iterations.len()).filter(kept).map(|i| iterations[i]).collect()
}

/// Says whether the iterations of a run settle, where there are enough of them.
fn steady(iterations: &[f64]) -> Option<Steady> {
    classify(&Sample::new(iterations.to_vec()).ok()?, &[], TOLERANCE).ok()
}
