//! Result files of tools that put load on a server.

use crate::common::{condensed, files};
use crate::damage::never_panics;
use becalm_formats::{File, import};

#[test]
fn a_table_of_jmeter_says_by_its_head_what_stands_between_cells() {
    for separator in [",", ";", "\t", "|"] {
        let text = "timeStamp,elapsed,label,success\n1,20,a b,true\n1,30,a b,false\n";
        let record =
            import(&[File::of_text("a.jtl", &text.replace(',', separator))], None).unwrap();
        assert_eq!(record.values(0, 0), [0.025], "{separator:?}");
        assert_eq!(record.metrics[0].name, "a b");
    }
}

#[test]
fn locust_s_json_has_percentiles_as_its_tables_have_them() {
    insta::assert_snapshot!(condensed(&import(&files("locust/v2.47.json"), None).unwrap()));
    let error = |text: &str| {
        import(&[File::of_text("a.json", text)], Some("locust-json")).unwrap_err().to_string()
    };
    let none = r#"[{"name": "/", "method": "GET", "num_requests": 0, "total_response_time": 0, "response_times": {}}]"#;
    assert_eq!(error(none), "a.json: it contains no measurement");
    assert_eq!(
        error(&none.replace("{}", r#"{"7": "x"}"#)),
        "a.json, line 1, at [0].response_times.7: invalid type: string \"x\", expected f64"
    );
}

#[test]
fn damaged_files_are_read_or_refused() {
    for (format, path) in [
        ("jmeter", "jmeter/v5.6.3_few_columns.csv.jtl"),
        ("locust-json", "locust/v2.47_json_file.json"),
        ("artillery-text", "artillery/v1.7_errors.txt"),
    ] {
        let file = files(path).remove(0);
        never_panics(format, std::str::from_utf8(file.bytes()).unwrap());
    }
}

const OHA: &str = r#"{"summary": {"successRate": 0.99, "total": 2.0, "slowest": 0.2, "fastest": 0.0001, "average": 0.001,
"requestsPerSec": 500.5, "totalData": 2000, "sizePerRequest": 2, "sizePerSec": 1000.0},
"responseTimeHistogram": {"0.0001": 1}, "latencyPercentiles": {"p10": 0.0002, "p50": 0.0005, "p99": 0.01, "p99.9": 0.1},
"rps": {"mean": 500.0}, "details": {}, "statusCodeDistribution": {"200": 980, "503": 11}, "errorDistribution": {"refused": 9, "aborted due to deadline": 50}}"#;

const FORTIO: &str = r#"{"RunType": "HTTP", "Labels": "", "StartTime": "2026-11-20T10:00:00Z", "RequestedQPS": "500",
"RequestedDuration": "2s", "ActualQPS": 499.5, "ActualDuration": 2001000000, "NumThreads": 4, "Version": "1.60.3",
"DurationHistogram": {"Count": 1000, "Min": 0.0001, "Max": 0.2, "Sum": 1.0, "Avg": 0.001, "StdDev": 0.002, "Data": [],
"Percentiles": [{"Percentile": 50, "Value": 0.0005}, {"Percentile": 99.9, "Value": 0.1}]},
"Exactly": 0, "RetCodes": {"200": 990, "-1": 4, "503": 6}, "URL": "http://127.0.0.1:8080/"}"#;

#[test]
fn oha_and_fortio_have_percentiles_a_rate_and_what_failed() {
    for (name, text) in [("oha", OHA), ("fortio", FORTIO)] {
        let record = import(&[File::of_text("a.json", text)], None).unwrap();
        assert_eq!(record.source.as_ref().unwrap().format, name);
        let value = |metric: &str| record.values(0, record.metric_index(metric).unwrap())[0];
        assert!((value("latency") - 0.0005).abs() < 1e-12, "{name}");
        assert!((value("requests") - 500.0).abs() < 1.0, "{name}");
        let failed = if name == "oha" { ("errors", 9.0) } else { ("failures", 10.0) };
        assert!((value(failed.0) - failed.1).abs() < 1e-9, "{name}");
        never_panics(name, text);
    }
}

#[test]
fn a_tool_that_puts_load_on_a_server_says_from_when_its_latencies_count() {
    let check = |text: &str, what: &str| {
        let record = import(&[File::of_text("a.txt", text)], None).unwrap();
        assert!(record.notes.iter().any(|note| format!("{note:?}").contains(what)), "{text}");
    };
    let capture =
        |path: &str| std::str::from_utf8(files(path).remove(0).bytes()).unwrap().to_owned();
    check(OHA, "LatencyStartUnknown");
    check(FORTIO, "LatencyFromSending");
    check(&capture("vegeta/v12_one_target.json"), "LatencyFromSending");
    check(&capture("vegeta/v12_one_target.txt"), "LatencyFromSending");
    check(&capture("wrk/v4.1_latency.txt"), "LatencyFilledIn");
}
