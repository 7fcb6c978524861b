//! What holds for SQLite and PostgreSQL alike.

use becalm_model::history::{
    ChangeState, Commit, Decision, Entry, EntryId, FirstSeen, Pruned, Review, SeriesId,
    StoredChange,
};
use becalm_model::{Direction, Unit};
use becalm_store::{
    Added, Decided, DetectorState, EntryFilter, EntryValue, Found, Moved, NewEntry, NewPoint,
    Origin, Prune, Right, SPLIT, SeriesFilter, Store, StoreError, Token,
};

use crate::support::{Bench, added, all_series, entry, facts, point, values};

/// Makes two tests of one: `both!(name)` runs the function `name` on an empty history of either kind.
macro_rules! both {
    ($($name:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[test] fn $name() { super::$name(&crate::support::Bench::sqlite()); })*
        }
        mod on_postgres {
            $(#[test] fn $name() {
                if let Some(bench) = crate::support::Bench::postgres() { super::$name(&bench); }
            })*
        }
    };
}

both!(
    an_entry_comes_back_as_it_was_added,
    numbers_come_back_to_the_last_bit,
    points_stand_in_the_order_of_commits,
    the_same_thing_is_not_added_twice,
    what_a_history_got_since_it_was_added_is_added_alone,
    entries_added_together_are_as_if_each_had_been_added_alone,
    machines_branches_and_units_have_series_of_their_own,
    entries_are_found_by_what_they_are,
    series_are_found_by_name,
    a_change_keeps_when_it_was_seen_and_what_was_decided,
    a_change_that_moves_takes_along_what_was_decided,
    a_decision_made_in_the_light_of_another_one_overrules_nothing,
    a_stamp_says_whether_an_answer_still_holds,
    pages_are_of_the_last_entries_and_of_one,
    a_group_says_whether_it_only_grew,
    tokens_are_made_once_and_stay_after_they_were_revoked,
    a_detector_is_forgotten_when_the_past_changes,
    what_was_found_in_other_points_is_not_kept,
    other_facts_group_series_anew_and_lose_nothing,
    documents_go_first_and_those_at_changes_stay,
    entries_go_with_everything_of_theirs,
    writers_at_the_same_time_lose_nothing,
    reading_works_while_somebody_writes,
    a_history_that_is_not_there_is_not_made_by_reading,
    texts_of_any_kind_are_kept,
);

fn an_entry_comes_back_as_it_was_added(bench: &Bench) {
    let mut new = entry("1", 1000.0, 2.0);
    new.dirty = true;
    new.tags = vec!["b".into(), "a".into(), "b".into()];
    new.document = Some("{\"text\": \"ä\\u0000\"}\n".repeat(10_000));
    let id = added(&mut bench.open(), &new);
    let mut store = bench.open_for_reading();
    let entries = store.entries(&EntryFilter::default()).unwrap();
    let [one] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!((one.id, one.measured, &one.commit), (id, 1060.0, &new.commit));
    assert_eq!((one.branch.as_str(), one.dirty, one.has_document), ("main", true, true));
    assert_eq!((&one.tags, &one.facts), (&vec!["a".to_owned(), "b".to_owned()], &new.facts));
    assert_eq!(store.document(id).unwrap(), new.document);
    assert_eq!(store.document(EntryId(99)).unwrap(), None);
    let series = all_series(&mut store);
    let [series] = &series[..] else { panic!("{series:?}") };
    let key = &series.key;
    assert_eq!((key.benchmark.as_str(), key.metric.as_str()), ("sort", "wall_time"));
    assert_eq!((&key.unit, key.direction), (&Unit::Second, Direction::Lower));
    let parameters = [("kind", "x"), ("size", "10")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(key.parameters, parameters);
    assert_eq!((key.fingerprint.as_str(), key.branch.as_str()), (one.fingerprint.as_str(), "main"));
    assert!(series.main && !series.exact);
    let points = store.points(&[series.id]).unwrap().remove(0);
    let [point] = &points[..] else { panic!("{points:?}") };
    assert_eq!((point.entry, point.at, point.value), (id, 1000.0, 2.0));
    assert_eq!((point.error, point.runs, point.commit.as_deref()), (Some(0.5), 10, Some("c1")));
}

fn numbers_come_back_to_the_last_bit(bench: &Bench) {
    let numbers = [0.1 + 0.2, 1e-300, 1.797e308, -0.0, 5e-324, 123_456_789.123_456_78];
    let mut store = bench.open();
    for (at, number) in numbers.into_iter().enumerate() {
        let mut new = entry(&at.to_string(), 1000.0 + at as f64 / 3.0, number);
        new.points[0].error = Some(number.abs() / 3.0).filter(|_| at % 2 == 0);
        added(&mut store, &new);
    }
    let series = all_series(&mut store)[0].id;
    let points = store.points(&[series]).unwrap().remove(0);
    for ((at, number), point) in numbers.into_iter().enumerate().zip(points) {
        assert_eq!(point.value.to_bits(), number.to_bits(), "{number}");
        assert_eq!(point.error, Some(number.abs() / 3.0).filter(|_| at % 2 == 0));
        assert_eq!(point.at.to_bits(), (1000.0 + at as f64 / 3.0).to_bits());
    }
}

fn points_stand_in_the_order_of_commits(bench: &Bench) {
    let mut store = bench.open();
    for (content, time) in [("3", 3000.0), ("1", 1000.0), ("2", 2000.0), ("2 again", 2000.0)] {
        let value = time + content.len() as f64;
        added(&mut store, &entry(content, time, value));
    }
    // Without the time of a commit that of the measurement counts.
    let mut without = entry("x", 0.0, 7.0);
    (without.commit, without.measured) = (None, 2500.0);
    added(&mut store, &without);
    let expected = vec![1001.0, 2001.0, 2007.0, 7.0, 3001.0];
    assert_eq!(values(&mut store), [("sort".to_owned(), expected)]);
    let entries = store.entries(&EntryFilter::default()).unwrap();
    let order: Vec<f64> = entries.iter().map(Entry::at).collect();
    assert_eq!(order, [1000.0, 2000.0, 2000.0, 2500.0, 3000.0]);
}

fn the_same_thing_is_not_added_twice(bench: &Bench) {
    let mut store = bench.open();
    let new = entry("1", 1.0, 1.0);
    let id = added(&mut store, &new);
    assert_eq!(store.add(&new).unwrap(), Added::Known(id));
    assert_eq!(bench.open().add(&new).unwrap(), Added::Known(id));
    assert_eq!(values(&mut store)[0].1.len(), 1);
}

fn what_a_history_got_since_it_was_added_is_added_alone(bench: &Bench) {
    let mut store = bench.open();
    let row = |content: &str, points: &[(&str, f64)]| NewEntry {
        origin: Origin::History,
        commit: Some(Commit { id: "c".to_owned(), time: Some(1000.0) }),
        points: points.iter().map(|(name, value)| point(name, *value)).collect(),
        ..entry(content, 1000.0, 0.0)
    };
    let first = added(&mut store, &row("1", &[("sort", 1.0), ("find", 2.0)]));
    let more = row("2", &[("sort", 1.0), ("find", 2.0), ("copy", 3.0)]);
    let Added::Completed(second, 1) = store.add(&more).unwrap() else { panic!("not completed") };
    assert_eq!(store.add(&more).unwrap(), Added::Known(second));
    // What was taken out of the file since, and what was measured again with another result.
    assert_eq!(store.add(&row("3", &[("find", 2.0)])).unwrap(), Added::Known(first));
    let again = row("4", &[("sort", 1.5), ("find", 2.0)]);
    assert!(matches!(store.add(&again).unwrap(), Added::Completed(_, 1)));
    let kept = values(&mut store);
    let kept: Vec<_> = kept.iter().map(|(name, values)| (name.as_str(), &values[..])).collect();
    assert_eq!(kept, [("copy", &[3.0][..]), ("find", &[2.0]), ("sort", &[1.0, 1.5])]);
    // Another commit of the same second, and a measurement of its own, may well give the same.
    let mut other = row("5", &[("sort", 1.0)]);
    other.commit = Some(Commit { id: "d".to_owned(), time: Some(1000.0) });
    added(&mut store, &other);
    let own = NewEntry { origin: Origin::Measurement, ..row("6", &[("sort", 1.0)]) };
    added(&mut store, &own);
    assert_eq!(values(&mut store)[2].1.len(), 4);
    // The same commit, measured a second time with the same result.
    let later = NewEntry { measured: 2000.0, ..row("7", &[("sort", 1.0)]) };
    added(&mut store, &later);
    assert!(matches!(store.add(&later).unwrap(), Added::Known(_)));
    assert_eq!(values(&mut store)[2].1.len(), 5);
}

fn entries_added_together_are_as_if_each_had_been_added_alone(bench: &Bench) {
    let with = |benchmark: &str, parameters: &[(&str, &str)], value: f64| NewPoint {
        parameters: parameters.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect(),
        ..point(benchmark, value)
    };
    // Texts that are the same if they are joined, and parameters in another order.
    let names = |value: f64| {
        vec![
            with("sort", &[], value),
            with("sor", &[("t", "")], value + 0.1),
            with("sort", &[("a", "bc")], value + 0.2),
            with("sort", &[("ab", "c")], value + 0.3),
            with("sort", &[("a", "b"), ("c", "d")], value + 0.4),
            with("sort", &[("a", "d"), ("c", "b")], value + 0.5),
        ]
    };
    let at = |content: &str, time: f64, points: Vec<NewPoint>| NewEntry {
        points,
        ..entry(content, time, 0.0)
    };
    let mut all = vec![at("1", 1.0, names(1.0)), at("2", 2.0, names(2.0))];
    // The same series in another order, with parameters in another order, and a new one among them.
    let mut other = names(3.0);
    other[4].parameters.reverse();
    other.reverse();
    other.insert(2, point("find", 3.5));
    all.push(at("3", 3.0, other));
    // What a benchmark is about changes, and changes back; of two values of one series the first counts.
    let mut not_main = names(4.0);
    (not_main[0].main, not_main[1].exact) = (false, true);
    all.push(at("4", 4.0, not_main));
    all.push(at("5", 5.0, [names(5.0), names(5.5)].concat()));
    // Other series: of a branch, of a machine, of a unit, of a direction.
    all.push(NewEntry { branch: "topic".to_owned(), ..at("6", 6.0, names(6.0)) });
    all.push(NewEntry { facts: facts("b"), ..at("7", 7.0, names(7.0)) });
    let mut units = names(8.0);
    units[0].unit = Unit::Byte;
    units[1].direction = Direction::Higher;
    all.push(at("8", 8.0, units));
    // Known already; of another time; and a file that has gained values since.
    all.push(at("2", 2.0, names(2.0)));
    all.push(at("9", 0.5, names(9.0)));
    let history =
        |content: &str, points| NewEntry { origin: Origin::History, ..at(content, 10.0, points) };
    all.push(NewEntry { commit: None, ..history("10", names(10.0)) });
    let more = [names(10.0), vec![point("copy", 10.5)]].concat();
    all.push(NewEntry { commit: None, ..history("11", more.clone()) });
    all.push(NewEntry { commit: None, ..history("12", more) });

    let of = |store: &mut Store| {
        let series = all_series(store);
        let ids: Vec<SeriesId> = series.iter().map(|one| one.id).collect();
        let entries = store.entries(&EntryFilter::default()).unwrap();
        let documents: Vec<_> =
            entries.iter().map(|entry| store.document(entry.id).unwrap()).collect();
        (entries, documents, store.points(&ids).unwrap(), series)
    };
    let mut alone = bench.open();
    let one_by_one: Vec<Added> = all.iter().map(|one| alone.add(one).unwrap()).collect();
    let expected = of(&mut alone);
    assert_eq!(expected.3.len(), 22);
    // All of them, and in two parts of which the second begins with known series.
    for parts in [vec![&all[..]], vec![&all[..5], &all[5..]]] {
        let another = bench.another();
        let mut together = another.open();
        let added: Vec<Added> =
            parts.into_iter().flat_map(|part| together.add_all(part).unwrap()).collect();
        assert_eq!(added, one_by_one);
        assert_eq!(of(&mut together), expected);
    }
}

fn machines_branches_and_units_have_series_of_their_own(bench: &Bench) {
    let mut store = bench.open();
    added(&mut store, &entry("1", 1.0, 1.0));
    let mut other = entry("2", 2.0, 2.0);
    other.facts = facts("b");
    added(&mut store, &other);
    let mut other = entry("3", 3.0, 3.0);
    other.branch = "topic".into();
    added(&mut store, &other);
    let mut other = entry("4", 4.0, 4.0);
    other.points[0].unit = Unit::Byte;
    added(&mut store, &other);
    let mut other = entry("5", 5.0, 5.0);
    other.points[0].parameters.pop();
    added(&mut store, &other);
    // More memory is told, and splits nothing.
    let mut same = entry("6", 6.0, 6.0);
    same.facts.insert("memory_total".to_owned(), "8 GiB".to_owned());
    same.points[0].parameters.reverse();
    added(&mut store, &same);
    let mut values: Vec<Vec<f64>> =
        values(&mut store).into_iter().map(|(_, values)| values).collect();
    values.sort_by(|a, b| a[0].total_cmp(&b[0]));
    assert_eq!(values, [vec![1.0, 6.0], vec![2.0], vec![3.0], vec![4.0], vec![5.0]]);
}

fn entries_are_found_by_what_they_are(bench: &Bench) {
    let mut store = bench.open();
    for at in 1..=5 {
        let mut new = entry(&at.to_string(), f64::from(at), 1.0);
        new.branch = if at == 4 { "topic" } else { "main" }.into();
        added(&mut store, &new);
    }
    let mut found = |filter: EntryFilter| -> Vec<i64> {
        store.entries(&filter).unwrap().iter().map(|one| one.id.0).collect()
    };
    assert_eq!(found(EntryFilter { limit: Some(2), ..EntryFilter::default() }), [4, 5]);
    assert_eq!(
        found(EntryFilter { ids: vec![EntryId(3), EntryId(9)], ..EntryFilter::default() }),
        [3]
    );
    assert_eq!(found(EntryFilter { branch: Some("topic".into()), ..EntryFilter::default() }), [4]);
    assert_eq!(found(EntryFilter { commit: Some("c2".into()), ..EntryFilter::default() }), [2]);
    assert_eq!(found(EntryFilter { content: Some("5".into()), ..EntryFilter::default() }), [5]);
    assert!(found(EntryFilter { content: Some("6".into()), ..EntryFilter::default() }).is_empty());
    let both = EntryFilter {
        since: Some(2.0),
        branch: Some("main".into()),
        commit: Some("c".into()),
        limit: Some(2),
        ..EntryFilter::default()
    };
    assert_eq!(found(both), [3, 5]);
}

fn series_are_found_by_name(bench: &Bench) {
    let mut store = bench.open();
    let mut new = entry("1", 1.0, 1.0);
    new.points = ["a/x", "a/y", "b"].map(|name| point(name, 1.0)).to_vec();
    new.points[1].main = false;
    added(&mut store, &new);
    let mut found = |benchmark: &str, main: bool| -> Vec<String> {
        let benchmark = Some(benchmark.to_owned());
        let filter = SeriesFilter { benchmark, main, ..SeriesFilter::default() };
        store.series(&filter).unwrap().into_iter().map(|one| one.key.benchmark).collect()
    };
    assert_eq!(found("a/*", false), ["a/x", "a/y"]);
    assert_eq!(found("a/*", true), ["a/x"]);
    assert_eq!(found("b", false), ["b"]);
    // What a benchmark is about may be told otherwise later.
    let mut new = entry("2", 2.0, 1.0);
    new.points = vec![point("a/y", 2.0)];
    added(&mut store, &new);
    let names = |one: &Vec<f64>| one.len();
    assert_eq!(values(&mut store).iter().map(|(_, v)| names(v)).collect::<Vec<_>>(), [1, 2, 1]);
    let main = store.series(&SeriesFilter { main: true, ..SeriesFilter::default() }).unwrap();
    assert_eq!(main.len(), 3);
    let one = SeriesFilter { ids: vec![main[1].id], ..SeriesFilter::default() };
    assert_eq!(store.series(&one).unwrap(), main[1..2]);
}

fn change(entry: EntryId, last_before: EntryId, seen: f64) -> StoredChange {
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
fn found_in(
    series: SeriesId,
    changes: Vec<StoredChange>,
    detector: Option<DetectorState>,
) -> Found {
    Found { series, changes, moved: Vec::new(), detector }
}

/// Keeps what was found in the points that are there now.
fn keep(store: &mut Store, found: &[Found]) -> Result<bool, StoreError> {
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

fn a_stamp_says_whether_an_answer_still_holds(bench: &Bench) {
    let mut store = bench.open();
    let empty = store.stamp().unwrap();
    let first = added(&mut store, &entry("1", 1.0, 1.0));
    let second = added(&mut store, &entry("2", 2.0, 2.0));
    let two = store.stamp().unwrap();
    assert_eq!((empty.entries, two.entries), (0, 2));
    assert!(store.stamp().unwrap() == two && two != empty && !two.has_points_of(&empty));
    let series = all_series(&mut store)[0].id;
    keep(&mut store, &[found_in(series, vec![change(second, first, 10.0)], None)]).unwrap();
    let ada =
        Review { decision: Decision::Acknowledged { reason: None }, by: "ada".into(), time: 11.0 };
    store.review(series, second, Some(&ada)).unwrap();
    let decided = store.stamp().unwrap();
    assert!(decided != two && decided.has_points_of(&two));
    store.prune(&Prune { entries: vec![second], ..Prune::default() }).unwrap();
    added(&mut store, &entry("3", 2.0, 2.0));
    // As many as before, and others.
    assert!(!store.stamp().unwrap().has_points_of(&two));
}

fn pages_are_of_the_last_entries_and_of_one(bench: &Bench) {
    let mut store = bench.open();
    let ids: Vec<EntryId> = (0..5)
        .map(|at| added(&mut store, &entry(&at.to_string(), f64::from(at), f64::from(at))))
        .collect();
    let series = all_series(&mut store)[0].id;
    let last = store.last_points(&[series], 2).unwrap().remove(0);
    assert_eq!(last.iter().map(|point| point.entry).collect::<Vec<_>>(), ids[3..]);
    assert_eq!(store.last_points(&[series], 9).unwrap(), store.points(&[series]).unwrap());
    let page = |skip, limit| EntryFilter { skip, limit, ..EntryFilter::default() };
    let ids_of = |store: &mut Store, filter: &EntryFilter| -> Vec<EntryId> {
        store.entries(filter).unwrap().iter().map(|entry| entry.id).collect()
    };
    assert_eq!(ids_of(&mut store, &page(1, Some(2))), ids[2..4]);
    assert_eq!(ids_of(&mut store, &page(3, None)), ids[..2]);
    let values = store.values(ids[4]).unwrap();
    let expected = EntryValue { series, value: 4.0, error: Some(0.5), runs: 10 };
    assert_eq!((values.as_slice(), store.values(EntryId(77)).unwrap().len()), (&[expected][..], 0));
}

fn tokens_are_made_once_and_stay_after_they_were_revoked(bench: &Bench) {
    let mut store = bench.open();
    let token = |name: &str, digest: &str, rights: &[Right]| Token {
        name: name.to_owned(),
        digest: digest.to_owned(),
        rights: rights.to_vec(),
        made: 1.5,
        revoked: None,
    };
    let ci = token("ci", "aa", &[Right::Upload]);
    assert!(store.add_token(&ci).unwrap());
    assert!(!store.add_token(&token("ci", "bb", &[Right::Read])).unwrap());
    assert!(store.add_token(&token("ada", "cc", &[Right::Manage, Right::Read])).unwrap());
    assert!(store.revoke_token("ci", 2.5).unwrap());
    assert!(!store.revoke_token("ci", 3.5).unwrap());
    assert!(!store.revoke_token("nobody", 3.5).unwrap());
    // The name can be used again, the token cannot.
    assert!(store.add_token(&token("ci", "aa", &[Right::Upload])).is_err());
    assert!(store.add_token(&token("ci", "dd", &[Right::Upload])).unwrap());
    let all = bench.open_for_reading().tokens().unwrap();
    let revoked = Token { revoked: Some(2.5), ..ci };
    assert_eq!(all[0], revoked);
    assert_eq!(all[1].rights, [Right::Read, Right::Manage]);
    assert!(!all[0].permits(Right::Upload) && all[2].permits(Right::Upload));
    assert!(!all[2].permits(Right::Read));
}

fn a_group_says_whether_it_only_grew(bench: &Bench) {
    let mut store = bench.open();
    added(&mut store, &entry("1", 1000.0, 1.0));
    let second = added(&mut store, &entry("2", 2000.0, 2.0));
    let before = store.groups().unwrap().remove(0);
    assert_eq!((before.branch.as_str(), before.last()), ("main", second));
    let third = added(&mut store, &entry("3", 1500.0, 3.0));
    let elsewhere = NewEntry { branch: "other".to_owned(), ..entry("4", 1.0, 4.0) };
    added(&mut store, &elsewhere);
    let groups = store.groups().unwrap();
    assert_eq!(groups.len(), 2);
    let came = store.moments(&groups[0], before.last()).unwrap();
    assert_eq!(came.iter().map(|one| (one.entry, one.at)).collect::<Vec<_>>(), [(third, 1500.0)]);
    assert_eq!(came[0].commit.as_deref(), Some("c3"));
    assert!(groups[0].only_grew_since(&before, &came));
    assert!(!groups[0].only_grew_since(&before, &[]));
    // In time order, not in that of numbers.
    let all = store.moments(&groups[0], EntryId(0)).unwrap();
    assert_eq!(all.iter().map(|one| one.at).collect::<Vec<_>>(), [1000.0, 1500.0, 2000.0]);
    let of_two = store.values_of(&[third, second, EntryId(99)]).unwrap();
    let values: Vec<_> = of_two.iter().map(|(entry, values)| (*entry, values[0].value)).collect();
    assert_eq!(values, [(second, 2.0), (third, 3.0)]);
    // What goes, or gets a series of another name, is no growth.
    let mut renamed = entry("5", 3000.0, 5.0);
    "other".clone_into(&mut renamed.points[0].benchmark);
    let present = groups[0].clone();
    added(&mut store, &renamed);
    let now = store.groups().unwrap().remove(0);
    let came = store.moments(&now, present.last()).unwrap();
    assert!(came.len() == 1 && !now.only_grew_since(&present, &came));
    store.prune(&Prune { entries: vec![second], ..Prune::default() }).unwrap();
    let after = store.groups().unwrap().remove(0);
    assert!(!after.only_grew_since(&now, &[]));
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

fn other_facts_group_series_anew_and_lose_nothing(bench: &Bench) {
    let mut store = bench.open();
    let mut ids = Vec::new();
    for at in 0..6 {
        let mut new = entry(&at.to_string(), f64::from(at), f64::from(at));
        new.facts = facts(if at % 2 == 0 { "a" } else { "b" });
        new.facts.insert("memory_total".to_owned(), format!("{} GiB", if at < 4 { 4 } else { 8 }));
        new.points.push(point("other", f64::from(at)));
        ids.push(added(&mut store, &new));
    }
    let by_machine = |mut values: Vec<(String, Vec<f64>)>| {
        values.sort_by(|a, b| a.0.cmp(&b.0).then(a.1[0].total_cmp(&b.1[0])));
        values.into_iter().filter(|one| one.0 == "sort").map(|one| one.1).collect::<Vec<_>>()
    };
    let before = values(&mut store);
    assert_eq!(by_machine(before.clone()), [vec![0.0, 2.0, 4.0], vec![1.0, 3.0, 5.0]]);
    let series = all_series(&mut store);
    let of_a = store.points(&series.iter().map(|one| one.id).collect::<Vec<_>>()).unwrap();
    let at = of_a.iter().position(|points| points[0].entry == ids[0]).unwrap();
    let series = series[at].id;
    let found = found_in(series, vec![change(ids[4], ids[2], 1.0)], None);
    keep(&mut store, &[found]).unwrap();
    let review =
        Review { decision: Decision::Acknowledged { reason: None }, by: "ada".into(), time: 1.0 };
    store.review(series, ids[4], Some(&review)).unwrap();

    assert_eq!(store.split().unwrap(), SPLIT);
    let memory = ["memory_total".to_owned()];
    assert_eq!(store.regroup(&memory).unwrap(), 6);
    assert_eq!(store.regroup(&memory).unwrap(), 0);
    let expected = [vec![0.0, 1.0, 2.0, 3.0], vec![4.0, 5.0]];
    assert_eq!(by_machine(values(&mut store)), expected);
    let all: Vec<SeriesId> = all_series(&mut store).iter().map(|one| one.id).collect();
    assert_eq!(all.len(), 4);
    let changes: Vec<StoredChange> = store.changes(&all).unwrap().into_iter().flatten().collect();
    assert_eq!((changes[0].entry, &changes[0].review), (ids[4], &Some(review)));
    // New entries are grouped in the same way, also by those who do not know the configuration.
    let mut new = entry("7", 7.0, 7.0);
    new.facts.insert("memory_total".to_owned(), "8 GiB".to_owned());
    added(&mut bench.open(), &new);
    let expected = [vec![0.0, 1.0, 2.0, 3.0], vec![4.0, 5.0, 7.0]];
    assert_eq!(by_machine(values(&mut store)), expected);
    store.regroup(&SPLIT.map(str::to_owned)).unwrap();
    let expected = [vec![0.0, 2.0, 4.0, 7.0], vec![1.0, 3.0, 5.0]];
    assert_eq!(by_machine(values(&mut store)), expected);
}

fn documents_go_first_and_those_at_changes_stay(bench: &Bench) {
    let mut store = bench.open();
    let ids: Vec<EntryId> = (0..10)
        .map(|at| added(&mut store, &entry(&at.to_string(), f64::from(at) * 100.0, 1.0)))
        .collect();
    let series = all_series(&mut store)[0].id;
    let found = found_in(series, vec![change(ids[3], ids[2], 1.0)], None);
    keep(&mut store, &[found]).unwrap();
    let by_time = Prune { documents_before: Some(400.0), dry_run: true, ..Prune::default() };
    let would = store.prune(&by_time).unwrap();
    assert_eq!((would.records, would.records_kept, would.entries), (2, 2, 0));
    let kept = |store: &mut Store| -> Vec<bool> {
        let entries = store.entries(&EntryFilter::default()).unwrap();
        entries.iter().map(|one| one.has_document).collect()
    };
    assert_eq!(kept(&mut store), [true; 10]);
    assert_eq!(
        store.prune(&Prune { dry_run: false, ..by_time }).unwrap(),
        Pruned { dry_run: false, ..would }
    );
    let mut expected = [true; 10];
    expected[..2].fill(false);
    assert_eq!(kept(&mut store), expected);
    let by_number = Prune { documents_kept: Some(3), ..Prune::default() };
    assert_eq!(store.prune(&by_number).unwrap().records, 3);
    expected[4..7].fill(false);
    assert_eq!(kept(&mut store), expected);
    assert_eq!(values(&mut store)[0].1.len(), 10);
    // Somebody said that it is no change.
    let decision = Decision::Dismissed { reason: "noise".to_owned() };
    let review = Review { decision, by: String::new(), time: 1.0 };
    store.review(series, ids[3], Some(&review)).unwrap();
    assert_eq!(store.prune(&by_number).unwrap().records, 2);
}

fn entries_go_with_everything_of_theirs(bench: &Bench) {
    let mut store = bench.open();
    let mut ids = Vec::new();
    for at in 0..5 {
        let mut new = entry(&at.to_string(), f64::from(at) * 100.0, f64::from(at));
        if at == 0 {
            new.points.push(point("once", 1.0));
        }
        ids.push(added(&mut store, &new));
    }
    let sort = store
        .series(&SeriesFilter {
            metric: None,
            benchmark: Some("sort".to_owned()),
            ..SeriesFilter::default()
        })
        .unwrap()[0]
        .id;
    for at in [2, 4] {
        let review = Review {
            decision: Decision::Acknowledged { reason: None },
            by: "me".to_owned(),
            time: 1.0,
        };
        store.review(sort, ids[at], Some(&review)).unwrap();
    }
    let prune = Prune { entries_before: Some(200.0), entries: vec![ids[4]], ..Prune::default() };
    let pruned = store.prune(&prune).unwrap();
    assert_eq!(
        Pruned { bytes: 0, ..pruned },
        Pruned { entries: 3, values: 4, records: 3, decisions: 1, ..Pruned::default() }
    );
    assert_eq!(values(&mut store), [("sort".to_owned(), vec![2.0, 3.0])]);
    // The number of an entry is not given again, and the same thing may be added again.
    let again = added(&mut store, &entry("4", 400.0, 4.0));
    assert!(again > ids[4], "{again} {}", ids[4]);
    let nothing = Prune { entries: vec![EntryId(1000)], ..Prune::default() };
    let error = store.prune(&nothing).unwrap_err().to_string();
    assert!(error.ends_with("has no entry 1000"), "{error}");
}

fn writers_at_the_same_time_lose_nothing(bench: &Bench) {
    bench.open();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || {
                let mut store = bench.open();
                for at in 0..25 {
                    let mut new = entry(&format!("{writer} {at}"), f64::from(at), 1.0);
                    new.points.push(point(&format!("of {writer}"), 1.0));
                    new.points.push(point(&format!("of {at}"), 1.0));
                    added(&mut store, &new);
                }
            });
        }
    });
    let mut store = bench.open_for_reading();
    assert_eq!(store.entries(&EntryFilter::default()).unwrap().len(), 100);
    let values = values(&mut store);
    let count = |name: &str| {
        values.iter().find(|one| one.0 == name).map(|one| one.1.len()).expect("there is one")
    };
    // Writer 2 has `of 2` twice in one entry, of which the first counts.
    assert_eq!((count("sort"), count("of 2"), count("of 24")), (100, 28, 4));
}

fn reading_works_while_somebody_writes(bench: &Bench) {
    bench.open();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut store = bench.open();
            for at in 0..40 {
                added(&mut store, &entry(&at.to_string(), f64::from(at), 1.0));
            }
            done.store(true, std::sync::atomic::Ordering::Release);
        });
        let mut seen = 0;
        while !done.load(std::sync::atomic::Ordering::Acquire) {
            let mut store = bench.open_for_reading();
            let values = values(&mut store);
            let now = values.first().map_or(0, |one| one.1.len());
            assert!(now >= seen, "{now} after {seen}");
            seen = now;
        }
    });
}

fn a_history_that_is_not_there_is_not_made_by_reading(bench: &Bench) {
    for _ in 0..2 {
        let error = becalm_store::open(&bench.place, becalm_store::Access::Read).err().unwrap();
        assert!(matches!(error, StoreError::Absent { .. }), "{error}");
    }
}

fn texts_of_any_kind_are_kept(bench: &Bench) {
    let mut store = bench.open();
    let texts = ["", "'; DROP TABLE points; --", "ä \u{1f980}", "a\tb\nc", "\"q\" \\ %_*", "$1 ?1"];
    for (at, text) in texts.into_iter().enumerate() {
        let mut new = entry(text, at as f64, 1.0);
        new.branch = text.into();
        new.points[0].benchmark = text.into();
        new.points[0].metric = text.into();
        new.points[0].unit = Unit::from_name(text);
        new.points[0].parameters = vec![(text.to_owned(), text.to_owned())];
        new.tags = vec![text.to_owned()];
        new.facts.insert(text.to_owned(), text.to_owned());
        added(&mut store, &new);
        assert!(matches!(store.add(&new).unwrap(), Added::Known(_)));
    }
    for text in texts {
        let filter = SeriesFilter { branch: Some(text.to_owned()), ..SeriesFilter::default() };
        let series = store.series(&filter).unwrap();
        let [one] = &series[..] else { panic!("{text:?}: {series:?}") };
        assert_eq!((one.key.benchmark.as_str(), one.key.unit.to_string().as_str()), (text, text));
        assert_eq!(one.key.parameters, [(text.to_owned(), text.to_owned())]);
        let filter = EntryFilter { branch: Some(text.to_owned()), ..EntryFilter::default() };
        let entries = store.entries(&filter).unwrap();
        assert_eq!(
            (&entries[0].tags, &entries[0].facts[text]),
            (&vec![text.to_owned()], &text.to_owned())
        );
    }
}
