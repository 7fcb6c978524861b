//! One process execution of a subject: the unit of inference.

use std::fmt;

use crate::evidence::Evidence;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The process exited with this code.
    Exited(i32),
    /// The process was ended by this signal.
    Signalled(i32),
    /// The process was ended by becalm because it passed `--timeout`: the time is a lower bound.
    TimedOut,
}

impl Outcome {
    /// Says whether the process exited with code 0.
    pub fn is_success(self) -> bool {
        self == Self::Exited(0)
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
            Self::TimedOut => f.write_str("was ended at the timeout"),
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
    /// Whether the run belongs to a round that was disturbed and made again (`--on-disturbance redo`),
    /// which no estimate uses either.
    pub discarded: bool,
    /// Seconds from the start of the session to the release of the process.
    pub started: f64,
    /// How the process ended.
    pub outcome: Outcome,
    /// One value per entry of [`crate::Record::metrics`]; `None` where the run has none.
    pub values: Vec<Option<f64>>,
    /// Iterations that the program timed itself, in seconds and in time order; empty when it was
    /// not asked for them.
    pub iterations: Vec<f64>,
    /// What happened on the machine meanwhile.
    pub evidence: Evidence,
    /// Bytes by which the environment was padded, which moves the start of the stack.
    pub padding: u32,
}

impl Run {
    /// Returns the value of the metric at `index`, if the run has it.
    pub fn value(&self, index: usize) -> Option<f64> {
        self.values.get(index).copied().flatten()
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
