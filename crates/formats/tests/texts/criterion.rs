//! criterion's folder, its text, and the messages of cargo-criterion.

use crate::common::{capture, condensed, files};
use crate::damage::never_panics;
use becalm_formats::{File, import};

#[test]
fn a_folder_has_samples_and_baselines() {
    insta::assert_snapshot!(condensed(&capture("criterion08/target_criterion", "criterion")));
}

#[test]
fn a_folder_inside_is_enough() {
    let record = capture("criterion08/target_criterion/fib/rec/10", "criterion");
    assert_eq!(record.metrics[0].name, "fib/rec/10");
    assert_eq!(record.subjects.len(), 1, "base is a copy of new");
}

#[test]
fn a_baseline_with_other_samples_is_a_subject() {
    let file = |name: &str, time: &str| {
        let sample = r#"{"sampling_mode":"Flat","iters":[1.0,2.0],"times":[10.0,TIME]}"#;
        File::of_text(name, &sample.replace("TIME", time))
    };
    let files = [
        file("x/base/sample.json", "40.0"),
        file("x/new/sample.json", "30.0"),
        file("x/copied/sample.json", "30.0"),
        File::of_text("x/new/benchmark.json", r#"{"full_id":"g/x","throughput":{"Bytes":8}}"#),
        File::of_text("x/base/benchmark.json", r#"{"full_id":"g/x"}"#),
        File::of_text("report/index.html", "<html>"),
    ];
    insta::assert_snapshot!(condensed(&import(&files, None).unwrap()));
}

#[test]
fn one_message_may_span_lines() {
    let text = "Compiling x\n{\n  \"reason\": \"benchmark-complete\",\n  \"id\": \"a [b]\",\n\
                \"iteration_count\": [\n1, 2],\n\"measured_values\": [3.0, 8.0],\n\"unit\": \"us\"\n}\n";
    insta::assert_snapshot!(condensed(&import(&[File::of_text("a", text)], None).unwrap()));
}

#[test]
fn old_files_lack_the_sampling_mode_and_the_name() {
    let sample = File::of_text("a/b/new/sample.json", r#"{"iters":[1.0,2.0],"times":[10.0,30.0]}"#);
    insta::assert_snapshot!(condensed(&import(&[sample], None).unwrap()));
}

#[test]
fn text_has_aggregates() {
    insta::assert_snapshot!(condensed(&capture(
        "criterion08/stdout_second_run.txt",
        "criterion-text"
    )));
}

#[test]
fn text_of_several_targets_and_harnesses_is_told_apart() {
    let text = "     Running unittests src/lib.rs (target/release/deps/one-0123456789abcdef)\n\
                running 1 test\ntest a ... bench:       1,161 ns/iter (+/- 975)\n\
                     Running benches/two.rs (target/release/deps/two-0123456789abcdef)\n\
                a very long name with [brackets]\n\
                \x20                       time:   [1.0000 ms 1.5000 ms 2.0000 ms]\n\
                \x20                       thrpt:  [500.00 MiB/s 666.67 MiB/s 1.0000 GiB/s]\n\
                Benchmarking b: AnalyzingBenchmarking b: Analyzing\r\u{1b}[2K\
                b                       time:   [1.0000 s 1.5000 s 2.0000 s]\n";
    insta::assert_snapshot!(condensed(&import(&[File::of_text("a.txt", text)], None).unwrap()));
}

#[test]
fn messages_of_cargo_criterion_have_samples() {
    let record = capture("cargo-criterion/messages.ndjson", "cargo-criterion");
    insta::assert_snapshot!(condensed(&record));
    let record = capture("cargo-criterion/messages_second_run.ndjson", "cargo-criterion");
    insta::assert_snapshot!(condensed(&record));
}

#[test]
fn the_same_benchmark_again_is_another_process() {
    let once = files("cargo-criterion/messages.ndjson").remove(0);
    let file = File::new("messages.ndjson", once.bytes().repeat(3));
    assert_eq!(import(&[file], None).unwrap().runs.len(), 3);
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let error = |name: &str, text: &str, format: &str| {
        import(&[File::of_text(name, text)], Some(format)).unwrap_err().to_string()
    };
    let folder = |text: &str| error("a/new/sample.json", text, "criterion");
    assert_eq!(
        folder(r#"{"iters":[1.0,0.0],"times":[10.0,30.0]}"#),
        "a/new/sample.json, at iters[1]: expected a number of iterations above 0, found `0`"
    );
    assert_eq!(
        folder(r#"{"iters":[1.0],"times":[]}"#),
        "a/new/sample.json, at times: expected 1 value, as many as in `iters`, found `0`"
    );
    assert_eq!(
        error("a.txt", "\nx time:   [1 ns 2 ns]\n", "criterion-text"),
        "a.txt, line 2: expected `[LOW ESTIMATE HIGH]` with units, found `1 ns 2 ns`"
    );
    assert_eq!(
        error(
            "a.ndjson",
            r#"{"reason":"benchmark-complete","id":"a","measured_values":[1.0],"iteration_count":[]}"#,
            "cargo-criterion"
        ),
        "a.ndjson, line 1: expected as many `iteration_count` as `measured_values`, found `0`"
    );
    assert!(import(&[], Some("criterion")).unwrap_err().to_string().starts_with("nothing:"));
}

#[test]
fn damaged_files_are_read_or_refused() {
    let text = include_str!("../captures/criterion08/stdout_second_run.txt");
    never_panics("criterion-text", text);
    let text = include_str!("../captures/cargo-criterion/messages.ndjson");
    never_panics("cargo-criterion", text);
    let text = include_str!("../captures/criterion08/target_criterion/fib/rec/10/new/sample.json");
    never_panics("criterion", text);
}

#[test]
fn a_name_in_the_line_of_its_times_may_have_brackets() {
    let text = "a                       time:   [1.0 ns 1.1 ns 1.2 ns]\n\
                sum/[1, 2, 3] time:     time:   [5.0 ns 5.1 ns 5.2 ns]\n\
                \x20                       thrpt:  [1.0 Gelem/s 1.1 Gelem/s 1.2 Gelem/s]\n";
    let record = import(&[File::of_text("a", text)], None).unwrap();
    let values: Vec<(&str, f64)> = record
        .metrics
        .iter()
        .enumerate()
        .map(|(at, metric)| (metric.name.as_str(), record.values(0, at)[0]))
        .collect();
    assert_eq!(
        values,
        [("a", 1.1 * 1e-9), ("sum/[1, 2, 3] time:", 5.1e-9), ("sum/[1, 2, 3] time: elem/s", 1.1e9)]
    );
}
