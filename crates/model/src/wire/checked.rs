//! What no session can have written is refused: a file that was edited or damaged must not become an answer.

use std::collections::HashSet;

use super::document::{Document, RunDocument};
use super::read_error::{MAX_ROUND, ReadError};
use crate::RecordKind;
use crate::metric::{CPU_TIME, MAX_RSS, SYSTEM_TIME, USER_TIME, WALL_TIME};
use crate::terms::{Goal, Stop, Terms};

/// Refuses numbers that cannot be what they claim to be.
pub(super) fn check_numbers<R>(document: &Document<R>) -> Result<(), ReadError> {
    let Document { confidence, margin, .. } = *document;
    if !is_confidence(confidence) {
        return Err(ReadError::Confidence(confidence));
    }
    range("margin", margin, is_margin(margin), "from 0 to below 1")?;
    document.terms.as_ref().map_or(Ok(()), check_terms)?;
    document.comparisons.iter().try_for_each(|one| {
        range(
            "confidence of a comparison",
            one.confidence,
            (0.0..=1.0).contains(&one.confidence),
            "from 0 to 1",
        )?;
        let mut lower = 0.0;
        for end in
            [one.ratio.ratio_low, one.ratio.ratio, one.ratio.ratio_high].into_iter().flatten()
        {
            let wanted = "at least 0, and inside its interval";
            range("ratio of a comparison", end, end >= lower, wanted)?;
            lower = end;
        }
        Ok(())
    })
}

fn check_terms(terms: &Terms) -> Result<(), ReadError> {
    let Terms { confidence, margin, stop, .. } = *terms;
    range("terms.confidence", confidence, is_confidence(confidence), "between 0 and 1")?;
    range("terms.margin", margin, is_margin(margin), "from 0 to below 1")?;
    let (rounds, precision) = match stop {
        Stop::Rounds(rounds) => (rounds, None),
        Stop::Until { maximum, goal: Goal::Precision(share), .. } => {
            (maximum.unwrap_or(1), Some(share))
        }
        Stop::Until { maximum, .. } => (maximum.unwrap_or(1), None),
    };
    range("terms.stop", f64::from(rounds), rounds > 0, "at least 1 round")?;
    precision.map_or(Ok(()), |share| range("terms.stop", share, share > 0.0, "a precision above 0"))
}

fn is_confidence(share: f64) -> bool {
    share > 0.0 && share < 1.0
}

fn is_margin(share: f64) -> bool {
    (0.0..1.0).contains(&share)
}

fn range(what: &str, value: f64, is_right: bool, range: &'static str) -> Result<(), ReadError> {
    if is_right { Ok(()) } else { Err(ReadError::Range { what: what.to_owned(), value, range }) }
}

/// The runs of a document, as they are read.
#[derive(Debug)]
pub(super) struct RunCheck {
    /// Subject, round and whether it is of the warm-up: where a session of becalm's own has one run each.
    seen: Option<HashSet<(usize, u32, bool)>>,
}

impl RunCheck {
    pub(super) fn of(kind: RecordKind) -> Self {
        Self { seen: (kind != RecordKind::Import).then(HashSet::new) }
    }

    /// Refuses a run with a time below 0, of a round that no session reaches, or of one that the subject had before.
    pub(super) fn check(
        &mut self,
        subject: usize,
        name: &str,
        run: &RunDocument,
    ) -> Result<(), ReadError> {
        let round = run.round;
        if round > MAX_ROUND {
            return Err(ReadError::Round { subject: name.to_owned(), round });
        }
        let measured = [
            (WALL_TIME, run.wall_time),
            (CPU_TIME, run.cpu_time),
            (USER_TIME, run.user_time),
            (SYSTEM_TIME, run.system_time),
            (MAX_RSS, run.max_rss),
        ];
        for (metric, value) in
            measured.into_iter().filter_map(|(metric, value)| Some((metric, value?)))
        {
            range(&format!("{metric} of a run of `{name}`"), value, value >= 0.0, "at least 0")?;
        }
        let place = (subject, round, run.warmup);
        if self.seen.as_mut().is_some_and(|seen| !seen.insert(place)) {
            return Err(ReadError::Twice { subject: name.to_owned(), round });
        }
        Ok(())
    }
}
