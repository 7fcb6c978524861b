//! mitata's files.

use crate::common::{capture, condensed};
use becalm_formats::{File, import};

#[test]
fn without_samples_the_median_stands_for_them() {
    insta::assert_snapshot!(condensed(&capture("mitata/self_v1.0.34.json", "mitata")));
}

#[test]
fn samples_are_iterations_of_one_process() {
    let path = "mitata/self_v1.0.34_samples_thinned.json";
    insta::assert_snapshot!(condensed(&capture(path, "mitata")));
}

#[test]
fn what_failed_is_told() {
    let text = r#"{"layout": [], "benchmarks": [{"alias": "a", "runs": [{"name": "a", "error": "boom"}]}], "x": "p999"}"#;
    let error = import(&[File::of_text("a.json", text)], None).unwrap_err().to_string();
    assert_eq!(error, "a.json: it contains no measurement");
}
