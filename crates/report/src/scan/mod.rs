//! Subjects that differ by a number, as those of `--parameter-scan` do: what they take is drawn against it.

mod ruled;
mod text;

use std::collections::BTreeSet;

use becalm_model::{Record, Subject};

use crate::shown;
use crate::strip::Median;

pub(crate) use ruled::Ruled;
pub(crate) use text::text;

/// Fewer values make no line.
const FEWEST: usize = 3;

/// Subjects in the order of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scan {
    /// Its name.
    pub(crate) parameter: String,
    /// Those that differ by other things than the parameter; at least one.
    pub(crate) series: Vec<Series>,
}

/// Subjects that differ by the parameter alone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// What they have in common, with the parameter in braces.
    pub(crate) name: String,
    /// The value of the parameter and the subject, by rising values.
    pub(crate) subjects: Vec<(f64, usize)>,
}

/// A subject on the picture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    /// Value of the parameter.
    pub(crate) at: f64,
    pub(crate) subject: usize,
    pub(crate) median: Median,
}

/// Returns the scan that a record is, if it is one. Of several numbers the one with most values is the parameter.
pub(crate) fn of(record: &Record) -> Option<Scan> {
    let parameter = parameter(&record.subjects)?;
    let mut series: Vec<Series> = Vec::new();
    for (index, subject) in record.subjects.iter().enumerate() {
        let value = value_of(subject, &parameter)?;
        let name = without(subject, &parameter, value);
        let point = (value.parse().ok()?, index);
        match series.iter_mut().find(|one| one.name == name) {
            Some(known) => known.subjects.push(point),
            None => series.push(Series { name, subjects: vec![point] }),
        }
    }
    // Where every value is there once, it is one series, whatever the names make of the values.
    if series.len() == record.subjects.len() {
        let subjects = series.iter().flat_map(|one| one.subjects.clone()).collect();
        series = vec![Series { name: format!("{{{parameter}}}"), subjects }];
    }
    for one in &mut series {
        one.subjects.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let is_line = |one: &Series| {
        let mut values: Vec<f64> = one.subjects.iter().map(|(value, _)| *value).collect();
        values.dedup();
        values.len() >= FEWEST && values.len() == one.subjects.len()
    };
    series.iter().all(is_line).then_some(Scan { parameter, series })
}

impl Series {
    /// Returns its subjects that have values of a metric.
    pub(crate) fn points(&self, record: &Record, metric: usize) -> Vec<Point> {
        let point = |&(at, subject): &(f64, usize)| {
            let sample = shown::sample(record, subject, metric)?;
            let median = shown::median(&shown::summary(record, &sample));
            Some(Point { at, subject, median })
        };
        self.subjects.iter().filter_map(point).collect()
    }
}

fn parameter(subjects: &[Subject]) -> Option<String> {
    let names = subjects.first()?.parameters.iter().map(|(name, _)| name);
    let counted = names.filter_map(|name| {
        let values = subjects.iter().map(|subject| number_of(subject, name));
        // Bits, because numbers are no keys; equal numbers have equal bits, but for the two zeros.
        let distinct: BTreeSet<u64> =
            values.map(|value| Some((value? + 0.0).to_bits())).collect::<Option<_>>()?;
        (distinct.len() >= FEWEST).then_some((distinct.len(), name))
    });
    counted.max_by_key(|(n, _)| *n).map(|(_, name)| name.clone())
}

fn value_of<'a>(subject: &'a Subject, parameter: &str) -> Option<&'a str> {
    let found = subject.parameters.iter().find(|(name, _)| name == parameter);
    found.map(|(_, value)| value.as_str())
}

fn number_of(subject: &Subject, parameter: &str) -> Option<f64> {
    value_of(subject, parameter)?.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Returns the name of a subject with its parameter in place of the value, wherever that stands by itself.
fn without(subject: &Subject, parameter: &str, value: &str) -> String {
    let name = &subject.name;
    let mut out = String::new();
    let mut rest = name.as_str();
    while let Some(at) = rest.find(value) {
        let (before, after) = (&rest[..at], &rest[at + value.len()..]);
        let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit() || c == '.');
        let last = before.chars().next_back().or_else(|| out.chars().next_back());
        out.push_str(before);
        if is_part(last) || is_part(after.chars().next()) {
            out.push_str(value);
        } else {
            out.extend(["{", parameter, "}"]);
        }
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_model::RecordKind;

    fn record(subjects: &[(&str, &[(&str, &str)])]) -> Record {
        let mut record = Record::empty(RecordKind::Run);
        record.subjects = subjects
            .iter()
            .map(|(name, parameters)| Subject {
                parameters: parameters
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect(),
                ..Subject::new(*name, vec!["x".to_owned()])
            })
            .collect();
        record
    }

    #[test]
    fn subjects_that_differ_by_a_number_are_a_scan() {
        let scan = of(&record(&[
            ("sort 10", &[("n", "10")]),
            ("sort 1", &[("n", "1")]),
            ("sort 2.5", &[("n", "2.5")]),
        ]));
        let series =
            Series { name: "sort {n}".to_owned(), subjects: vec![(1.0, 1), (2.5, 2), (10.0, 0)] };
        assert_eq!(scan, Some(Scan { parameter: "n".to_owned(), series: vec![series] }));
    }

    #[test]
    fn other_differences_make_series() {
        let subjects = ["1", "2", "3"].map(|n| (format!("a{n} -{n}"), format!("b -{n}"), n));
        let mut all = record(&[]);
        for (a, b, n) in &subjects {
            all.subjects.extend(record(&[(a, &[("n", n)]), (b, &[("n", n)])]).subjects);
        }
        let names: Vec<String> = of(&all).unwrap().series.into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["a{n} -{n}", "b -{n}"]);
    }

    #[test]
    fn names_need_not_show_the_value() {
        let scan = of(&record(&[("a", &[("n", "1")]), ("b", &[("n", "2")]), ("c", &[("n", "3")])]));
        assert_eq!(scan.unwrap().series[0].subjects, [(1.0, 0), (2.0, 1), (3.0, 2)]);
    }

    #[test]
    fn words_or_two_numbers_are_none() {
        let words = [("a", &[("w", "x")][..]), ("b", &[("w", "y")]), ("c", &[("w", "z")])];
        assert_eq!(of(&record(&words)), None);
        let two = [("a 1", &[("n", "1")][..]), ("a 2", &[("n", "2")])];
        assert_eq!(of(&record(&two)), None);
        assert_eq!(of(&record(&[])), None);
    }
}
