//! Points in memory: those of each branch on a machine together, because the history has them so. They are read once, and
//! continued by what is added later.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use becalm_model::history::{EntryId, Point, SeriesId};
use becalm_series::{Group, Moment, Store, StoreError};

/// Points that are kept, of 24 bytes each. Beyond that, those that were not asked for the longest go first.
const MOST: usize = 2_000_000;

/// Entries whose values are read at once.
const TOGETHER: usize = 64;

/// What happened to the points of a group when they were brought to its present state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Brought {
    /// They were that already.
    Same,
    /// Points came at the ends of series.
    Continued,
    /// They were read from the beginning.
    Anew,
    /// They are not kept, because they are too many or changed meanwhile: the history has to be asked.
    NotKept,
}

/// Entries that do not count.
pub(crate) type LeftOut = Arc<HashSet<EntryId>>;

/// The points that are in memory.
#[derive(Debug)]
pub(crate) struct Kept {
    /// Each with when it was asked for last. Whoever looks at one has it as it was then.
    groups: Vec<(u64, Arc<OfGroup>)>,
    /// How many points there may be.
    most: usize,
    /// Counts what is asked for.
    clock: u64,
}

impl Default for Kept {
    fn default() -> Self {
        Self::of_at_most(MOST)
    }
}

/// The points of a branch on a machine.
#[derive(Debug, Clone)]
pub(crate) struct OfGroup {
    /// How it stood when they were read.
    group: Group,
    /// Entries that are not among them, because they do not count.
    left_out: LeftOut,
    /// Its entries in time order.
    moments: Vec<Moment>,
    columns: HashMap<SeriesId, Column>,
    points: usize,
}

/// The points of a series.
#[derive(Debug, Clone, Default)]
struct Column {
    /// The places of their entries, rising.
    places: Vec<u32>,
    values: Vec<f64>,
    /// NaN where none is known.
    errors: Vec<f64>,
    runs: Vec<u32>,
}

impl Kept {
    fn of_at_most(most: usize) -> Self {
        Self { groups: Vec::new(), most, clock: 0 }
    }

    /// Keeps no more than one of so many may that have the memory together.
    pub(crate) fn share(&mut self, of: usize) {
        self.most = MOST / of.max(1);
    }

    /// Brings the points of a group to how it stands now, without these entries.
    pub(crate) fn bring(
        &mut self,
        store: &mut Store,
        group: &Group,
        left_out: &LeftOut,
    ) -> Result<Brought, StoreError> {
        self.clock += 1;
        // An entry that came and does not count changes nothing; one that counted and does not any more does.
        if let Some(at) = self.place(group).filter(|at| self.groups[*at].1.has_all_but(left_out)) {
            if self.groups[at].1.group == *group {
                self.groups[at].0 = self.clock;
                return Ok(Brought::Same);
            }
            let (_, mut known) = self.groups.swap_remove(at);
            if Arc::make_mut(&mut known).grow(store, group, left_out)? {
                self.groups.push((self.clock, known));
                self.make_room();
                return Ok(Brought::Continued);
            }
        }
        let Some(read) = OfGroup::read(store, group, left_out, self.most)? else {
            return Ok(Brought::NotKept);
        };
        self.groups.retain(|(_, known)| !is_same(group, &known.group));
        self.groups.push((self.clock, Arc::new(read)));
        self.make_room();
        Ok(Brought::Anew)
    }

    /// Returns a group as it stands now; `None` if it is not kept.
    pub(crate) fn of(
        &mut self,
        store: &mut Store,
        group: &Group,
        left_out: &LeftOut,
    ) -> Result<Option<Arc<OfGroup>>, StoreError> {
        if self.bring(store, group, left_out)? == Brought::NotKept {
            return Ok(None);
        }
        Ok(self.place(group).map(|at| Arc::clone(&self.groups[at].1)))
    }

    /// Forgets groups that the history does not have any more.
    pub(crate) fn retain(&mut self, groups: &[Group]) {
        self.groups.retain(|(_, known)| groups.iter().any(|group| is_same(group, &known.group)));
    }

    fn place(&self, group: &Group) -> Option<usize> {
        self.groups.iter().position(|(_, known)| is_same(&known.group, group))
    }

    fn make_room(&mut self) {
        while self.groups.iter().map(|(_, known)| known.points).sum::<usize>() > self.most {
            let all = self.groups.iter().enumerate();
            let Some((oldest, _)) = all.min_by_key(|(_, (used, _))| *used) else { return };
            self.groups.swap_remove(oldest);
        }
    }
}

/// The points of a series beside each other, in time order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// All entries of the branch and machine.
    pub(crate) moments: &'a [Moment],
    /// Which of them have a value.
    pub(crate) places: &'a [u32],
    pub(crate) values: &'a [f64],
    /// NaN where none is known.
    pub(crate) errors: &'a [f64],
    pub(crate) runs: &'a [u32],
}

impl Line<'_> {
    /// Returns where the value is that was measured last at the last commit of all series, if this one has any there.
    pub(crate) fn of_last_commit(&self) -> Option<usize> {
        let from = since_last_commit(self.moments);
        let last = self.places.last().filter(|place| **place as usize >= from);
        last.map(|_| self.places.len() - 1)
    }

    /// Returns where the value of the entry at this place is.
    pub(crate) fn at(&self, place: usize) -> Option<usize> {
        let wanted = u32::try_from(place).ok()?;
        // Most series have a value in every entry, and memory is slow.
        if self.places.get(place) == Some(&wanted) {
            return Some(place);
        }
        self.places.binary_search(&wanted).ok()
    }
}

/// Returns where the entries of the last commit begin: a commit has several where several suites measure it. Without a
/// commit, where the last entry is.
fn since_last_commit(moments: &[Moment]) -> usize {
    let Some(last) = moments.last() else { return 0 };
    let is_other = |one: &Moment| one.commit.is_none() || one.commit != last.commit;
    let before = &moments[..moments.len() - 1];
    before.iter().rposition(is_other).map_or(0, |at| at + 1)
}

/// Shows points that are not kept, as if they were.
pub(crate) fn visit_points(
    moments: &[Moment],
    series: &[SeriesId],
    points: &[Vec<Point>],
    see: &mut dyn FnMut(SeriesId, Line<'_>),
) {
    let places: HashMap<EntryId, u32> =
        (0..).zip(moments).map(|(place, one)| (one.entry, place)).collect();
    for (one, points) in series.iter().zip(points) {
        let mut column = Column::default();
        for point in points {
            let Some(place) = places.get(&point.entry) else { continue };
            column.places.push(*place);
            column.values.push(point.value);
            column.errors.push(point.error.unwrap_or(f64::NAN));
            column.runs.push(point.runs);
        }
        if !column.places.is_empty() {
            see(*one, column.line(moments));
        }
    }
}

/// Says whether both are of the same branch and machine.
fn is_same(one: &Group, other: &Group) -> bool {
    (&one.branch, &one.fingerprint) == (&other.branch, &other.fingerprint)
}

impl OfGroup {
    /// Reads all points of a group; `None` if there are more than `most`, or if it is not as it was said to be.
    fn read(
        store: &mut Store,
        group: &Group,
        left_out: &LeftOut,
        most: usize,
    ) -> Result<Option<Self>, StoreError> {
        let moments = until(store.moments(group, EntryId(0))?, group);
        if !group.has_entries(&moments) {
            return Ok(None);
        }
        let mut read = Self {
            group: group.clone(),
            left_out: Arc::clone(left_out),
            moments: Vec::new(),
            columns: HashMap::new(),
            points: 0,
        };
        let counting = counting(moments, left_out);
        for together in counting.chunks(TOGETHER) {
            read.take(store, together)?;
            if read.points > most {
                return Ok(None);
            }
        }
        for column in read.columns.values_mut() {
            column.shrink();
        }
        Ok(Some(read))
    }

    /// Returns the points of series, those of the last so many entries or all.
    pub(crate) fn points(&self, series: &[SeriesId], last: Option<usize>) -> Vec<Vec<Point>> {
        let from = last.map_or(0, |last| self.moments.len().saturating_sub(last));
        let of_one =
            |one| self.columns.get(one).map_or(Vec::new(), |it| it.points(&self.moments, from));
        series.iter().map(of_one).collect()
    }

    /// Shows the points of series.
    pub(crate) fn visit(&self, series: &[SeriesId], see: &mut dyn FnMut(SeriesId, Line<'_>)) {
        for one in series {
            if let Some(column) = self.columns.get(one) {
                see(*one, column.line(&self.moments));
            }
        }
    }

    /// Adds what came at the end; says whether that is all that happened.
    fn grow(
        &mut self,
        store: &mut Store,
        group: &Group,
        left_out: &LeftOut,
    ) -> Result<bool, StoreError> {
        let came = until(store.moments(group, self.group.last())?, group);
        if !group.only_grew_since(&self.group, &came) {
            return Ok(false);
        }
        let came = counting(came, left_out);
        let place = |moment: &Moment| (moment.at, moment.entry.0);
        let is_at_the_end = match (self.moments.last(), came.first()) {
            (Some(last), Some(first)) => place(last) < place(first),
            _ => true,
        };
        if !is_at_the_end {
            return Ok(false);
        }
        for together in came.chunks(TOGETHER) {
            self.take(store, together)?;
        }
        self.group = group.clone();
        self.left_out = Arc::clone(left_out);
        Ok(true)
    }

    /// Says whether no entry that is here is left out now, and the other way round.
    fn has_all_but(&self, left_out: &LeftOut) -> bool {
        Arc::ptr_eq(&self.left_out, left_out)
            || (self.left_out.iter().all(|entry| left_out.contains(entry))
                && !self.moments.iter().any(|moment| left_out.contains(&moment.entry)))
    }

    /// Adds the values of entries that follow those that are there.
    fn take(&mut self, store: &mut Store, moments: &[Moment]) -> Result<(), StoreError> {
        let entries: Vec<EntryId> = moments.iter().map(|moment| moment.entry).collect();
        let mut of_entry: HashMap<EntryId, _> = store.values_of(&entries)?.into_iter().collect();
        for moment in moments {
            let place = u32::try_from(self.moments.len()).expect("memory is smaller");
            for value in of_entry.remove(&moment.entry).unwrap_or_default() {
                let column = self.columns.entry(value.series).or_default();
                column.places.push(place);
                column.values.push(value.value);
                column.errors.push(value.error.unwrap_or(f64::NAN));
                column.runs.push(value.runs);
                self.points += 1;
            }
            self.moments.push(moment.clone());
        }
        Ok(())
    }
}

/// Returns those that count.
fn counting(mut moments: Vec<Moment>, left_out: &LeftOut) -> Vec<Moment> {
    moments.retain(|moment| !left_out.contains(&moment.entry));
    moments
}

/// Returns those that a group had when it was looked at: others may have come since.
fn until(mut moments: Vec<Moment>, group: &Group) -> Vec<Moment> {
    moments.retain(|moment| moment.entry <= group.last());
    moments
}

impl Column {
    fn shrink(&mut self) {
        self.places.shrink_to_fit();
        self.values.shrink_to_fit();
        self.errors.shrink_to_fit();
        self.runs.shrink_to_fit();
    }

    fn line<'a>(&'a self, moments: &'a [Moment]) -> Line<'a> {
        let Self { places, values, errors, runs } = self;
        Line { moments, places, values, errors, runs }
    }

    /// Returns the points of entries from a place on.
    fn points(&self, moments: &[Moment], from: usize) -> Vec<Point> {
        let first = self.places.partition_point(|place| (*place as usize) < from);
        let point = |at: usize| {
            let moment = &moments[self.places[at] as usize];
            Point {
                entry: moment.entry,
                at: moment.at,
                value: self.values[at],
                error: Some(self.errors[at]).filter(|error| !error.is_nan()),
                runs: self.runs[at],
                commit: moment.commit.clone(),
            }
        };
        (first..self.places.len()).map(point).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use becalm_model::history::Commit;
    use becalm_model::{Direction, Unit};
    use becalm_series::{
        Access, Added, HistoryLocation, NewEntry, NewPoint, Origin, Prune, SeriesFilter, open,
    };

    use super::*;

    fn store(folder: &tempfile::TempDir) -> Store {
        open(&HistoryLocation::File(folder.path().join("history.db")), Access::Write).unwrap()
    }

    fn add(store: &mut Store, time: f64, branch: &str, benchmarks: &[&str]) -> EntryId {
        let point = |benchmark: &&str| NewPoint {
            benchmark: (*benchmark).to_owned(),
            metric: "wall_time".to_owned(),
            unit: Unit::Second,
            direction: Direction::Lower,
            parameters: Vec::new(),
            main: true,
            exact: false,
            value: time,
            error: (time > 2.0).then_some(0.5),
            runs: 7,
        };
        let entry = NewEntry {
            origin: Origin::Measurement,
            content: format!("{time} {branch}"),
            measured: time,
            commit: Some(Commit { time: Some(time), ..Commit::named(format!("c{time}")) }),
            branch: branch.to_owned(),
            dirty: false,
            tags: Vec::new(),
            facts: BTreeMap::new(),
            document: None,
            points: benchmarks.iter().map(point).collect(),
        };
        match store.add(&entry).unwrap() {
            Added::New(id) => id,
            other => panic!("{other:?}"),
        }
    }

    /// Checks that what is kept is what the history has, and returns how it came to be.
    fn brought(kept: &mut Kept, store: &mut Store) -> Vec<Brought> {
        let groups = store.groups().unwrap();
        let mut all = Vec::new();
        for group in groups {
            all.push(kept.bring(store, &group, &LeftOut::default()).unwrap());
            let series = store.series(&SeriesFilter::default()).unwrap();
            let of_group = series.iter().filter(|one| one.key.branch == group.branch);
            let ids: Vec<SeriesId> = of_group.map(|one| one.id).collect();
            for last in [None, Some(2)] {
                let Some(known) = kept.of(store, &group, &LeftOut::default()).unwrap() else {
                    continue;
                };
                let found = known.points(&ids, last);
                let expected = match last {
                    None => store.points(&ids).unwrap(),
                    Some(last) => store.last_points(&ids, last).unwrap(),
                };
                assert_eq!(found, expected);
            }
        }
        all
    }

    #[test]
    fn what_is_kept_is_what_the_history_has_whatever_happens_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let (mut store, mut kept) = (store(&folder), Kept::default());
        assert_eq!(brought(&mut kept, &mut store), []);
        add(&mut store, 1.0, "main", &["a", "b"]);
        let second = add(&mut store, 3.0, "main", &["b"]);
        assert_eq!(brought(&mut kept, &mut store), [Brought::Anew]);
        assert_eq!(brought(&mut kept, &mut store), [Brought::Same]);
        add(&mut store, 4.0, "main", &["a", "b"]);
        add(&mut store, 5.0, "main", &["a"]);
        assert_eq!(brought(&mut kept, &mut store), [Brought::Continued]);
        // In the past, with another series, on another branch, and what goes.
        add(&mut store, 2.0, "main", &["a"]);
        assert_eq!(brought(&mut kept, &mut store), [Brought::Anew]);
        add(&mut store, 6.0, "main", &["c"]);
        assert_eq!(brought(&mut kept, &mut store), [Brought::Anew]);
        add(&mut store, 6.0, "other", &["c"]);
        assert_eq!(brought(&mut kept, &mut store), [Brought::Same, Brought::Anew]);
        store.prune(&Prune { entries: vec![second], ..Prune::default() }).unwrap();
        assert_eq!(brought(&mut kept, &mut store), [Brought::Anew, Brought::Same]);
        store.regroup(&["governor".to_owned()]).unwrap();
        brought(&mut kept, &mut store);
        let groups = store.groups().unwrap();
        kept.retain(&groups);
        assert_eq!(kept.groups.len(), groups.len());
    }

    #[test]
    fn entries_that_do_not_count_are_not_kept_and_count_again_when_they_do() {
        let folder = tempfile::tempdir().unwrap();
        let (mut store, mut kept) = (store(&folder), Kept::default());
        let all: Vec<EntryId> =
            [1.0, 2.0, 3.0].map(|time| add(&mut store, time, "main", &["a"])).into();
        let group = |store: &mut Store| store.groups().unwrap().remove(0);
        let mut without = |store: &mut Store, entries: &[EntryId]| {
            let left_out = Arc::new(entries.iter().copied().collect());
            let group = group(store);
            let brought = kept.bring(store, &group, &left_out).unwrap();
            (brought, kept.groups[0].1.points, kept.groups.len())
        };
        assert_eq!(without(&mut store, &[all[1]]), (Brought::Anew, 2, 1));
        assert_eq!(without(&mut store, &[all[1]]), (Brought::Same, 2, 1));
        assert_eq!(without(&mut store, &[]), (Brought::Anew, 3, 1));
        assert_eq!(without(&mut store, &[all[0]]), (Brought::Anew, 2, 1));
        let last = add(&mut store, 4.0, "main", &["a"]);
        assert_eq!(without(&mut store, &[all[0], last]), (Brought::Continued, 2, 1));
        add(&mut store, 5.0, "main", &["a"]);
        assert_eq!(without(&mut store, &[all[0], last]), (Brought::Continued, 3, 1));
    }

    #[test]
    fn what_is_too_much_is_not_kept_and_the_oldest_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let (mut store, mut kept) = (store(&folder), Kept::of_at_most(5));
        for time in [1.0, 2.0, 3.0] {
            add(&mut store, time, "large", &["a", "b"]);
        }
        for branch in ["one", "two"] {
            add(&mut store, 1.0, branch, &["a", "b", "c"]);
        }
        let all = [Brought::NotKept, Brought::Anew, Brought::Anew];
        assert_eq!(brought(&mut kept, &mut store), all);
        let names: Vec<&str> =
            kept.groups.iter().map(|(_, one)| one.group.branch.as_str()).collect();
        assert_eq!(names, ["two"]);
    }

    #[test]
    fn what_came_after_a_group_was_looked_at_is_not_among_its_points() {
        let folder = tempfile::tempdir().unwrap();
        let (mut store, mut kept) = (store(&folder), Kept::default());
        add(&mut store, 1.0, "main", &["a"]);
        let before = store.groups().unwrap().remove(0);
        add(&mut store, 2.0, "main", &["a"]);
        assert_eq!(kept.bring(&mut store, &before, &LeftOut::default()).unwrap(), Brought::Anew);
        assert_eq!(kept.groups[0].1.points, 1);
        assert_eq!(brought(&mut kept, &mut store), [Brought::Continued]);
    }
}
