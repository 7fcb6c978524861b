//! What a job measures, prints and posts.

use serde_json::{Value, json};

use super::{BUILD, Project, TOKEN, project};
use crate::support::{Measures, git, json, with};

#[test]
fn a_regression_gets_one_comment_a_failing_status_and_a_summary() {
    let Some(project) = project("a_regression_gets_one_comment", Some(1050)) else { return };
    let project = project.pull_request("o/r");
    project.api.add_comment("<!-- becalm:ci:bench -->\nof somebody from outside");
    let output = project.ci(&["--junit", "j.xml"]).exits_with(1);
    assert!(output.stdout.contains("Slower: ./app +5.00 % (exact)."), "{}", output.stdout);

    let requests = project.api.requests();
    let lines: Vec<String> = requests.iter().map(crate::fake_api::Request::line).collect();
    assert_eq!(
        lines,
        [
            format!("POST /repos/o/r/statuses/{}", project.head),
            "GET /repos/o/r/pulls/7".to_owned(),
            "GET /repos/o/r/issues/7/comments?per_page=100&page=1".to_owned(),
            "POST /repos/o/r/issues/7/comments".to_owned(),
        ]
    );
    for request in &requests {
        assert_eq!(request.header("authorization"), format!("Bearer {TOKEN}"));
        assert_eq!(request.header("accept"), "application/vnd.github+json");
        assert_eq!(request.header("x-github-api-version"), "2022-11-28");
        assert!(request.header("user-agent").starts_with("becalm/"));
    }
    assert_eq!(
        requests[0].body,
        json!({"state": "failure", "context": "becalm/bench", "description": "slower: ./app +5.00 % (exact)",
            "target_url": "https://github.com/o/r/actions/runs/99"})
    );
    let comments = project.api.comments();
    assert_eq!(comments.len(), 2, "the one from outside is left alone");
    let comment = &comments[1];
    assert!(
        comment.starts_with(
            "<!-- becalm:ci:bench -->\n### ❌ `bench`: slower: `./app` +5.00 % (exact)\n"
        ),
        "{comment}"
    );
    assert!(
        comment
            .contains("| **slower** | `./app` | `1000 ns` | `1050 ns` | +5.00 % | exact | none |"),
        "{comment}"
    );
    assert!(comment.contains("base against itself: no noise at all"), "{comment}");
    assert!(comment.contains("`a change for @everybody <b>`"), "names stand in code: {comment}");
    let again = format!("becalm ci --base {} --head {}", project.base, project.head);
    assert!(comment.contains(&again), "{comment}");
    let summary = project.env.read("summary");
    assert!(summary.starts_with("### ❌") && summary.contains("| **slower** |"), "{summary}");
    assert_eq!(project.env.read("outputs"), "conclusion=regressed\n");
    let junit = project.env.read("j.xml");
    assert!(junit.contains("tests=\"1\" failures=\"1\""), "{junit}");
    assert_eq!(git(&project.env, &["worktree", "list"]).lines().count(), 1);

    // The same again edits the same comment, also when nothing is slower any more.
    let _ = project.ci(&[]).exits_with(1);
    assert_eq!(project.api.lines().last().unwrap(), "PATCH /repos/o/r/issues/comments/2");
    let _ = project.ci(&["--allow", "6%"]).exits_with(0);
    let comments = project.api.comments();
    assert_eq!(comments.len(), 2);
    assert!(comments[1].contains("no change beyond what is allowed"), "{}", comments[1]);
    // Another job has a comment of its own.
    let _ = project.ci(&["--id", "other"]).exits_with(1);
    assert_eq!(project.api.comments().len(), 3);
    // The job of an earlier commit may end last.
    project.api.set_head(&project.base);
    let late = project.ci(&["--id", "late"]).exits_with(1);
    assert!(
        late.stderr.contains("a comment about an earlier commit was not posted"),
        "{}",
        late.stderr
    );
    assert_eq!(project.api.comments().len(), 3);
}

#[test]
fn a_change_of_documentation_gets_a_good_status_and_no_comment() {
    let Some(project) = project("a_change_of_documentation", None) else { return };
    let project = project.pull_request("o/r");
    let output = project.ci(&["--junit", "j.xml"]).exits_with(0);
    assert!(output.stdout.contains("only documentation differs: README.md"), "{}", output.stdout);
    assert!(!output.stderr.contains("building"), "{}", output.stderr);
    assert_eq!(project.api.comments(), [""; 0]);
    let status = &project.api.requests()[0];
    assert_eq!(status.body["state"], "success");
    assert!(project.env.read("j.xml").contains("tests=\"0\""));
    // A comment of an earlier push is updated.
    let _ = project.ci(&["--comment", "always"]).exits_with(0);
    assert_eq!(project.api.comments().len(), 1);
    project.api.requests();
    let _ = project.ci(&[]).exits_with(0);
    assert_eq!(project.api.lines().last().unwrap(), "PATCH /repos/o/r/issues/comments/1");
    assert!(project.api.comments()[0].contains("the programs are identical"));
}

#[test]
fn a_submodule_that_is_to_be_ignored_is_a_change() {
    let Some(project) = project("a_submodule_that_is_to_be_ignored", Some(1050)) else { return };
    let modules = "[submodule \"m\"]\n\tpath = m\n\turl = ./m\n\tignore = all\n";
    project.env.write(".gitmodules", modules);
    git(&project.env, &["add", "-f", ".gitmodules"]);
    let at = |commit: &str, message: &str| {
        let entry = format!("160000,{commit},m");
        git(&project.env, &["update-index", "--add", "--cacheinfo", &entry]);
        git(&project.env, &["commit", "-q", "-m", message]);
    };
    at(&project.base, "with a module");
    at(&project.head, "a newer module");
    let output = project.ci(&["--base", "HEAD~1"]);
    assert!(!output.stdout.contains("have the same files"), "{}", output.stdout);
}

#[test]
fn the_comment_is_found_on_a_later_page() {
    let Some(project) = project("the_comment_is_found_on_a_later_page", Some(1050)) else { return };
    let project = project.pull_request("o/r");
    for number in 0..150 {
        project.api.add_comment(&format!("comment {number}"));
    }
    let _ = project.ci(&[]).exits_with(1);
    project.api.requests();
    let _ = project.ci(&[]).exits_with(1);
    let lines = project.api.lines();
    assert_eq!(
        lines[1..],
        [
            "GET /repos/o/r/pulls/7",
            "GET /repos/o/r/issues/7/comments?per_page=100&page=1",
            "GET /repos/o/r/issues/7/comments?per_page=100&page=2",
            "PATCH /repos/o/r/issues/comments/151",
        ]
    );
}

#[test]
fn a_fork_is_measured_without_rights_and_posted_with_them() {
    let Some(project) = project("a_fork_is_measured", Some(1050)) else { return };
    let project = project.pull_request("somebody/r");
    let output = project.ci(&["--save", "report.json"]).exits_with(1);
    assert!(output.stderr.contains("from a fork, whose jobs may not write"), "{}", output.stderr);
    assert_eq!(project.api.lines(), [""; 0], "nothing is tried that cannot be");

    let event = |head: &str| {
        json!({"workflow_run": {"head_sha": head, "pull_requests": [],
            "html_url": "https://example.org/measuring"}})
    };
    let project = {
        let head = project.head.clone();
        project.github("workflow_run", &event(&head))
    };
    project.api.set_head(&project.head);
    let saved = json(&project.env.read("report.json"));
    assert_eq!((&saved["schema"], &saved["change"]), (&json!("becalm/ci/1"), &json!(7)));
    let _ = project.post("report.json").exits_with(0);
    assert_eq!(
        project.api.lines(),
        [
            format!("POST /repos/o/r/statuses/{}", project.head),
            "GET /repos/o/r/pulls/7".to_owned(),
            "GET /repos/o/r/issues/7/comments?per_page=100&page=1".to_owned(),
            "POST /repos/o/r/issues/7/comments".to_owned(),
        ]
    );
    let comment = &project.api.comments()[0];
    assert!(comment.contains("| **slower** | `./app` |"), "{comment}");
    assert!(comment.contains("[the job](https://example.org/measuring)"), "{comment}");
    assert!(!comment.contains("becalm ci"), "a fork could name any command: {comment}");

    // A file that names another request, one that moved on, and another commit.
    project.api.set_head(&project.base);
    let output = project.post("report.json").exits_with(0);
    assert!(
        output.stderr.contains("a comment about an earlier commit was not posted"),
        "{}",
        output.stderr
    );
    assert_eq!(project.api.lines().len(), 2);
    let mut forged = saved.clone();
    forged["commit"] = project.base.as_str().into();
    project.env.write("forged.json", forged.to_string());
    let output = project.post("forged.json").exits_with(4);
    assert!(output.stderr.contains("nothing was posted"), "{}", output.stderr);
    forged["commit"] = "../../user".into();
    project.env.write("forged.json", forged.to_string());
    let _ = project.post("forged.json").exits_with(4);
    let mut forged = saved;
    forged["id"] = "trusted".into();
    project.env.write("forged.json", forged.to_string());
    let output = project.post("forged.json").exits_with(4);
    assert!(output.stderr.contains("the report is of the job trusted"), "{}", output.stderr);
    assert_eq!(project.api.lines(), [""; 0]);
    let _ = project.env.run(["ci", "--post", "forged.json", "--id", "trusted"]).exits_with(0);
}

#[test]
fn a_forged_report_gives_no_commands_to_the_service() {
    let Some(project) = project("a_forged_report_gives_no_commands", Some(1050)) else { return };
    let project = project.pull_request("o/r");
    let _ = project.ci(&["--save", "report.json"]).exits_with(1);
    let saved = json(&project.env.read("report.json"));
    let post = |forged: &Value, more: &[&str]| {
        project.env.write("forged.json", forged.to_string());
        let output = project.env.run([&["ci", "--post", "forged.json"], more].concat());
        let said = format!("{}{}", output.stdout, output.stderr);
        let is_command = |line: &str| line.trim_start().starts_with("::") || line.contains("##[");
        assert!(!said.lines().any(is_command), "{said}");
        output
    };
    let mut forged = saved.clone();
    forged["benchmarks"][0]["name"] = "::add-mask::a ##[add-mask]b".into();
    let _ = post(&forged, &[]).exits_with(0);
    let output = post(&forged, &["--json"]).exits_with(0);
    assert_eq!(json(&output.stdout)["benchmarks"][0]["name"], forged["benchmarks"][0]["name"]);
    forged["message"] = "::set-output name=conclusion::unchanged".into();
    let _ = post(&forged, &[]).exits_with(0);
    let mut forged = saved;
    forged["benchmarks"][0]["verdict"] = "x\n::add-mask::a ##[add-mask]b".into();
    let _ = post(&forged, &[]).exits_with(4);
}

#[test]
fn a_fork_in_a_job_with_rights_is_not_measured() {
    let Some(project) = project("a_fork_in_a_job_with_rights", Some(1050)) else { return };
    let event = json!({"pull_request": {"number": 7, "head": {"sha": project.head, "repo": {"full_name": "x/r"}}}});
    let output = project.github("pull_request_target", &event).ci(&[]).exits_with(2);
    assert!(output.stderr.contains("would run the code of a fork"), "{}", output.stderr);
    assert!(!output.stderr.contains("building"), "{}", output.stderr);
}

#[test]
fn gitlab_gets_a_note_and_a_status() {
    let Some(project) = project("gitlab_gets_a_note_and_a_status", Some(1050)) else { return };
    let api = format!("{}/api/v4", project.api.address());
    let (base, head) = (project.base.clone(), project.head.clone());
    let env = project
        .env
        .variable("GITLAB_CI", "true")
        .variable("CI_API_V4_URL", &api)
        .variable("CI_PROJECT_ID", "12")
        .variable("CI_MERGE_REQUEST_IID", "3")
        .variable("CI_COMMIT_SHA", &head)
        .variable("CI_MERGE_REQUEST_DIFF_BASE_SHA", &base)
        .variable("CI_JOB_URL", "https://gitlab.example/job/1")
        .variable("BECALM_GITLAB_TOKEN", TOKEN);
    let project = Project { env, ..project };
    let _ = project.ci(&[]).exits_with(1);
    let requests = project.api.requests();
    let lines: Vec<String> = requests.iter().map(crate::fake_api::Request::line).collect();
    assert_eq!(
        lines,
        [
            format!("POST /api/v4/projects/12/statuses/{head}"),
            "GET /api/v4/projects/12/merge_requests/3".to_owned(),
            "GET /api/v4/user".to_owned(),
            "GET /api/v4/projects/12/merge_requests/3/notes?per_page=100&page=1".to_owned(),
            "POST /api/v4/projects/12/merge_requests/3/notes".to_owned(),
        ]
    );
    assert!(requests.iter().all(|request| request.header("private-token") == TOKEN));
    assert_eq!(
        requests[0].body,
        json!({"state": "failed", "name": "becalm/bench", "description": "slower: ./app +5.00 % (exact)",
            "target_url": "https://gitlab.example/job/1"})
    );
    let _ = project.ci(&[]).exits_with(1);
    let last = project.api.lines().pop().unwrap();
    assert_eq!(last, "PUT /api/v4/projects/12/merge_requests/3/notes/1");
    assert_eq!(project.api.comments().len(), 1);
}

#[test]
fn a_service_that_refuses_changes_nothing_about_the_verdict() {
    let Some(project) = project("a_service_that_refuses", Some(1050)) else { return };
    let project = project.pull_request("o/r");
    project.api.refuse("POST /repos/o/r/statuses", 403, "");
    let output = project.ci(&[]).exits_with(1);
    assert!(output.stdout.contains("Slower: ./app"), "{}", output.stdout);
    assert!(output.stderr.contains("status 403: Resource not accessible"), "{}", output.stderr);
    assert!(
        output.stderr.contains("pull-requests: write") && output.stderr.contains("--post FILE")
    );
    assert_eq!(project.api.comments().len(), 1, "the comment is made all the same");
    // What may pass is tried again; a comment of which nobody knows whether it was made is looked for first.
    project.api.requests();
    let other = ["--id", "other"];
    project.api.refuse("POST /repos/o/r/statuses", 502, "Retry-After: 0\r\n");
    project.api.refuse("GET /repos/o/r/issues", 429, "Retry-After: 0\r\n");
    project.api.refuse("POST /repos/o/r/issues", 502, "Retry-After: 0\r\n");
    let output = project.ci(&other).exits_with(1);
    assert!(!output.stderr.contains("warning: cannot"), "{}", output.stderr);
    assert_eq!(project.api.lines().len(), 2 + 1 + 2 + 1 + 1 + 1);
    assert_eq!(project.api.comments().len(), 2);
}

#[test]
fn without_an_answer_the_result_is_printed_and_the_verdict_stands() {
    let Some(project) = project("without_an_answer", Some(1050)) else { return };
    let project = project.pull_request("o/r");
    let env = project.env.variable("GITHUB_API_URL", "http://127.0.0.1:9");
    let project = Project { env, ..project };
    let output = project.ci(&["--save", "report.json"]).exits_with(1);
    assert!(output.stdout.contains("Slower: ./app"), "{}", output.stdout);
    assert!(output.stderr.contains("no answer"), "{}", output.stderr);
    assert_eq!(project.post("report.json").status.code(), Some(4), "posting is all that this does");
}

#[test]
fn a_build_that_fails_sets_an_error_and_ends_so() {
    let Some(project) = project("a_build_that_fails_sets_an_error", Some(1050)) else { return };
    let project = project.pull_request("o/r");
    // What it prints may be anything.
    let build = "echo no such luck with ${GITHUB_TOKEN}; exit 7";
    let flags = ["--build", build, "--json", "--save", "saved.json", "--", "./app"];
    let output = project.keeps_its_secrets(project.env.run(with("ci", &flags))).exits_with(4);
    assert!(output.stderr.contains("no such luck with ***"), "{}", output.stderr);
    let report = json(&output.stdout);
    assert_eq!(report["conclusion"], "failed");
    assert!(report["message"]["text"].as_str().unwrap().contains("with ***"), "{report}");
    let requests = project.api.requests();
    assert_eq!(requests[0].body["state"], "error");
    assert_eq!(requests[0].body["description"], "the measurement failed");
    assert_eq!(project.api.comments(), [""; 0]);
}

#[test]
fn news_go_to_webhooks_and_no_news_do_not() {
    let Some(project) = project("news_go_to_webhooks", Some(950)) else { return };
    let hook = format!("{}/hook", project.api.address());
    let _ = project
        .ci(&["--notify", &hook, "--notify-slack", &hook, "--export-json", "r.json"])
        .exits_with(0);
    let requests = project.api.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].body["schema"], "becalm/ci/1");
    assert_eq!(requests[0].body["conclusion"], "improved");
    let text = requests[1].body["text"].as_str().unwrap();
    assert!(text.starts_with("`bench`: faster: `./app` -5.00 % (exact)"), "{text}");
    let _ = project.ci(&["--notify", &hook, "--base", "HEAD"]).exits_with(0);
    assert_eq!(project.api.lines(), [""; 0]);
    // An address that cannot be reached is not told either.
    let output = project.ci(&["--notify", "http://127.0.0.1:9/hook"]).exits_with(0);
    assert!(output.stderr.contains("--notify: the message was not sent"), "{}", output.stderr);
}

#[test]
fn the_same_script_may_start_something_else_and_is_measured() {
    let Some(project) = project("the_same_script_may_start_something_else", None) else { return };
    project.env.write("data", "x\n");
    git(&project.env, &["add", "data"]);
    git(&project.env, &["commit", "-q", "-m", "data"]);
    let output = project.ci(&[]).exits_with(0);
    assert!(output.stdout.starts_with("No change."), "{}", output.stdout);
}

#[test]
fn what_is_not_decided_fails_only_when_it_is_asked_to() {
    let Some(project) = project("what_is_not_decided_fails_only", Some(1050)) else { return };
    let project = project.pull_request("o/r");
    let few = ["ci", "--rounds", "1", "--metric", r"t[ns]=t: (\S+)", "--build", BUILD];
    let run = |more: &[&str]| project.env.run([&few, more, &["--", "./app"]].concat());
    let output = run(&[]).exits_with(0);
    assert!(output.stdout.starts_with("No change found; 1 of 1 undecided."), "{}", output.stdout);
    assert_eq!(project.api.requests()[0].body["state"], "success");
    let _ = run(&["--strict"]).exits_with(3);
    assert_eq!(project.api.requests()[0].body["state"], "failure");
    assert_eq!(project.api.comments(), [""; 0], "nothing changed");
}

#[test]
fn senseless_flags_are_refused_before_anything_is_built() {
    let Some(project) = project("senseless_flags_are_refused", Some(1050)) else { return };
    for (flags, told) in [
        (&["--id", "a--b"][..], "expected at most 50 letters"),
        (&["--allow", "200%"], "would allow anything"),
        (&["--in-memory"], "--in-memory"),
        (&["--base", "nope"], "no such revision"),
        (&["--head", "--all"], "unrecognised flag --all"),
        (&["--save", "/nowhere/x"], "/nowhere/x"),
    ] {
        let output = project.ci(flags);
        assert_ne!(output.status.code(), Some(0), "{flags:?}");
        assert!(output.stderr.contains(told), "{flags:?}: {}", output.stderr);
        assert!(!output.stderr.contains("building"), "{flags:?}: {}", output.stderr);
    }
}

#[test]
fn a_head_that_hangs_now_and_then_is_told() {
    let Some(project) = project("a_head_that_hangs_now_and_then_is_told", Some(1)) else { return };
    let count = project.env.work().join(".n");
    let program = format!(
        "#!/bin/sh\nn=$(cat {0} 2>/dev/null || echo 0); echo $((n + 1)) > {0}\n\
         [ $((n % 3)) = 2 ] && exec sleep 60; exit 0\n",
        count.display()
    );
    project.env.write("program", program);
    git(&project.env, &["commit", "-qam", "hangs"]);
    let words = ["ci", "--rounds", "6", "--timeout", "3s", "--build", BUILD, "--", "./app"];
    let output = project.env.run(words).exits_with(0);
    assert!(output.stdout.contains("runs were cut off at the timeout"), "{}", output.stdout);
    let talk = output.stdout + &output.stderr;
    assert!(!talk.contains("are the same, byte for byte"), "{talk}");
}
