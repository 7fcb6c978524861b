//! How a machine is built, and which CPUs a measurement would use.

use becalm_testkit::FakeMachine;

use crate::support::{env, json};

fn hybrid() -> FakeMachine {
    FakeMachine { cores: 4, threads: 2, efficient: 4, offline: vec![9], ..FakeMachine::default() }
}

#[test]
fn a_tree_is_drawn_with_the_cpu_for_one_thread() {
    let tree = hybrid().tree();
    let root = tree.path().display().to_string();
    let output = env().run(["topology", "--root", &root, "--threads", "3"]).exits_with(0);
    let text = output.stdout;
    for part in [
        "4 \u{d7} P-core (CPUs 0-7), 3 \u{d7} E-core (CPUs 8,10-11)",
        "Switched off: CPU 9.",
        "[0 4] [1 5] [2 6] [3* 7]",
        "For 3 threads\n  CPUs 1-3 run the subject, each on a separate core",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn scripts_get_arrays() {
    let tree = hybrid().tree();
    let output = env().run(["topology", "--json", "--root", &tree.path().display().to_string()]);
    let document = json(&output.stdout);
    assert_eq!(document["schema"], "becalm/topology/1");
    let count = |name: &str| document[name].as_array().map(Vec::len);
    let counts = ["cpus", "cores", "packages", "nodes", "caches", "kinds"].map(count);
    assert_eq!(counts, [Some(11), Some(7), Some(1), Some(1), Some(15), Some(2)]);
    assert_eq!(document["choices"][0]["subject"][0], 3);
    let valid =
        jsonschema::validator_for(&becalm_model::wire::json_schema("topology").unwrap()).unwrap();
    assert!(valid.is_valid(&document), "{document}");
}

#[test]
fn the_picture_goes_where_it_is_asked_to() {
    let tree = hybrid().tree();
    let env = env();
    let root = tree.path().display().to_string();
    let output = env.run(["topology", "--root", &root, "--svg"]);
    assert!(output.stdout.starts_with("<svg"), "{}", output.stdout);
    let _ = env.run(["topology", "--root", &root, "--svg", "machine.svg"]).exits_with(0);
    let saved = std::fs::read_to_string(env.work().join("machine.svg")).unwrap();
    assert_eq!(saved, output.stdout);
}

#[test]
fn a_folder_without_a_machine_is_an_error_that_says_what_is_needed() {
    let env = env();
    let output = env.run(["topology", "--root", "nowhere"]).exits_with(4);
    assert!(output.stderr.contains("`proc` and `sys`"), "{}", output.stderr);
}
