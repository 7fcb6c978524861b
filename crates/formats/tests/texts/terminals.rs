//! What benchmark libraries of JavaScript and C++ print.

use crate::common::{condensed, files};
use crate::damage::never_panics;
use becalm_formats::{File, import};
use becalm_model::{ImportNote, Note, Record};

fn read(text: &str) -> Record {
    import(&[File::of_text("out.txt", text)], None).unwrap()
}

/// Returns the benchmarks that failed, with what the tool says of them.
fn failed(record: &Record) -> Vec<(&str, &str)> {
    let failed = record.notes.iter().filter_map(|note| match note {
        Note::Import(ImportNote::Failed { benchmark, why }) => {
            Some((benchmark.as_str(), why.as_deref().unwrap_or_default()))
        }
        _ => None,
    });
    failed.collect()
}

fn names(record: &Record) -> Vec<&str> {
    record.metrics.iter().map(|metric| metric.name.as_str()).collect()
}

fn shown(path: &str) -> String {
    condensed(&import(&files(path), None).unwrap())
}

#[test]
fn mitata_says_which_benchmark_failed() {
    for path in ["v0.1.14_colour.txt", "v1.0.34_groups_colour.txt", "v1.0.34_markdown.txt"] {
        let record = import(&files(&format!("mitata/{path}")), None).unwrap();
        assert_eq!(failed(&record), [("throws", "no luck")], "{path}");
    }
}

#[test]
fn mitata_has_ranges_and_percentiles_in_each_of_its_tables() {
    insta::assert_snapshot!(shown("mitata/v0.1.14_colour.txt"));
    insta::assert_snapshot!(shown("mitata/v0.1.14_no_percentiles.txt"));
    insta::assert_snapshot!(shown("mitata/v1.0.34_groups_colour.txt"));
    insta::assert_snapshot!(shown("mitata/v1.0.34_markdown.txt"));
}

#[test]
fn tinybench_says_which_task_failed_whatever_runs_it() {
    for path in ["v3.1_table.txt", "v5.1_table_bun.txt", "v5.1_table_deno.txt"] {
        let record = import(&files(&format!("tinybench/{path}")), None).unwrap();
        assert_eq!(failed(&record), [("throws", "no luck")], "{path}");
    }
}

#[test]
fn names_of_tinybench_have_no_quotes() {
    let table = |cell: &str| {
        format!(
            "│ (index) │ Task name │ Latency med (ns) │\n├─────────┤\n│ 0 │ {cell} │ '902.00 ± 21.00' │\n└──┘\n"
        )
    };
    for (cell, name) in [
        ("'plain'", "plain"),
        (r#""it's""#, "it's"),
        ("`it's \"quoted\"`", "it's \"quoted\""),
        (r"'a\\b\n\'`\''", r"a\b NEWLINE'`'"),
        ("bare", "bare"),
        (r"C:\new", r"C:\new"),
    ] {
        assert_eq!(names(&read(&table(cell))), [name.replace(" NEWLINE", "\n")], "{cell}");
    }
    assert_eq!(names(&read(&table("''"))), ["task"]);
}

#[test]
fn names_of_nanobench_may_hold_bars_and_backquotes() {
    let head = "| ns/op | op/s | err% | ins/op | total | benchmark\n|--:|--:|--:|--:|--:|:--\n";
    for (row, name, value) in [
        ("|  2.00 | 5.0 | 1.0% | 7.00 | 0.00 | `a | b`", "a | b", 2e-9),
        ("|  2.00 | 5.0 | 1.0% | 7.00 | 0.00 | ```a`` (b)`", "`a` (b)", 2e-9),
        (
            "|  2.00 | 5.0 | 1.0% | 7.00 | 0.00 | :wavy_dash: `c` (Unstable with ~1 iters)",
            "c",
            2e-9,
        ),
        // complexityN, which the head has not.
        ("| 500 | 2.00 | 5.0 | 1.0% | 7.00 | 0.00 | `n`", "n", 2e-9),
        ("|  2.00 | 5.0 | 1.0% | 7.00 | 0.00 | bare |", "bare", 2e-9),
    ] {
        let record = read(&format!("{head}{row}\n"));
        assert_eq!(names(&record), [name.to_owned(), format!("{name} ins")], "{row}");
        assert!((record.values(0, 0)[0] - value).abs() < 1e-20, "{row}");
        assert_eq!(record.values(0, 1), [7.0], "{row}");
    }
}

#[test]
fn damaged_files_are_read_or_refused() {
    for (format, path) in [
        ("mitata-text", "mitata/v0.1.14_no_percentiles.txt"),
        ("mitata-text", "mitata/v1.0.34_markdown.txt"),
        ("nanobench-markdown", "nanobench/v4.0.0.md"),
        ("tinybench-table", "tinybench/v2.9_table.txt"),
        ("criterion-csv", "criterion-csv/v0.2.11_plain.csv"),
    ] {
        let file = files(path).remove(0);
        never_panics(format, std::str::from_utf8(file.bytes()).unwrap());
    }
}
