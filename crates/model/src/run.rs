//! One process execution of a subject: the unit of inference.

use std::fmt;
use std::sync::LazyLock;

use crate::evidence::Evidence;
use crate::load::RunLoad;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The process exited with this code.
    Exited(i32),
    /// The process was ended by this signal.
    Signalled(i32),
    /// The process was ended by becalm because it passed `--timeout`: the time is a lower bound.
    TimedOut,
    /// Unknown: another tool measured it, and used it.
    Unknown,
}

impl Outcome {
    /// Says whether nothing is wrong with how the process ended.
    pub fn is_success(self) -> bool {
        matches!(self, Self::Exited(0) | Self::Unknown)
    }
}

/// Names of the signals that end programs, by their numbers on Linux.
const SIGNALS: [(i32, &str); 12] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
];

impl fmt::Display for Outcome {
    /// Writes a fragment that follows the subject: `exited with code 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exited with code {code}"),
            Self::Signalled(signal) => match SIGNALS.iter().find(|(number, _)| number == signal) {
                Some((_, name)) => write!(f, "was ended by signal {signal} ({name})"),
                None => write!(f, "was ended by signal {signal}"),
            },
            Self::TimedOut => f.write_str("was cut off at the timeout"),
            Self::Unknown => f.write_str("ended in an unknown way"),
        }
    }
}

/// One run, with everything that was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Index into [`crate::Record::subjects`].
    pub subject: usize,
    /// Round this run belongs to, from 0, in time order; warm-up rounds have their own count. A round
    /// that was made in place of a discarded one has a number of its own.
    pub round: u32,
    /// Place inside the round, from 0.
    pub order: u32,
    /// Whether the run belongs to a warm-up round, which no estimate uses.
    pub warmup: bool,
    /// Whether the run belongs to a round that was disturbed and repeated (`--on-disturbance
    /// redo`), which no estimate uses either.
    pub discarded: bool,
    /// Seconds from the start of the session to the release of the process.
    pub started: f64,
    /// How the process ended.
    pub outcome: Outcome,
    /// One value per entry of [`crate::Record::metrics`] that is of the whole process; `None` where
    /// the run has none.
    pub values: Vec<Option<f64>>,
    /// What the benchmarks inside the process gave, by rising metric, each at most once.
    pub parts: Vec<Part>,
    /// Iterations that the program timed itself, in seconds and in time order; empty when it was
    /// not asked for them.
    pub iterations: Vec<f64>,
    /// What happened on the machine meanwhile; `None` for what other tools measured. Boxed, because
    /// an imported record may have a million runs.
    pub evidence: Option<Box<Evidence>>,
    /// Bytes by which the environment was padded, which moves the start of the stack.
    pub padding: u32,
    /// The link seed of the build that ran, where the program was built in several layouts.
    pub layout: Option<u32>,
    /// What was sent to it, where the subject is a server.
    pub load: Option<Box<RunLoad>>,
}

/// What one benchmark inside a process gave for one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Index into [`crate::Record::metrics`].
    pub metric: usize,
    /// The value that stands for the process: the median of its iterations, or what the harness gave.
    pub value: f64,
    /// The values that the harness gave one by one, in time order; empty if it gave only `value`.
    pub iterations: Vec<f64>,
}

/// What is known where nobody looked.
static NO_EVIDENCE: LazyLock<Evidence> = LazyLock::new(Evidence::default);

impl Run {
    /// A run of a round of which nothing else is known.
    pub fn blank(subject: usize, round: u32) -> Self {
        Self {
            subject,
            round,
            order: 0,
            warmup: false,
            discarded: false,
            started: 0.0,
            outcome: Outcome::Unknown,
            values: Vec::new(),
            parts: Vec::new(),
            iterations: Vec::new(),
            evidence: None,
            padding: 0,
            layout: None,
            load: None,
        }
    }

    /// Returns the value of the metric at `index`, if the run has it.
    pub fn value(&self, index: usize) -> Option<f64> {
        match self.values.get(index) {
            Some(value) => *value,
            None => self.part(index).map(|part| part.value),
        }
    }

    /// Returns what a benchmark inside the process gave for the metric at `index`.
    pub fn part(&self, index: usize) -> Option<&Part> {
        let at = self.parts.binary_search_by_key(&index, |part| part.metric).ok()?;
        Some(&self.parts[at])
    }

    /// Returns what happened on the machine meanwhile, as far as it is known.
    pub fn evidence(&self) -> &Evidence {
        self.evidence.as_deref().unwrap_or(&NO_EVIDENCE)
    }

    /// Says whether estimates use the run: it is neither of a warm-up round nor of a discarded one.
    pub fn is_measured(&self) -> bool {
        !self.warmup && !self.discarded
    }

    /// Says whether the values are only lower bounds, because the run was cut off.
    pub fn is_censored(&self) -> bool {
        self.outcome == Outcome::TimedOut
    }
}
