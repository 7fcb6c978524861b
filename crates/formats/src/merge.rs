//! Several files of the same benchmarks as one record: each file adds its processes.

use std::collections::HashMap;

use becalm_model::{ImportNote, Metric, Note, Record, Subject};

/// Puts records of the same benchmarks together: subjects are the same where their names are, metrics where name,
/// unit and direction are. A record with one subject adds to another with one, and processes keep their order.
/// What differs between the files, and what cannot be kept, is told by a note. `None` without a record.
pub fn merge(records: Vec<Record>) -> Option<Record> {
    let mut records = records.into_iter();
    let mut whole = records.next()?;
    for record in records {
        add(&mut whole, record);
    }
    Some(whole)
}

fn add(whole: &mut Record, record: Record) {
    note_differences(whole, &record);
    let subjects = places_of_subjects(whole, record.subjects);
    let metrics = places_of_metrics(whole, record.metrics);
    let mut rounds = vec![0; whole.subjects.len()];
    for run in &whole.runs {
        rounds[run.subject] = rounds[run.subject].max(run.round + 1);
    }
    for mut run in record.runs {
        run.subject = subjects[run.subject];
        run.round = rounds[run.subject];
        rounds[run.subject] += 1;
        run.values = reordered(&run.values, &metrics);
        run.parts.retain_mut(|part| match metrics[part.metric] {
            Some(at) => {
                part.metric = at;
                true
            }
            None => false,
        });
        run.parts.sort_by_key(|part| part.metric);
        whole.runs.push(run);
    }
    // What the tool concluded from one file is no conclusion from all of them.
    whole.summaries.clear();
    for one in record.notes {
        note(whole, one);
    }
}

/// Returns where each subject of a further file stands; those that are new are added.
fn places_of_subjects(whole: &mut Record, subjects: Vec<Subject>) -> Vec<usize> {
    if let ([_], [one]) = (&whole.subjects[..], &subjects[..]) {
        note_pooled(whole, one);
        return vec![0];
    }
    let mut names: HashMap<String, usize> =
        whole.subjects.iter().enumerate().map(|(at, one)| (one.name.clone(), at)).collect();
    subjects
        .into_iter()
        .map(|subject| {
            *names.entry(subject.name.clone()).or_insert_with(|| {
                whole.subjects.push(subject);
                whole.subjects.len() - 1
            })
        })
        .collect()
}

/// Tells that the only subject of a further file counts as that of the first, where they are not plainly the same.
fn note_pooled(whole: &mut Record, subject: &Subject) {
    let known = &whole.subjects[0];
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
    note(whole, told.into());
}

/// Returns where the values of each metric of a further file go; `None` where there is no place for them.
fn places_of_metrics(whole: &mut Record, metrics: Vec<Metric>) -> Vec<Option<usize>> {
    let mut names: HashMap<String, usize> =
        whole.metrics.iter().enumerate().map(|(at, one)| (one.name.clone(), at)).collect();
    let mut has_benchmarks = whole.metrics.iter().any(|one| one.benchmark.is_some());
    let mut place = |mut metric: Metric| {
        let known = names.get(&metric.name).map(|&at| &whole.metrics[at]);
        if let Some(known) = known.filter(|known| !known.is_same_quantity(&metric)) {
            // As within one file: values of both must not be mixed.
            let told = ImportNote::QuantitiesDiffer {
                metric: metric.name.clone(),
                one: known.quantity(),
                another: metric.quantity(),
            };
            metric.name = format!("{} [{}]", metric.name, metric.quantity());
            note(whole, told.into());
        }
        if let Some(&at) = names.get(&metric.name) {
            join(whole, at, &metric);
            return Some(at);
        }
        // Behind benchmarks there is no place for a metric of the whole process.
        if metric.benchmark.is_none() && has_benchmarks {
            note(whole, ImportNote::MetricLeftOut { metric: metric.name }.into());
            return None;
        }
        has_benchmarks |= metric.benchmark.is_some();
        names.insert(metric.name.clone(), whole.metrics.len());
        whole.metrics.push(metric);
        Some(whole.metrics.len() - 1)
    };
    metrics.into_iter().map(&mut place).collect()
}

/// Keeps of a metric what holds for the values of all files: it is exact if it is in each, and raw if it is in each.
fn join(whole: &mut Record, at: usize, metric: &Metric) {
    let known = &mut whole.metrics[at];
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
    note(whole, told.into());
}

fn note(whole: &mut Record, note: Note) {
    if !whole.notes.contains(&note) {
        whole.notes.push(note);
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

fn note_differences(whole: &mut Record, record: &Record) {
    for key in TOLD {
        let (one, other) = (whole.machine.facts.get(key), record.machine.facts.get(key));
        if let (Some(one), Some(other)) = (one, other)
            && one != other
        {
            let (fact, one, another) = (key.to_owned(), one.clone(), other.clone());
            let told = ImportNote::FactsDiffer { fact, one, another };
            note(whole, told.into());
        }
    }
}

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
