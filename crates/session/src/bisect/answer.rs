//! The answer of a search, and how sure it is.

use becalm_model::wire::{BisectState, CandidateDocument, FoundDocument};
use becalm_model::{BisectNote, RatioInterval, Stray};
use becalm_stats::bisect::{Posterior, State, groups};
use becalm_stats::normal;

use super::known;
use super::state::SavedSearch;

/// Candidates below this probability are not listed.
const LISTED: f64 = 1e-3;

/// Writes the answer into the state. `is_found` says whether it is sure enough.
pub(super) fn write(
    saved: &mut SavedSearch,
    posterior: &Posterior,
    states: &[State],
    is_found: bool,
) {
    let groups = groups(posterior, states);
    let best = groups.iter().copied().max_by(|a, b| a.probability.total_cmp(&b.probability));
    let exact = saved.document.exact;
    let strays: Vec<Stray> = known::readings(&saved.document)
        .iter()
        .filter(|one| one.is_at_neither(posterior))
        .filter_map(|one| {
            let commit = saved.document.commit(one.commits[0])?;
            let level = match exact {
                Some([good, bad]) => one.level.centre * (bad - good) + good,
                None => one.level.centre.exp_m1(),
            };
            Some(Stray { commit: commit.id.clone(), level, exact: exact.is_some() })
        })
        .collect();
    if !strays.is_empty() {
        saved.note(BisectNote::SeveralChanges { strays });
    }
    let document = &mut saved.document;
    document.candidates = posterior
        .first
        .iter()
        .enumerate()
        .filter(|(_, probability)| **probability >= LISTED)
        .map(|(index, &probability)| CandidateDocument { commit: index + 1, probability })
        .collect();
    document.state = if is_found { BisectState::Found } else { BisectState::Undecided };
    let reach = normal::quantile(0.5 + document.confidence / 2.0) * posterior.deviation;
    document.found = best.filter(|_| is_found).map(|group| FoundDocument {
        from: group.from,
        to: group.to,
        probability: group.probability,
        ratio: exact.is_none().then(|| RatioInterval {
            estimate: posterior.change.exp(),
            low: (posterior.change - reach).exp(),
            high: (posterior.change + reach).exp(),
        }),
    });
}
