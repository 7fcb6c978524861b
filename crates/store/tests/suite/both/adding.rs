//! What is added, and how it comes back.

use becalm_model::history::{Commit, Entry, EntryId, SeriesId};
use becalm_model::{Direction, Unit};
use becalm_store::{
    Added, EntryFilter, NewEntry, NewPoint, Origin, SeriesFilter, Store, StoreError,
};

use crate::support::{Bench, added, all_series, entry, facts, point, values};

both!(
    an_entry_comes_back_as_it_was_added,
    numbers_come_back_to_the_last_bit,
    texts_of_any_kind_are_kept,
    a_name_that_not_every_database_keeps_is_refused_and_leaves_nothing,
    points_stand_in_the_order_of_commits,
    the_same_thing_is_not_added_twice,
    what_a_history_got_since_it_was_added_is_added_alone,
    entries_added_together_are_as_if_each_had_been_added_alone,
    writers_at_the_same_time_lose_nothing,
    reading_works_while_somebody_writes,
    a_history_that_is_not_there_is_not_made_by_reading,
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

fn texts_of_any_kind_are_kept(bench: &Bench) {
    let mut store = bench.open();
    let texts = ["", "'; DROP TABLE points; --", "ä \u{1f980}", "a\tb\nc", "\"q\" \\ %_*", "$1 ?1"];
    for (at, text) in texts.into_iter().enumerate() {
        let mut new = entry(text, at as f64, 1.0);
        new.branch = text.into();
        let said = Some(text.to_owned());
        new.commit = new.commit.map(|known| Commit { author: said.clone(), title: said, ..known });
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
        let commit = entries[0].commit.as_ref().unwrap();
        assert_eq!([&commit.author, &commit.title], [&Some(text.to_owned()); 2]);
        assert_eq!(
            (&entries[0].tags, &entries[0].facts[text]),
            (&vec![text.to_owned()], &text.to_owned())
        );
    }
}

fn a_name_that_not_every_database_keeps_is_refused_and_leaves_nothing(bench: &Bench) {
    let mut store = bench.open();
    let mut of_point = entry("1", 1.0, 1.0);
    "a\0b".clone_into(&mut of_point.points[0].benchmark);
    let of_branch = NewEntry { branch: "\0".to_owned(), ..entry("2", 1.0, 1.0) };
    for wrong in [of_point, of_branch] {
        let all = [entry("3", 1.0, 1.0), wrong];
        let error = store.add_all(&all).unwrap_err();
        assert!(error.to_string().contains("contains a NUL character"), "{error}");
    }
    assert!(store.entries(&EntryFilter::default()).unwrap().is_empty());
    // A parameter, a tag and a fact may be anything.
    let mut anything = entry("4", 1.0, 1.0);
    anything.points[0].parameters = vec![("\0".to_owned(), "\0".to_owned())];
    anything.tags = vec!["\0".to_owned()];
    anything.facts.insert("\0".to_owned(), "\0".to_owned());
    added(&mut store, &anything);
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
        commit: Some(Commit { time: Some(1000.0), ..Commit::named("c") }),
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
    other.commit = Some(Commit { time: Some(1000.0), ..Commit::named("d") });
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
