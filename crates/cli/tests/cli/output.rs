//! Where output goes and what it looks like: data, talk, colour, width, JSON.

use std::process::Stdio;

use becalm_testkit::{CommandOutput, TestEnv};
use serde_json::Value;

use crate::support::{Measures, T, env, json, prints, with};

#[test]
fn no_file_is_made_whose_name_means_standard_input() {
    let env = env();
    for flag in ["--export-json", "--export-html", "--export-markdown"] {
        let output = env.measure(&["--rounds", "1", flag, "-", "--", "true"]).exits_with(2);
        assert!(
            output.stderr.contains("`-` (standard output) is not supported here; give a file"),
            "{}",
            output.stderr
        );
        assert!(output.stderr.contains("--json prints"), "{}", output.stderr);
    }
    assert!(!env.work().join("-").exists());
}

#[test]
fn json_has_the_promised_fields_and_follows_the_schema() {
    let env = env();
    let schema = json(&env.run(["schema"]).exits_with(0).stdout);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let check = |text: &str| {
        let document = json(text);
        let errors: Vec<String> = validator.iter_errors(&document).map(|e| e.to_string()).collect();
        assert_eq!(errors, [""; 0]);
        document
    };
    let output = env.compare(&["--rounds", "8", "--json", "true", "sleep 0.5"]).exits_with(0);
    let document = check(&output.stdout);
    assert_eq!(document["schema"], "becalm/comparison/2");
    let comparison = &document["comparisons"][0];
    for field in ["ratio", "ratio_low", "ratio_high", "noise_floor"] {
        assert!(comparison[field].is_f64(), "{field}: {comparison}");
    }
    for (field, value) in [
        ("baseline", "true"),
        ("candidate", "sleep 0.5"),
        ("metric", "wall_time"),
        ("unit", "s"),
        ("verdict", "slower"),
    ] {
        assert_eq!(comparison[field], value, "{document:#}");
    }
    assert_eq!((&comparison["rounds"], &comparison["discarded_rounds"]), (&8.into(), &0.into()));
    assert_eq!((&document["confidence"], &document["margin"]), (&0.95.into(), &0.01.into()));
    assert!(document["machine"].is_object());
    let subject = &document["subjects"][0];
    assert_eq!(subject["command"], Value::from(vec!["true"]));
    let run = &subject["runs"][1];
    assert!(run["round"].is_u64() && run["order"].is_u64() && run["wall_time"].is_f64(), "{run}");

    let output = env.measure(&["--rounds", "3", "--json", "--", "true"]).exits_with(0);
    assert_eq!(check(&output.stdout)["schema"], "becalm/run/2");
    // A session that failed and a log are documents like any other.
    let fails = env.measure(&["--rounds", "3", "--json", "--", "false"]).exits_with(4);
    let _ = check(&fails.stdout);
    // Exact values without a finite ratio are no exception.
    let (a, b) = (prints("0"), prints("5"));
    let output = env.compare(&["--rounds", "6", "--metric", T, "--json", &a, &b]).exits_with(0);
    assert_eq!(check(&output.stdout)["comparisons"][0]["verdict"], "slower");
}

#[test]
fn data_goes_to_stdout_and_talk_to_stderr() {
    let env = env();
    let output = env.compare(&["--rounds", "3", "--json", "true", "true"]).exits_with(3);
    let _ = json(&output.stdout);
    assert!(output.stderr.contains("note: ") && output.stderr.contains("warning: "));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let env = env();
    let mut command = env.command(with("run", &["--rounds", "3", "--", "true"]));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), vec![]));
}

#[test]
fn a_full_stdout_is_an_error() {
    let env = env();
    let mut command = env.command(with("run", &["--rounds", "3", "--", "true"]));
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = command.stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.starts_with("error: cannot write to standard output: No space left"), "{said}");
}

/// A comparison with a sure end.
fn difference(env: &TestEnv) -> CommandOutput {
    env.compare(&["--rounds", "6", "--metric", T, &prints("4"), &prints("5")]).exits_with(0)
}

#[test]
fn lines_keep_to_the_width_and_nothing_is_coloured_in_a_pipe() {
    for width in [40, 60, 80, 100] {
        let env = env().variable("COLUMNS", &width.to_string()).variable("NO_COLOR", "");
        let output = difference(&env);
        assert!(!output.stdout.contains('\u{1b}'), "{}", output.stdout);
        for line in output.stdout.lines().filter(|line| line.chars().count() > width) {
            // A path or a name is not torn apart.
            assert!(!line.trim().contains(' '), "{width}: {line}");
        }
    }
    for width in ["0", "1", "x", "-5", "99999999999999999999"] {
        let env = env().variable("COLUMNS", width);
        let output = difference(&env);
        let widest = output.stdout.lines().map(|line| line.chars().count()).max();
        assert!(width != "0" || widest > Some(60), "0 is no width: {}", output.stdout);
    }
}

#[test]
fn a_locale_without_unicode_gets_plain_characters() {
    let env = env().variable("LC_ALL", "C");
    let output = difference(&env);
    let odd: Vec<char> =
        output.stdout.chars().filter(|c| !c.is_ascii() && *c != '\u{a0}').collect();
    assert_eq!(odd, [], "{}", output.stdout);
}

#[test]
fn help_names_every_command_and_the_exit_codes() {
    let output = env().run(["--help"]).exits_with(0);
    for word in ["compare", "run", "demo", "stats", "hist", "show", "plot", "diff", "Exit codes:"] {
        assert!(output.stdout.contains(word), "{word}");
    }
    for command in ["compare", "run", "show", "diff", "plot", "hist", "stats"] {
        let output = env().run([command, "--help"]).exits_with(0);
        assert!(output.stderr.is_empty() && output.stdout.contains("Usage: becalm"));
    }
    let _ = env().run::<&str>([]).exits_with(0);
    let _ = env().run(["no-such-command"]).exits_with(2);
}

#[test]
fn the_demo_fails_early_where_its_report_cannot_be_written() {
    let output = env().run(["demo", "--output", "absent/report.html"]).exits_with(2);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.starts_with("error: cannot write absent/report.html"), "{output:?}");
}

#[test]
fn completions_and_workloads_are_there() {
    for shell in ["bash", "zsh", "fish"] {
        let output = env().run(["completions", shell]).exits_with(0);
        assert!(output.stdout.contains("BECALM_COMPLETE"), "{shell}");
    }
    for workload in ["compute", "array-sum", "mixed"] {
        let _ = env().run(["workload", workload, "--amount", "1"]).exits_with(0);
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    for flag in ["--version", "-V"] {
        let output = env().run([flag]).exits_with(0);
        assert_eq!(output.stdout, concat!("becalm ", env!("CARGO_PKG_VERSION"), "\n"));
    }
}
