//! hyperfine's files.

use crate::common::{capture, condensed};
use becalm_formats::{File, import};

#[test]
fn the_first_schema_has_single_times_and_means_of_cpu_times() {
    insta::assert_snapshot!(condensed(&capture("hyperfine/v1.20_two.json", "hyperfine")));
}

#[test]
fn failures_and_parameters_are_kept() {
    let record = capture("hyperfine/v1.20_params_exitcodes.json", "hyperfine");
    insta::assert_snapshot!(condensed(&record));
}

#[test]
fn a_single_run_has_no_deviation() {
    let record = capture("hyperfine/v1.20_single_run_null_stddev.json", "hyperfine");
    assert_eq!(record.runs.len(), 1);
    assert!(!record.summaries[0].figures.iter().any(|(name, _)| name == "standard_deviation"));
}

#[test]
fn the_second_schema_has_every_metric_per_run() {
    insta::assert_snapshot!(condensed(&capture("hyperfine/v2.0_two.json", "hyperfine")));
    insta::assert_snapshot!(condensed(&capture("hyperfine/v2.0_params_env.json", "hyperfine")));
}

#[test]
fn tables_hold_aggregates_that_are_marked() {
    insta::assert_snapshot!(condensed(&capture("hyperfine/v1.20_two.csv", "hyperfine-csv")));
    insta::assert_snapshot!(condensed(&capture("hyperfine/v2.0_two.csv", "hyperfine-csv")));
}

#[test]
fn tables_for_people_are_read_too() {
    let one = condensed(&capture("hyperfine/v1.20_two.md", "hyperfine-markdown"));
    assert!(one.contains("wall_time [s] (mean): 1.34000e-2"), "{one}");
    assert!(one.contains("standard_deviation 5.80000e-3, minimum 2.17000e-2"), "{one}");
    let two = condensed(&capture("hyperfine/v2.0_two.md", "hyperfine-markdown"));
    assert!(two.contains("wall_time [s] (mean): 2.34000e-2"), "{two}");
    let text = "| Command | Mean [s] |\n|:---|---:|\n| `a \\| b` | x ± 1 |\n";
    let error = import(&[File::of_text("t.md", text)], None).unwrap_err().to_string();
    assert_eq!(error, "t.md, line 3: expected a number, found `x `");
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let error = |text: &str| {
        import(&[File::of_text("a.json", text)], Some("hyperfine")).unwrap_err().to_string()
    };
    assert_eq!(
        error("{\"results\": [\n{\"command\": \"a\", \"times\": [1, \"b\"]}]}"),
        "a.json, line 2, at results[0].times[1]: invalid type: string \"b\", expected f64"
    );
    assert_eq!(
        error(r#"{"results": [{"command": "a", "times": [1, -2]}]}"#),
        "a.json, at results[0].times[1]: expected a time, found `-2`"
    );
    assert_eq!(
        error(r#"{"results": [{"command": "a", "times": [1, NaN]}]}"#),
        "a.json, line 1, at results[0].times[1]: invalid type: null, expected f64; `NaN` and infinities count as null"
    );
    assert_eq!(error(r#"{"results": []}"#), "a.json: it contains no measurement");
}

#[test]
fn the_same_command_twice_is_two_subjects() {
    let text = r#"{"results": [{"command": "a", "times": [1]}, {"command": "a", "times": [2]}]}"#;
    let record = import(&[File::of_text("a.json", text)], None).unwrap();
    let names: Vec<&str> = record.subjects.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["a", "a #2"]);
}
