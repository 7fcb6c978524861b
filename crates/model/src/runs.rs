//! The runs of a record, and which of them are of which subject.

use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use crate::run::Run;

/// Runs in time order: a list that knows the runs of each subject. An imported record may have a hundred thousand
/// subjects, and most that is said of a record is said subject by subject.
#[derive(Default)]
pub struct Runs {
    list: Vec<Run>,
    /// Made when it is first asked for, and forgotten when the list may have changed.
    by_subject: OnceLock<BySubject>,
}

/// Places of runs in the list, those of one subject behind those of another.
#[derive(Debug)]
struct BySubject {
    places: Vec<usize>,
    /// Where the places of each subject begin, and behind the last where they end.
    starts: Vec<usize>,
}

impl BySubject {
    fn of(list: &[Run]) -> Self {
        let subjects = list.iter().map(|run| run.subject + 1).max().unwrap_or(0);
        let mut starts = vec![0; subjects + 1];
        for run in list {
            starts[run.subject + 1] += 1;
        }
        for at in 0..subjects {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut places = vec![0; list.len()];
        for (at, run) in list.iter().enumerate() {
            places[next[run.subject]] = at;
            next[run.subject] += 1;
        }
        Self { places, starts }
    }
}

impl Runs {
    /// Returns the runs of one subject with their places in the list, in time order.
    pub fn of_subject(&self, subject: usize) -> impl Iterator<Item = (usize, &Run)> {
        let by_subject = self.by_subject.get_or_init(|| BySubject::of(&self.list));
        let places = match by_subject.starts.get(subject..=subject + 1) {
            Some([start, end]) => &by_subject.places[*start..*end],
            _ => &[],
        };
        places.iter().map(|&at| (at, &self.list[at]))
    }
}

impl Deref for Runs {
    type Target = Vec<Run>;

    fn deref(&self) -> &Vec<Run> {
        &self.list
    }
}

impl DerefMut for Runs {
    fn deref_mut(&mut self) -> &mut Vec<Run> {
        self.by_subject.take();
        &mut self.list
    }
}

impl From<Vec<Run>> for Runs {
    fn from(list: Vec<Run>) -> Self {
        Self { list, by_subject: OnceLock::new() }
    }
}

impl FromIterator<Run> for Runs {
    fn from_iter<I: IntoIterator<Item = Run>>(runs: I) -> Self {
        Vec::from_iter(runs).into()
    }
}

impl IntoIterator for Runs {
    type Item = Run;
    type IntoIter = std::vec::IntoIter<Run>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a> IntoIterator for &'a Runs {
    type Item = &'a Run;
    type IntoIter = std::slice::Iter<'a, Run>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl<'a> IntoIterator for &'a mut Runs {
    type Item = &'a mut Run;
    type IntoIter = std::slice::IterMut<'a, Run>;

    fn into_iter(self) -> Self::IntoIter {
        self.deref_mut().iter_mut()
    }
}

impl Clone for Runs {
    fn clone(&self) -> Self {
        self.list.clone().into()
    }
}

impl PartialEq for Runs {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

impl std::fmt::Debug for Runs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.list.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Record, RecordKind};

    #[test]
    fn runs_of_a_subject_are_found_after_every_change() {
        let mut record = Record::empty(RecordKind::Import);
        let of = |record: &Record, subject: usize| -> Vec<(usize, u32)> {
            record.runs.of_subject(subject).map(|(at, run)| (at, run.round)).collect()
        };
        assert_eq!(of(&record, 0), []);
        record.runs.extend([Run::blank(2, 7), Run::blank(0, 1), Run::blank(2, 8)]);
        assert_eq!(
            (of(&record, 2), of(&record, 1), of(&record, 0)),
            (vec![(0, 7), (2, 8)], vec![], vec![(1, 1)])
        );
        record.runs.push(Run::blank(1, 9));
        for run in &mut record.runs {
            run.subject = 3 - run.subject;
        }
        assert_eq!((of(&record, 1), of(&record, 2)), (vec![(0, 7), (2, 8)], vec![(3, 9)]));
        assert_eq!(of(&record, 4), []);
        assert_eq!(record.clone(), record);
    }
}
