//! What to measure and when to stop: everything that is settled before the first run.

use std::time::Duration;

use becalm_model::Record;
use becalm_stats::decide::paired;

use crate::conclude::{FEWEST_EXACT, primary_metrics};

/// When a session ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stop {
    /// After exactly so many rounds, with one look at the end that spends the whole error.
    Rounds(u32),
    /// When the goal is reached, at the latest when the budget is used up.
    Until {
        /// Rounds that are made whatever the goal says.
        minimum: u32,
        /// Rounds that are never exceeded.
        maximum: Option<u32>,
        /// Time after which no further round starts.
        budget: Option<Duration>,
        /// What there is to reach.
        goal: Goal,
    },
}

/// What a session is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// Every primary comparison left the margin or fits inside it.
    Verdict,
    /// The interval of every subject's median is at most this share of the median to either side.
    Precision(f64),
    /// Use the whole budget.
    Budget,
}

/// What to do when a run fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailurePolicy {
    /// End the session.
    Stop,
    /// Take the run as it is.
    Ignore,
    /// Take the run as it is when it exits with one of these codes.
    IgnoreCodes(Vec<i32>),
}

impl FailurePolicy {
    /// Says whether a run that ended so may be used.
    pub fn accepts(&self, outcome: becalm_model::Outcome) -> bool {
        use becalm_model::Outcome;
        match (self, outcome) {
            // A run that was cut off is a lower bound, not a failure.
            (_, Outcome::Exited(0) | Outcome::TimedOut) | (Self::Ignore, _) => true,
            (Self::IgnoreCodes(codes), Outcome::Exited(code)) => codes.contains(&code),
            _ => false,
        }
    }
}

/// How environment size and stack start are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Another padding in every round, the same for all subjects of the round.
    Randomise,
    /// No padding.
    Fixed,
}

/// How much of a run's duration is rested after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rest {
    /// What the scheduling class needs: [`FIFO_REST`] under `SCHED_FIFO`, else nothing.
    Auto,
    /// This share of the run's duration; time that becalm needs between runs counts.
    Share(f64),
}

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
/// needs lets the CPU go idle, and a virtual one is then given away (`docs/METHODOLOGY.md`).
pub(super) const COMPETITION: f64 = 0.03;

/// What becomes of disturbed rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDisturbance {
    /// They are labelled, and used like others.
    Keep,
    /// They are labelled, discarded and made again, at most a third more rounds in all
    /// ([`becalm_stats::decide::redo`]).
    Redo,
}

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

/// Whether the pace of a subject's CPU is sampled during its runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// It is not.
    Off,
    /// Where the subjects compute on one CPU for long enough to take samples.
    WhereItTells,
    /// On whatever single CPU they have.
    On,
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
    pub layout: Layout,
    /// The link seeds of the layouts in which every subject was built, all of them different; empty where
    /// there is one build.
    pub builds: Vec<u32>,
    /// What becomes of disturbed rounds.
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
    /// What becomes of the others when one fails.
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

/// What becomes of the others when a subject fails.
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

/// Which metrics decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Primary {
    /// CPU time for single-threaded subjects that compute, else wall time.
    Auto,
    /// These, by name.
    Named(Vec<String>),
    /// Every benchmark of a harness, by these of its measures; without any by what it is about.
    Benchmarks(Vec<String>),
}

impl Judgement {
    /// Returns the fewest rounds after which a comparison of the subjects of `record` can call any
    /// difference; 0 for one subject, which is compared with nothing. Benchmarks count as far as they
    /// are known.
    pub fn fewest_rounds(&self, record: &Record) -> u32 {
        let deciding = || primary_metrics(record, self).metrics.into_iter();
        let is_exact = |index: usize| record.metrics[index].exact;
        if self.primary != Primary::Auto && deciding().next().is_some() && deciding().all(is_exact)
        {
            return u32::from(record.subjects.len() > 1) * FEWEST_EXACT;
        }
        let metrics = match &self.primary {
            Primary::Auto => 1,
            Primary::Named(names) => names.len(),
            Primary::Benchmarks(_) => primary_metrics(record, self).metrics.len().max(1),
        };
        match record.subjects.len().saturating_sub(1) * metrics {
            0 => 0,
            // The first of a family is held against its share of the error.
            family => paired::fewest_rounds((1.0 - self.confidence) / family as f64),
        }
    }
}

impl Stop {
    /// Returns the fewest rounds of the plan.
    pub fn minimum(&self) -> u32 {
        match *self {
            Self::Rounds(rounds) => rounds,
            Self::Until { minimum, maximum, .. } => maximum.map_or(minimum, |m| m.min(minimum)),
        }
    }

    /// Returns how many rounds fit at most, when a round takes `round` seconds.
    pub fn possible_rounds(&self, round: f64) -> Option<u32> {
        match *self {
            Self::Rounds(rounds) => Some(rounds),
            Self::Until { minimum, maximum, budget, .. } => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a float cast saturates"
                )]
                let timed = budget
                    .filter(|_| round > 0.0)
                    .map(|budget| ((budget.as_secs_f64() / round).ceil() as u32).max(minimum));
                match (timed, maximum) {
                    (Some(timed), Some(maximum)) => Some(timed.min(maximum)),
                    (timed, maximum) => timed.or(maximum),
                }
            }
        }
    }

    /// Returns the share of the plan that is used after `rounds` and `elapsed` seconds, 0..=1.
    pub fn fraction(&self, rounds: u32, elapsed: f64) -> f64 {
        match *self {
            Self::Rounds(all) => f64::from(rounds) / f64::from(all.max(1)),
            Self::Until { minimum, maximum, budget, .. } => {
                let by_rounds =
                    maximum.map_or(0.0, |all| f64::from(rounds) / f64::from(all.max(1)));
                // Before the minimum is reached the time does not end the session.
                let by_time = budget
                    .filter(|_| rounds >= minimum)
                    .map_or(0.0, |budget| elapsed / budget.as_secs_f64().max(f64::MIN_POSITIVE));
                by_rounds.max(by_time)
            }
        }
        .clamp(0.0, 1.0)
    }

    /// Says whether no further round may start.
    pub fn is_used_up(&self, rounds: u32, elapsed: f64) -> bool {
        rounds >= self.minimum() && self.fraction(rounds, elapsed) >= 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_model::Outcome;

    const UNTIL: Stop = Stop::Until {
        minimum: 10,
        maximum: Some(100),
        budget: Some(Duration::from_secs(10)),
        goal: Goal::Verdict,
    };

    #[test]
    fn the_budget_is_used_up_by_rounds_or_by_time_but_not_before_the_minimum() {
        assert!(!UNTIL.is_used_up(9, 60.0));
        assert!(UNTIL.is_used_up(10, 10.0));
        assert!(!UNTIL.is_used_up(99, 9.9));
        assert!(UNTIL.is_used_up(100, 0.1));
        assert!(Stop::Rounds(3).is_used_up(3, 0.0) && !Stop::Rounds(3).is_used_up(2, 1e9));
    }

    #[test]
    fn the_possible_rounds_follow_from_the_duration_of_one() {
        assert_eq!(UNTIL.possible_rounds(1.0), Some(10));
        assert_eq!(UNTIL.possible_rounds(0.2), Some(50));
        assert_eq!(UNTIL.possible_rounds(0.001), Some(100));
        assert_eq!(Stop::Rounds(17).possible_rounds(1.0), Some(17));
    }

    #[test]
    fn a_failed_run_is_taken_only_where_the_user_said_so() {
        assert!(!FailurePolicy::Stop.accepts(Outcome::Exited(1)));
        assert!(FailurePolicy::Stop.accepts(Outcome::TimedOut));
        assert!(FailurePolicy::Ignore.accepts(Outcome::Signalled(9)));
        assert!(FailurePolicy::IgnoreCodes(vec![3]).accepts(Outcome::Exited(3)));
        assert!(!FailurePolicy::IgnoreCodes(vec![3]).accepts(Outcome::Signalled(3)));
    }
}
