//! Go's benchmarks, as text and as events.

use crate::common::{capture, condensed};
use crate::damage::never_panics;
use becalm_formats::{File, import};
use becalm_model::Record;

fn read(text: &str) -> Record {
    let record = import(&[File::of_text("bench.txt", text)], None).unwrap();
    assert_eq!(record.source.as_ref().unwrap().format, "go-bench");
    record
}

#[test]
fn benchmarks_on_one_and_two_cpus_are_kept_apart() {
    insta::assert_snapshot!(condensed(&capture("go-bench/self_count2_cpu12.txt", "go-bench")));
}

#[test]
fn events_are_put_together() {
    insta::assert_snapshot!(condensed(&capture("go-bench/self_test_json.ndjson", "go-test-json")));
}

#[test]
fn events_of_packages_that_are_tested_together_are_told_apart() {
    let event = |package: &str, output: &str| {
        format!("{{\"Action\": \"output\", \"Package\": {package:?}, \"Output\": {output:?}}}\n")
    };
    let text = [
        "go: downloading x v1.0.0\n{not an event}\n".to_owned(),
        event("a", "goos: linux\npkg: a\n"),
        event("b", "goos: linux\n"),
        event("a", "BenchmarkX-2 \t"),
        event("b", "BenchmarkX-2 \t"),
        event("b", " 10\t 7 ns/op\n"),
        event("a", " 10\t 5 ns/op\nPASS\n"),
    ];
    let files = [File::of_text("a.json", &text.concat())];
    insta::assert_snapshot!(condensed(&import(&files, None).unwrap()));
    let broken = event("a", "BenchmarkX 1 2\n");
    assert_eq!(
        import(&[File::of_text("a.json", &format!("\n{broken}"))], None).unwrap_err().to_string(),
        "a.json, line 2: expected a unit after every value, found `BenchmarkX 1 2`"
    );
}

#[test]
fn packages_are_subjects_and_repeated_headers_are_processes() {
    let one = "goos: linux\ngoarch: amd64\npkg: a\ncpu: Xeon\n\
               BenchmarkX\nBenchmarkX-8 \t 10\t 100 ns/op\t 2 B/op\nBenchmarkX-8 10 110 ns/op 2 B/op\n\
               PASS\nok  \ta\t0.5s\n\
               goos: linux\ngoarch: amd64\npkg: b\ncpu: Xeon\n\
               BenchmarkX-8   \t 10\t 200 ns/op\t 3 B/op\nPASS\nok  \tb\t0.5s\n";
    insta::assert_snapshot!(condensed(&read(&one.repeat(2))));
}

#[test]
fn other_config_lines_make_other_subjects() {
    let text = "toolchain: base\nnote: before\nrun-date: 1\nBenchmarkX 1 5 ns/op\ntoolchain: tip\nrun-date: 2\n\
                BenchmarkX 1 4 ns/op\n";
    insta::assert_snapshot!(condensed(&read(text)));
}

#[test]
fn units_have_the_direction_that_the_file_says() {
    let text = "Unit score better=higher\nUnit steps/op assume=exact\n\
                BenchmarkX 1 5 ns/op 7 score 8 steps/op 9 MB/s 10 rows/s 11 p99-ns 12 heap-bytes 13 min/op\n";
    insta::assert_snapshot!(condensed(&read(text)));
}

#[test]
fn what_is_said_to_be_exact_and_differs_is_not() {
    let text = "Unit text-bytes assume=exact\nBenchmarkA 1 7 text-bytes\n\
                BenchmarkB 1 7 text-bytes\nBenchmarkB 1 8 text-bytes\n";
    insta::assert_snapshot!(condensed(&read(text)));
}

#[test]
fn a_name_that_ends_like_gomaxprocs_is_kept() {
    let names = |text: &str| -> Vec<String> {
        read(text).metrics.into_iter().map(|metric| metric.name).collect()
    };
    assert_eq!(
        names("BenchmarkA/size-16 1 1 ns/op\nBenchmarkA/size-32 1 1 ns/op\n"),
        ["BenchmarkA/size-16", "BenchmarkA/size-32"]
    );
    assert_eq!(
        names("BenchmarkA/size-16-8 1 1 ns/op\nBenchmarkB-8 1 1 ns/op\n"),
        ["BenchmarkA/size-16", "BenchmarkB"]
    );
    assert_eq!(names("BenchmarkA/x=1-8 1 1 ns/op\n"), ["BenchmarkA/x=1"]);
}

#[test]
fn what_a_benchmark_prints_does_not_hide_its_result() {
    let text = "goos: linux\nBenchmarkA-4   \tcache is cold\nBenchmarkish words\n\
                \x20    100\t   250 ns/op\nBenchmarkB-4\nstarting\n   100\t   20.5 ns/op\n\
                --- FAIL: BenchmarkC-4\n    x_test.go:3: no\n";
    insta::assert_snapshot!(condensed(&read(text)));
}

#[test]
fn a_word_that_begins_like_a_benchmark_is_none() {
    let record = read(
        "goos: linux\nBenchmarking 10 items\nBenchmarks 3 done in 5 ns/op\nBenchmarkA 1 2 ns/op\n",
    );
    assert_eq!((record.metrics.len(), record.metrics[0].name.as_str()), (1, "BenchmarkA"));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let error = |text: &str| {
        import(&[File::of_text("b.txt", text)], Some("go-bench")).unwrap_err().to_string()
    };
    assert_eq!(
        error("pkg: a\nBenchmarkX 100 1 ns/op 2\n"),
        "b.txt, line 2: expected a unit after every value, found `BenchmarkX 100 1 ns/op 2`"
    );
    assert_eq!(
        error("BenchmarkX 100 1e400 ns/op\n"),
        "b.txt, line 1: expected a finite number, found `1e400`"
    );
    assert_eq!(
        error("BenchmarkX 100\n"),
        "b.txt, line 1: expected a value after the number of iterations, found `BenchmarkX 100`"
    );
    assert_eq!(error("PASS\nok  \ta\t0.1s\n"), "b.txt: it contains no measurement");
    assert_eq!(error(""), "b.txt is empty");
}

#[test]
fn damaged_files_are_read_or_refused() {
    never_panics("go-bench", include_str!("../captures/go-bench/self_count2_cpu12.txt"));
    never_panics("go-test-json", include_str!("../captures/go-bench/self_test_json.ndjson"));
}
