//! pytest-benchmark's files.

use crate::common::{capture, condensed};
use becalm_formats::{File, import};

fn read(text: &str) -> Result<String, String> {
    import(&[File::of_text("a.json", text)], None)
        .map(|record| condensed(&record))
        .map_err(|error| error.to_string())
}

#[test]
fn rounds_are_iterations_of_one_process() {
    let path = "pytest-benchmark/self_v5_data_truncated.json";
    insta::assert_snapshot!(condensed(&capture(path, "pytest-benchmark")));
}

#[test]
fn without_data_there_are_only_statistics() {
    insta::assert_snapshot!(
        read(
            r#"{"machine_info": {"cpu": "Some CPU", "node": "secret"}, "version": "3.2.2",
            "datetime": "2018-03-01T10:00:00.5", "commit_info": {"id": "abc", "dirty": true},
            "benchmarks": [
            {"name": "t", "fullname": "a.py::t", "stats": {"min": 1, "max": 3, "mean": 2.25, "median": 2, "stddev": 0.5, "rounds": 4, "iterations": 1}},
            {"name": "t", "fullname": "a.py::t", "stats": {"mean": 2.5}},
            {"name": "u", "stats": null}]}"#
        )
        .unwrap()
    );
}

#[test]
fn placeholders_are_neither_commits_nor_branches() {
    let of = |info: &str| {
        let benchmarks = r#"[{"fullname": "a.py::t", "stats": {"data": [1, 2]}}]"#;
        let text = format!(
            r#"{{"machine_info": {{}}, "commit_info": {info}, "benchmarks": {benchmarks}}}"#
        );
        import(&[File::of_text("a.json", &text)], None).unwrap().subjects[0].parameters.clone()
    };
    assert_eq!(of(r#"{"id": "unversioned", "branch": "(unknown)"}"#), []);
    let commit = ("commit".to_owned(), "abc".to_owned());
    assert_eq!(of(r#"{"id": "abc", "branch": "(detached head)"}"#), [commit]);
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let of = |rest: &str| {
        read(&format!(r#"{{"machine_info": {{}}, "benchmarks": [{{{rest}}}]}}"#)).unwrap_err()
    };
    assert_eq!(
        of(r#""name": "a", "stats": {"data": [1, "x"]}"#),
        "a.json, line 1, at benchmarks[0].stats.data[1]: invalid type: string \"x\", expected f64"
    );
    assert_eq!(
        of(r#""name": "a", "stats": {"data": [1, -2]}"#),
        "a.json, at benchmarks[0].stats.data[1]: expected a time, found `-2`"
    );
    assert_eq!(of(""), "a.json, at benchmarks[0].fullname: expected a name, found `nothing`");
    assert_eq!(of(r#""name": "a""#), "a.json: it contains no measurement");
}

#[test]
fn a_folder_of_several_files_has_a_process_and_a_moment_for_each() {
    let files = crate::common::files("pytest-benchmark/v5_storage");
    assert_eq!(files.len(), 2);
    let record = import(&files, None).unwrap();
    let name = record.metric_index("test_p.py::test_sort[10]").unwrap();
    assert_eq!(record.values(0, name).len(), 2);
    let history = becalm_formats::history(&files, None).unwrap().unwrap();
    let moments: Vec<(Option<String>, bool)> =
        history.commits.iter().map(|one| (one.commit.clone(), one.time.is_some())).collect();
    assert_eq!(moments, [(None, true), (None, true)]);
    assert_eq!(becalm_formats::history(&files[..1], None).unwrap(), None);
}
