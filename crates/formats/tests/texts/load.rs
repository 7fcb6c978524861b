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
