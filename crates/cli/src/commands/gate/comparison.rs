//! A comparison, whose sides were measured interleaved.

use becalm_model::gate::{GateBy, GateOutcome, GateResult};
use becalm_model::{Note, Record, Verdict};
use becalm_report::note_sentence;
use becalm_stats::Sample;
use becalm_stats::center::median;

use super::{Judged, limits, named};
use crate::gate::{Rules, Worse, against_margin};
use crate::history::names_in_comparison;
use crate::ui::count;
use becalm_model::MeasuredRevision;

/// Judges every comparison that decides, and those whose metric a rule names.
pub(super) fn judge(record: &Record, rules: &mut Rules, judged: &mut Judged) {
    // It is within every margin of itself.
    if record.is_of_one_program() {
        let sentence = |note: &Note| format!("{}.", note_sentence(note).trim_end_matches('.'));
        judged.notes.extend(record.notes.iter().map(sentence));
        return;
    }
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
        let outcome = comparison.ratio.as_ref().map_or(GateOutcome::Inconclusive, |ratio| {
            against_margin(Worse::of(ratio, metric.direction), margin)
        });
        // What is cut off at its timeout seems fast. The verdict heeds that, and the values do not.
        let is_doubtful = outcome != GateOutcome::Fail
            && (comparison.verdict == Verdict::Inconclusive
                || outcome == GateOutcome::Pass && comparison.verdict != Verdict::Faster)
            && record.is_cut_off(candidate);
        let outcome = if is_doubtful { GateOutcome::Inconclusive } else { outcome };
        let reason = match (outcome, comparison.verdict) {
            _ if is_doubtful => {
                "runs were cut off at the timeout, so that the values say nothing good".to_owned()
            }
            (GateOutcome::Fail, _) => "slower by more than the margin".to_owned(),
            (GateOutcome::Pass, verdict) => verdict.to_string(),
            (GateOutcome::Inconclusive, Verdict::Slower) => {
                "slower, perhaps within the margin".to_owned()
            }
            (GateOutcome::Inconclusive, _) => match comparison.rounds_needed {
                Some(rounds) => {
                    let rounds = usize::try_from(rounds).unwrap_or(usize::MAX);
                    format!("not decided; {} would", count(rounds, "more round"))
                }
                None => "not decided".to_owned(),
            },
        };
        let of = named(&benchmark, &name, &metric.unit, &[]);
        let commit = |subject: usize| {
            MeasuredRevision::of(&record.subjects[subject]).map(|revision| revision.built)
        };
        judged.results.push(GateResult {
            value: value(candidate),
            reference: value(comparison.baseline),
            ratio: comparison.ratio,
            margin: Some(margin),
            resolves: comparison.noise_floor,
            base: commit(comparison.baseline),
            head: commit(candidate),
            ..GateResult::new(of.clone(), GateBy::Comparison, outcome, reason)
        });
        if let Some(value) = value(candidate) {
            limits(value, &rule, &of, judged);
        }
    }
}
