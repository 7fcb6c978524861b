//! Several files of the same benchmarks as one record: each file adds its processes.

use std::collections::{HashMap, HashSet};

use becalm_model::{ImportNote, Metric, Note, Record, RecordKind, Subject};

use crate::imported::{SubjectKey, with_parameters};

/// Puts records of the same benchmarks together: subjects are the same where their names are, metrics where name,
/// unit and direction are. A record with one subject adds to another with one, and processes keep their order. What has
/// other parameters is another subject, as in a history: a load on another server, or another size of the input.
/// What differs between the files, and what cannot be kept, is told by a note. `None` without a record.
pub fn merge(records: Vec<Record>) -> Option<Record> {
    let mut records = records.into_iter();
    let first = records.next()?;
    if records.len() == 0 {
        return Some(first);
    }
    let mut whole = Whole::of(first);
    for record in records {
        whole.add(record);
    }
    Some(whole.record)
}

/// The files so far, with what finds the places of the next one.
struct Whole {
    record: Record,
    subjects: HashMap<SubjectKey, usize>,
    names: HashSet<String>,
    metrics: HashMap<String, usize>,
    has_benchmarks: bool,
    /// The number of the next round of each subject.
    rounds: Vec<u32>,
    told: HashSet<String>,
}

/// Returns the name of a subject with its parameters, and the parameters.
fn key(subject: &Subject, is_imported: bool) -> SubjectKey {
    let parameters: Vec<_> = subject.series_parameters(is_imported).cloned().collect();
    (with_parameters(&subject.name, &parameters), parameters)
}

impl Whole {
    fn of(record: Record) -> Self {
        let is_imported = record.kind == RecordKind::Import;
        let mut rounds = vec![0; record.subjects.len()];
        for run in &record.runs {
            rounds[run.subject] = rounds[run.subject].max(run.round + 1);
        }
        let subjects = record.subjects.iter().map(|one| key(one, is_imported)).zip(0..).collect();
        let names = record.subjects.iter().map(|one| one.name.clone()).collect();
        let metrics = record.metrics.iter().map(|one| one.name.clone()).zip(0..).collect();
        let has_benchmarks = record.metrics.iter().any(|one| one.benchmark.is_some());
        let told = record.notes.iter().map(|note| format!("{note:?}")).collect();
        Self { record, subjects, names, metrics, has_benchmarks, rounds, told }
    }

    fn add(&mut self, record: Record) {
        self.note_differences(&record);
        let subjects = self.places_of_subjects(record.subjects);
        let metrics: Vec<Option<usize>> =
            record.metrics.into_iter().map(|metric| self.place_of_metric(metric)).collect();
        for mut run in record.runs {
            run.subject = subjects[run.subject];
            run.round = self.rounds[run.subject];
            self.rounds[run.subject] += 1;
            run.values = reordered(&run.values, &metrics);
            run.parts.retain_mut(|part| match metrics[part.metric] {
                Some(at) => {
                    part.metric = at;
                    true
                }
                None => false,
            });
            run.parts.sort_by_key(|part| part.metric);
            self.record.runs.push(run);
        }
        // What the tool concluded from one file is no conclusion from all of them.
        self.record.summaries.clear();
        for one in record.notes {
            self.note(one);
        }
    }

    /// Returns where each subject of a further file stands; those that are new are added.
    fn places_of_subjects(&mut self, subjects: Vec<Subject>) -> Vec<usize> {
        let is_imported = self.record.kind == RecordKind::Import;
        if let ([known], [one]) = (&self.record.subjects[..], &subjects[..])
            && known.series_parameters(is_imported).eq(one.series_parameters(is_imported))
        {
            self.note_pooled(one);
            return vec![0];
        }
        let place = |mut subject: Subject| {
            let key = key(&subject, is_imported);
            if let Some(&at) = self.subjects.get(&key) {
                return at;
            }
            if self.names.contains(&subject.name) {
                subject.name.clone_from(&key.0);
            }
            self.names.insert(subject.name.clone());
            self.subjects.insert(key, self.record.subjects.len());
            self.record.subjects.push(subject);
            self.rounds.push(0);
            self.record.subjects.len() - 1
        };
        subjects.into_iter().map(place).collect()
    }

    /// Tells that the only subject of a further file counts as that of the first, where they are not plainly the same.
    fn note_pooled(&mut self, subject: &Subject) {
        let known = &self.record.subjects[0];
        let name = subject.name.clone();
        let told = if known.name != subject.name {
            ImportNote::Pooled { subject: name, counts_as: known.name.clone() }
        } else if known.command != subject.command {
            ImportNote::CommandsDiffer { subject: name }
        } else if !known.labels().eq(subject.labels()) {
            ImportNote::ParametersDiffer { subject: name }
        } else {
            return;
        };
        self.note(told.into());
    }

    /// Returns where the values of a metric of a further file go; `None` where there is no place for them.
    fn place_of_metric(&mut self, mut metric: Metric) -> Option<usize> {
        let known = self.metrics.get(&metric.name).map(|&at| &self.record.metrics[at]);
        if let Some(known) = known.filter(|known| !known.is_same_quantity(&metric)) {
            // As within one file: values of both must not be mixed.
            let told = ImportNote::QuantitiesDiffer {
                metric: metric.name.clone(),
                one: known.quantity(),
                another: metric.quantity(),
            };
            metric.name = format!("{} [{}]", metric.name, metric.quantity());
            self.note(told.into());
        }
        if let Some(&at) = self.metrics.get(&metric.name) {
            self.join(at, &metric);
            return Some(at);
        }
        // Behind benchmarks there is no place for a metric of the whole process.
        if metric.benchmark.is_none() && self.has_benchmarks {
            self.note(ImportNote::MetricLeftOut { metric: metric.name }.into());
            return None;
        }
        self.has_benchmarks |= metric.benchmark.is_some();
        self.metrics.insert(metric.name.clone(), self.record.metrics.len());
        self.record.metrics.push(metric);
        Some(self.record.metrics.len() - 1)
    }

    /// Keeps of a metric what holds for the values of all files: it is exact if it is in each, and raw if it is in each.
    fn join(&mut self, at: usize, metric: &Metric) {
        let known = &mut self.record.metrics[at];
        known.exact &= metric.exact;
        if known.statistic == metric.statistic {
            return;
        }
        let told = ImportNote::StatisticsDiffer {
            metric: metric.name.clone(),
            one: known.statistic.clone(),
            another: metric.statistic.clone(),
        };
        if known.statistic.is_none() {
            known.statistic.clone_from(&metric.statistic);
        }
        self.note(told.into());
    }

    fn note_differences(&mut self, record: &Record) {
        for key in TOLD {
            let facts = [&self.record, record].map(|one| one.machine.facts.get(key).cloned());
            if let [Some(one), Some(another)] = facts
                && one != another
            {
                self.note(ImportNote::FactsDiffer { fact: key.to_owned(), one, another }.into());
            }
        }
    }

    /// Tells something once.
    fn note(&mut self, note: Note) {
        if self.told.insert(format!("{note:?}")) {
            self.record.notes.push(note);
        }
    }
}

fn reordered(values: &[Option<f64>], metrics: &[Option<usize>]) -> Vec<Option<f64>> {
    let mut moved = Vec::new();
    for (value, at) in values.iter().zip(metrics) {
        let Some(at) = *at else { continue };
        if moved.len() <= at {
            moved.resize(at + 1, None);
        }
        moved[at] = *value;
    }
    moved
}

/// Facts that have to agree for processes to be of one kind.
const TOLD: [&str; 10] = [
    "cpu_model",
    "kernel_release",
    "compiler",
    "architecture",
    "library_build_type",
    "gomaxprocs",
    "jdk",
    "jvm",
    "python_version",
    "runtime",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{File, import};

    fn merged<const N: usize>(files: [&str; N]) -> Record {
        let read = |text: &str| import(&[File::of_text("x", text)], None).unwrap();
        merge(files.map(read).into()).unwrap()
    }

    /// A result of JMH, in this mode and unit, with these values of one fork.
    fn jmh(mode: &str, unit: &str, values: &str) -> String {
        let raw =
            if values.is_empty() { String::new() } else { format!(r#", "rawData": [[{values}]]"#) };
        format!(
            r#"[{{"benchmark": "a.B.run", "mode": "{mode}", "forks": 1, "jvm": "java",
            "primaryMetric": {{"score": 4, "scoreUnit": "{unit}"{raw}}}}}]"#
        )
    }

    #[test]
    fn each_file_adds_its_processes() {
        let whole = merged([
            r#"{"results": [{"command": "a", "times": [1, 2]}, {"command": "b", "times": [3]}]}"#,
            r#"{"results": [{"command": "b", "times": [4]}, {"command": "c", "times": [5]}]}"#,
        ]);
        let names: Vec<&str> = whole.subjects.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        let wall = whole.metric_index("wall_time").unwrap();
        assert_eq!(whole.values(1, wall), [3.0, 4.0]);
        assert_eq!(
            whole.runs.iter().filter(|run| run.subject == 1).map(|r| r.round).max(),
            Some(1)
        );
        assert_eq!(merge(Vec::new()), None);
    }

    #[test]
    fn loads_on_several_servers_stay_apart() {
        let load = |port: u32, connections: u32, rate: &str| {
            format!(
                "Running 1s test @ http://127.0.0.1:{port}/\n  2 threads and {connections} connections\n  \
                 Latency   1ms 1ms 1ms 9%\nRequests/sec: {rate}\n"
            )
        };
        let files = [load(80, 10, "1"), load(81, 10, "2"), load(81, 20, "3"), load(81, 20, "4")];
        let whole = merged(files.each_ref().map(String::as_str));
        let names: Vec<&str> = whole.subjects.iter().map(|one| one.name.as_str()).collect();
        let loaded = "http://127.0.0.1:81/ threads=2 connections=20";
        assert_eq!(names, ["http://127.0.0.1:80/", "http://127.0.0.1:81/", loaded]);
        let requests = whole.metric_index("requests").unwrap();
        let values = [0, 1, 2].map(|subject| whole.values(subject, requests));
        assert_eq!(values, [vec![1.0], vec![2.0], vec![3.0, 4.0]]);
    }

    #[test]
    fn seconds_and_operations_per_second_are_not_one_series() {
        let (time, rate) = (jmh("avgt", "s/op", "4, 5"), jmh("thrpt", "ops/s", "0.2, 0.25"));
        let whole = merged([&time, &rate, &rate]);
        let name = |at: usize| whole.metrics[at].name.as_str();
        assert_eq!((name(0), name(1)), ("a.B.run", "a.B.run [ops/s, more is better]"));
        assert_eq!((whole.values(0, 0).len(), whole.values(0, 1).len()), (1, 2));
        let told = ImportNote::QuantitiesDiffer {
            metric: "a.B.run".to_owned(),
            one: "s, less is better".to_owned(),
            another: "ops/s, more is better".to_owned(),
        };
        assert_eq!(whole.notes, [told.into()]);
    }

    #[test]
    fn means_among_raw_values_make_them_means() {
        let (raw, mean) = (jmh("avgt", "s/op", "4, 5"), jmh("avgt", "s/op", ""));
        for files in [[&raw, &mean], [&mean, &raw]] {
            let whole = merged(files.map(String::as_str));
            assert_eq!(whole.metrics[0].statistic.as_deref(), Some("mean"));
            let differ = |note: &Note| matches!(note, Note::Import(ImportNote::StatisticsDiffer { metric, .. }) if metric == "a.B.run");
            assert!(whole.notes.iter().any(differ));
        }
    }

    #[test]
    fn a_further_file_may_have_several_metrics_more() {
        let with = |names: &[&str]| {
            let mut record = Record::empty(becalm_model::RecordKind::Import);
            record.metrics =
                names.iter().map(|name| Metric::lower(name, becalm_model::Unit::Second)).collect();
            record
        };
        let whole =
            merge(vec![with(&["wall_time"]), with(&["wall_time", "user_time", "system_time"])])
                .unwrap();
        let names: Vec<&str> = whole.metrics.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(
            (names, whole.notes),
            (vec!["wall_time", "user_time", "system_time"], Vec::new())
        );
    }

    #[test]
    fn what_is_pooled_or_left_out_is_told() {
        let one = |command: &str| {
            format!(r#"{{"results": [{{"command": "{command}", "times": [1, 2]}}]}}"#)
        };
        let whole = merged([&one("a"), &one("b")]);
        assert_eq!(whole.subjects.len(), 1);
        let (subject, counts_as) = ("b".to_owned(), "a".to_owned());
        assert_eq!(whole.notes, [ImportNote::Pooled { subject, counts_as }.into()]);
        let whole = merged([&jmh("avgt", "s/op", "4, 5"), &one("a")]);
        assert_eq!(whole.metric_index("wall_time"), None);
        let left_out = ImportNote::MetricLeftOut { metric: "wall_time".to_owned() };
        assert!(whole.notes.contains(&left_out.into()), "{:?}", whole.notes);
    }

    #[test]
    fn what_processes_were_made_with_is_told_where_it_differs() {
        let go = |procs: u32| format!("BenchmarkSort-{procs} \t 100\t 12.5 ns/op\n");
        let whole = merged([&go(4), &go(8)]);
        let (fact, one, another) = ("gomaxprocs".to_owned(), "4".to_owned(), "8".to_owned());
        assert_eq!(whole.notes, [ImportNote::FactsDiffer { fact, one, another }.into()]);
    }
}
