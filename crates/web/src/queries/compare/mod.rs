//! All benchmarks of two commits, branches or machines beside each other.
//!
//! A side is the median of its values: of the entries of a commit, or of the last entries of a branch or machine since its
//! last confirmed change. The logarithm of the ratio has a variance from the [noise](super::noise) of both series, and an
//! interval of Student's t; where a series is too young for that, from the standard errors within its entries. Verdicts are
//! corrected for how many are compared: with Holm's method the chance that any `faster` or `slower` is wrong is at most 5 %,
//! as far as neighbouring entries tell the noise between entries.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use becalm_model::history::{EntryId, Series, SeriesId, short_commit};
use becalm_model::wire::{
    WEB_COMPARE_SCHEMA, WebChoiceDocument, WebCompareCounts, WebCompareDocument,
    WebComparisonDocument, WebSideDocument,
};
use becalm_series::{EntryFilter, Store, StoreError};
use becalm_stats::center::median_of;
use becalm_stats::multiplicity::holm;
use becalm_stats::student;

use super::noise::Noise;
use super::search::Search;
use super::{Findings, part};
use crate::history::History;
use crate::kept::Line;

/// Comparisons of a page.
const EACH: usize = 50;

/// Entries of a branch or machine that count, at most.
const LAST: usize = 10;

/// Entries whose commits are offered.
const OFFERED: usize = 60;

/// Letters of the beginning of the id of a commit.
const SHORTEST: usize = 6;

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
    pub(crate) fn word(self) -> &'static str {
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

/// One side of one series.
#[derive(Debug, Clone)]
struct Side<'a> {
    series: &'a Series,
    entry: EntryId,
    at: f64,
    entries: usize,
    value: f64,
    /// Standard error within the entry, relative to the value, and its runs; if it is one entry that has one.
    error: Option<(f64, u32)>,
}

/// Returns a page of comparisons; `None` if there is no such page.
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
    let [mut of_before, of_after] = sides(history, store, &found, asked.of, [before, after])?;
    let fits = |series: &Series| words.fits(series, &found, "");
    let mut counts = WebCompareCounts::default();
    let mut pairs: Vec<[Side<'_>; 2]> = Vec::new();
    for (key, after) in of_after {
        if !fits(after.series) {
            continue;
        }
        match of_before.remove(&key) {
            Some(before) => pairs.push([before, after]),
            None => counts.only_after += 1,
        }
    }
    counts.only_before = of_before.values().filter(|side| fits(side.series)).count();
    let mut comparisons = decided(&found, &pairs);
    for one in &comparisons {
        match one.verdict.as_str() {
            "faster" => counts.faster += 1,
            "slower" => counts.slower += 1,
            "equivalent" => counts.equivalent += 1,
            _ => counts.inconclusive += 1,
        }
    }
    comparisons.retain(|one| asked.show == "all" || kind(&one.verdict) == asked.show);
    comparisons.sort_by(|a, b| {
        let rank = |one: &WebComparisonDocument| match kind(&one.verdict) {
            "different" => 0,
            "undecided" => 1,
            _ => 2,
        };
        let name = |one: &WebComparisonDocument| {
            (one.benchmark.clone(), one.parameters.clone(), one.after.series)
        };
        rank(a)
            .cmp(&rank(b))
            .then(b.at_least.total_cmp(&a.at_least))
            .then_with(|| name(a).cmp(&name(b)))
    });
    let Some((part, range)) = part(comparisons.len(), EACH, asked.page) else { return Ok(None) };
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
        comparisons: comparisons.drain(range).collect(),
    }))
}

/// Returns which list a verdict is in.
fn kind(verdict: &str) -> &'static str {
    match verdict {
        "faster" | "slower" => "different",
        "equivalent" => "same",
        _ => "undecided",
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
                let Some(commit) = &entry.commit else { continue };
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

/// What both sides of a comparison have in common: benchmark, metric, unit, parameters, and branch or machine.
type Key<'a> = (&'a str, &'a str, String, &'a [(String, String)], &'a str);

/// Collects the sides of all series that are watched.
fn sides<'a>(
    history: &History,
    store: &mut Store,
    found: &'a Findings,
    of: Of,
    wanted: [&str; 2],
) -> Result<[HashMap<Key<'a>, Side<'a>>; 2], StoreError> {
    let mut sides = [HashMap::new(), HashMap::new()];
    if wanted.contains(&"") && of != Of::Branches {
        return Ok(sides);
    }
    let mut levels: HashMap<SeriesId, usize> = HashMap::new();
    for change in found.changes.iter().filter(|change| change.change.state == "confirmed") {
        let Some(place) = &change.change.history else { continue };
        let first = levels.entry(SeriesId(place.series)).or_default();
        *first = (*first).max(change.change.index);
    }
    for group in &found.groups {
        for (side, wanted) in sides.iter_mut().zip(wanted) {
            let is_here = match of {
                Of::Commits => true,
                Of::Branches => group.branch == wanted,
                Of::Machines => group.fingerprint == wanted,
            };
            if !is_here {
                continue;
            }
            let mut of_commit: Option<Vec<usize>> = None;
            found.visit(history, store, group, &mut |series, line| {
                let places: Vec<usize> = if of == Of::Commits {
                    let places = of_commit.get_or_insert_with(|| places_of(line, wanted));
                    places.iter().filter_map(|place| line.at(*place)).collect()
                } else {
                    let n = line.values.len();
                    let level = levels.get(&series.id).copied().unwrap_or(0);
                    (level.max(n.saturating_sub(LAST)).min(n)..n).collect()
                };
                let Some(new) = Side::of(series, line, &places) else { return };
                let key = &series.key;
                let common = if of == Of::Machines { &key.branch } else { &key.fingerprint };
                let key = (
                    key.benchmark.as_str(),
                    key.metric.as_str(),
                    key.unit.to_string(),
                    &key.parameters[..],
                    common.as_str(),
                );
                // A commit can be on several branches: what was measured last counts.
                if side.get(&key).is_none_or(|known: &Side<'_>| known.at < new.at) {
                    side.insert(key, new);
                }
            })?;
        }
    }
    Ok(sides)
}

/// Returns the places of the entries of a commit, named by its id or the beginning of it.
fn places_of(line: Line<'_>, commit: &str) -> Vec<usize> {
    let is_it = |at: &usize| {
        line.moments[*at]
            .commit
            .as_deref()
            .is_some_and(|id| id == commit || (commit.len() >= SHORTEST && id.starts_with(commit)))
    };
    (0..line.moments.len()).filter(is_it).collect()
}

impl<'a> Side<'a> {
    fn of(series: &'a Series, line: Line<'_>, places: &[usize]) -> Option<Self> {
        let last = *places.last()?;
        let moment = &line.moments[line.places[last] as usize];
        let error = match *places {
            [one] => {
                let (value, error, runs) = (line.values[one], line.errors[one], line.runs[one]);
                Some((error / value, runs)).filter(|(error, _)| error.is_finite() && runs > 1)
            }
            _ => None,
        };
        let mut values: Vec<f64> = places.iter().map(|at| line.values[*at]).collect();
        Some(Self {
            series,
            entry: moment.entry,
            at: moment.at,
            entries: values.len(),
            value: median_of(&mut values),
            error,
        })
    }

    fn document(&self) -> WebSideDocument {
        WebSideDocument {
            series: self.series.id.0,
            entry: self.entry.0,
            branch: self.series.key.branch.clone(),
            fingerprint: self.series.key.fingerprint.clone(),
            entries: self.entries,
            value: self.value,
        }
    }

    /// Returns the variance of its median, in those of one value.
    fn share(&self) -> f64 {
        let n = self.entries as f64;
        // From three on, that of a median of normal values.
        if self.entries < 3 { 1.0 / n } else { std::f64::consts::FRAC_PI_2 / n }
    }
}

/// What is known of the logarithm of a ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Estimate {
    /// The logarithm.
    log: f64,
    /// Its standard error and degrees of freedom; `None` if nothing tells the noise.
    error: Option<(f64, f64)>,
}

impl Estimate {
    /// Compares a value of one side with that of the other, from the noise of both, or else from errors within entries.
    fn of(log: f64, noise: Option<Noise>, shares: f64, within: [Option<(f64, u32)>; 2]) -> Self {
        let error = match (noise, within) {
            (Some(noise), _) => Some((noise.deviation * shares.sqrt(), noise.degrees)),
            (None, [Some((one, n)), Some((other, m))]) => {
                Some((one.hypot(other), f64::from(n + m - 2)))
            }
            _ => None,
        };
        Self { log, error }
    }

    /// Returns the p value of no difference.
    fn p(self) -> f64 {
        match self.error {
            None => 1.0,
            Some(_) if self.log == 0.0 => 1.0,
            Some((error, _)) if error <= 0.0 => 0.0,
            Some((error, degrees)) => student::two_sided_p(self.log / error, degrees),
        }
    }

    /// Returns the ends of the interval, from the two-sided quantile of Student's t by degrees of freedom.
    fn interval(self, quantile: impl FnOnce(f64) -> f64) -> Option<[f64; 2]> {
        let (error, degrees) = self.error?;
        let reach = if error > 0.0 { error * quantile(degrees) } else { 0.0 };
        Some([self.log - reach, self.log + reach])
    }
}

/// Returns the quantile of Student's t between whose two sides the confidence lies.
fn quantile(degrees: f64) -> f64 {
    student::two_sided_quantile(CONFIDENCE, degrees)
}

/// Decides about all pairs together.
fn decided(found: &Findings, pairs: &[[Side<'_>; 2]]) -> Vec<WebComparisonDocument> {
    let estimate = |[before, after]: &[Side<'_>; 2]| {
        let log = (after.value / before.value).ln();
        let is_exact = before.series.exact && after.series.exact;
        let noise = match [before, after].map(|side| found.noise(side.series.id)) {
            _ if is_exact => Some(Noise { deviation: 0.0, degrees: 1.0 }),
            [Some(one), Some(other)] if before.series.id != after.series.id => {
                Some(one.pooled(other))
            }
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
    all.map(|(([before, after], estimate), holm)| {
        let interval = estimate.and_then(|one| one.interval(&mut known));
        let key = &after.series.key;
        let is_worse =
            (after.value > before.value) == (key.direction == becalm_model::Direction::Lower);
        let margin = [-MARGIN.ln_1p(), MARGIN.ln_1p()];
        let is_within = interval.is_some_and(|[low, high]| low >= margin[0] && high <= margin[1]);
        let verdict = match () {
            () if is_within => "equivalent",
            () if !holm.rejected => "inconclusive",
            () if is_worse => "slower",
            () => "faster",
        };
        let at_least = interval.map_or(0.0, |[low, high]| low.max(-high).max(0.0));
        let ratio = after.value / before.value;
        WebComparisonDocument {
            benchmark: key.benchmark.clone(),
            parameters: key.parameters.iter().cloned().collect::<BTreeMap<_, _>>(),
            metric: key.metric.clone(),
            unit: key.unit.to_string(),
            direction: key.direction.name().to_owned(),
            before: before.document(),
            after: after.document(),
            ratio: Some(ratio).filter(|ratio| ratio.is_finite()),
            ratio_low: interval.map(|[low, _]| low.exp()),
            ratio_high: interval.map(|[_, high]| high.exp()),
            verdict: verdict.to_owned(),
            at_least,
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use becalm_stats::Rng;

    use super::*;

    /// How often the interval of a ratio of 1 has 1, with so many earlier values and values of each side.
    fn covered(earlier: usize, each: usize, rng: &mut Rng) -> f64 {
        const TIMES: usize = 4000;
        let mut has = 0;
        for _ in 0..TIMES {
            let past: Vec<f64> = (0..earlier).map(|_| (0.03 * rng.normal()).exp()).collect();
            let noise = Noise::of(&past);
            let mut side = || {
                let mut values: Vec<f64> = (0..each).map(|_| 0.03 * rng.normal()).collect();
                median_of(&mut values)
            };
            let log = side() - side();
            let share = if each < 3 { 1.0 } else { std::f64::consts::FRAC_PI_2 } / each as f64;
            let [low, high] =
                Estimate::of(log, noise, 2.0 * share, [None; 2]).interval(quantile).unwrap();
            has += usize::from(low <= 0.0 && high >= 0.0);
        }
        has as f64 / TIMES as f64
    }

    #[test]
    fn intervals_have_their_confidence_for_young_and_old_series() {
        let mut rng = Rng::new(17);
        for (earlier, each) in [(6, 1), (12, 1), (30, 1), (60, 1), (60, 5), (60, 10)] {
            let share = covered(earlier, each, &mut rng);
            assert!((0.935..0.995).contains(&share), "{earlier} earlier, {each} each: {share}");
        }
    }

    #[test]
    fn errors_within_entries_serve_where_there_is_no_history_and_exact_values_need_none() {
        let young = Estimate::of(0.1, None, 2.0, [Some((0.01, 10)), Some((0.01, 10))]);
        let [low, high] = young.interval(quantile).unwrap();
        assert!(low > 0.06 && high < 0.14, "{low} {high}");
        let unknown = Estimate::of(0.1, None, 2.0, [None, Some((0.01, 10))]);
        assert_eq!((unknown.interval(quantile), unknown.p()), (None, 1.0));
        let exact = Estimate::of(0.1, Some(Noise { deviation: 0.0, degrees: 1.0 }), 2.0, [None; 2]);
        assert_eq!((exact.interval(quantile), exact.p()), (Some([0.1, 0.1]), 0.0));
    }
}
