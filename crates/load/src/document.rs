//! What a load says in the end: its document.

use becalm_model::MachineFacts;
use becalm_model::load::{
    Distrust, Fidelity, GeneratorPlace, LoadRunDocument, LoadTerms, Objective, ObjectiveOf,
    ObjectiveResult,
};
use becalm_model::wire::{LOAD_SCHEMA, worded};

use crate::engine::Loaded;
use crate::fidelity::is_trusted;
use crate::measure::QUANTILES;
use crate::of_run::parts;
use crate::seconds::ClosedSecond;
use crate::tally::Tally;

/// What a document has beside the figures.
#[derive(Debug)]
pub struct About<'a> {
    /// Version of becalm.
    pub becalm: &'a str,
    /// Seconds since 1970.
    pub started_at: f64,
    /// The machine that sent.
    pub machine: MachineFacts,
    /// What was asked for.
    pub terms: LoadTerms,
    /// On which CPUs the threads were.
    pub place: Option<GeneratorPlace>,
    /// What the server has to keep.
    pub objectives: &'a [Objective],
    /// The signal that ended the load.
    pub signal: Option<i32>,
    /// Makes the sentence of a reason.
    pub words: fn(&Distrust) -> String,
}

/// Puts the document of a load together, with the verdict on the generator.
pub fn document(loaded: &Loaded, about: About<'_>) -> LoadRunDocument {
    let total = &loaded.total;
    let judged = loaded.judged(about.terms.connections);
    let trusted = QUANTILES.into_iter().take_while(|q| is_trusted(total, *q));
    let fidelity = Fidelity {
        verdict: judged.verdict,
        reasons: worded(&judged.reasons, about.words),
        lag_limit: judged.lag_limit,
        trusted_to: trusted.last(),
        pickup_p99: total.pickup.quantile(0.99).map(|one| one.value),
        spin: loaded.spin.as_secs_f64(),
        batch: loaded.batch.as_secs_f64(),
        gaps: loaded.gaps,
        threads: loaded.threads().cloned().collect(),
        place: about.place,
    };
    LoadRunDocument {
        schema: LOAD_SCHEMA.to_owned(),
        becalm: about.becalm.to_owned(),
        started_at: about.started_at,
        machine: about.machine,
        terms: about.terms,
        counts: total.counts,
        elapsed: loaded.elapsed.as_secs_f64(),
        answering: Some(loaded.answering.as_secs_f64()),
        response: total.response.latency(),
        service: total.service.latency(),
        lag: total.lag.latency(),
        errors: total.failed(),
        mix: parts(loaded),
        fidelity,
        objectives: about.objectives.iter().map(|objective| kept(objective, total)).collect(),
        seconds: loaded.seconds.iter().map(|second| second.figures).collect(),
        spreads: loaded.seconds.iter().map(ClosedSecond::spread).collect(),
        signal: about.signal,
    }
}

/// Says whether an objective was kept. A request that was never answered took for ever, so there is no doubt about a
/// quantile of which only a lower bound is known: it is not kept.
fn kept(objective: &Objective, total: &Tally) -> ObjectiveResult {
    let found = match objective.of {
        ObjectiveOf::Response(q) => total.response.quantile_or_never(q),
        ObjectiveOf::Errors => {
            let counts = total.counts;
            Some(1.0 - counts.answered as f64 / counts.scheduled.max(1) as f64)
        }
    };
    let is_kept = found.is_some_and(|found| found < objective.limit);
    ObjectiveResult { objective: objective.clone(), found, is_kept }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::{Done, Fate};
    use becalm_model::load::FailureKind;

    const MS: u64 = 1_000_000;

    fn tally(answered: usize, failed: usize) -> Tally {
        let mut tally = Tally::default();
        let done = |fate| Done { due: 0, taken: 0, starved: false, given_back: false, fate };
        for _ in 0..answered {
            tally.count(done(Fate::Answered { written: 0, last: 10 * MS }));
        }
        for _ in 0..failed {
            let kind = FailureKind::Refused;
            tally.count(done(Fate::Failed {
                kind,
                status: None,
                words: None,
                written: None,
                end: 1,
            }));
        }
        tally
    }

    #[track_caller]
    fn check(text: &str, tally: &Tally, is_kept: bool) {
        let result = kept(&text.parse().unwrap(), tally);
        assert_eq!(result.is_kept, is_kept, "{result:?}");
    }

    #[test]
    fn an_objective_is_kept_below_its_limit() {
        check("p99 < 20ms", &tally(100, 0), true);
        check("p99 < 10ms", &tally(100, 0), false);
        check("max < 20ms", &tally(100, 0), true);
        check("errors < 0.1%", &tally(100, 0), true);
    }

    #[test]
    fn failures_count_against_it_however_fast_they_came() {
        check("p99 < 20ms", &tally(99, 1), true);
        check("p99 < 20ms", &tally(98, 2), false);
        check("max < 20ms", &tally(999, 1), false);
        check("errors < 1%", &tally(98, 2), false);
        check("p50 < 1s", &Tally::default(), false);
    }
}
