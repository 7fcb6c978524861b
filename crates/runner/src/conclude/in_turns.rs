//! Comparison of the subjects of one saved record, whose runs were made in turns.

use becalm_model::terms::Primary;
use becalm_model::{Comparison, ComparisonNote, Record, RecordKind};

use super::family::{comparisons, conclude_at};
use super::shape::Shape;
use crate::rounds::Judgement;

/// Compares every subject of a session with the first one over the rounds, on metrics by name, so that all
/// verdicts together hold at `confidence`. `margin` is the smallest relative change that matters where a suite says
/// no other.
///
/// How often the session looked is not in the record. What it concluded itself at this confidence is drawn at its
/// own level, which allows for that; for anything else of a comparison a note says that it is not.
pub fn compare_in_turns(
    record: &Record,
    metrics: &[String],
    confidence: f64,
    margin: f64,
) -> Vec<Comparison> {
    let primary = Primary::Named(metrics.to_vec());
    let judgement = Judgement { confidence, margin, primary };
    #[expect(clippy::float_cmp, reason = "the same text gives the same number")]
    let is_asked_the_same = record.confidence == confidence;
    comparisons(record, &judgement, &Shape::single())
        .into_iter()
        .filter(|one| one.primary)
        .map(|one| {
            let own = record.comparisons.iter().filter(|_| is_asked_the_same).find(|own| {
                (own.baseline, own.candidate, own.metric) == (0, one.candidate, one.metric)
            });
            let confidence = match own {
                Some(own) if own.primary => own.confidence,
                // It was drawn beside the decision, without regard to others.
                Some(own) => own.confidence.max(one.confidence),
                None => one.confidence,
            };
            let metric = &record.metrics[one.metric];
            let margin = record.margin_of(one.candidate, metric).unwrap_or(margin);
            let terms = Judgement { margin, ..judgement.clone() };
            let mut found = conclude_at(record, &terms, &one, 1.0 - confidence);
            let is_exact = found.ratio.is_some_and(|ratio| ratio.low >= ratio.high);
            if record.kind == RecordKind::Comparison && own.is_none() && !is_exact {
                found.notes.push(ComparisonNote::LooksNotAllowedFor.into());
            }
            found
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use becalm_model::Verdict;

    use super::super::compare_separate;
    use super::super::tests::{judgement, record, wobble};
    use super::*;

    /// Two subjects 2 % apart on a machine that slows down by a tenth during the session.
    fn drifting() -> Record {
        record(2, 20, |round, subject, run| {
            let seconds = wobble(round, subject) * (1.0 + 0.02 * subject as f64);
            run.values[0] = Some(seconds * (1.0 + 0.005 * round as f64));
        })
    }

    fn at(record: &Record, confidence: f64) -> Comparison {
        let mut all = compare_in_turns(record, &["wall_time".to_owned()], confidence, 0.01);
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    #[test]
    fn subjects_of_one_session_are_compared_over_its_rounds() {
        let one = drifting();
        let found = at(&one, 0.95);
        assert_eq!((found.verdict, found.rounds), (Verdict::Slower, 20), "{found:?}");
        assert!(!found.notes.contains(&ComparisonNote::MeasuredSeparately.into()), "{found:?}");
        let apart = compare_separate((&one, 0), (&one, 1), "wall_time", 0.95, 0.01).unwrap();
        assert_eq!(apart.verdict, Verdict::Inconclusive, "as two sets of runs they overlap");
    }

    #[test]
    fn what_a_session_concluded_is_said_again_at_its_own_level() {
        let mut one = drifting();
        let strict = Judgement { confidence: 0.998, ..judgement(&["wall_time"]) };
        one.comparisons = comparisons(&one, &strict, &Shape::single());
        let (found, own) = (at(&one, 0.95), &one.comparisons[0]);
        assert!((found.confidence - 0.998).abs() < 1e-9, "looks are allowed for: {found:?}");
        let low = |comparison: &Comparison| comparison.ratio.unwrap().low;
        assert!((low(&found) - low(own)).abs() < 1e-9, "{found:?} {own:?}");
        assert_eq!(found.notes, own.notes);
        let other = at(&one, 0.99);
        assert!((other.confidence - 0.99).abs() < 1e-9, "{other:?}");
        assert_eq!(other.notes.last(), Some(&ComparisonNote::LooksNotAllowedFor.into()));
    }

    #[test]
    fn the_margin_of_a_suite_is_that_of_its_benchmark() {
        let mut one = drifting();
        let terms = |margin| becalm_model::SubjectTerms { margin, ..Default::default() };
        one.suite = vec![terms(None), terms(Some(0.1))];
        assert_eq!(at(&one, 0.95).verdict, Verdict::Equivalent);
    }
}
