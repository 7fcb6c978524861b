//! Shape of what `becalm gate --json` prints.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::GATE_SCHEMA;
use super::worded::{Worded, Words, worded};
use crate::gate::{GateBy, GateReport, GateResult};
use crate::note::{GateAdvice, GateReason, Note};

/// What a gate decided, and about what.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GateDocument {
    /// `becalm/gate/1`.
    pub schema: String,
    /// `pass`, `fail`, or `inconclusive`: the worst of the results.
    pub verdict: String,
    /// Confidence of all intervals from the history together.
    pub confidence: f64,
    /// What was judged, the worst first.
    pub results: Vec<GateResultDocument>,
    /// What to do next; `null` if there is nothing to do.
    pub next: Option<Worded<GateAdvice>>,
    /// What the reader has to know.
    pub notes: Vec<Worded<Note>>,
}

/// One metric of one benchmark by one rule.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GateResultDocument {
    /// The benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: String,
    /// Unit of the values.
    pub unit: String,
    /// Parameters of the benchmark.
    pub parameters: BTreeMap<String, String>,
    /// What it was judged by: `comparison`, `history`, `change` or `limit`.
    pub by: String,
    /// `pass`, `fail` or `inconclusive`.
    pub verdict: String,
    /// The value, in the unit of the metric; `null` where there is none.
    pub value: Option<f64>,
    /// What it was compared with: the other side, the level of the series, or the limit.
    pub reference: Option<f64>,
    /// Value over reference.
    pub ratio: Option<f64>,
    /// Lower end of its interval.
    pub ratio_low: Option<f64>,
    /// Upper end of its interval.
    pub ratio_high: Option<f64>,
    /// Largest relative change for the worse that the rule lets through; `null` for a limit.
    pub margin: Option<f64>,
    /// Smallest relative change for the worse that is detectable in the history of this series.
    pub resolves: Option<f64>,
    /// How many earlier values of the level there are.
    pub earlier: Option<usize>,
    /// How many more it would take to judge.
    pub missing: Option<usize>,
    /// The change or the level, as `becalm changes acknowledge` takes it; `null` if the history does not have it.
    pub change: Option<String>,
    /// Why.
    pub reason: Worded<GateReason>,
}

/// Returns the document of what a gate says.
pub fn gate_document(report: &GateReport, words: &Words) -> GateDocument {
    GateDocument {
        schema: GATE_SCHEMA.to_owned(),
        verdict: report.outcome().word().to_owned(),
        confidence: report.confidence,
        results: report.results.iter().map(|one| result_of(one, words)).collect(),
        next: report.next().map(|next| Worded::of(&next, words.advice)),
        notes: worded(&report.notes, words.note),
    }
}

fn result_of(result: &GateResult, words: &Words) -> GateResultDocument {
    let (earlier, missing) = match result.by {
        GateBy::History { earlier, missing } => (Some(earlier), missing),
        _ => (None, None),
    };
    let change = match result.by {
        GateBy::Change(id) => Some(id.to_string()),
        _ => result.accept.map(|id| id.to_string()),
    };
    GateResultDocument {
        benchmark: result.of.benchmark.clone(),
        metric: result.of.metric.clone(),
        unit: result.of.unit.to_string(),
        parameters: result.of.parameters.clone(),
        by: result.by.word().to_owned(),
        verdict: result.outcome.word().to_owned(),
        value: result.value,
        reference: result.reference,
        ratio: result.times(),
        ratio_low: result.ratio.map(|ratio| ratio.low),
        ratio_high: result.ratio.map(|ratio| ratio.high).filter(|high| high.is_finite()),
        margin: result.margin,
        resolves: result.resolves,
        earlier,
        missing,
        change,
        reason: Worded::of(&result.reason, words.reason),
    }
}
