//! The action and the templates for jobs, run as a service would.

use std::process::Command;

use becalm_testkit::skipped;
use serde_json::{Value, json};

use super::{BUILD, Project, project};
use crate::support::{Measures, T, json};

/// Reads YAML with Python's reader, where there is one.
fn yaml(test: &str, file: &str) -> Option<Value> {
    let path = format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"));
    // `on` is a truth value to YAML 1.1, and no key of JSON.
    let program =
        "import json, sys, yaml; print(json.dumps(yaml.load(open(sys.argv[1]), yaml.BaseLoader)))";
    let output = Command::new("python3").args(["-c", program, &path]).output();
    match output {
        Ok(output) if output.status.success() => {
            Some(json(&String::from_utf8_lossy(&output.stdout)))
        }
        Ok(output) if !String::from_utf8_lossy(&output.stderr).contains("No module named") => {
            panic!("{file}: {}", String::from_utf8_lossy(&output.stderr))
        }
        _ => {
            skipped(&format!("{test}: no Python with a reader of YAML"));
            None
        }
    }
}

/// The same environment for another program.
fn beside(project: &Project, program: &str) -> Command {
    let mut command = Command::new(program);
    let like = project.env.command([""; 0]);
    command.current_dir(project.env.work()).env_clear();
    command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

/// The step of the action with these inputs, as the service starts it: it stops at the first command that fails.
fn action(project: &Project, action: &Value, inputs: &[(&str, &str)]) -> Command {
    let step = &action["runs"]["steps"][0];
    let mut command = beside(project, "bash");
    for (name, value) in step["env"].as_object().unwrap() {
        let input = value.as_str().unwrap();
        let input = input.strip_prefix("${{ inputs.").and_then(|rest| rest.strip_suffix(" }}"));
        let Some(input) = input.filter(|input| *input != "token") else { continue };
        let default = action["inputs"][input]["default"].as_str().expect("an input with a default");
        let given = inputs.iter().find(|(known, _)| *known == input);
        command.env(name, given.map_or(default, |(_, value)| value));
    }
    command.args(["-eo", "pipefail", "-c", step["run"].as_str().unwrap()]);
    command
}

#[test]
fn the_action_passes_its_inputs_on() {
    let Some(project) = project("the_action_passes_its_inputs_on", Some(1050)) else { return };
    let Some(file) = yaml("the_action_passes_its_inputs_on", "action.yml") else { return };
    assert_eq!(file["runs"]["using"], "composite");
    let project = project.pull_request("o/r");
    let inputs = [
        ("command", "./app"),
        ("build", BUILD),
        ("metric", T),
        ("args", "--rounds 6 --affinity none\n--scheduler other\n--confidence 90%"),
        ("becalm", env!("CARGO_BIN_EXE_becalm")),
        ("allow", "2%"),
        ("id", "from-action"),
        ("save", "saved.json"),
    ];
    let output = action(&project, &file, &inputs).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(project.api.requests()[0].body["context"], "becalm/from-action");
    let saved = project.env.record("saved.json");
    assert_eq!((&saved["allow"], &saved["confidence"]), (&json!(0.02), &json!(0.9)));
}

#[test]
fn the_action_builds_becalm_where_nothing_of_the_change_is() {
    let test = "the_action_builds_becalm_where_nothing_of_the_change_is";
    let Some(project) = project(test, None) else { return };
    let Some(file) = yaml(test, "action.yml") else { return };
    // Says where it was started and with what, in the place of becalm too.
    let cargo = "mkdir -p \"$RUNNER_TEMP/becalm/bin\"\ncp \"$0\" \"$RUNNER_TEMP/becalm/bin/becalm\"\n\
                 echo \"$PWD ${GITHUB_TOKEN-none} $*\"";
    project.env.script("bin/cargo", cargo);
    let project = project.pull_request("o/r");
    let own = project.env.work().join("action");
    std::fs::create_dir(&own).unwrap();
    let path = format!("{}:/usr/bin:/bin", project.env.work().join("bin").display());
    let mut command = action(&project, &file, &[("post", "r.json"), ("id", "mine")]);
    command.env("ACTION_PATH", &own).env("RUNNER_TEMP", project.env.work()).env("PATH", path);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = said.lines().collect();
    let built = format!("{} none install", own.display());
    assert!(lines[0].starts_with(&built), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(lines[1].ends_with("ci --post r.json --id mine --comment auto"), "{said}");
}

#[test]
fn the_templates_fit_the_action() {
    let test = "the_templates_fit_the_action";
    let Some(action) = yaml(test, "action.yml") else { return };
    for file in ["github.yml", "github-fork-measure.yml", "github-fork-post.yml"] {
        let workflow = yaml(test, &format!("docs/ci/{file}")).unwrap();
        let jobs = workflow["jobs"].as_object().unwrap();
        let steps = jobs.values().flat_map(|job| job["steps"].as_array().unwrap());
        let ours: Vec<&Value> =
            steps.filter(|step| step["uses"].as_str().unwrap().contains("becalm")).collect();
        assert_eq!(ours.len(), 1, "{file}");
        for input in ours[0]["with"].as_object().unwrap().keys() {
            assert!(action["inputs"].get(input).is_some(), "{file}: {input}");
        }
    }
    let post = yaml(test, "docs/ci/github-fork-post.yml").unwrap();
    let measure = yaml(test, "docs/ci/github-fork-measure.yml").unwrap();
    assert_eq!(post["on"]["workflow_run"]["workflows"][0], measure["name"]);
    assert_eq!(measure["permissions"], json!({"contents": "read"}));
}

#[test]
fn the_template_for_gitlab_runs() {
    let Some(project) = project("the_template_for_gitlab_runs", Some(1050)) else { return };
    let Some(file) = yaml("the_template_for_gitlab_runs", "docs/ci/gitlab.yml") else { return };
    let script = file["performance"]["script"][0].as_str().unwrap();
    let script = script
        .replace("becalm ci", "\"$BECALM\" ci --rounds 6 --metric \"$METRIC\"")
        .replace("cargo build --release", BUILD)
        .replace("./target/release/app", "./app");
    let mut command = beside(&project, "sh");
    command.env("BECALM", env!("CARGO_BIN_EXE_becalm")).env("METRIC", T);
    command.env("GITLAB_CI", "true").env("CI_PROJECT_ID", "12");
    let output = command.args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("BECALM_GITLAB_TOKEN is not set"), "{said}");
    assert!(project.env.read("becalm.xml").contains("failures=\"1\""));
    assert_eq!(project.env.record("becalm-report.json")["conclusion"], "regressed");
}
