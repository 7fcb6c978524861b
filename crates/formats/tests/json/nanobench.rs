//! nanobench's files.

use crate::common::condensed;
use becalm_formats::{File, import};

fn read(text: &str) -> Result<String, String> {
    import(&[File::of_text("a.json", text)], None)
        .map(|record| condensed(&record))
        .map_err(|error| error.to_string())
}

#[test]
fn epochs_are_iterations_of_one_process() {
    insta::assert_snapshot!(
        read(
            r#"{"results": [{"title": "sort", "name": "x", "unit": "op", "batch": 64, "median(elapsed)": 2e-8,
            "measurements": [
              {"iterations": 5, "elapsed": 1e-8, "instructions": 40, "pagefaults": 0},
              {"iterations": 5, "elapsed": 3e-8, "instructions": 42, "pagefaults": 0}]},
            {"title": "benchmark", "name": "y", "batch": 1, "median(elapsed)": 5e-9, "measurements": []}]}"#
        )
        .unwrap()
    );
    let text = r#"[{"name": "z", "median(elapsed)": 1.5}]"#;
    assert!(read(text).unwrap().contains("z [s] (median): 1.5"));
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    assert_eq!(
        read(r#"{"results": [{"name": "z", "measurements": [{"elapsed": "x"}]}]}"#).unwrap_err(),
        "a.json, at results[0].measurements[0].elapsed: expected a number, found `x`"
    );
    assert_eq!(
        read(r#"{"results": [{"name": "z", "median(elapsed)": null}]}"#).unwrap_err(),
        "a.json: it contains no measurement"
    );
}
