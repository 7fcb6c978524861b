//! Several files of the same benchmarks as one record: each file adds its processes.

use std::collections::HashMap;

use becalm_model::Record;

/// Puts records of the same benchmarks together: subjects and metrics are the same where their names
/// are, a record with one subject adds to another with one, and processes keep their order. What differs
/// between the files is told by a note. `None` without a record.
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
    let both_have_one = whole.subjects.len() == 1 && record.subjects.len() == 1;
    let mut names: HashMap<String, usize> =
        whole.subjects.iter().enumerate().map(|(at, one)| (one.name.clone(), at)).collect();
    let subjects: Vec<usize> = record
        .subjects
        .into_iter()
        .map(|subject| {
            if both_have_one {
                return 0;
            }
            *names.entry(subject.name.clone()).or_insert_with(|| {
                whole.subjects.push(subject);
                whole.subjects.len() - 1
            })
        })
        .collect();
    let mut names: HashMap<String, usize> =
        whole.metrics.iter().enumerate().map(|(at, one)| (one.name.clone(), at)).collect();
    let of_process = whole.metrics.iter().take_while(|one| one.benchmark.is_none()).count();
    let metrics: Vec<Option<usize>> = record
        .metrics
        .into_iter()
        .map(|metric| {
            if let Some(&at) = names.get(&metric.name) {
                return Some(at);
            }
            // Behind benchmarks there is no place for a metric of the whole process.
            if metric.benchmark.is_none() && of_process < whole.metrics.len() {
                return None;
            }
            names.insert(metric.name.clone(), whole.metrics.len());
            whole.metrics.push(metric);
            Some(whole.metrics.len() - 1)
        })
        .collect();
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
    for note in record.notes {
        if !whole.notes.contains(&note) {
            whole.notes.push(note);
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
const TOLD: [&str; 5] = ["cpu_model", "kernel_release", "compiler", "architecture", "build_type"];

fn note_differences(whole: &mut Record, record: &Record) {
    for key in TOLD {
        let (one, other) = (whole.machine.facts.get(key), record.machine.facts.get(key));
        if let (Some(one), Some(other)) = (one, other)
            && one != other
        {
            let note = format!("the files differ in {key}: {one} and {other}");
            if !whole.notes.contains(&note) {
                whole.notes.push(note);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{File, import};

    #[test]
    fn each_file_adds_its_processes() {
        let read = |text: &str| import(&[File::of_text("x", text)], None).unwrap();
        let one = read(
            r#"{"results": [{"command": "a", "times": [1, 2]}, {"command": "b", "times": [3]}]}"#,
        );
        let two = read(
            r#"{"results": [{"command": "b", "times": [4]}, {"command": "c", "times": [5]}]}"#,
        );
        let whole = merge(vec![one, two]).unwrap();
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
}
