//! ASV's files.

use crate::common::condensed;
use becalm_formats::{File, import};

fn read(text: &str) -> Result<String, String> {
    import(&[File::of_text("0123-env.json", text)], None)
        .map(|record| condensed(&record))
        .map_err(|error| error.to_string())
}

fn second(hash: &str, date: u64, results: &str) -> String {
    format!(
        r#"{{"version": 2, "commit_hash": "{hash}", "env_name": "py3", "date": {date}, "python": "3.11",
        "params": {{"arch": "x86_64", "cpu": "CPU", "machine": "secret", "num_cpu": "8", "os": "Linux"}},
        "result_columns": ["result", "params", "version", "started_at", "duration", "stats_ci_99_a",
        "stats_ci_99_b", "stats_q_25", "stats_q_75", "stats_number", "stats_repeat", "samples"],
        "results": {{{results}}}}}"#
    )
}

#[test]
fn the_second_version_has_columns_and_parameters() {
    let results = r#"
        "a.S.time_x": [[0.1, null, NaN, 0.4], [["1", "2"], ["'u'", "'v'"]], "v", 1, 2,
          [-Infinity, null, null, 0.3], [Infinity, null, null, 0.5], [0.05, null, null, 0.35], [0.15, null, null, 0.45],
          [10, null, null, 20], [3, null, null, 4], [[0.09, 0.1, 0.11], null, null, null]],
        "a.peakmem_y": [[4096], []], "a.track_z": [[3.5], []], "a.time_failed": [null, []]"#;
    insta::assert_snapshot!(read(&second("abc", 1_700_000_000_000, results)).unwrap());
}

#[test]
fn the_first_version_has_numbers_and_objects() {
    insta::assert_snapshot!(
        read(
            r#"{"version": 1, "commit_hash": "05d283b9694ed6db6e3f2df3f21d832e78bded7f", "date": 1386688801000,
            "params": {"cpu": "CPU"}, "python": "2.7", "results": {"time_a": 0.5, "time_b": null, "time_c": NaN,
            "mem_d": 728, "time_e": {"params": [["1", "2", "3"]], "result": [1, 4, null]},
            "time_f": {"result": [2], "params": [], "stats": [{"ci_99": [1, 3], "q_25": 1.5, "repeat": 9, "number": 2}], "samples": [[1.75, 2, 2.5]]}}}"#
        )
        .unwrap()
    );
}

#[test]
fn a_folder_has_commits_in_order_and_units() {
    let files = [
        File::of_text(
            "benchmarks.json",
            r#"{"a.track_z": {"type": "track", "unit": "MiB"}, "a.slow": {"type": "time", "unit": "seconds"}, "version": 2}"#,
        ),
        File::of_text("m/machine.json", r#"{"arch": "x86_64", "machine": "m", "version": 1}"#),
        File::of_text(
            "m/bbb-py3.json",
            &second("bbb", 2000, r#""a.track_z": [[2], []], "a.slow": [[3], []]"#),
        ),
        File::of_text("m/aaa-py3.json", &second("aaa", 1000, r#""a.track_z": [[1], []]"#)),
        File::of_text("m/notes.txt", "nothing"),
    ];
    insta::assert_snapshot!(condensed(&import(&files, None).unwrap()));
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    assert_eq!(
        read(&second("a", 1, r#""x": [[1, 2], [["1", "2", "3"]]]"#)).unwrap_err(),
        "0123-env.json, at results.x.result: expected 3 results, one per combination of parameters, found `2`"
    );
    assert_eq!(
        read(&second("a", 1, r#""x": [["one"], []]"#)).unwrap_err(),
        "0123-env.json, at results.x.result[0]: expected a number, found `one`"
    );
    assert_eq!(
        read(&second("a", 1, r#""x": "y""#)).unwrap_err(),
        "0123-env.json, at results.x: expected a result, found `y`"
    );
    assert_eq!(read(&second("a", 1, "")).unwrap_err(), "0123-env.json: it contains no measurement");
}
