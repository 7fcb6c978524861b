//! What a gate says of results, and by which rule.

use std::collections::BTreeMap;

use crate::history::{ChangeId, full_name};
use crate::metric::Unit;
use crate::note::{GateAdvice, GateNote, GateReason, Note};
use crate::verdict::RatioInterval;

/// What a gate says, from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateOutcome {
    /// Within the rule.
    Pass,
    /// The data do not allow a decision.
    Inconclusive,
    /// Beyond the rule.
    Fail,
}

impl GateOutcome {
    /// Returns the word used in JSON and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Inconclusive => "inconclusive",
            Self::Fail => "fail",
        }
    }
}

/// What is judged: one metric of one benchmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateSeries {
    /// The benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Parameters of the benchmark.
    pub parameters: BTreeMap<String, String>,
}

impl GateSeries {
    /// Returns the name of the benchmark with its parameters.
    pub fn full_name(&self) -> String {
        full_name(&self.benchmark, &self.parameters)
    }
}

/// What a result was judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateBy {
    /// The other side, measured interleaved.
    Comparison,
    /// The level of its series.
    History {
        /// How many earlier values of the level there are.
        earlier: usize,
        /// How many more it would take to judge.
        missing: Option<usize>,
    },
    /// Nothing: its runs were cut off at the timeout, so that its series has no value of them.
    CutOff,
    /// A change of level in the history.
    Change(ChangeId),
    /// A limit.
    Limit,
}

impl GateBy {
    /// Returns the word used in JSON and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Comparison => "comparison",
            Self::History { .. } | Self::CutOff => "history",
            Self::Change(_) => "change",
            Self::Limit => "limit",
        }
    }
}

/// One metric of one benchmark by one rule.
#[derive(Debug, Clone, PartialEq)]
pub struct GateResult {
    /// What was judged.
    pub of: GateSeries,
    /// By what.
    pub by: GateBy,
    /// The outcome.
    pub outcome: GateOutcome,
    /// Why.
    pub reason: GateReason,
    /// The value, in the unit of the metric; `None` where there is none.
    pub value: Option<f64>,
    /// What it was compared with: the other side, the level of the series, or the limit.
    pub reference: Option<f64>,
    /// Ratio of value and reference with its interval; `None` for limits, and where there is none.
    pub ratio: Option<RatioInterval>,
    /// Largest relative change for the worse that the rule lets through; `None` for a limit.
    pub margin: Option<f64>,
    /// Smallest relative change for the worse that is detectable here.
    pub resolves: Option<f64>,
    /// The last commit of what it was compared with, as far as it is known.
    pub base: Option<String>,
    /// The commit that was judged.
    pub head: Option<String>,
    /// What accepts the level that fails, if the history has it.
    pub accept: Option<ChangeId>,
}

impl GateResult {
    /// Returns a result of which no numbers are known.
    pub fn new(of: GateSeries, by: GateBy, outcome: GateOutcome, reason: GateReason) -> Self {
        Self {
            of,
            by,
            outcome,
            reason,
            value: None,
            reference: None,
            ratio: None,
            margin: None,
            resolves: None,
            base: None,
            head: None,
            accept: None,
        }
    }

    /// Returns how many times the reference the value is; a limit has that too, without an interval.
    pub fn times(&self) -> Option<f64> {
        let of_limit = || {
            let times = self.value? / self.reference?;
            Some(times)
                .filter(|times| self.by == GateBy::Limit && times.is_finite() && *times > 0.0)
        };
        self.ratio.map(|ratio| ratio.estimate).or_else(of_limit)
    }

    /// Takes back a `pass`, for this reason.
    pub fn doubt(&mut self, because: GateReason) {
        if self.outcome == GateOutcome::Pass {
            self.outcome = GateOutcome::Inconclusive;
            let (reason, because) = (Box::new(self.reason.clone()), Box::new(because));
            self.reason = GateReason::Doubted { reason, because };
        }
    }

    /// Takes back what an unstable series says: whatever it is, it is undecided for this reason.
    pub fn unsettle(&mut self, because: GateReason) {
        if self.outcome == GateOutcome::Pass {
            return self.doubt(because);
        }
        self.outcome = GateOutcome::Inconclusive;
        self.reason = because;
    }

    /// Says whether it is undecided because the series is unstable.
    fn is_of_unstable(&self) -> bool {
        let reason = match &self.reason {
            GateReason::Doubted { because, .. } => because,
            reason => reason,
        };
        matches!(reason, GateReason::Unstable { .. })
    }

    /// Says what to do about it; nothing if all is well.
    fn advice(&self) -> Option<GateAdvice> {
        if self.outcome == GateOutcome::Pass {
            return None;
        }
        let (base, head, benchmark) = (self.base.clone(), self.head.clone(), self.of.full_name());
        if self.is_of_unstable() {
            return Some(GateAdvice::SteadyOrCompare { base, head });
        }
        Some(match self.by {
            GateBy::Comparison if self.outcome == GateOutcome::Fail => {
                GateAdvice::FindCommitOrAllow { base, head, benchmark }
            }
            GateBy::Comparison => GateAdvice::MeasureLonger,
            GateBy::History { missing: Some(_), .. } => GateAdvice::AddRunsOrCompare { base, head },
            GateBy::History { .. } if self.outcome == GateOutcome::Fail => {
                let change = self.accept.map(|id| id.to_string());
                GateAdvice::CompareOrAcknowledge { base, head, change }
            }
            GateBy::History { .. } | GateBy::CutOff => GateAdvice::Compare { base, head },
            GateBy::Change(id) => {
                GateAdvice::FindCommitOrAcknowledge { base, head, change: id.to_string() }
            }
            GateBy::Limit => GateAdvice::FitLimit { benchmark },
        })
    }
}

/// What a gate says as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct GateReport {
    /// Confidence of all intervals from the history together.
    pub confidence: f64,
    /// What was judged, the worst first.
    pub results: Vec<GateResult>,
    /// What the reader has to know.
    pub notes: Vec<Note>,
}

impl GateReport {
    /// Returns the worst of the outcomes. Where there is none, nothing is beyond the rules, or there was nothing to judge.
    pub fn outcome(&self) -> GateOutcome {
        let nothing_counts =
            |note: &Note| matches!(note, Note::Gate(GateNote::NothingCounts { .. }));
        let least = if self.notes.iter().any(nothing_counts) {
            GateOutcome::Inconclusive
        } else {
            GateOutcome::Pass
        };
        self.results.iter().map(|one| one.outcome).fold(least, GateOutcome::max)
    }

    /// Says what to do next about the worst result; nothing if all is well.
    pub fn next(&self) -> Option<GateAdvice> {
        let is_broken_off =
            |note: &Note| matches!(note, Note::Gate(note) if GateNote::is_of_broken_off(note));
        if self.outcome() == GateOutcome::Inconclusive && self.notes.iter().any(is_broken_off) {
            return Some(GateAdvice::MeasureAgain);
        }
        self.results.first()?.advice()
    }
}
