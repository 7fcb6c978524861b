//! The published schemas and how to get at them.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::{env, json};

/// Names of the files `docs/schema/NAME.schema.json`.
fn published() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    files
        .map(|name| name.to_str().unwrap().strip_suffix(".schema.json").unwrap().to_owned())
        .collect()
}

#[test]
fn every_published_schema_is_printed_by_its_name() {
    let list = env().run(["schema", "--list"]).exits_with(0).stdout;
    let names: BTreeSet<String> = list.lines().map(str::to_owned).collect();
    assert_eq!(names, published());
    for name in names {
        let printed = env().run(["schema", &name]).exits_with(0).stdout;
        let file = format!("../../docs/schema/{name}.schema.json");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        assert!(printed == std::fs::read_to_string(file).unwrap(), "{name}: run cargo xtask docs");
    }
}

#[test]
fn without_a_name_it_is_that_of_records() {
    let printed = env().run(["schema"]).exits_with(0).stdout;
    assert_eq!(printed, env().run(["schema", "record"]).exits_with(0).stdout);
    assert!(json(&printed)["properties"]["subjects"].is_object());
    let unknown = env().run(["schema", "recrod"]).exits_with(2);
    assert!(unknown.stderr.contains("did you mean `record`?"), "{}", unknown.stderr);
}
