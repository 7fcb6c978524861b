//! All benchmarks of two commits, branches or machines beside each other.
//!
//! A side is the median of its values: of the entries of a commit, or of the last entries of a branch or machine since its
//! last confirmed change. The logarithm of the ratio has a variance from the [noise](super::noise) of both series, and an
//! interval of Student's t; where a series is too young for that, from the standard errors within its entries. Verdicts are
//! corrected for how many are compared: with Holm's method the chance that any `faster` or `slower` is wrong is at most 5 %,
//! as far as neighbouring entries tell the noise between entries.

mod estimate;
mod sides;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use becalm_model::history::short_commit;
use becalm_model::wire::{
    WEB_COMPARE_SCHEMA, WebChoiceDocument, WebCompareCounts, WebCompareDocument,
    WebComparisonDocument,
};
use becalm_model::{Direction, Verdict};
use becalm_series::{EntryFilter, Stamp, Store, StoreError};
use becalm_stats::multiplicity::holm;

use super::noise::Noise;
use super::search::Search;
use super::{Findings, part};
use crate::history::{History, locked};
use estimate::{Estimate, quantile};
use sides::{Key, Side, is_named, sides};

/// Comparisons of a page.
const EACH: usize = 50;

/// Entries whose commits are offered.
const OFFERED: usize = 60;

const CONFIDENCE: f64 = 0.95;

/// The smallest relative difference that matters.
const MARGIN: f64 = 0.01;

/// What the sides are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    Commits,
    Branches,
    Machines,
}

impl Of {
    pub(crate) const ALL: [Self; 3] = [Self::Commits, Self::Branches, Self::Machines];

    /// Returns what the address has for it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Commits => "commits",
            Self::Branches => "branches",
            Self::Machines => "machines",
        }
    }
}

/// What somebody wants to see beside each other.
#[derive(Debug, Clone)]
pub(crate) struct Asked<'a> {
    pub(crate) of: Of,
    /// The sides; the newest two if both are empty.
    pub(crate) sides: [&'a str; 2],
    /// `different`, `undecided`, `same` or `all`.
    pub(crate) show: &'a str,
    pub(crate) search: &'a str,
    pub(crate) page: usize,
}

/// Two sides and what they say. The documents of all would be large: those of a page are made.
#[derive(Debug, Clone, Copy)]
struct Compared {
    sides: [Side; 2],
    verdict: Verdict,
    interval: Option<[f64; 2]>,
    /// The smallest difference that the interval has, as an absolute logarithm.
    at_least: f64,
}

/// Returns a page of comparisons; `None` if there is no such page, commit, branch or machine.
pub(crate) fn compare(
    history: &History,
    store: &mut Store,
    asked: &Asked<'_>,
) -> Result<Option<WebCompareDocument>, StoreError> {
    let found = Findings::of(history, store)?;
    let choices = choices(store, &found, asked.of)?;
    let [before, after] = match (asked.sides, &choices[..]) {
        (["", ""], [newest, other, ..]) => [other.value.as_str(), newest.value.as_str()],
        (sides, _) => sides,
    };
    let words = Search::of(asked.search);
    let known = known_sides(history, store, &found, asked.of, [before, after])?;
    for (side, values) in [before, after].into_iter().zip(&known.sides) {
        if values.is_empty() && !is_known(store, &found, asked.of, side)? {
            return Ok(None);
        }
    }
    let [of_before, of_after] = &known.sides;
    let fits = |side: &Side| words.fits(&found.series[side.place], &found, "");
    let mut counts = WebCompareCounts::default();
    let mut pairs: Vec<[Side; 2]> = Vec::new();
    for (key, after) in of_after.iter().filter(|(_, after)| fits(after)) {
        match of_before.get(key) {
            Some(before) => pairs.push([*before, *after]),
            None => counts.only_after += 1,
        }
    }
    let is_alone = |key| !of_after.get(key).is_some_and(&fits);
    let alone = of_before.iter().filter(|(key, side)| is_alone(*key) && fits(side));
    counts.only_before = alone.count();
    let mut compared = decided(&found, &pairs);
    for one in &compared {
        match one.verdict {
            Verdict::Faster => counts.faster += 1,
            Verdict::Slower => counts.slower += 1,
            Verdict::Equivalent => counts.equivalent += 1,
            Verdict::Inconclusive => counts.inconclusive += 1,
        }
    }
    compared.retain(|one| asked.show == "all" || kind(one.verdict) == asked.show);
    let rank = |one: &Compared| match kind(one.verdict) {
        "different" => 0,
        "undecided" => 1,
        _ => 2,
    };
    // All series are in the order of their names.
    compared.sort_by(|a, b| {
        let places = [a, b].map(|one| one.sides[1].place);
        let sizes = b.at_least.total_cmp(&a.at_least);
        rank(a).cmp(&rank(b)).then(sizes).then(places[0].cmp(&places[1]))
    });
    let Some((part, range)) = part(compared.len(), EACH, asked.page) else { return Ok(None) };
    Ok(Some(WebCompareDocument {
        schema: WEB_COMPARE_SCHEMA.to_owned(),
        of: asked.of.word().to_owned(),
        before: before.to_owned(),
        after: after.to_owned(),
        choices,
        show: asked.show.to_owned(),
        search: asked.search.to_owned(),
        margin: MARGIN,
        confidence: CONFIDENCE,
        counts,
        part,
        comparisons: compared[range].iter().map(|one| one.document(&found)).collect(),
    }))
}

/// Says whether the history has entries of a side; of none that was not chosen.
fn is_known(store: &mut Store, found: &Findings, of: Of, side: &str) -> Result<bool, StoreError> {
    Ok(match of {
        _ if side.is_empty() => true,
        Of::Commits => {
            let filter = EntryFilter {
                commit: Some(side.to_owned()),
                limit: Some(OFFERED),
                ..EntryFilter::default()
            };
            store
                .entries(&filter)?
                .iter()
                .any(|entry| entry.commit.as_ref().is_some_and(|commit| is_named(&commit.id, side)))
        }
        Of::Branches => found.has_branch(side),
        Of::Machines => found.groups.iter().any(|group| group.fingerprint == side),
    })
}

/// The sides of the last comparison: whoever turns its pages, searches in it or filters it needs them again.
#[derive(Debug)]
pub(crate) struct KnownSides {
    stamp: Stamp,
    of: Of,
    wanted: [String; 2],
    sides: [HashMap<Key, Side>; 2],
}

/// Returns the sides of a comparison, those that are known if it is the last one.
fn known_sides(
    history: &History,
    store: &mut Store,
    found: &Findings,
    of: Of,
    wanted: [&str; 2],
) -> Result<Arc<KnownSides>, StoreError> {
    let is_it = |known: &&Arc<KnownSides>| {
        known.stamp == found.stamp && known.of == of && known.wanted == wanted
    };
    if let Some(known) = locked(&history.sides).as_ref().filter(is_it) {
        return Ok(Arc::clone(known));
    }
    let sides = sides(history, store, found, of, wanted)?;
    let wanted = wanted.map(str::to_owned);
    let known = Arc::new(KnownSides { stamp: found.stamp.clone(), of, wanted, sides });
    *locked(&history.sides) = Some(Arc::clone(&known));
    Ok(known)
}

/// Returns which list a verdict is in.
fn kind(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster | Verdict::Slower => "different",
        Verdict::Equivalent => "same",
        Verdict::Inconclusive => "undecided",
    }
}

/// Returns what could be compared, the newest or largest first.
fn choices(
    store: &mut Store,
    found: &Findings,
    of: Of,
) -> Result<Vec<WebChoiceDocument>, StoreError> {
    let choice = |value: &str, name: String| WebChoiceDocument { value: value.to_owned(), name };
    Ok(match of {
        Of::Commits => {
            let filter = EntryFilter { limit: Some(OFFERED), ..EntryFilter::default() };
            let mut known = BTreeSet::new();
            let mut choices = Vec::new();
            for entry in store.entries(&filter)?.iter().rev() {
                // Entries that do not count have no values to compare.
                let counts = !found.left_out.contains(&entry.id);
                let Some(commit) = entry.commit.as_ref().filter(|_| counts) else { continue };
                if known.insert(commit.id.clone()) {
                    choices.push(choice(
                        &commit.id,
                        format!("{} ({})", short_commit(&commit.id), entry.branch),
                    ));
                }
            }
            choices
        }
        Of::Branches => {
            let branches: BTreeSet<&str> =
                found.groups.iter().map(|group| group.branch.as_str()).collect();
            branches.into_iter().map(|branch| choice(branch, branch.to_owned())).collect()
        }
        Of::Machines => {
            let machines: BTreeSet<&str> =
                found.groups.iter().map(|group| group.fingerprint.as_str()).collect();
            let name = |machine: &str| {
                let short: String = machine.chars().take(6).collect();
                format!("{} ({short})", found.fact(machine, "cpu_model")).trim().to_owned()
            };
            machines.into_iter().map(|machine| choice(machine, name(machine))).collect()
        }
    })
}

/// Decides about all pairs together.
fn decided(found: &Findings, pairs: &[[Side; 2]]) -> Vec<Compared> {
    let estimate = |[before, after]: &[Side; 2]| {
        let log = (after.value / before.value).ln();
        let series = [before, after].map(|side| &found.series[side.place]);
        let noise = match series.map(|one| found.noise(one.id)) {
            _ if series.iter().all(|one| one.exact) => Some(Noise { deviation: 0.0, degrees: 1.0 }),
            [Some(one), Some(other)] if before.place != after.place => Some(one.pooled(other)),
            [one, other] => one.or(other),
        };
        let shares = before.share() + after.share();
        log.is_finite().then(|| Estimate::of(log, noise, shares, [before.error, after.error]))
    };
    let estimates: Vec<Option<Estimate>> = pairs.iter().map(estimate).collect();
    let p_values: Vec<f64> = estimates.iter().map(|one| one.map_or(1.0, Estimate::p)).collect();
    let corrected = holm(&p_values, CONFIDENCE);
    // Most series are equally long, so that few degrees of freedom differ.
    let mut quantiles: HashMap<u64, f64> = HashMap::new();
    let mut known =
        |degrees: f64| *quantiles.entry(degrees.to_bits()).or_insert_with(|| quantile(degrees));
    let all = pairs.iter().zip(&estimates).zip(&corrected);
    all.map(|((sides, estimate), holm)| {
        let [before, after] = sides;
        let interval = estimate.and_then(|one| one.interval(&mut known));
        let direction = found.series[after.place].key.direction;
        let is_worse = (after.value > before.value) == (direction == Direction::Lower);
        let margin = [-MARGIN.ln_1p(), MARGIN.ln_1p()];
        let is_within = interval.is_some_and(|[low, high]| low >= margin[0] && high <= margin[1]);
        let verdict = match () {
            () if is_within => Verdict::Equivalent,
            () if !holm.rejected => Verdict::Inconclusive,
            () if is_worse => Verdict::Slower,
            () => Verdict::Faster,
        };
        let at_least = interval.map_or(0.0, |[low, high]| low.max(-high).max(0.0));
        Compared { sides: *sides, verdict, interval, at_least }
    })
    .collect()
}

impl Compared {
    fn document(&self, found: &Findings) -> WebComparisonDocument {
        let [before, after] = &self.sides;
        let key = &found.series[after.place].key;
        let ratio = after.value / before.value;
        WebComparisonDocument {
            benchmark: key.benchmark.clone(),
            parameters: key.parameters.iter().cloned().collect::<BTreeMap<_, _>>(),
            metric: key.metric.clone(),
            unit: key.unit.to_string(),
            direction: key.direction.name().to_owned(),
            before: before.document(found),
            after: after.document(found),
            ratio: Some(ratio).filter(|ratio| ratio.is_finite()),
            ratio_low: self.interval.map(|[low, _]| low.exp()),
            ratio_high: self.interval.map(|[_, high]| high.exp()),
            verdict: self.verdict.to_string(),
            at_least: self.at_least,
        }
    }
}
