//! Entries and series are found, and grouped by machines.

use becalm_model::Unit;
use becalm_model::history::{Decision, EntryId, Review, SeriesId, StoredChange};
use becalm_store::{EntryFilter, EntryValue, NewEntry, Prune, SPLIT, SeriesFilter, Store};

use super::decisions::{change, found_in, keep};
use crate::support::{Bench, added, all_series, entry, facts, point, values};

both!(
    machines_branches_and_units_have_series_of_their_own,
    entries_are_found_by_what_they_are,
    series_are_found_by_name,
    pages_are_of_the_last_entries_and_of_one,
    other_facts_group_series_anew_and_lose_nothing,
    a_group_says_whether_it_only_grew,
    a_stamp_says_whether_an_answer_still_holds,
);

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
    // More memory is recorded, and does not split the series.
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
