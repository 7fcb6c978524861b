//! A comparison, whose sides were measured interleaved.

use becalm_model::ci::Standing;
use becalm_model::gate::{GateBy, GateOutcome, GateResult};
use becalm_model::{GateReason, Record, Verdict};
use becalm_stats::Sample;
use becalm_stats::center::median;

use super::comparison::{Compared, Policy, judge};
use super::rules::Rules;
use super::{Findings, judge_by_limits, named};
use crate::points::names_in_comparison;

/// Judges every comparison that decides, and those whose metric a rule names.
pub fn judge_interleaved(record: &Record, rules: &mut Rules, findings: &mut Findings) {
    for comparison in &record.comparisons {
        let metric = &record.metrics[comparison.metric];
        let candidate = comparison.candidate;
        let (benchmark, name) = names_in_comparison(record, candidate, metric);
        let rule = rules.of((&benchmark, &[]), &name, &metric.unit, comparison.primary);
        if !comparison.primary && !rule.names_metric {
            continue;
        }
        let told = record.margin_of(candidate, metric);
        let margin = rule.margin.or(told).unwrap_or(record.margin);
        let value = |subject: usize| {
            let sample = Sample::new(record.values(subject, comparison.metric)).ok();
            sample.map(|sample| median(&sample))
        };
        let compared = Compared {
            ratio: comparison.ratio,
            direction: metric.direction,
            verdict: comparison.verdict,
            noise: None,
            is_cut_off: record.is_cut_off(candidate),
        };
        let judged = judge(&compared, &Policy::gate(margin));
        let reason = match (judged.outcome, comparison.verdict) {
            _ if judged.standing == Standing::Doubtful => GateReason::ValuesOfCutOff,
            (GateOutcome::Fail, _) => GateReason::Slower,
            (GateOutcome::Pass, verdict) => GateReason::Compared { verdict },
            (GateOutcome::Inconclusive, Verdict::Slower) => GateReason::PerhapsWithinMargin,
            (GateOutcome::Inconclusive, _) => {
                GateReason::NotDecided { rounds: comparison.rounds_needed }
            }
        };
        let of = named(&benchmark, &name, &metric.unit, &[]);
        let commit = |subject: usize| {
            record.subjects[subject].revision.as_ref().map(|revision| revision.built.clone())
        };
        findings.results.push(GateResult {
            value: value(candidate),
            reference: value(comparison.baseline),
            ratio: comparison.ratio,
            margin: Some(margin),
            resolves: comparison.noise_floor,
            base: commit(comparison.baseline),
            head: commit(candidate),
            ..GateResult::new(of.clone(), GateBy::Comparison, judged.outcome, reason)
        });
        if let Some(value) = value(candidate) {
            judge_by_limits(value, &rule, &of, findings);
        }
    }
}
