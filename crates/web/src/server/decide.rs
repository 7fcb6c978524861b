//! A decision about a change, sent by a form.

use std::collections::HashSet;

use becalm_model::history::{ChangeId, Decision, Review};
use becalm_report::web::WebMessage;
use becalm_series::{ChangeTerms, Decided, SeriesFilter, StoreError, follow};

use super::query::value;
use crate::history::{History, now};
use crate::queries::Findings;

/// Letters of a name.
const NAME: usize = 100;

/// Letters of a reason.
const REASON: usize = 1000;

/// What a form asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    change: ChangeId,
    /// When what the form showed was decided; `None` if the change was open.
    seen: Option<f64>,
    decision: Option<Decision>,
    by: String,
}

impl Asked {
    /// Reads the form for a change; `who` asks, if nobody is named.
    pub(super) fn read(
        change: ChangeId,
        form: &[(String, String)],
        who: &str,
    ) -> Result<Self, WebMessage> {
        let bad = |what: &str| WebMessage::BadRequest(what.to_owned());
        let seen = match value(form, "seen") {
            Some("open") => None,
            Some(bits) => {
                let bits = u64::from_str_radix(bits, 16)
                    .map_err(|_| bad("`seen` is not a value from a page"))?;
                Some(f64::from_bits(bits))
            }
            None => return Err(bad("`seen` is missing")),
        };
        let reason = one_line(value(form, "reason").unwrap_or_default(), REASON);
        let reason = Some(reason).filter(|reason| !reason.is_empty());
        let decision = match value(form, "decision") {
            Some("acknowledge") => Some(Decision::Acknowledged { reason }),
            Some("dismiss") => {
                Some(Decision::Dismissed { reason: reason.ok_or(WebMessage::NoReason)? })
            }
            Some("reopen") => None,
            _ => return Err(bad("`decision` must be acknowledge, dismiss or reopen")),
        };
        let named = one_line(value(form, "by").unwrap_or_default(), NAME);
        let by = if named.is_empty() { one_line(who, NAME) } else { named };
        Ok(Self { change, seen, decision, by })
    }

    /// Keeps the decision, and returns where the change is shown; or says what was decided meanwhile.
    pub(super) fn carry_out(
        &self,
        history: &History,
    ) -> Result<Result<String, WebMessage>, StoreError> {
        let ChangeId { series, entry } = self.change;
        history.writing(|store| {
            let one =
                store.series(&SeriesFilter { ids: vec![series], ..SeriesFilter::default() })?;
            // What was found is kept first, so that the decision has its change; but for what only an old or a shallow clone shows.
            let found = Findings::of(history, store)?;
            let keep = history.saves && found.uncounted.values().all(|of| of.newer == 0);
            let left_out = HashSet::clone(&found.left_out);
            let terms = ChangeTerms { left_out, ..history.terms.clone() };
            let followed = follow(store, one, &terms, keep, now())?.pop();
            let is_there = followed
                .is_some_and(|one| one.changes.iter().any(|(_, change)| change.entry == entry));
            if !is_there {
                return Ok(Err(WebMessage::NotFound));
            }
            let review = self.decision.clone().map(|decision| Review {
                decision,
                by: self.by.clone(),
                time: now(),
            });
            Ok(match store.decide(series, entry, self.seen, review.as_ref())? {
                Decided::Kept => Ok(format!("../series/{0}#change-{0}-{1}", series.0, entry.0)),
                Decided::Meanwhile(review) => {
                    Err(WebMessage::Meanwhile { review, series: series.0 })
                }
            })
        })
    }
}

/// Returns a text without ends of lines and other controls, and not longer than so many letters.
fn one_line(text: &str, letters: usize) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.trim().chars().map(plain).take(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(form: &[(&str, &str)]) -> Result<Asked, WebMessage> {
        let form: Vec<_> =
            form.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Asked::read("3@120".parse().unwrap(), &form, "ada")
    }

    #[test]
    fn a_form_says_what_was_seen_and_what_is_decided() {
        let seen = format!("{:016x}", 12.5f64.to_bits());
        let asked =
            read(&[("seen", &seen), ("decision", "dismiss"), ("reason", " a\nb "), ("by", "eve")])
                .unwrap();
        assert_eq!(asked.seen, Some(12.5));
        assert_eq!(asked.decision, Some(Decision::Dismissed { reason: "a b".to_owned() }));
        assert_eq!(asked.by, "eve");
        let asked = read(&[("seen", "open"), ("decision", "reopen")]).unwrap();
        assert_eq!((asked.seen, asked.decision, asked.by.as_str()), (None, None, "ada"));
    }

    #[test]
    fn a_form_that_says_less_is_refused() {
        assert_eq!(
            read(&[("seen", "open"), ("decision", "dismiss"), ("reason", " ")]),
            Err(WebMessage::NoReason)
        );
        for form in [
            &[("decision", "reopen")][..],
            &[("seen", "x"), ("decision", "reopen")],
            &[("seen", "open")],
        ] {
            assert!(matches!(read(form), Err(WebMessage::BadRequest(_))), "{form:?}");
        }
    }
}
