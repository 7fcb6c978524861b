//! The edges between our crates: downward only, as the table below says.
//!
//! A new crate or a new edge is a change of this table, with its reason in `ARCHITECTURE.md`.

use anyhow::{Result, ensure};
use serde_json::Value;

/// Which of our crates a crate may depend on; only on crates below its own line.
const EDGES: &[(&str, &[&str])] = &[
    ("xtask", &["calibrate", "store", "stats", "model", "testkit", "kernel"]),
    // Development only; runner and model are for its tests.
    ("calibrate", &["runner", "stats", "model"]),
    (
        "cli",
        &[
            "web", "fleet", "forge", "session", "series", "lab", "runner", "load", "formats",
            "report", "machine", "stats", "model",
        ],
    ),
    ("web", &["series", "report", "tls", "stats", "model"]),
    ("fleet", &["session", "runner", "stats", "model", "kernel"]),
    ("session", &["lab", "runner", "load", "machine", "stats", "model"]),
    ("lab", &["runner", "machine", "stats", "model", "kernel"]),
    ("load", &["tls", "stats", "model", "kernel"]),
    ("runner", &["formats", "machine", "stats", "model", "kernel"]),
    ("forge", &["report", "model"]),
    ("report", &["stats", "model"]),
    ("series", &["store", "stats", "model"]),
    ("store", &["tls", "model"]),
    ("formats", &["model"]),
    ("machine", &["model", "kernel"]),
    ("tls", &[]),
    ("stats", &[]),
    ("model", &[]),
    ("testkit", &["kernel"]),
    ("kernel", &[]),
];

/// Help for tests that every crate but [`ALONE`] may use in its own tests.
const TEST_HELP: &str = "testkit";

/// The crate that others may want from the registry: not even its tests need anything of ours.
const ALONE: &str = "stats";

/// Fails with every edge that the table does not allow.
pub(crate) fn check(metadata: &Value) -> Result<()> {
    let violations = violations(metadata);
    ensure!(violations.is_empty(), "edges between crates:\n  {}", violations.join("\n  "));
    Ok(())
}

fn violations(metadata: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for package in list(&metadata["packages"]) {
        let name = short(package["name"].as_str().unwrap_or_default());
        let Some((_, allowed)) = EDGES.iter().find(|(from, _)| *from == name) else {
            found.push(format!("{name} is not in the table of xtask/src/edges.rs"));
            continue;
        };
        for dependency in list(&package["dependencies"]) {
            // Ours are the ones with a path.
            if dependency["path"].is_null() {
                continue;
            }
            let to = short(dependency["name"].as_str().unwrap_or_default());
            let is_for_tests = dependency["kind"] == "dev";
            let is_test_help = is_for_tests && to == TEST_HELP && name != ALONE;
            if !is_test_help && !allowed.contains(&to) {
                let kind = if is_for_tests { " (in tests)" } else { "" };
                found.push(format!("{name} must not depend on {to}{kind}"));
            }
        }
    }
    found
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn short(package: &str) -> &str {
    match package {
        "becalm" => "cli",
        _ => package.strip_prefix("becalm-").unwrap_or(package),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(name: &str, dependency: &str, kind: &Value, expect: &[&str]) {
        let metadata = json!({"packages": [{"name": name, "dependencies": [
            {"name": "serde", "path": null, "kind": null},
            {"name": dependency, "path": "/x", "kind": kind},
        ]}]});
        assert_eq!(violations(&metadata), expect, "{name} -> {dependency}");
    }

    #[test]
    fn edges_of_the_table_are_allowed_and_others_are_not() {
        check("becalm", "becalm-web", &Value::Null, &[]);
        check("becalm-runner", "becalm-machine", &Value::Null, &[]);
        check(
            "becalm-machine",
            "becalm-runner",
            &Value::Null,
            &["machine must not depend on runner"],
        );
        check("becalm-report", "becalm", &Value::Null, &["report must not depend on cli"]);
        check("becalm-model", "becalm-stats", &json!("build"), &["model must not depend on stats"]);
    }

    #[test]
    fn test_help_is_for_tests_only() {
        check("becalm-machine", "becalm-testkit", &json!("dev"), &[]);
        check("becalm", "becalm-testkit", &Value::Null, &["cli must not depend on testkit"]);
    }

    #[test]
    fn stats_depends_on_nothing_of_ours_not_even_in_tests() {
        for (to, message) in [
            ("becalm-testkit", "stats must not depend on testkit (in tests)"),
            ("becalm-model", "stats must not depend on model (in tests)"),
        ] {
            check("becalm-stats", to, &json!("dev"), &[message]);
        }
    }

    #[test]
    fn a_new_crate_needs_its_line() {
        let message = "extra is not in the table of xtask/src/edges.rs";
        check("becalm-extra", "becalm-model", &Value::Null, &[message]);
    }

    #[test]
    fn the_table_itself_has_no_cycle() {
        for (index, (from, allowed)) in EDGES.iter().enumerate() {
            for to in *allowed {
                let below = EDGES.iter().position(|(name, _)| name == to);
                assert!(below > Some(index), "{from} -> {to} points upward");
            }
        }
    }
}
