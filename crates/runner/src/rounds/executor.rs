//! What a session needs from the outside world: to run a subject, to rest, and to know the time.

use std::time::Duration;

use becalm_model::load::RunLoad;
use becalm_model::{Evidence, Metric, Outcome};

use super::values::Values;

/// One run that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunRequest {
    /// Index of the subject.
    pub subject: usize,
    /// Bytes of padding in its environment.
    pub padding: u32,
    /// Which of its builds, from 0.
    pub layout: u32,
    /// What chance inside the run follows from, such as when requests are due: the same for all runs of a round.
    pub seed: u64,
}

/// What one benchmark inside a run gave for one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkValue {
    /// What was measured: its name is the key in the record.
    pub metric: Metric,
    /// The value that stands for the run.
    pub value: f64,
    /// The single values, in time order; empty if the harness gives none.
    pub iterations: Vec<f64>,
}

/// What one run gave.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredRun {
    /// Seconds from the start of the session to the release of the process.
    pub started: f64,
    /// How the process ended.
    pub outcome: Outcome,
    /// What it gave for the metrics of the whole process.
    pub values: Values,
    /// Iterations that the program timed itself, in seconds; empty if they are not read.
    pub iterations: Vec<f64>,
    /// What the benchmarks inside the process gave; a harness may show ones that nobody knew of.
    pub benchmarks: Vec<BenchmarkValue>,
    /// What was sent to it, where it is a server.
    pub load: Option<Box<RunLoad>>,
    /// What the run itself tells of the machine; the machine-wide part may come later, by
    /// [`Executor::evidence`].
    pub evidence: Evidence,
    /// The last lines that it said, where it did not end well.
    pub said: Vec<String>,
}

/// What the warm-up rounds showed about the subjects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learnt {
    /// Whether every subject ran on one thread.
    pub single_threaded: bool,
    /// Whether every subject computed nearly all the time that it was not kept from a CPU.
    pub cpu_bound: bool,
    /// Shortest and longest median wall time of any subject, in seconds.
    pub shortest_run: f64,
    /// See `shortest_run`.
    pub longest_run: f64,
    /// Largest mean share of its wall time that a subject was ready to run and had no CPU.
    pub kept_waiting: f64,
}

/// Runs subjects. The real one starts processes; tests use a scripted one.
pub trait Executor {
    /// Why a run could not be made.
    type Error;

    /// Waits until the machine is as calm as it was at the start of the session, if that is wanted, and
    /// returns for how many seconds; `None` if nobody asked for it.
    fn wait_until_settled(&mut self) -> Option<f64>;

    /// Makes one run, with its hooks and its page-cache treatment, and rests afterwards.
    fn run(&mut self, request: RunRequest) -> Result<MeasuredRun, Self::Error>;

    /// Returns the complete evidence of the latest runs for which it was not returned before,
    /// oldest first and the last run's last: nothing while a window that several short runs share is still open. With
    /// `close` the window ends now.
    fn evidence(&mut self, close: bool) -> Vec<Evidence>;

    /// Returns the time since the session started.
    fn elapsed(&self) -> Duration;

    /// Chooses the conditions of the further runs by what was learnt in the warm-up.
    fn adapt(&mut self, learnt: Learnt);

    /// Says whether the user asked to stop (Ctrl-C, SIGTERM), and by which signal.
    fn interrupted(&self) -> Option<i32>;
}
