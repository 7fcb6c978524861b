//! What to measure and when to stop: everything that is settled before the first run.

use becalm_model::conditions::{OnDisturbance, Pace, Padding};
use becalm_model::terms::{FailurePolicy, Primary, Stop};

/// Rest that keeps a real-time subject's duty below the kernel's limit of 950 ms in each second
/// (`sched_rt_runtime_us`), so that the throttle never stalls it. Measured: 6 % of the run is
/// enough; back to back, one run in two hundred stalls for 30 to 50 ms.
pub const FIFO_REST: f64 = 0.07;

/// Longest run for which a real-time class is chosen without being asked for: beyond half a second
/// a rest after the run cannot keep the throttle of one second away.
pub const LONGEST_FIFO_RUN: f64 = 0.5;

/// Shortest run for which a real-time class is chosen without being asked for: a shorter one is
/// hardly ever interrupted by a task, and would pay the hand-over between CPUs each time.
pub(super) const SHORTEST_FIFO_RUN: f64 = 2e-3;

/// Share of the time of the warm-up that a subject had to wait for a CPU, from which on a real-time
/// class is chosen without being asked for. Where nothing competes it only costs: the rest that it
/// needs lets the CPU go idle, and a virtual one is then given away (`docs/methodology/conditions.md`).
pub(super) const COMPETITION: f64 = 0.03;

/// How the conditions of the runs are chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conditioning {
    /// Learnt from the warm-up rounds: one CPU for a single-threaded subject, and a real-time
    /// class where that is allowed and safe.
    Learn {
        /// Whether the CPU set is to be chosen.
        affinity: bool,
        /// Whether the scheduling class is to be chosen.
        scheduler: bool,
        /// Whether the pace of the CPU is to be sampled.
        pace: Pace,
    },
    /// As the user said.
    Given,
}

/// Everything that is settled before the first run, beside the subjects themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Rounds whose runs no estimate uses.
    pub warmup: u32,
    /// When to end.
    pub stop: Stop,
    /// What to do when a run fails.
    pub failure: FailurePolicy,
    /// How environment size and stack start are treated.
    pub padding: Padding,
    /// The link seeds of the layouts in which every subject was built, all of them different; empty
    /// if there is one build.
    pub builds: Vec<u32>,
    /// What happens to disturbed rounds.
    pub on_disturbance: OnDisturbance,
    /// How the conditions are chosen.
    pub conditioning: Conditioning,
    /// How results are judged.
    pub judgement: Judgement,
    /// The terms of each subject, where the subjects have nothing to do with each other; `None` where they
    /// are measured together, by the terms above.
    pub independent: Option<Independent>,
}

/// Subjects that share a session and nothing else, as the benchmarks of a suite do: each has its own
/// warm-up and its own end, and takes part in rounds until then.
#[derive(Debug, Clone, PartialEq)]
pub struct Independent {
    /// Their terms, in the order of the record. [`Plan::stop`] ends all of them.
    pub terms: Vec<OwnTerms>,
    /// What happens to the others when one fails.
    pub on_failure: OnFailure,
}

/// When one subject starts to be measured, and when it has been enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnTerms {
    /// Its rounds before the measured ones.
    pub warmup: u32,
    /// Its end. What it has to reach plays no part: its budget is used up.
    pub stop: Stop,
}

/// What happens to the others when a subject fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// The session ends.
    End,
    /// It goes on without the subject.
    LeaveOut,
}

/// How results are judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Confidence of the family of primary comparisons.
    pub confidence: f64,
    /// Smallest relative change that matters; 0 asks for a difference only.
    pub margin: f64,
    /// Which metrics decide.
    pub primary: Primary,
}
