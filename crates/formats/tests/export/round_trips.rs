//! What is written and read again is the same where the format can hold it.

use becalm_model::{Metric, Outcome, Part, Unit, metric};

use crate::support::{
    Contents, choose, compared, contents, export, harness, text, there_and_back, values,
};

#[test]
fn csv_is_exact() {
    for record in [compared(), harness()] {
        let back = there_and_back(&record, "csv", "csv", &[]);
        assert_eq!(contents(&back), contents(&record));
        assert_eq!(back.metrics, record.metrics);
        assert_eq!(back.subjects[0].name, record.subjects[0].name);
    }
}

#[test]
fn csv_keeps_values_that_are_not_the_median_of_the_iterations() {
    let mut record = harness();
    record.runs[0].parts[0] = Part { metric: 0, value: 9.0, iterations: vec![1.0, 2.0] };
    record.runs[1].parts[0] = Part { metric: 0, value: 1.0, iterations: vec![1.0] };
    record.metrics[3].statistic = Some("median".to_owned());
    assert_eq!(contents(&there_and_back(&record, "csv", "csv", &[])), contents(&record));
}

#[test]
fn go_is_exact_about_benchmarks() {
    let record = harness();
    let back = there_and_back(&record, "go-bench", "go-bench", &[]);
    assert_eq!(contents(&back), contents(&record));
}

#[test]
fn go_takes_processes_as_a_benchmark_of_the_subject() {
    let record = compared();
    let back = there_and_back(&record, "go-bench", "go-bench", &["all"]);
    for (ours, theirs) in [
        ("wall_time", "BenchmarkProcess"),
        ("cpu_time", "BenchmarkProcess cpu_time-ns"),
        ("max_rss", "BenchmarkProcess max_rss-B"),
        ("instructions", "BenchmarkProcess instructions"),
    ] {
        for subject in ["A", "B"] {
            assert_eq!(values(&back, subject, theirs), values(&record, subject, ours), "{theirs}");
        }
    }
    let unit = |name: &str| back.metrics[back.metric_index(name).unwrap()].unit.clone();
    assert_eq!(unit("BenchmarkProcess cpu_time-ns"), Unit::Second);
    assert_eq!(unit("BenchmarkProcess max_rss-B"), Unit::Byte);
    let instructions = back.metric_index("BenchmarkProcess instructions").unwrap();
    assert!(back.metrics[instructions].exact);
    assert_eq!(back.machine.facts["cpu_model"], "Some CPU @ 2 GHz");
    assert_eq!(back.machine.facts["os"], "linux");
}

#[test]
fn gomaxprocs_comes_back_and_other_endings_are_none() {
    let mut record = harness();
    record.machine.facts.insert("gomaxprocs".to_owned(), "8".to_owned());
    assert!(
        text(&record, "go-bench", &[]).contains("\nBenchmarkSort-8\t1\t110 ns/op\t64 B/op\t2 ")
    );
    let back = there_and_back(&record, "go-bench", "go-bench", &[]);
    assert_eq!(contents(&back), contents(&record));
    assert_eq!(back.machine.facts["gomaxprocs"], "8");
    let mut record = harness();
    for metric in &mut record.metrics {
        metric.name = metric.name.replace("BenchmarkSort", "sort of 1-2");
        metric.benchmark =
            metric.benchmark.take().map(|name| name.replace("BenchmarkSort", "sort of 1-2"));
    }
    let exported = export(&record, "go-bench", &[]).unwrap();
    assert!(String::from_utf8(exported.bytes).unwrap().contains("\nBenchmarkSort_of_1_2\t1\t"));
    assert!(exported.notes[0].ends_with(": BenchmarkSort_of_1_2"), "{:?}", exported.notes);
}

#[test]
fn pyperf_keeps_processes_their_iterations_and_the_warm_up() {
    let record = compared();
    let back = there_and_back(&record, "pyperf", "pyperf", &[]);
    let names: Vec<&str> = back.metrics.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["max_rss", "A", "B"]);
    for (at, subject) in [(1, "A"), (2, "B")] {
        assert_eq!(back.values(0, at), values(&record, subject, "wall_time"));
        assert_eq!(back.metrics[at].unit, Unit::Second);
    }
    assert_eq!(back.runs.iter().filter(|run| run.warmup).count(), 2);
    assert_eq!(back.started_at.to_bits(), record.started_at.to_bits());
    assert_eq!(back.machine.facts["cpu_model"], "Some CPU @ 2 GHz");

    let mut record = harness();
    // pyperf has one subject and no rates.
    record.subjects.truncate(1);
    record.runs.retain(|run| run.subject == 0);
    let exported = export(&record, "pyperf", &[]).unwrap();
    assert_eq!(
        exported.notes,
        [
            "not exported, because pyperf supports only seconds, bytes and plain numbers: BenchmarkScan/n=8 MB/s"
        ]
    );
    let back = there_and_back(&record, "pyperf", "pyperf", &[]);
    let flat = |contents: Contents| -> Vec<_> {
        contents.into_iter().map(|(_, metric, values)| (metric.name, metric.unit, values)).collect()
    };
    let mut expected = flat(contents(&record));
    expected.pop();
    assert_eq!(flat(contents(&back)), expected);
}

#[test]
fn pyperf_files_of_one_subject_each_can_be_compared() {
    let record = compared();
    let write = becalm_formats::writer("pyperf").unwrap().write;
    for subject in ["A", "B"] {
        let bytes = write(&record, &choose(&record, &[], &[subject])).unwrap().bytes;
        let document: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(document["benchmarks"].as_array().unwrap().len(), 1);
        assert_eq!(document["benchmarks"][0]["metadata"]["name"], "wall_time");
    }
}

#[test]
fn hyperfine_1_keeps_times_codes_memory_and_parameters() {
    let record = compared();
    let back = there_and_back(&record, "hyperfine", "hyperfine", &[]);
    for subject in ["A", "B"] {
        for metric in [metric::WALL_TIME, metric::MAX_RSS] {
            assert_eq!(values(&back, subject, metric), values(&record, subject, metric));
        }
    }
    let outcomes: Vec<Outcome> = back.measured(0).map(|run| run.outcome).collect();
    assert_eq!(outcomes, [0, 0, 3, 0, 0, 0, 0, 0].map(Outcome::Exited));
    assert_eq!(back.subjects[1].parameters, record.subjects[1].parameters);
}

#[test]
fn hyperfine_2_keeps_every_measurement_of_every_run() {
    let record = compared();
    let back = there_and_back(&record, "hyperfine-2", "hyperfine", &[]);
    let strip = |mut contents: Contents| {
        for (_, metric, values) in &mut contents {
            // It has neither warm-up nor exactness.
            *metric = Metric { exact: false, ..metric.clone() };
            values.retain(|(warmup, ..)| !warmup);
        }
        contents
    };
    assert_eq!(strip(contents(&back)), strip(contents(&record)));
    assert_eq!(back.subjects[0].command, ["./a --fast"]);
    assert_eq!(back.subjects[1].command, [r"./b 'it'\''s'"]);
    assert_eq!(back.subjects[1].parameters, record.subjects[1].parameters);
}

#[test]
fn benchmarks_are_commands_to_hyperfine() {
    let record = harness();
    for format in ["hyperfine", "hyperfine-2"] {
        let exported = export(&record, format, &[]).unwrap();
        assert!(exported.notes.iter().any(|note| note.contains("iterations inside")));
        let back = there_and_back(&record, format, "hyperfine", &[]);
        let subject = "example.com/b BenchmarkSort";
        let ours = values(&record, "example.com/b", "BenchmarkSort");
        assert_eq!(values(&back, subject, "wall_time"), ours);
    }
}

#[test]
fn parquet_begins_and_ends_as_it_has_to() {
    let bytes = export(&compared(), "parquet", &[]).unwrap().bytes;
    assert_eq!((&bytes[..4], &bytes[bytes.len() - 4..]), (&b"PAR1"[..], &b"PAR1"[..]));
    let length: [u8; 4] = bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap();
    assert!((u32::from_le_bytes(length) as usize) < bytes.len() - 12);
}
