//! The changes of level in series of a history: found from where the detector stopped, and kept.
//!
//! What the detector left with a series is where it stands and which changes it confirmed; a series that got
//! longer is read from there. Whoever may only read the history gets the same answer, and keeps nothing.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use becalm_model::history::{
    ChangeState, Decision, EntryId, FirstSeen, Point, Review, Series, SeriesId, StoredChange,
};
use becalm_model::wire::{SuiteChanges, SuiteSize};
use becalm_stats::changes::{
    self, Change, Changes, DEFAULT_FALSE_ALARMS, Detector, Rules, Size, SpreadChange, State,
    StateKind, errors, sizes, states,
};
use becalm_store::{DetectorState, Found, Moved, Snapshot, Store, StoreError};

use crate::detector_state::{Left, Skipped};
use crate::parallel;

/// When a change of level is one.
#[derive(Debug, Clone, Default)]
pub struct ChangeTerms {
    /// Smallest relative change, for every metric.
    pub margin: Option<f64>,
    /// Share of unchanged series of 500 runs with a false one.
    pub false_alarms: Option<f64>,
    /// What the size of a change is.
    pub size: Option<Size>,
    /// What `becalm.toml` says.
    pub configured: SuiteChanges,
    /// Entries that series go without, because git does not have them on the branch.
    pub left_out: HashSet<EntryId>,
}

/// A share of false alarms that the detector cannot keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it must be from 0.1% to 10%")]
pub struct FalseAlarmsError;

/// Says whether the detector can keep to this share of false alarms.
pub fn check_false_alarms(share: f64) -> Result<f64, FalseAlarmsError> {
    if (0.001..=0.1).contains(&share) { Ok(share) } else { Err(FalseAlarmsError) }
}

impl ChangeTerms {
    /// Returns the rules for a benchmark and a metric: the margin of the former goes before that of the latter.
    pub fn rules(&self, benchmark: &str, metric: &str) -> Rules {
        let margins = &self.configured.margins;
        let of_metric =
            margins.get(benchmark).or(margins.get(metric)).or(self.configured.margin.as_ref());
        let margin = self.margin.or(of_metric.map(|margin| margin.0)).unwrap_or(0.0);
        let configured = self.configured.false_alarms.map(|share| share.0);
        let share = self.false_alarms.or(configured).unwrap_or(DEFAULT_FALSE_ALARMS);
        Rules::new(share, margin).sized(self.size())
    }

    /// Returns what the size of a change is.
    pub fn size(&self) -> Size {
        let configured = self.configured.size.map(|size| match size {
            SuiteSize::Median => Size::Median,
            SuiteSize::Mean => Size::Mean,
        });
        self.size.or(configured).unwrap_or_default()
    }
}

/// A series with its points and its changes, each with its place among the points.
#[derive(Debug, Clone)]
pub struct Followed {
    /// Which series.
    pub series: Series,
    /// Its points, in time order.
    pub points: Vec<Point>,
    /// Its changes of level: those confirmed, then what is pending.
    pub changes: Vec<(Change, StoredChange)>,
    /// Where it got noisier or quieter.
    pub spreads: Vec<SpreadChange>,
    /// Where its level does not stay; the parts are among the changes.
    pub states: Vec<State>,
    /// What was decided about levels at entries where no change is found.
    pub decided: Vec<(EntryId, Review)>,
}

impl Followed {
    /// Returns the places of points from which on the level was acknowledged although no change is found there, in order.
    pub fn accepted_at(&self) -> impl Iterator<Item = usize> {
        let is_accepted = |entry: EntryId| {
            self.decided.iter().any(|(at, review)| {
                *at == entry && matches!(review.decision, Decision::Acknowledged { .. })
            })
        };
        let points = self.points.iter().enumerate();
        points.filter(move |(_, point)| is_accepted(point.entry)).map(|(place, _)| place)
    }

    /// Returns the state that one of the changes is a part of.
    pub fn state_of(&self, change: usize) -> Option<&State> {
        self.states.iter().find(|state| state.parts().contains(&change))
    }

    /// Returns the state that the series is in now, if its level does not stay.
    pub fn current_state(&self) -> Option<&State> {
        self.states.last().filter(|state| state.is_current(self.points.len()))
    }

    /// Returns the state in which the series is unstable now: it moved not long ago, and nowhere else since.
    pub fn unstable(&self) -> Option<&State> {
        let is_confirmed =
            |(_, stored): &&(Change, StoredChange)| stored.state == ChangeState::Confirmed;
        let confirmed = self.changes.iter().filter(is_confirmed).count();
        self.states.last().filter(|state| {
            state.kind == StateKind::Unstable
                && state.is_current(self.points.len())
                && state.parts().end == confirmed
        })
    }
}

/// Says whether a level rose. Medians of coarse values may be equal on both sides: then the ranks tell, or the ratio
/// where another engine has no ranks.
pub fn rose(change: &Change, stored: &StoredChange) -> bool {
    match stored.after.partial_cmp(&stored.before) {
        Some(Ordering::Equal) if change.z.is_nan() => stored.ratio > 1.0,
        Some(Ordering::Equal) => change.z > 0.0,
        order => order == Some(Ordering::Greater),
    }
}

/// Finds the changes of these series, and keeps them where `keep` is set. What is new was first seen `now`.
pub fn follow(
    store: &mut Store,
    series: Vec<Series>,
    terms: &ChangeTerms,
    keep: bool,
    now: f64,
) -> Result<Vec<Followed>, StoreError> {
    follow_each(store, series, terms, keep, now, |followed| followed)
}

/// Does the same, and returns what `of` makes of each series: of many series only a few have their points in memory at a time.
pub fn follow_each<R: Send>(
    store: &mut Store,
    series: Vec<Series>,
    terms: &ChangeTerms,
    keep: bool,
    now: f64,
    of: impl Fn(Followed) -> R + Sync,
) -> Result<Vec<R>, StoreError> {
    let ids: Vec<SeriesId> = series.iter().map(|one| one.id).collect();
    let Snapshot { points, changes, reviews, detectors, seen } = store.gathered_snapshot(&ids)?;
    let known = all_known(series, changes, reviews, detectors);
    let of_some = |some: Vec<Known>| -> Vec<(R, Option<Found>)> {
        let ids: Vec<SeriesId> = some.iter().map(|one| one.series.id).collect();
        let each = some.into_iter().zip(points.of(&ids));
        let each = each.map(|(known, points)| known.follow(points, terms, now));
        each.map(|(followed, news)| (of(followed), news)).collect()
    };
    let all = parallel::some_at_a_time(known.collect(), of_some);
    drop(points);
    let (made, news): (Vec<R>, Vec<_>) = all.into_iter().unzip();
    let news: Vec<Found> = news.into_iter().flatten().collect();
    if keep && !news.is_empty() {
        // Where somebody added or took away entries meanwhile nothing is kept: whoever looks next finds it again.
        store.put_changes(&news, &seen)?;
    }
    Ok(made)
}

/// Finds the changes of these series in what a history has of them, and says what is to be kept where that is not there yet.
/// What is new was first seen `now`.
pub fn follow_in(
    snapshot: Snapshot,
    series: Vec<Series>,
    terms: &ChangeTerms,
    now: f64,
) -> (Vec<Followed>, Vec<Found>) {
    let Snapshot { points, changes, reviews, detectors, .. } = snapshot;
    let all = all_known(series, changes, reviews, detectors).zip(points);
    let of_some = |some: Vec<(Known, Vec<Point>)>| -> Vec<(Followed, Option<Found>)> {
        some.into_iter().map(|(known, points)| known.follow(points, terms, now)).collect()
    };
    let (followed, news): (Vec<_>, Vec<_>) =
        parallel::some_at_a_time(all.collect(), of_some).into_iter().unzip();
    (followed, news.into_iter().flatten().collect())
}

fn all_known(
    series: Vec<Series>,
    changes: Vec<Vec<StoredChange>>,
    reviews: Vec<Vec<(EntryId, Review)>>,
    detectors: Vec<Option<DetectorState>>,
) -> impl Iterator<Item = Known> {
    let all = series.into_iter().zip(changes).zip(reviews).zip(detectors);
    all.map(|(((series, changes), reviews), state)| Known { series, changes, reviews, state })
}

/// What a history has of one series beside its points.
struct Known {
    series: Series,
    changes: Vec<StoredChange>,
    reviews: Vec<(EntryId, Review)>,
    state: Option<DetectorState>,
}

impl Known {
    /// Finds its changes among its points, and says what is to be kept where that is not there yet.
    fn follow(
        self,
        mut points: Vec<Point>,
        terms: &ChangeTerms,
        now: f64,
    ) -> (Followed, Option<Found>) {
        let Self { series, changes: known, reviews, state } = self;
        let skipped = Skipped::among(&points, &terms.left_out);
        points.retain(|point| !terms.left_out.contains(&point.entry));
        let rules = terms.rules(&series.key.benchmark, &series.key.metric);
        let (found, left) = detect(&points, skipped, rules, state.as_ref());
        let (changes, moved) = stored(&points, &found, &known, &reviews, terms.size(), now);
        let is_at_change = |entry| changes.iter().any(|(_, change)| change.entry == entry);
        let is_moved = |entry| moved.iter().any(|one| one.from == entry);
        let decided = reviews.into_iter().filter(|(at, _)| !is_at_change(*at) && !is_moved(*at));
        let decided = decided.collect();
        let same = changes.iter().map(|(_, change)| change).eq(&known);
        let news = (!same || state.as_ref() != Some(&left)).then(|| {
            let changes = changes.iter().map(|(_, change)| change.clone()).collect();
            Found { series: series.id, changes, moved, detector: Some(left) }
        });
        let Changes { spreads, states, .. } = found;
        (Followed { series, points, changes, spreads, states, decided }, news)
    }
}

/// Finds the changes of one series, from where the detector stopped if it left something. `skipped` are points that it has
/// beside these.
fn detect(
    points: &[Point],
    skipped: Skipped,
    rules: Rules,
    state: Option<&DetectorState>,
) -> (Changes, DetectorState) {
    let left = state.and_then(|state| Left::read(state, rules, points.len(), &skipped));
    let known: Vec<_> = points.iter().map(|point| (point.error, point.runs)).collect();
    let values: Vec<changes::Point> = (points.iter().zip(errors(&known)))
        .map(|(point, error)| changes::Point { value: point.value, error })
        .collect();
    let (mut detector, mut found, seen) = match left {
        Some(left) => {
            let seen = left.at.seen;
            let newest = &values[seen - left.at.needed()..seen];
            (Detector::resume(rules, left.at, newest), left.found, seen)
        }
        None => (Detector::new(rules), Changes::default(), 0),
    };
    for point in &values[seen..] {
        found.take(detector.push(*point));
    }
    let plain: Vec<f64> = points.iter().map(|point| point.value).collect();
    found.states = states(&plain, &found.confirmed, seen, &found.states);
    let left = Left { at: detector.checkpoint(), found: found.clone(), skipped };
    found.pending = detector.pending();
    (found, left.written(rules))
}

/// Makes changes that are found, `now`, and not kept.
pub fn placed(
    points: &[Point],
    found: &Changes,
    size: Size,
    now: f64,
) -> Vec<(Change, StoredChange)> {
    stored(points, found, &[], &[], size, now).0
}

/// Makes what is kept of changes, and says which of them were known at another entry. What was known keeps when it was
/// first seen, and what was decided; what is new is seen `now`, and takes what was decided about a place where it may
/// have begun.
fn stored(
    points: &[Point],
    found: &Changes,
    known: &[StoredChange],
    reviews: &[(EntryId, Review)],
    size: Size,
    now: f64,
) -> (Vec<(Change, StoredChange)>, Vec<Moved>) {
    let mut wandering = Wandering::of(points, found, known);
    let known: HashMap<EntryId, &StoredChange> = known.iter().map(|one| (one.entry, one)).collect();
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let mut all = Vec::new();
    let mut moved = Vec::new();
    let mut taken: Vec<EntryId> = found.all().map(|change| points[change.index].entry).collect();
    for (i, (change, size)) in found.all().zip(sizes(&values, found, size)).enumerate() {
        let is_confirmed = i < found.confirmed.len();
        let state = if is_confirmed { ChangeState::Confirmed } else { ChangeState::Pending };
        let point = &points[change.index];
        let seen = &points[change.seen];
        let before = known.get(&point.entry).copied().or_else(|| wandering.take(change));
        let decided = match before {
            Some(before) => before.review.clone().map(|review| (before.entry, review)),
            None => decided_about(&points[change.earliest..=change.latest], change, reviews)
                .filter(|(at, _)| *at == point.entry || !taken.contains(at))
                .filter(|(at, _)| !known.contains_key(at)),
        };
        if let Some((at, _)) = &decided {
            taken.push(*at);
        }
        let from = before.map(|one| one.entry).or(decided.as_ref().map(|(at, _)| *at));
        if let Some(from) = from.filter(|from| *from != point.entry) {
            moved.push(Moved { from, to: point.entry });
        }
        all.push((
            *change,
            StoredChange {
                entry: point.entry,
                last_before: points[change.earliest.saturating_sub(1)].entry,
                before: change.before,
                after: change.after,
                ratio: size.map_or(f64::INFINITY, |size| size.ratio),
                ratio_low: size.map_or(f64::INFINITY, |size| size.low),
                ratio_high: size.map_or(f64::INFINITY, |size| size.high),
                state,
                first_seen: before
                    .map_or(FirstSeen { entry: seen.entry, time: now }, |one| one.first_seen),
                review: decided.map(|(_, review)| review),
            },
        ));
    }
    (all, moved)
}

/// Returns what was decided about a level before the change that it begins with was found: at its entry, or at one
/// where it may have begun.
fn decided_about(
    places: &[Point],
    change: &Change,
    reviews: &[(EntryId, Review)],
) -> Option<(EntryId, Review)> {
    let own = change.index.checked_sub(change.earliest).and_then(|place| places.get(place));
    let mut all = own.into_iter().chain(places);
    all.find_map(|point| reviews.iter().find(|(at, _)| *at == point.entry)).cloned()
}

/// Changes that were known and are not found at their entry any more. As long as a change is pending its place is not
/// settled, and somebody may have decided about it already.
struct Wandering<'a>(Vec<(usize, &'a StoredChange)>);

impl<'a> Wandering<'a> {
    fn of(points: &[Point], found: &Changes, known: &'a [StoredChange]) -> Self {
        let is_found = |entry| found.all().any(|change| points[change.index].entry == entry);
        let place = |entry| points.iter().position(|point| point.entry == entry);
        let gone = known.iter().filter(|one| !is_found(one.entry));
        Self(gone.filter_map(|one| Some((place(one.entry)?, one))).collect())
    }

    /// Returns the one that a change is: it went the same way, from where that one may have begun. Each is one once.
    fn take(&mut self, change: &Change) -> Option<&'a StoredChange> {
        let way = change.after.partial_cmp(&change.before);
        let is_it = |(place, one): &(usize, &StoredChange)| {
            (change.earliest..=change.latest).contains(place)
                && one.after.partial_cmp(&one.before) == way
        };
        let at = self.0.iter().position(is_it)?;
        Some(self.0.remove(at).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detector_state::VERSION;

    fn points(values: &[f64]) -> Vec<Point> {
        let point = |(i, value): (usize, &f64)| Point {
            entry: EntryId(i64::try_from(i).expect("a small number") + 1),
            at: i as f64,
            value: *value,
            error: (i % 3 > 0).then_some(0.1),
            runs: 5,
            commit: None,
        };
        values.iter().enumerate().map(point).collect()
    }

    /// Finds the changes of a series of which all points count.
    fn detect(
        points: &[Point],
        rules: Rules,
        state: Option<&DetectorState>,
    ) -> (Changes, DetectorState) {
        super::detect(points, Skipped::default(), rules, state)
    }

    /// Noise that is the same every time.
    fn noise(i: usize) -> f64 {
        ((i * 7919 + 13) % 101) as f64 / 50.0
    }

    #[test]
    fn a_series_that_grew_is_read_from_where_the_detector_stopped() {
        let values: Vec<f64> = (0..600)
            .map(|i| noise(i) + if (150..400).contains(&i) { 110.0 } else { 100.0 })
            .collect();
        let all = points(&values);
        let (whole, _) = detect(&all, Rules::default(), None);
        assert_eq!(whole.confirmed.len(), 2);
        let mut state = None;
        for end in [0, 3, 100, 152, 153, 154, 160, 390, 405, 600] {
            let (found, left) = detect(&all[..end], Rules::default(), state.as_ref());
            assert_eq!(found, detect(&all[..end], Rules::default(), None).0, "{end} points");
            state = Some(left);
        }
        // Other rules begin anew, and so does a state that is of no series of this length, or none at all.
        let strict = Rules::new(0.001, 0.5);
        assert_eq!(detect(&all, strict, state.as_ref()).0.confirmed, []);
        let short = &all[..200];
        assert_eq!(
            detect(short, Rules::default(), state.as_ref()).0,
            detect(short, Rules::default(), None).0
        );
        let broken = DetectorState { version: VERSION, bytes: b"nothing\n1 2".to_vec() };
        assert_eq!(detect(&all, Rules::default(), Some(&broken)).0, whole);
    }

    #[test]
    fn a_series_without_some_of_its_points_is_read_on_as_long_as_they_are_the_same() {
        let values: Vec<f64> =
            (0..120).map(|i| noise(i) + if i < 60 { 100.0 } else { 120.0 }).collect();
        let all = points(&values);
        let without = |end: usize, left_out: &[i64], state: Option<&DetectorState>| {
            let left_out: HashSet<EntryId> = left_out.iter().copied().map(EntryId).collect();
            let skipped = Skipped::among(&all[..end], &left_out);
            let mut points = all[..end].to_vec();
            points.retain(|point| !left_out.contains(&point.entry));
            let is_continued = state.is_some_and(|state| {
                Left::read(state, Rules::default(), points.len(), &skipped).is_some()
            });
            let (found, left) = super::detect(&points, skipped, Rules::default(), state);
            (found, left, is_continued)
        };
        let (_, state, _) = without(100, &[20, 70, 100], None);
        for (end, left_out, expected) in [
            (100, &[20, 70, 100][..], true),
            (120, &[20, 70, 100], true),
            (120, &[20, 70, 100, 115], true),
            // Others do not count now, or all do.
            (120, &[20, 71, 100], false),
            (120, &[20, 70], false),
            (120, &[], false),
        ] {
            let (found, _, is_continued) = without(end, left_out, Some(&state));
            assert_eq!(is_continued, expected, "{end} {left_out:?}");
            assert_eq!(found, without(end, left_out, None).0, "{end} {left_out:?}");
        }
        // One from when all counted holds as long as no earlier point is skipped.
        let (_, whole) = detect(&all[..100], Rules::default(), None);
        assert!(without(120, &[110], Some(&whole)).2);
        assert!(!without(120, &[20], Some(&whole)).2);
    }

    #[test]
    fn a_state_of_an_earlier_version_is_followed_anew() {
        let values: Vec<f64> =
            (0..80).map(|i| noise(i) + if i < 60 { 100.0 } else { 120.0 }).collect();
        let all = points(&values);
        let (whole, state) = detect(&all, Rules::default(), None);
        let earlier = DetectorState { version: VERSION - 1, ..state.clone() };
        assert_eq!(detect(&all, Rules::default(), Some(&earlier)), (whole, state));
    }

    #[test]
    fn a_noisier_stretch_is_kept_with_the_state() {
        let values: Vec<f64> = (0..200)
            .map(|i| 100.0 + (noise(i) - 1.0) * if (90..150).contains(&i) { 5.0 } else { 1.0 })
            .collect();
        let all = points(&values);
        let (whole, _) = detect(&all, Rules::default(), None);
        assert_eq!(whole.confirmed, []);
        let noisier: Vec<bool> = whole.spreads.iter().map(SpreadChange::is_noisier).collect();
        assert_eq!(noisier, [true, false]);
        let mut state = None;
        for end in [60, 100, 130, 131, 175, 200] {
            let (found, left) = detect(&all[..end], Rules::default(), state.as_ref());
            assert_eq!(found, detect(&all[..end], Rules::default(), None).0, "{end} points");
            state = Some(left);
        }
    }

    #[test]
    fn what_was_confirmed_becomes_a_part_of_the_state_and_stays_as_it_was() {
        let level =
            |i: usize| if i >= 100 && ((i - 100) / 25).is_multiple_of(2) { 110.0 } else { 100.0 };
        let values: Vec<f64> = (0..260).map(|i| noise(i) + level(i)).collect();
        let all = points(&values);
        let (mut state, mut known) = (None, Vec::<StoredChange>::new());
        let mut parts = 0;
        for end in (110..=260).step_by(10) {
            let points = &all[..end];
            let (found, left) = detect(points, Rules::default(), state.as_ref());
            assert_eq!(found, detect(points, Rules::default(), None).0, "{end} points");
            let (now, _) = stored(points, &found, &known, &[], Size::Median, end as f64);
            for before in known.iter().filter(|one| one.state == ChangeState::Confirmed) {
                let same = now.iter().find(|(_, one)| one.entry == before.entry);
                let (_, same) = same.expect("it is not withdrawn");
                assert_eq!((same.state, same.first_seen), (before.state, before.first_seen));
            }
            let are_parts = found.states.iter().map(|one| one.count).sum();
            assert!(parts <= are_parts, "{end} points");
            parts = are_parts;
            known = now.into_iter().map(|(_, one)| one).collect();
            state = Some(left);
        }
        let (found, _) = detect(&all, Rules::default(), state.as_ref());
        let [one] = &found.states[..] else { panic!("{:?}", found.states) };
        assert_eq!((one.kind, one.start, one.first), (StateKind::Unstable, 100, 0));
        assert_eq!((one.count, parts), (found.confirmed.len(), parts));
        assert!(parts >= 3, "{parts}");
    }

    #[test]
    fn where_medians_are_equal_the_ranks_say_which_way_a_level_went() {
        // Of the coarse values more are the larger one by now, and the median is still the other.
        let mut rng = becalm_stats::Rng::new(3);
        let values: Vec<f64> = (0..300)
            .map(|i| if rng.uniform() < if i < 150 { 0.02 } else { 0.3 } { 11.0 } else { 10.0 })
            .collect();
        for (sign, expected) in [(1.0, true), (-1.0, false)] {
            let all = points(&values.iter().map(|value| sign * value + 21.0).collect::<Vec<_>>());
            let (found, _) = detect(&all, Rules::default(), None);
            let (change, stored) = &stored(&all, &found, &[], &[], Size::Median, 7.0).0[0];
            #[expect(clippy::float_cmp, reason = "they are the same value")]
            let are_equal = stored.before == stored.after;
            assert!(are_equal, "{stored:?}");
            assert_eq!(rose(change, stored), expected, "{change:?}");
            // Other engines have no ranks.
            let without = Change { z: f64::NAN, ..*change };
            let by_ratio =
                StoredChange { ratio: if expected { 1.02 } else { 0.98 }, ..stored.clone() };
            assert_eq!(rose(&without, &by_ratio), expected);
        }
    }

    #[test]
    fn what_was_first_seen_and_decided_stays() {
        let values: Vec<f64> =
            (0..80).map(|i| noise(i) + if i < 60 { 100.0 } else { 120.0 }).collect();
        let all = points(&values);
        let (found, _) = detect(&all, Rules::default(), None);
        let (first, _) = stored(&all, &found, &[], &[], Size::Median, 7.0);
        let (change, kept) = &first[0];
        assert_eq!((change.index, kept.entry, kept.last_before), (60, EntryId(61), EntryId(60)));
        assert_eq!((kept.first_seen.time, kept.first_seen.entry), (7.0, all[change.seen].entry));
        assert!(kept.ratio_low > 1.15 && kept.ratio_high < 1.25, "{kept:?}");
        let mut earlier = kept.clone();
        earlier.first_seen = FirstSeen { entry: EntryId(61), time: 5.0 };
        let (again, moved) = stored(&all, &found, &[earlier.clone()], &[], Size::Median, 9.0);
        assert_eq!((again[0].1.first_seen, moved.len()), (earlier.first_seen, 0));
    }

    #[test]
    fn a_change_whose_place_is_settled_elsewhere_keeps_what_was_decided() {
        let values: Vec<f64> =
            (0..80).map(|i| noise(i) + if i < 60 { 100.0 } else { 120.0 }).collect();
        let all = points(&values);
        let (mut found, _) = detect(&all, Rules::default(), None);
        let (first, _) = stored(&all, &found, &[], &[], Size::Median, 7.0);
        let review = Review {
            decision: Decision::Acknowledged { reason: None },
            by: "ada".into(),
            time: 8.0,
        };
        let known = StoredChange { review: Some(review), ..first[0].1.clone() };
        let one = &mut found.confirmed[0];
        (one.earliest, one.index, one.latest) = (60, 61, 62);
        let (again, moved) =
            stored(&all, &found, std::slice::from_ref(&known), &[], Size::Median, 9.0);
        let kept = &again[0].1;
        assert_eq!((kept.entry, &kept.review), (EntryId(62), &known.review));
        assert_eq!(kept.first_seen, known.first_seen);
        assert_eq!(moved, [Moved { from: EntryId(61), to: EntryId(62) }]);
        // It is another one where it went the other way, or cannot have begun there, and one is not two.
        let is_new = |found: &Changes, known: &StoredChange| {
            let (again, moved) =
                stored(&all, found, std::slice::from_ref(known), &[], Size::Median, 9.0);
            moved.is_empty() && again.iter().all(|(_, one)| one.review.is_none())
        };
        let fell = StoredChange { before: known.after, after: known.before, ..known.clone() };
        assert!(is_new(&found, &fell));
        found.confirmed[0].earliest = 61;
        assert!(is_new(&found, &known));
        found.confirmed[0].earliest = 60;
        found.confirmed.push(Change { index: 62, ..found.confirmed[0] });
        let (again, moved) =
            stored(&all, &found, std::slice::from_ref(&known), &[], Size::Median, 9.0);
        assert_eq!((moved.len(), &again[1].1.review), (1, &None));
    }
}
