//! `becalm noise reproduce`: that every article runs here, with gaps that have a reason.

use becalm_model::wire::{ReproduceDocument, json_schema};

use crate::support::{Measures as _, SIGINT, catches, env, json, wait_until};

/// Repeats articles in the shortest form, without touching the machine.
fn reproduced(articles: &str) -> Vec<ReproduceDocument> {
    let output =
        env().run(["noise", "reproduce", articles, "--quick", "--no-tune", "--json"]).exits_with(0);
    let schema = json_schema("noise-reproduce").unwrap();
    let documents = output.stdout.lines().map(|line| {
        let document = json(line);
        jsonschema::validate(&schema, &document).unwrap_or_else(|error| panic!("{error}: {line}"));
        serde_json::from_value(document).unwrap()
    });
    documents.collect()
}

#[test]
fn every_row_of_every_article_was_measured_or_says_why_not() {
    let documents = reproduced("all");
    let names: Vec<&str> = documents.iter().map(|document| &*document.article.name).collect();
    assert_eq!(names, ["stinner", "gribov", "akkoyun", "twigslot", "alvarez"]);
    for document in &documents {
        assert!(document.quick);
        let article = &document.article.name;
        let rows = || document.experiments.iter().flat_map(|one| &one.rows);
        assert!(rows().any(|row| !row.here.is_empty()), "{article}: nothing was measured");
        for row in rows() {
            let why = row.left_out.as_deref().unwrap_or_default();
            assert_eq!(row.here.is_empty(), !why.is_empty(), "{article}: {row:?}");
        }
    }
}

#[test]
fn what_changes_the_machine_is_left_out_when_it_is_to_be_left_alone() {
    let documents = reproduced("stinner");
    let isolated = &documents[0].experiments[0].rows[0];
    assert_eq!(isolated.name, "isolated");
    assert!(isolated.left_out.is_some() && isolated.article["median"] > 0.0, "{isolated:?}");
}

#[test]
fn the_text_has_both_sides_and_the_reasons() {
    let env = env();
    let command = ["noise", "reproduce", "alvarez", "alvarez", "--quick", "--no-tune"];
    let files = ["--export-html", "r.html", "--export-markdown", "r.md"];
    let output = env.run([&command[..], &files[..]].concat()).exits_with(0);
    assert!(env.read("r.md").contains("| untuned | article |"), "{}", env.read("r.md"));
    assert!(env.read("r.html").contains("Skipped here:"), "{}", env.read("r.html"));
    let text = &output.stdout;
    for part in ["Tuning a Server for Benchmarking", "99.6 µs", "2.72 %", "here", "Skipped here:"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Each article is a part of one report.
    for text in [text, &env.read("r.html"), &env.read("r.md")] {
        assert_eq!(text.matches("AMD Ryzen 7 PRO 8700GE").count(), 2, "{text}");
    }
}

#[test]
fn an_unknown_article_is_answered_with_those_there_are() {
    let output = env().run(["noise", "reproduce", "nobody"]).exits_with(2);
    assert!(output.stderr.contains("akkoyun"), "{}", output.stderr);
}

#[test]
fn a_signal_leaves_what_was_measured_until_then() {
    let arguments = ["noise", "reproduce", "stinner", "--no-tune", "--json"];
    let env = env();
    let mut command = env.command(arguments);
    let child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("its handler", || catches(child.id(), SIGINT));
    crate::support::send("INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("Stopped; the machine is as it was."), "{said}");
    let document: ReproduceDocument = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document.interrupted.as_deref(), Some("stopped by signal 2"));
    for row in document.experiments.iter().flat_map(|experiment| &experiment.rows) {
        assert_eq!(row.here.is_empty(), row.left_out.is_some(), "{row:?}");
    }
}
