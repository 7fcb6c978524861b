//! Comparison of two records that were measured at different times.

use becalm_model::{Comparison, RatioInterval, Record, Verdict};
use becalm_stats::decide::unpaired;

use super::verdict::verdict;

/// Compares `metric` (by name) of one subject of each record as two independent samples. The order
/// of measuring was not random between them, so drift of the machine cannot be excluded: the note
/// says so. Indices in the result: `baseline` into `old`, `candidate` into `new`, `metric` into
/// `old`.
pub fn compare_separate(
    (old, baseline): (&Record, usize),
    (new, candidate): (&Record, usize),
    metric: &str,
    confidence: f64,
    margin: f64,
) -> Option<Comparison> {
    let (old_metric, new_metric) = (old.metric_index(metric)?, new.metric_index(metric)?);
    let logs = |record: &Record, subject, metric| -> Vec<f64> {
        record.values(subject, metric).iter().filter(|&&v| v > 0.0).map(|v| v.ln()).collect()
    };
    let a = logs(old, baseline, old_metric);
    let b = logs(new, candidate, new_metric);
    let estimate = unpaired::estimate(&a, &b, 1.0 - confidence);
    let ratio = estimate.map(|estimate| RatioInterval {
        estimate: estimate.centre.exp(),
        low: estimate.low.exp(),
        high: estimate.high.exp(),
    });
    let direction = old.metrics[old_metric].direction;
    Some(Comparison {
        baseline,
        candidate,
        metric: old_metric,
        primary: true,
        ratio,
        verdict: ratio.map_or(Verdict::Inconclusive, |r| verdict(&r, margin, direction)),
        confidence,
        rounds: u32::try_from(a.len().min(b.len())).expect("fewer than 2^32 runs"),
        discarded_rounds: 0,
        noise_floor: estimate.map(|e| ((e.high - e.low) / 2.0).exp_m1()),
        rounds_needed: None,
        notes: vec![
            "measured separately: a change of the machine between the two cannot be told from a \
             change of the program; `becalm compare` interleaves them"
                .to_owned(),
        ],
    })
}
