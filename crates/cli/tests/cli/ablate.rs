//! `becalm noise ablate` on a folder that stands for a machine: what is changed for a run comes
//! back, whatever ends the experiment.

use std::path::PathBuf;
use std::process::{Child, Stdio};

use becalm_testkit::{FakeMachine, FakeTree, TestEnv};

use crate::support::{Measures, env, json, wait_until};

const BALANCING: &str = "/proc/sys/kernel/numa_balancing";

struct Bench {
    env: TestEnv,
    tree: FakeTree,
}

/// A machine on which there is one thing to change, for root.
fn bench() -> Bench {
    let status = "Name:\tbecalm\nUid:\t0\t0\t0\t0\nCpus_allowed_list:\t0-1\n";
    let tree = FakeMachine { cores: 2, ..FakeMachine::default() }
        .tree()
        .file(BALANCING, "1\n")
        .file("/proc/sys/kernel/random/boot_id", "0000-this-boot\n")
        .file("/proc/self/status", status);
    Bench { env: env(), tree }
}

impl Bench {
    fn path(&self, path: &str) -> PathBuf {
        self.tree.path().join(path.trim_start_matches('/'))
    }

    fn balancing(&self) -> String {
        std::fs::read_to_string(self.path(BALANCING)).unwrap().trim().to_owned()
    }

    fn is_journalled(&self) -> bool {
        self.path("/var/lib/becalm/journal").exists()
    }

    fn arguments<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let root = self.tree.path().to_str().unwrap();
        let fixed =
            ["noise", "ablate", "--root", root, "--only", "numa-balancing,aslr", "--seed", "1"];
        [&fixed[..], more].concat()
    }

    /// Starts an experiment, and waits until it has changed the machine for a run.
    fn in_a_tuned_run(&self) -> Child {
        // It does not end while the machine is changed.
        let waits = format!("[ $(cat {}) = 1 ] || exec sleep 1000", self.path(BALANCING).display());
        self.env.script("waits", &waits);
        let mut command = self.env.command(self.arguments(&["--", "./waits"]));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("a tuned run", || self.balancing() == "0");
        child
    }
}

#[test]
fn the_list_says_what_is_possible_and_why_the_rest_is_not() {
    let bench = bench();
    let arguments = bench.arguments(&["--list", "--json", "--", "true"]);
    let output = bench.env.run(arguments).exits_with(0);
    let document = json(&output.stdout);
    assert_eq!(document["schema"], "becalm/noise-ablate/1");
    let reason = |name: &str| {
        let all = document["mitigations"].as_array().unwrap();
        let one = all.iter().find(|one| one["name"] == name).unwrap();
        one["not_tried"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(reason("numa-balancing"), "");
    assert_eq!(reason("aslr"), "");
    assert_eq!(reason("pin"), "not requested");
    assert!(document["runs"].as_array().unwrap().is_empty());
    assert_eq!((bench.balancing().as_str(), bench.is_journalled()), ("1", false));
}

#[test]
fn every_run_is_in_the_document_which_fits_its_schema_and_the_machine_is_as_before() {
    let bench = bench();
    let html = bench.env.work().join("report.html");
    let arguments =
        bench.arguments(&["--json", "--export-html", html.to_str().unwrap(), "--", "true"]);
    let output = bench.env.run(arguments).exits_with(0);
    let document = json(&output.stdout);
    let schema = becalm_model::wire::json_schema("noise-ablate").unwrap();
    if let Err(error) = jsonschema::validate(&schema, &document) {
        panic!("{error}");
    }
    let configurations = document["configurations"].as_array().unwrap();
    let runs = document["runs"].as_array().unwrap();
    for (index, one) in configurations.iter().enumerate() {
        let own = runs.iter().filter(|run| run["configuration"] == index).count();
        assert_eq!(one["n_runs"].as_u64(), u64::try_from(own).ok(), "{one}");
    }
    let singly: Vec<&str> = configurations
        .iter()
        .filter(|one| one["stage"] == "singly")
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(singly, ["baseline", "baseline again", "numa-balancing", "aslr"]);
    assert!(std::fs::read_to_string(html).unwrap().contains("Each mitigation alone"));
    assert_eq!((bench.balancing().as_str(), bench.is_journalled()), ("1", false));
    let saved = document["saved"].as_str().unwrap();
    check_tells_of_it(&bench, saved);
}

/// What an experiment found about a setting stands beside the finding of `check`.
fn check_tells_of_it(bench: &Bench, saved: &str) {
    let schema = becalm_model::wire::json_schema("mitigation-effects").unwrap();
    let effects = std::fs::read_to_string(bench.path(saved)).unwrap();
    if let Err(error) = jsonschema::validate(&schema, &json(&effects)) {
        panic!("{error}");
    }
    let root = bench.tree.path().to_str().unwrap();
    let output = bench.env.run(["check", "--json", "--root", root]);
    let findings = json(&output.stdout)["findings"].clone();
    let balancing = findings.as_array().unwrap().iter().find(|one| one["id"] == "numa-balancing");
    let here = &balancing.unwrap()["here"];
    assert_eq!((&here["mitigation"], &here["hogs"]), (&"numa-balancing".into(), &0.into()));
    let text = bench.env.run(["check", "--verbose", "--root", root]).stdout;
    assert!(text.contains("Here: ") && text.contains("true scattered"), "{text}");
}

#[test]
fn a_signal_puts_the_machine_back_before_becalm_ends() {
    let bench = bench();
    let child = bench.in_a_tuned_run();
    crate::support::send("INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(128 + 2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("Stopped; the machine is as it was."), "{said}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("`./waits`: 0 runs") && text.contains("3 more runs tested"), "{text}");
    assert_eq!((bench.balancing().as_str(), bench.is_journalled()), ("1", false));
}

#[test]
fn the_guardian_puts_the_machine_back_when_becalm_is_killed() {
    let bench = bench();
    let mut child = bench.in_a_tuned_run();
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("the machine is put back", || !bench.is_journalled());
    assert_eq!(bench.balancing(), "1");
}

#[test]
fn a_subject_that_fails_is_an_error_before_anything_is_changed() {
    let bench = bench();
    let output = bench.env.run(bench.arguments(&["--", "false"])).exits_with(4);
    assert!(output.stderr.contains("`false`: the subject exits with 1"), "{}", output.stderr);
    assert_eq!((bench.balancing().as_str(), bench.is_journalled()), ("1", false));
}

#[test]
fn what_is_possible_is_listed_without_a_subject() {
    let bench = bench();
    let output = bench.env.run(bench.arguments(&["--list"])).exits_with(0);
    assert!(output.stdout.contains("Possible here"), "{}", output.stdout);
    let _ = bench.env.run(["noise", "ablate"]).exits_with(2);
}

#[test]
fn an_experiment_of_nothing_is_refused_and_says_why() {
    let output = env()
        .run(["noise", "ablate", "--only", "pin", "--skip", "pin", "--", "true"])
        .exits_with(2);
    assert!(output.stderr.contains("--skip excludes everything that --only names"), "{output:?}");
    let bench = bench();
    let root = bench.tree.path().to_str().unwrap().to_owned();
    let arguments = ["noise", "ablate", "--root", &root, "--only", "mlock", "--", "true"];
    let output = bench.env.run(arguments).exits_with(4);
    assert!(output.stderr.contains("no mitigation chosen with --only can be tried"), "{output:?}");
    assert!(output.stderr.contains("mlock: a program locks its memory itself"), "{output:?}");
}

#[test]
fn names_that_do_not_exist_are_refused_with_those_that_do() {
    let output = env().run(["noise", "ablate", "--only", "pni", "--", "true"]).exits_with(2);
    assert!(output.stderr.contains("the mitigations are pin, pin-first"), "{}", output.stderr);
}
