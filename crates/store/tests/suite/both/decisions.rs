//! Changes, what was decided of them, and the detectors that found them.

use becalm_model::history::{
    ChangeState, Decision, EntryId, FirstSeen, Review, SeriesId, StoredChange,
};
use becalm_store::{Decided, DetectorState, Found, Moved, NewEntry, Prune, Store, StoreError};

use crate::support::{Bench, added, all_series, entry};

both!(
    a_change_keeps_when_it_was_seen_and_what_was_decided,
    a_change_that_moves_takes_along_what_was_decided,
    a_decision_made_in_the_light_of_another_one_overrules_nothing,
    a_detector_is_forgotten_when_the_past_changes,
    what_was_found_in_other_points_is_not_kept,
);

pub(super) fn change(entry: EntryId, last_before: EntryId, seen: f64) -> StoredChange {
    StoredChange {
        entry,
        last_before,
        before: 1.0,
        after: 2.0,
        ratio: 2.0,
        ratio_low: 1.9,
        ratio_high: f64::INFINITY,
        state: ChangeState::Pending,
        first_seen: FirstSeen { entry, time: seen },
        review: None,
    }
}

/// What a detector found, all of it where it was before.
pub(super) fn found_in(
    series: SeriesId,
    changes: Vec<StoredChange>,
    detector: Option<DetectorState>,
) -> Found {
    Found { series, changes, moved: Vec::new(), detector }
}

/// Keeps what was found in the points that are there now.
pub(super) fn keep(store: &mut Store, found: &[Found]) -> Result<bool, StoreError> {
    let series: Vec<SeriesId> = found.iter().map(|one| one.series).collect();
    let seen = store.snapshot(&series).unwrap().seen;
    store.put_changes(found, &seen)
}

fn a_change_keeps_when_it_was_seen_and_what_was_decided(bench: &Bench) {
    let mut store = bench.open();
    let ids: Vec<EntryId> = (0..4)
        .map(|at| added(&mut store, &entry(&at.to_string(), f64::from(at), f64::from(at))))
        .collect();
    let series = all_series(&mut store)[0].id;
    let state = DetectorState { version: 3, bytes: vec![0, 1, 255] };
    let found = |changes: Vec<StoredChange>| found_in(series, changes, Some(state.clone()));
    let one = change(ids[1], ids[0], 10.0);
    keep(&mut store, &[found(vec![one.clone()])]).unwrap();
    assert_eq!(store.changes(&[series]).unwrap(), [[one.clone()]]);
    assert_eq!(
        store.snapshot(&[series, SeriesId(9)]).unwrap().detectors,
        [Some(state.clone()), None]
    );

    let dismissed = Review {
        decision: Decision::Dismissed { reason: "a new compiler".to_owned() },
        by: "ada".to_owned(),
        time: 11.0,
    };
    store.review(series, ids[1], Some(&dismissed)).unwrap();
    // Looked at again: it is settled now, and another one is new.
    let mut again = change(ids[1], ids[0], 20.0);
    again.state = ChangeState::Confirmed;
    let other = change(ids[3], ids[2], 20.0);
    keep(&mut store, &[found(vec![again.clone(), other.clone()])]).unwrap();
    let expected = StoredChange {
        first_seen: one.first_seen,
        review: Some(dismissed.clone()),
        state: ChangeState::Confirmed,
        ..one.clone()
    };
    assert_eq!(store.changes(&[series]).unwrap(), [[expected, other]]);
    // It is not reported for a while, and comes back: the decision is still there.
    keep(&mut store, &[found(Vec::new())]).unwrap();
    assert_eq!(store.changes(&[series]).unwrap(), [[]]);
    keep(&mut store, &[found(vec![again.clone()])]).unwrap();
    let changes = store.changes(&[series]).unwrap().remove(0);
    assert_eq!((&changes[0].review, changes[0].first_seen.time), (&Some(dismissed), 20.0));

    let acknowledged =
        Review { decision: Decision::Acknowledged { reason: None }, by: String::new(), time: 12.0 };
    store.review(series, ids[1], Some(&acknowledged)).unwrap();
    assert_eq!(store.changes(&[series]).unwrap()[0][0].review, Some(acknowledged));
    store.review(series, ids[1], None).unwrap();
    assert_eq!(store.changes(&[series]).unwrap()[0][0].review, None);
    let nowhere = store.review(series, EntryId(77), None).unwrap_err();
    assert!(matches!(nowhere, StoreError::Missing { .. }), "{nowhere}");
    // One that is wrong changes nothing.
    let wrong = found(vec![change(EntryId(77), ids[0], 1.0)]);
    keep(&mut store, &[wrong]).unwrap_err();
    assert_eq!(store.changes(&[series]).unwrap()[0].len(), 1);
}

fn a_change_that_moves_takes_along_what_was_decided(bench: &Bench) {
    let mut store = bench.open();
    let ids: Vec<EntryId> = (0..6)
        .map(|at| added(&mut store, &entry(&at.to_string(), f64::from(at), f64::from(at))))
        .collect();
    let series = all_series(&mut store)[0].id;
    let one = change(ids[2], ids[1], 10.0);
    keep(&mut store, &[found_in(series, vec![one.clone()], None)]).unwrap();
    let by = |by: &str| Review {
        decision: Decision::Acknowledged { reason: None },
        by: by.into(),
        time: 11.0,
    };
    store.review(series, ids[2], Some(&by("ada"))).unwrap();
    let moves = |from: EntryId, to: EntryId| {
        let changes = vec![StoredChange { first_seen: one.first_seen, ..change(to, from, 20.0) }];
        Found { moved: vec![Moved { from, to }], ..found_in(series, changes, None) }
    };
    keep(&mut store, &[moves(ids[2], ids[3])]).unwrap();
    let now = store.changes(&[series]).unwrap().remove(0);
    assert_eq!((now[0].entry, &now[0].review), (ids[3], &Some(by("ada"))));
    assert_eq!(now[0].first_seen, one.first_seen);
    // Nothing of it stays where it was, and what was decided about another place stays there.
    store.review(series, ids[5], Some(&by("eve"))).unwrap();
    keep(&mut store, &[moves(ids[3], ids[5])]).unwrap();
    assert_eq!(store.changes(&[series]).unwrap()[0][0].review, Some(by("eve")));
    keep(&mut store, &[found_in(series, vec![one.clone()], None)]).unwrap();
    assert_eq!(store.changes(&[series]).unwrap()[0][0].review, None);
}

fn a_decision_made_in_the_light_of_another_one_overrules_nothing(bench: &Bench) {
    let mut store = bench.open();
    let first = added(&mut store, &entry("1", 1.0, 1.0));
    let second = added(&mut store, &entry("2", 2.0, 2.0));
    let series = all_series(&mut store)[0].id;
    keep(&mut store, &[found_in(series, vec![change(second, first, 10.0)], None)]).unwrap();
    let by = |by: &str, time| Review {
        decision: Decision::Acknowledged { reason: None },
        by: by.into(),
        time,
    };
    let (ada, eve) = (by("ada", 11.1), by("eve", 12.0));
    let kept = store.decide(series, second, None, Some(&ada)).unwrap();
    assert_eq!(kept, Decided::Kept);
    // Eve still sees an open change.
    let late = store.decide(series, second, None, Some(&eve)).unwrap();
    assert_eq!(late, Decided::Meanwhile(Some(ada.clone())));
    assert_eq!(store.changes(&[series]).unwrap()[0][0].review, Some(ada.clone()));
    // Now she has seen it.
    assert_eq!(store.decide(series, second, Some(11.1), Some(&eve)).unwrap(), Decided::Kept);
    assert_eq!(
        store.decide(series, second, Some(11.1), None).unwrap(),
        Decided::Meanwhile(Some(eve))
    );
    assert_eq!(store.decide(series, second, Some(12.0), None).unwrap(), Decided::Kept);
    assert_eq!(store.changes(&[series]).unwrap()[0][0].review, None);
    let nowhere = store.decide(series, EntryId(77), None, Some(&ada)).unwrap_err();
    assert!(matches!(nowhere, StoreError::Missing { .. }), "{nowhere}");
}

fn a_detector_is_forgotten_when_the_past_changes(bench: &Bench) {
    let mut store = bench.open();
    let first = added(&mut store, &entry("1", 10.0, 1.0));
    let series = all_series(&mut store)[0].id;
    let detector = Some(DetectorState { version: 1, bytes: vec![1] });
    let found = found_in(series, Vec::new(), detector);
    let is_there = |store: &mut Store| store.snapshot(&[series]).unwrap().detectors[0].is_some();
    keep(&mut store, std::slice::from_ref(&found)).unwrap();
    added(&mut store, &entry("2", 20.0, 1.0));
    added(&mut store, &entry("2 again", 20.0, 1.0));
    assert!(is_there(&mut store), "points at the end");
    added(&mut store, &entry("between", 15.0, 1.0));
    assert!(!is_there(&mut store), "a point in the past");
    keep(&mut store, &[found]).unwrap();
    store.prune(&Prune { entries: vec![first], ..Prune::default() }).unwrap();
    assert!(!is_there(&mut store), "a point less");
}

fn what_was_found_in_other_points_is_not_kept(bench: &Bench) {
    let mut store = bench.open();
    let ids: Vec<EntryId> = (1..4)
        .map(|at| added(&mut store, &entry(&at.to_string(), 10.0 * f64::from(at), 1.0)))
        .collect();
    let series = all_series(&mut store)[0].id;
    let detector = Some(DetectorState { version: 1, bytes: vec![1] });
    let found = [found_in(series, vec![change(ids[2], ids[1], 1.0)], detector)];
    let seen = store.snapshot(&[series]).unwrap().seen;
    // Somebody else adds and takes away while this one looks for changes.
    let mut other = bench.open();
    let between = added(&mut other, &entry("between", 15.0, 1.0));
    assert!(!store.put_changes(&found, &seen).unwrap(), "one more");
    other.prune(&Prune { entries: vec![between], ..Prune::default() }).unwrap();
    let one_less = store.snapshot(&[series]).unwrap().seen;
    other.prune(&Prune { entries: vec![ids[0]], ..Prune::default() }).unwrap();
    added(&mut other, &entry("1", 10.0, 1.0));
    assert!(!store.put_changes(&found, &one_less).unwrap(), "as many, and others");
    let snapshot = store.snapshot(&[series]).unwrap();
    assert_eq!((snapshot.points[0].len(), &snapshot.detectors[0]), (3, &None));
    assert_eq!(snapshot.changes, [[]]);
    // What happens on another branch is none of its business.
    let elsewhere = NewEntry { branch: "other".to_owned(), ..entry("elsewhere", 5.0, 1.0) };
    added(&mut other, &elsewhere);
    assert!(store.put_changes(&found, &snapshot.seen).unwrap());
    assert_eq!(store.changes(&[series]).unwrap()[0].len(), 1);
}
