//! Files that hold many commits.

use becalm_formats::{File, history};
use becalm_model::history::AtCommit;

fn read(files: &[(&str, &str)], format: Option<&str>) -> Vec<AtCommit> {
    let files: Vec<File> = files.iter().map(|(name, text)| File::of_text(name, text)).collect();
    history(&files, format).unwrap().expect("there are commits").commits
}

fn shown(commits: &[AtCommit]) -> Vec<String> {
    commits
        .iter()
        .map(|one| {
            let values: Vec<String> = one
                .record
                .metrics
                .iter()
                .enumerate()
                .map(|(at, metric)| format!("{}={:?}", metric.name, one.record.values(0, at)))
                .collect();
            format!("{:?} {:?} {:?} {}", one.commit, one.time, one.branch, values.join(" "))
        })
        .collect()
}

#[test]
fn a_csv_has_a_row_for_each_commit() {
    let text = "time;commit;branch;metric1;note;m 2\n2021.01.01 3:00:00 +0100;a0;main;154023;x;10.43\n\
                1609466401;a1;;7;y;\n2021-01-03;a2;dev;;;\n";
    let commits = read(&[("x.csv", text)], None);
    assert_eq!(
        shown(&commits),
        [
            "Some(\"a0\") Some(1609466400.0) Some(\"main\") metric1=[154023.0] m 2=[10.43]",
            "Some(\"a1\") Some(1609466401.0) None metric1=[7.0]",
        ]
    );
    assert_eq!(commits[0].record.source.as_ref().unwrap().format, "otava-csv");
}

#[test]
fn what_is_wrong_with_a_csv_is_told_with_its_line() {
    let told = |text: &str| {
        history(&[File::of_text("x.csv", text)], Some("otava-csv")).unwrap_err().to_string()
    };
    assert!(told("time,m\nsoon,1\n").starts_with("x.csv, line 2: expected a time"));
    assert!(told("time,m\n1700000000000,1\n").starts_with("x.csv, line 2: expected a time from"));
    assert!(told("when,m\n1,1\n").starts_with("x.csv, line 1: expected a column `time`"));
    assert!(told("time,m\n").contains("contains no measurement"));
    assert_eq!(told("time,m,m\n1,2,3\n"), "x.csv, line 1: expected unique column names, found `m`");
    assert_eq!(
        told("time,m\n1,2\n2,3,4\n"),
        "x.csv, line 3: expected 2 cells as in the header, found `3 cells`"
    );
}

#[test]
fn cells_that_are_no_values_are_counted() {
    let left_out = |text: &str| {
        history(&[File::of_text("x.csv", text)], None).unwrap().expect("there are rows").left_out
    };
    assert_eq!(left_out("time,m,words\n1,2,x\n2,3,\n"), None);
    assert_eq!(
        left_out("time,a,b\n1,1,2\n2,nan,3\n3,inf,\n4,,\n5,x\n").as_deref(),
        Some(
            "skipped: 3 cells without a finite number (first column a in line 3: `nan`), \
             4 cells without anything (first column b in line 4)"
        )
    );
}

#[test]
fn files_of_one_commit_are_no_history() {
    let file = File::of_text("x", r#"{"results": [{"command": "a", "times": [1, 2]}]}"#);
    assert_eq!(history(&[file], None).unwrap(), None);
    // A CSV of becalm's own has its own reader.
    let own = "subject,benchmark,metric,unit,direction,run,iteration,value,time\n";
    assert_eq!(history(&[File::of_text("x.csv", own)], None).unwrap(), None);
}

#[test]
fn machines_and_environments_of_asv_are_kept_apart() {
    let result = |commit: &str, env: &str, value: &str| {
        format!(
            r#"{{"commit_hash": "{commit}", "date": 1000, "env_name": "{env}", "params": {{}},
            "result_columns": ["result", "params"], "results": {{"time_x": [[{value}], []]}}}}"#
        )
    };
    let (a, b, failed) = (result("c", "a", "1"), result("c", "b", "2"), result("d", "a", "null"));
    let files = [
        ("benchmarks.json", r#"{"time_x": {"unit": "seconds"}}"#),
        ("m/machine.json", r#"{"cpu": "one"}"#),
        ("m/c-a.json", &a),
        ("n/machine.json", r#"{"cpu": "two"}"#),
        ("n/c-b.json", &b),
        ("n/d-a.json", &failed),
    ];
    let commits = read(&files, None);
    let told: Vec<String> = commits
        .iter()
        .map(|one| {
            let cpu = &one.record.machine.facts["cpu_model"];
            format!("{cpu} {:?} {:?}", one.record.subjects[0].parameters, one.time)
        })
        .collect();
    assert_eq!(
        told,
        [r#"one [("environment", "a")] Some(1.0)"#, r#"two [("environment", "b")] Some(1.0)"#]
    );
}

#[test]
fn every_entry_of_a_data_js_is_a_commit() {
    let text = r#"window.BENCHMARK_DATA = {"entries": {"b": [{"commit": {"id": "c1", "timestamp":
        "2020-01-01T00:00:00Z"}, "date": 2000, "tool": "customBiggerIsBetter", "benches":
        [{"name": "x", "value": 3, "unit": "MB/s"}]}], "a": [{"commit": {"id": "c0"}, "date": 1000,
        "tool": "go", "benches": [{"name": "x", "value": 1, "unit": "s"}]}]}};"#;
    let commits = read(&[("data.js", text)], None);
    assert_eq!(
        shown(&commits),
        [
            "Some(\"c0\") None None a / x=[1.0]",
            "Some(\"c1\") Some(1577836800.0) None b / x=[3000000.0]",
        ]
    );
    assert_eq!(Some(commits[0].record.started_at), Some(1.0));
}

#[test]
fn an_entry_without_any_number_takes_no_other_with_it() {
    let entry = |id: &str, value: &str| {
        format!(
            r#"{{"commit": {{"id": "{id}"}}, "date": 1, "tool": "googlecpp",
            "benches": [{{"name": "x", "unit": "ns", "value": {value}}}]}}"#
        )
    };
    let text = format!(
        r#"window.BENCHMARK_DATA = {{"entries": {{"C++": [{}, {}]}}}}"#,
        entry("a", "null"),
        entry("b", "1e9")
    );
    assert_eq!(shown(&read(&[("data.js", &text)], None)), ["Some(\"b\") None None x=[1.0]"]);
}

#[test]
fn a_report_of_bencher_is_a_measurement_of_its_commit() {
    let point = |report: &str, iteration: u32, hash: &str, time: &str, figures: &str| {
        format!(
            r#"{{"report": "{report}", "iteration": {iteration}, "start_time": "2026-03-0{time}T10:00:00Z",
            "end_time": "2026-03-09T10:00:00Z", "version": {{"number": 1{hash}}}, {figures}, "threshold": null}}"#
        )
    };
    let line = |benchmark: &str, measure: (&str, &str), points: &[String]| {
        let (name, units) = measure;
        let slug = name.to_lowercase().replace(' ', "-");
        format!(
            r#"{{"branch": {{"name": "main"}}, "testbed": {{"name": "ubuntu"}}, "benchmark": {{"name": "{benchmark}"}},
            "measure": {{"name": "{name}", "slug": "{slug}", "units": "{units}"}}, "metrics": [{}]}}"#,
            points.join(",")
        )
    };
    let (a, none) = (r#", "hash": "aa""#, "");
    let value =
        |value: f64| format!(r#""metric": {{"uuid": "u", "value": {value}, "lower_value": null}}"#);
    let bounds = r#""metric": {"value": 20, "lower_value": 19, "upper_value": 21}"#;
    let named =
        r#""metrics": {"value": {"value": 7}, "p99": {"value": 9}}, "metric": {"value": 7}"#;
    let lines = [
        line(
            "sort",
            ("Latency", "nanoseconds (ns)"),
            &[
                point("r2", 0, none, "2", &value(70.0)),
                point("r1", 0, a, "1", bounds),
                point("r1", 1, a, "1", &value(80.0)),
            ],
        ),
        line("app", ("Build Time", "seconds (s)"), &[point("r1", 0, a, "1", &value(41.0))]),
        line("app", ("Resident", "kilobytes (KB)"), &[point("r1", 0, a, "1", &value(3.0))]),
        line("app", ("Instructions", "instructions"), &[point("r1", 0, a, "1", named)]),
    ];
    let text = format!(r#"{{"project": {{"name": "p"}}, "results": [{}]}}"#, lines.join(","));
    let commits = read(&[("perf.json", &text)], None);
    let day = 86400.0;
    let first = 1_772_359_200.0;
    assert_eq!(
        commits.iter().map(|one| one.record.started_at).collect::<Vec<_>>(),
        [first, first, first + day]
    );
    assert_eq!(
        shown(&commits),
        [
            "Some(\"aa\") None Some(\"main\") sort=[2e-8] app build-time=[41.0] app Resident=[3000.0] \
             app Instructions=[7.0]",
            "Some(\"aa\") None Some(\"main\") sort=[8e-8]",
            "None Some(1772445600.0) Some(\"main\") sort=[7e-8]",
        ]
    );
    let record = &commits[0].record;
    assert_eq!(record.source.as_ref().unwrap().format, "bencher-perf");
    assert_eq!(record.subjects[0].parameters, [("testbed".to_owned(), "ubuntu".to_owned())]);
    assert_eq!(record.metrics[0].statistic.as_deref(), Some("estimate"));
    assert_eq!(commits[1].record.metrics[0].statistic, None);
}
