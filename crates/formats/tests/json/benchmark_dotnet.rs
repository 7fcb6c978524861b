//! `BenchmarkDotNet`'s files.

use crate::common::condensed;
use becalm_formats::{File, import};

fn read(text: &str) -> Result<String, String> {
    import(&[File::of_text("a.json", text)], None)
        .map(|record| condensed(&record))
        .map_err(|error| error.to_string())
}

fn of(benchmarks: &str) -> Result<String, String> {
    read(&format!(
        r#"{{"Title": "Sorting-20260101-120000", "HostEnvironmentInfo": {{
        "BenchmarkDotNetVersion": "0.14.0", "OsVersion": "Ubuntu 24.04", "ProcessorName": "CPU",
        "LogicalCoreCount": 8, "Architecture": "X64", "RuntimeVersion": ".NET 8.0"}},
        "Benchmarks": [{benchmarks}]}}"#
    ))
}

#[test]
fn a_launch_is_a_process_and_only_results_count() {
    insta::assert_snapshot!(
        of(r#"{"FullName": "N.T.M(n: 1)", "Namespace": "N",
            "Statistics": {"OriginalValues": [100, 110, 120], "N": 3, "Min": 100, "Median": 110,
              "Mean": 110, "Q1": 105, "Q3": 115, "Max": 120, "StandardDeviation": 10,
              "ConfidenceInterval": {"Level": 12, "Lower": 90, "Upper": 130},
              "Percentiles": {"P0": 100, "P95": 119}},
            "Memory": {"Gen0Collections": 1, "BytesAllocatedPerOperation": 64},
            "Metrics": [{"Value": 64, "Descriptor": {"Id": "Allocated Memory", "Unit": "B"}},
              {"Value": 0.5, "Descriptor": {"Id": "Gen0Collects", "DisplayName": "Gen0", "Unit": "Count"}}],
            "Measurements": [
              {"IterationMode": "Overhead", "IterationStage": "Actual", "LaunchIndex": 1, "Operations": 1, "Nanoseconds": 5},
              {"IterationMode": "Workload", "IterationStage": "Actual", "LaunchIndex": 1, "Operations": 2, "Nanoseconds": 210},
              {"IterationMode": "Workload", "IterationStage": "Result", "LaunchIndex": 1, "Operations": 2, "Nanoseconds": 200},
              {"IterationMode": "Workload", "IterationStage": "Result", "LaunchIndex": 1, "Operations": 2, "Nanoseconds": 220},
              {"IterationMode": "Workload", "IterationStage": "Result", "LaunchIndex": 2, "Operations": 2, "Nanoseconds": 240}]}"#)
        .unwrap()
    );
}

#[test]
fn brief_files_have_values_of_processes_unknown_or_only_statistics() {
    insta::assert_snapshot!(
        of(r#"{"Namespace": null, "Type": "T", "Method": "M", "Parameters": "n=1",
            "Statistics": {"OriginalValues": [100, 110], "ConfidenceInterval": {"Level": "L999", "Lower": 1, "Upper": 2}}},
            {"FullName": "X", "Statistics": {"Mean": 5, "Median": 4}},
            {"FullName": "X", "Statistics": {"Mean": 5}},
            {"FullName": "Y", "Statistics": null}"#)
        .unwrap()
    );
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    assert_eq!(
        of(r#"{"FullName": "X", "Measurements": [{"IterationMode": "Result", "Operations": 0, "Nanoseconds": 1}]}"#)
            .unwrap_err(),
        "a.json, at Benchmarks[0].Measurements[0].Operations: expected a number above 0, found `0`"
    );
    assert_eq!(
        of("{}").unwrap_err(),
        "a.json, at Benchmarks[0].FullName: expected a name, found `nothing`"
    );
    assert_eq!(of("").unwrap_err(), "a.json: it contains no measurement");
    assert_eq!(
        of(r#"{"FullName": "X", "Statistics": {"Mean": "five"}}"#).unwrap_err(),
        "a.json, line 4, at Benchmarks[0].Statistics.Mean: invalid value: string \"five\", expected a number"
    );
}

#[test]
fn of_several_jobs_each_has_its_name_whatever_else_ran() {
    let benchmark = |display: &str| {
        format!(
            r#"{{"FullName": "N.T.M", "DisplayInfo": "{display}", "Statistics": {{"Median": 4}}}}"#
        )
    };
    let names = |displays: &[&str]| -> Vec<String> {
        let all: Vec<String> = displays.iter().map(|display| benchmark(display)).collect();
        let text = format!(
            r#"{{"Title": "T", "HostEnvironmentInfo": {{}}, "Benchmarks": [{}]}}"#,
            all.join(",")
        );
        let record = import(&[File::of_text("a.json", &text)], None).unwrap();
        record.metrics.iter().filter_map(|metric| metric.benchmark.clone()).collect()
    };
    let [old, new] = ["T.M: Job-ABCDEF(Runtime=.NET 6.0) [n=1]", "T.M: .NET 8.0(Runtime=.NET 8.0)"];
    let told = ["N.T.M [Runtime=.NET 6.0]", "N.T.M [.NET 8.0]"];
    assert_eq!(names(&[old, new]), told);
    assert_eq!(names(&[new, old]), [told[1], told[0]]);
    assert_eq!(
        names(&["T.M: DefaultJob", "T.M: Job-ABCDEF"]),
        ["N.T.M [DefaultJob]", "N.T.M [Job-ABCDEF]"]
    );
    // Where there is one job, it needs no name.
    assert_eq!(names(&[new]), ["N.T.M"]);
    assert_eq!(names(&[new, new]), ["N.T.M", "N.T.M #2"]);
}
