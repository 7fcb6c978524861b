//! Which commits a job compares.

use serde_json::json;

use super::{Project, project};
use crate::support::{T, env, git, json, with};

#[test]
fn base_and_head_are_found_without_a_service_too() {
    let Some(project) = project("base_and_head_are_found", Some(1050)) else { return };
    let output = project.ci(&["--json"]).exits_with(1);
    let report = json(&output.stdout);
    assert_eq!(report["base"]["id"], project.base.as_str());
    let line = &report["benchmarks"][0];
    assert_eq!((&line["ratio"], &line["standing"]), (&json!(1.05), &json!("regression")));
    assert_eq!(
        (&line["noise"]["ratio"], &line["noise"]["verdict"]),
        (&json!(1.0), &json!("equivalent"))
    );
    assert_eq!(project.api.lines(), [""; 0]);
    let schema = json(&project.env.run(["schema", "ci"]).exits_with(0).stdout);
    let valid = jsonschema::validator_for(&schema).unwrap();
    assert!(valid.is_valid(&report), "{report}");
}

#[test]
fn the_merge_that_a_job_has_checked_out_is_compared_with_its_first_parent() {
    let Some(project) = project("the_merge_that_a_job_has_checked_out", Some(1050)) else { return };
    // Meanwhile the main branch went on.
    git(&project.env, &["checkout", "-q", "main"]);
    project.env.write("other", "x\n");
    git(&project.env, &["add", "other"]);
    git(&project.env, &["commit", "-q", "-m", "meanwhile"]);
    let meanwhile = git(&project.env, &["rev-parse", "HEAD"]);
    git(&project.env, &["merge", "-q", "--no-ff", "-m", "merged", "change"]);
    let project = project.pull_request("o/r");
    let output = project.ci(&["--json"]).exits_with(1);
    assert_eq!(json(&output.stdout)["base"]["id"], meanwhile.as_str());
    let status = &project.api.requests()[0];
    assert_eq!(status.path, format!("/repos/o/r/statuses/{}", project.head));
}

#[test]
fn what_a_comment_asked_for_has_the_status_and_not_the_commit_of_the_job() {
    let Some(project) = project("what_a_comment_asked_for", Some(1050)) else { return };
    // The job is for the main branch, and `gh pr checkout` has put the change into its folder.
    let event = json!({"issue": {"number": 7, "pull_request": {"url": "u"}}, "comment": {"body": "/bench"}});
    let main = project.base.clone();
    let project = project.github("issue_comment", &event);
    let env = project.env.variable("GITHUB_SHA", &main);
    let project = Project { env, ..project };
    let output = project.ci(&["--json"]).exits_with(1);
    let report = json(&output.stdout);
    assert_eq!(report["commit"], project.head.as_str());
    assert!(
        report["notes"][0]["text"].as_str().unwrap().starts_with("the job is for "),
        "{report}"
    );
    let status = format!("POST /repos/o/r/statuses/{}", project.head);
    assert_eq!(project.api.lines(), ["GET /repos/o/r/pulls/7".to_owned(), status]);
    project.api.set_repository("somebody/r");
    let output = project.ci(&[]).exits_with(2);
    assert!(
        output.stderr.contains("`issue_comment` would run the code of a fork"),
        "{}",
        output.stderr
    );
    assert!(!output.stderr.contains("building"), "{}", output.stderr);
}

#[test]
fn a_forced_push_is_compared_with_what_it_has_in_common_with_the_main_branch() {
    let Some(project) = project("a_forced_push_is_compared", Some(1050)) else { return };
    let gone = json!({"forced": true, "before": "1234567890".repeat(4)});
    let project = project.github("push", &gone);
    let output = project.ci(&["--json"]).exits_with(1);
    assert_eq!(json(&output.stdout)["base"]["id"], project.base.as_str());
}

#[test]
fn a_shallow_clone_is_told_what_to_set() {
    let Some(project) = project("a_shallow_clone_is_told_what_to_set", Some(1050)) else { return };
    let from = format!("file://{}", project.env.work().display());
    let shallow = env();
    git(&shallow, &["clone", "-q", "--depth", "1", "--branch", "change", &from, "."]);
    let (base, head) = (project.base.clone(), project.head.clone());
    let project =
        Project { env: shallow, api: project.api.clone(), base, head }.pull_request("o/r");
    let output = project.ci(&[]).exits_with(4);
    assert!(output.stderr.contains("is not in this clone"), "{}", output.stderr);
    assert!(output.stderr.contains("fetch-depth: 0"), "{}", output.stderr);
}

#[test]
fn a_repository_of_another_user_is_told_so() {
    let Some(project) = project("a_repository_of_another_user_is_told_so", Some(1050)) else {
        return;
    };
    // Git has this for its own tests.
    let env = project.env.variable("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
    let output = env.run(["ci", "--", "./app"]).exits_with(2);
    assert!(output.stderr.contains("detected dubious ownership"), "{}", output.stderr);
    assert!(output.stderr.contains("safe.directory"), "{}", output.stderr);
}

#[test]
fn a_program_that_nothing_builds_is_measured_as_it_is_in_each_commit() {
    let Some(project) = project("a_program_that_nothing_builds_is_measured", Some(1050)) else {
        return;
    };
    let base = ["--base", project.base.as_str(), "--rounds", "6", "--metric", T];
    let output = project.env.run(with("ci", &[&base[..], &["--", "sh", "./program"]].concat()));
    let output = output.exits_with(1);
    assert!(output.stdout.contains("+5.00 %"), "{}", output.stdout);
}
