//! Histories to be tested, and entries to be put into them.

use std::collections::BTreeMap;

use becalm_model::history::{Commit, EntryId, Series};
use becalm_model::{Direction, Unit};
use becalm_store::{
    Access, Added, HistoryLocation, NewEntry, NewPoint, Origin, SeriesFilter, Store, open,
};
use becalm_testkit::{postgres, skipped};

/// An empty history in one of the databases.
pub(crate) struct Bench {
    pub(crate) place: HistoryLocation,
    _folder: Option<tempfile::TempDir>,
}

impl Bench {
    pub(crate) fn sqlite() -> Self {
        // In memory where there is such a place: who waits for another writer waits for its disk too.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        Self {
            place: HistoryLocation::File(folder.path().join("history.db")),
            _folder: Some(folder),
        }
    }

    /// `None` where there is no server; the test is then skipped.
    pub(crate) fn postgres() -> Option<Self> {
        match postgres() {
            Ok(server) => {
                Some(Self { place: HistoryLocation::parse(&server.database()), _folder: None })
            }
            Err(why) => {
                skipped(why);
                None
            }
        }
    }

    /// Another empty history in the same kind of database.
    pub(crate) fn another(&self) -> Self {
        match self.place {
            HistoryLocation::File(_) => Self::sqlite(),
            HistoryLocation::Server { .. } => Self::postgres().expect("the server of this one"),
        }
    }

    pub(crate) fn open(&self) -> Store {
        open(&self.place, Access::Write).unwrap()
    }

    pub(crate) fn open_for_reading(&self) -> Store {
        open(&self.place, Access::Read).unwrap()
    }
}

/// An entry of this content, at a commit of this time, with one value of `sort`.
pub(crate) fn entry(content: &str, time: f64, value: f64) -> NewEntry {
    NewEntry {
        origin: Origin::Measurement,
        content: content.to_owned(),
        measured: time + 60.0,
        commit: Some(Commit {
            id: format!("c{content}"),
            time: Some(time),
            author: Some("Ada".to_owned()),
            title: Some(format!("Change {content}")),
        }),
        branch: "main".to_owned(),
        dirty: false,
        tags: vec!["nightly".to_owned()],
        facts: facts("a"),
        document: Some(format!("{{\"content\": {content:?}}}\n")),
        points: vec![point("sort", value)],
    }
}

pub(crate) fn facts(cpu: &str) -> BTreeMap<String, String> {
    let facts = [("cpu_model", cpu), ("kernel_release", "6.1.0-1"), ("memory_total", "4 GiB")];
    facts.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

pub(crate) fn point(benchmark: &str, value: f64) -> NewPoint {
    NewPoint {
        benchmark: benchmark.to_owned(),
        metric: "wall_time".to_owned(),
        unit: Unit::Second,
        direction: Direction::Lower,
        parameters: vec![("size".to_owned(), "10".to_owned()), ("kind".to_owned(), "x".to_owned())],
        main: true,
        exact: false,
        value,
        error: Some(0.5),
        runs: 10,
    }
}

#[track_caller]
pub(crate) fn added(store: &mut Store, entry: &NewEntry) -> EntryId {
    match store.add(entry).unwrap() {
        Added::New(id) => id,
        other => panic!("{}: {other:?}", entry.content),
    }
}

pub(crate) fn all_series(store: &mut Store) -> Vec<Series> {
    store.series(&SeriesFilter::default()).unwrap()
}

/// Returns the values of every series, in order.
pub(crate) fn values(store: &mut Store) -> Vec<(String, Vec<f64>)> {
    let series = all_series(store);
    let ids: Vec<_> = series.iter().map(|one| one.id).collect();
    let points = store.points(&ids).unwrap();
    let values = points.iter().map(|points| points.iter().map(|point| point.value).collect());
    series.iter().map(|one| one.key.benchmark.clone()).zip(values).collect()
}

/// Has several writers begin an empty history at the same moment.
pub(crate) fn begun_by_several(bench: &Bench) {
    let together = std::sync::Barrier::new(6);
    std::thread::scope(|scope| {
        for writer in 0..6 {
            let together = &together;
            scope.spawn(move || {
                together.wait();
                added(&mut bench.open(), &entry(&writer.to_string(), 1.0, 1.0));
            });
        }
    });
    let mut store = bench.open_for_reading();
    assert_eq!(store.entries(&becalm_store::EntryFilter::default()).unwrap().len(), 6);
}
