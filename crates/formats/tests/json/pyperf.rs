//! pyperf's files.

use std::io::Write as _;

use crate::common::{capture, condensed, files};
use becalm_formats::{File, import};

fn read(text: &str) -> Result<String, String> {
    import(&[File::of_text("a.json", text)], Some("pyperf"))
        .map(|record| condensed(&record))
        .map_err(|error| error.to_string())
}

#[test]
fn a_run_is_a_process_and_calibration_is_warm_up() {
    insta::assert_snapshot!(condensed(&capture("pyperf/self_command_fast.json", "pyperf")));
    insta::assert_snapshot!(condensed(&capture("pyperf/self_timeit_fast.json", "pyperf")));
}

#[test]
fn compressed_files_are_known_by_their_content() {
    let plain = files("pyperf/self_timeit_fast.json").remove(0);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain.bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let cut = File::new("a.json.gz", packed[..packed.len() / 2].to_vec());
    let packed = File::new("a.json.gz", packed);
    assert_eq!(import(&[packed], None), import(&[plain], None));
    let error = import(&[cut], None).unwrap_err().to_string();
    assert!(error.starts_with("a.json.gz: it is a damaged gzip file"), "{error}");
}

#[test]
fn hoisted_metadata_and_units_are_merged_down() {
    let text = r#"{"version": "1.0", "metadata": {"unit": "byte", "cpu_count": 4}, "benchmarks": [
        {"metadata": {"name": "memory"}, "runs": [{"values": [4096, 8192]}]},
        {"metadata": {"name": "time", "unit": "second"}, "runs": [{"values": [0.5]}]},
        {"runs": [{"metadata": {"unit": "integer"}, "values": [3]}]},
        {"runs": [{"values": [7]}]}]}"#;
    insta::assert_snapshot!(read(text).unwrap());
}

#[test]
fn files_from_before_1_0_are_read() {
    let text = r#"{"version": 5, "benchmarks": [{"common_metadata": {"name": "telco",
        "perf_version": "0.8.2", "loops": 8}, "runs": [
        {"samples": [], "warmups": [[1, 0.02], [2, 0.05]]},
        {"samples": [0.0225, 0.0226], "warmups": [[8, 0.18]]}]}]}"#;
    insta::assert_snapshot!(read(text).unwrap());
    let text = r#"{"version": 1, "benchmark": {"name": "x", "runs": [{"samples": [1.5], "warmups": [2.5]}]}}"#;
    assert!(read(text).unwrap().contains("x [s]: 1.5"));
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    assert_eq!(
        read(r#"{"benchmarks": [{"runs": [{"values": [1, "x"]}]}]}"#).unwrap_err(),
        "a.json, line 1, at benchmarks[0].runs[0].values[1]: invalid type: string \"x\", expected f64"
    );
    assert_eq!(
        read(r#"{"benchmarks": [{"runs": [{"values": [1, -1]}]}]}"#).unwrap_err(),
        "a.json, at benchmarks[0].runs[0].values[1]: expected a value from 0, found `-1`"
    );
    assert_eq!(
        read(r#"{"benchmarks": [{"runs": [{"warmups": [[1]]}]}]}"#).unwrap_err(),
        "a.json, at benchmarks[0].runs[0].warmups[0]: expected [loops, value], found `[1]`"
    );
    assert_eq!(read(r#"{"version": "1.0"}"#).unwrap_err(), "a.json: it contains no benchmarks");
    assert_eq!(read(r#"{"benchmarks": []}"#).unwrap_err(), "a.json: it contains no measurement");
    assert!(read(r#"{"benchmarks": [{"runs": [{"values": [1e400]}]}]}"#).is_err());
}
