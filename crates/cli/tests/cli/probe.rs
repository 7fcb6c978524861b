//! What interrupts the CPUs.
//!
//! These probe the machine that they run on, for a moment, and expect nothing of its noise.

use std::time::{Duration, Instant};

use becalm_machine::{Leases, SysRoot, Topology};
use becalm_testkit::{CommandOutput, TestEnv, skipped};

use crate::support::{Measures as _, env, json};

/// How long the other tests may keep the CPUs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Probes for a moment; `None`, and said, where other measurements leave no CPU.
fn probe(env: &TestEnv, arguments: &[&str]) -> Option<CommandOutput> {
    let short = ["--duration", "60ms", "--threshold", "20us"];
    Some(on_free_cpus(env, &[&short[..], arguments].concat())?.exits_with(0))
}

/// Runs `noise probe`, again while other tests measure on the CPUs.
fn on_free_cpus(env: &TestEnv, arguments: &[&str]) -> Option<CommandOutput> {
    let start = Instant::now();
    loop {
        let output = env.run([&["noise", "probe"], arguments].concat());
        if !output.stderr.contains("another becalm is measuring") {
            return Some(output);
        }
        if start.elapsed() > PATIENCE {
            skipped("another becalm measures on the CPUs of this machine");
            return None;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn a_probe_is_json_as_published_and_saves_the_order_of_the_cpus() {
    let env = env();
    let Some(output) = probe(
        &env,
        &["--source", "clock", "--json", "--export-html", "p.html", "--export-markdown", "p.md"],
    ) else {
        return;
    };
    assert!(env.read("p.html").contains("Interruptions take "));
    assert!(env.read("p.md").starts_with("## Interruptions take "));
    let document = json(&output.stdout);
    let valid = jsonschema::validator_for(&becalm_model::wire::json_schema("noise-probe").unwrap())
        .unwrap();
    assert!(valid.is_valid(&document), "{document}");
    assert_eq!(document["schema"], "becalm/noise-probe/1");
    for cpu in document["cpus"].as_array().unwrap() {
        assert!(cpu["duration"].as_f64().unwrap() >= 0.06, "{cpu}");
        assert!(cpu["step"].as_f64().unwrap() > 0.0, "{cpu}");
        let sum = |list: &str| -> u64 {
            cpu[list].as_array().unwrap().iter().map(|part| part["count"].as_u64().unwrap()).sum()
        };
        assert_eq!(sum("histogram"), cpu["interruptions"].as_u64().unwrap(), "{cpu}");
        assert_eq!(sum("classes"), cpu["interruptions"].as_u64().unwrap(), "{cpu}");
        assert!(cpu["windows"].as_array().unwrap().len() >= 8, "{cpu}");
    }
    let saved = env.path().join("state/becalm/cpu-noise.json");
    assert_eq!(document["saved"], saved.display().to_string());
    let ranking = json(&std::fs::read_to_string(saved).unwrap());
    let valid =
        jsonschema::validator_for(&becalm_model::wire::json_schema("cpu-noise").unwrap()).unwrap();
    assert!(valid.is_valid(&ranking), "{ranking}");
    assert_eq!(ranking["cpus"], document["ranking"]);
}

#[test]
fn people_get_a_table_and_the_limits() {
    let env = env();
    let arguments = ["--source", "clock", "--scheduler", "other", "--busy-siblings", "--no-save"];
    let Some(output) = probe(&env, &arguments) else { return };
    for part in [
        "By a thread that reads the clock without a pause, in the normal scheduling class",
        "Gaps of 20 µs or more count as interruptions",
        "Interruptions per second, by length",
    ] {
        assert!(output.stdout.replace('\n', " ").contains(part), "{part} in\n{}", output.stdout);
    }
    assert!(!env.path().join("state/becalm").exists());
}

#[test]
fn what_cannot_be_probed_is_refused_before_anything_is_done() {
    let env = env();
    let check = |arguments: &[&str], code: i32, part: &str| {
        let output = env.run([&["noise", "probe"], arguments].concat()).exits_with(code);
        assert!(output.stderr.contains(part), "{part} in\n{}", output.stderr);
    };
    check(&["--cpus", "8000"], 2, "the CPUs that becalm may use are");
    check(&["--cpus", ""], 2, "--cpus names no CPU");
    check(&["--threshold", "1s", "--duration", "500ms"], 2, "longer than --duration");
    check(&["--duration", "1ms"], 2, "at least 50ms");
    check(&["--threshold", "0"], 2, "every reading would be an interruption");
    check(&["--source", "guess"], 2, "--source takes auto, clock, tracer or hwlat, not `guess`");
}

#[test]
fn a_threshold_below_the_step_of_the_reader_is_refused() {
    let env = env();
    let arguments = ["--duration", "50ms", "--threshold", "1ns", "--source", "clock", "--no-save"];
    let Some(output) = on_free_cpus(&env, &arguments) else { return };
    let output = output.exits_with(4);
    assert!(output.stderr.contains("reading the clock takes"), "{}", output.stderr);
    assert!(output.stderr.contains("hint: use --threshold "), "{}", output.stderr);
}

#[test]
fn a_tracer_that_is_not_there_is_an_error_only_where_it_was_asked_for() {
    if becalm_lab::probe::Tracer::find(&SysRoot::default()).is_ok() {
        return skipped("this kernel has the osnoise tracer");
    }
    let env = env();
    let Some(output) = on_free_cpus(&env, &["--source", "tracer"]) else { return };
    let output = output.exits_with(4);
    assert!(output.stderr.contains("hint: --source clock needs no tracer"), "{}", output.stderr);
    let Some(output) = probe(&env, &["--no-save", "--json"]) else { return };
    let document = json(&output.stdout);
    assert_eq!(document["source"], "clock");
    assert!(document["limits"].to_string().contains("osnoise tracer was not used"), "{document}");
}

#[test]
fn a_cpu_on_which_another_becalm_measures_is_left_alone() {
    let root = SysRoot::default();
    let allowed = Topology::read(&root).unwrap().allowed;
    let one: becalm_model::CpuSet = allowed.first().into_iter().collect();
    let Ok(_lease) = Leases::take(&root, &one) else {
        return skipped("another becalm measures on the CPUs of this machine");
    };
    let output = env().run(["noise", "probe", "--cpus", &one.to_string()]).exits_with(4);
    assert!(output.stderr.contains("another becalm is measuring on CPU"), "{}", output.stderr);
}

#[test]
fn a_file_that_cannot_be_written_is_refused_first() {
    let arguments = ["noise", "probe", "--export-html", "absent/p.html"];
    let output = env().run(arguments).exits_with(2);
    assert!(output.stderr.contains("cannot write absent/p.html"), "{}", output.stderr);
}
