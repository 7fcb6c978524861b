//! `becalm timeit`: real interpreters and compilers, with values so short that only their form can be looked at.

use std::path::Path;
use std::process::Command;

use becalm_testkit::{CommandOutput, TestEnv, skipped};
use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Measures, env, json, said, with};

/// A language, its program, and a statement that also prints, so that the values have to be told from that.
const LANGUAGES: [(&str, &str, &str, &str); 7] = [
    ("python", "python3", "x = 2", "print(x * 2, '{}')"),
    ("node", "node", "let x = 2", "console.log(x * 2); becalm_use(x)"),
    ("ruby", "ruby", "x = 2", "puts x * 2"),
    ("perl", "perl", "my $x = 2", "print $x * 2"),
    ("sh", "sh", "x=2", "echo $((x * 2))"),
    ("c", "cc", "#include <ctype.h>", "printf(\"%d\", tolower('A'))"),
    ("c++", "c++", "#include <string>", "becalm_use(std::string(\"a\").size()); puts(\"b\")"),
];

/// As little as can be measured.
const LITTLE: [&str; 8] = ["-p", "2", "-n", "2", "-w", "0", "--min-time", "200us"];

fn timeit(env: &TestEnv, arguments: &[&str]) -> CommandOutput {
    env.run(with("timeit", &[&LITTLE[..], arguments].concat()))
}

/// Says whether a program is where the commands of tests look for it; says so in the log if it is not.
fn is_there(program: &str, test: &str) -> bool {
    let is_there = ["/usr/local/bin", "/usr/bin", "/bin"]
        .iter()
        .any(|folder| Path::new(folder).join(program).exists());
    if !is_there {
        skipped(&format!("{test}: there is no {program}"));
    }
    is_there
}

/// Returns the program of Rust itself: what stands in the path may be one that looks for it at home.
fn rustc() -> Option<String> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let program = format!("{}/bin/rustc", String::from_utf8(output.stdout).ok()?.trim());
    Path::new(&program).exists().then_some(program)
}

/// Checks that a record holds one benchmark of this name, with as many runs and values as were asked for.
#[track_caller]
fn check_record(record: &Value, name: &str) {
    let metrics = record["metrics"].as_array().unwrap();
    let inside: Vec<&Value> = metrics.iter().filter(|one| one["benchmark"].is_string()).collect();
    assert_eq!(inside.len(), 1, "{metrics:?}");
    assert_eq!((&inside[0]["name"], &inside[0]["unit"]), (&name.into(), &"s".into()));
    for subject in record["subjects"].as_array().unwrap() {
        let runs: Vec<&Value> =
            subject["runs"].as_array().unwrap().iter().filter(|r| r["warmup"] != true).collect();
        assert_eq!(runs.len(), 2);
        for run in runs {
            let value = run["metrics"][name].as_f64().unwrap();
            assert!(value > 0.0 && value < 0.1, "{value}");
        }
    }
}

#[test]
fn every_language_that_is_there_gives_its_values_whatever_the_statement_prints() {
    for (language, program, setup, statement) in LANGUAGES {
        if is_there(program, "every_language_gives_its_values") {
            let env = env();
            let arguments = ["--lang", language, "-s", setup, "--json", statement];
            let output = timeit(&env, &arguments).exits_with(0);
            check_record(&json(&output.stdout), statement);
            assert_eq!(std::fs::read_dir(env.path().join("tmp")).unwrap().count(), 0, "{language}");
        }
    }
}

#[test]
fn rust_is_compiled_by_the_compiler_at_hand() {
    let Some(rustc) = rustc() else { return skipped("rust_is_compiled: there is no rustc") };
    let env = env();
    let measured = ["--interpreter", &rustc, "-s", "let x = 2u64;", "--global"];
    let code = ["fn twice(x: u64) -> u64 { println!(\"{x}\"); 2 * x }", "--json"];
    let statement = "becalm_use(twice(becalm_use(x)))";
    let output = timeit(&env, &[&measured[..], &code, &[statement]].concat()).exits_with(0);
    check_record(&json(&output.stdout), statement);
    let output = timeit(&env, &["--interpreter", &rustc, "let x: u8 = \"a\""]).exits_with(4);
    assert!(output.stderr.contains("let x: u8 = \"a\"\n"), "{}", output.stderr);
    assert!(output.stderr.contains("mismatched types"), "{}", output.stderr);
}

#[test]
fn a_mistake_is_told_by_the_language_itself_and_nothing_is_left() {
    for (language, program, _, _) in LANGUAGES {
        if is_there(program, "a_mistake_is_told_by_the_language_itself") {
            let env = env();
            let output = timeit(&env, &["--lang", language, "x )"]).exits_with(4);
            assert_eq!(output.stdout, "");
            let told = output.stderr.to_lowercase();
            let words = ["error", "unexpected", "expected"];
            assert!(words.iter().any(|word| told.contains(word)), "{language}: {told}");
            assert!(told.contains("hint: "), "{language}: {told}");
            assert_eq!(std::fs::read_dir(env.path().join("tmp")).unwrap().count(), 0, "{language}");
        }
    }
}

#[test]
fn what_python_refuses_is_shown_with_the_line_of_the_user() {
    if !is_there("python3", "what_python_refuses") {
        return;
    }
    let output = timeit(&env(), &["-s", "import math", "math.sqrt(1)", "nothing()"]).exits_with(4);
    assert!(output.stderr.contains("    nothing()\n"), "{}", output.stderr);
    assert!(output.stderr.contains("NameError"), "{}", output.stderr);
    assert!(!output.stderr.contains("worker.py"), "{}", output.stderr);
    let output = timeit(&env(), &["return"]).exits_with(4);
    assert!(output.stderr.contains("'return' outside function"), "{}", output.stderr);
}

#[test]
fn modules_and_headers_are_found_where_becalm_was_started() {
    let env = env();
    if is_there("python3", "modules_are_found") {
        env.write("mine.py", "def f(): pass");
        let _ = timeit(&env, &["-s", "import mine", "mine.f()"]).exits_with(0);
    }
    if is_there("cc", "headers_are_found") {
        env.write("mine.h", "static int f(void) { return 1; }");
        let arguments = ["--lang", "c", "-s", "#include \"mine.h\"", "becalm_use(f())"];
        let _ = timeit(&env, &arguments).exits_with(0);
    }
}

#[test]
fn a_missing_interpreter_is_named_with_the_package_that_has_it() {
    let output = timeit(&env(), &["--interpreter", "ruby-of-nowhere", "1"]).exits_with(4);
    assert_snapshot!(said(&output), @r"
    error: cannot find the program `ruby-of-nowhere` (searched in PATH=/usr/local/bin:/usr/bin:/bin)
    hint: on Debian and Ubuntu, install the package ruby; --interpreter or --compare-to names another interpreter
    ");
    let output = timeit(&env(), &["--lang", "c++", "--interpreter", "no-cc", "1"]).exits_with(4);
    assert_snapshot!(said(&output), @r"
    error: cannot start the compiler `no-cc`: No such file or directory (os error 2)
    hint: on Debian and Ubuntu, install the package g++; --interpreter or --compare-to names another compiler
    ");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_started() {
    let check = |arguments: &[&str], expected: &str| {
        let output = env().run([&["timeit"], arguments].concat()).exits_with(2);
        assert!(output.stderr.contains(expected), "{expected}: {}", output.stderr);
    };
    check(&["--flags=-O3", "1"], "--flags are for a compiler, and python has none");
    check(&["--global", "int x;", "1"], "--global is for C, C++ and Rust");
    check(&["--fast", "--rigorous", "1"], "--fast cannot be combined with --rigorous");
    check(&["-l", "2^40", "1"], "at most 2^32 loops");
    check(&["--duplicate", "0", "1"], "--duplicate takes a whole number from 1 to 10000, not `0`");
    check(&["-n", "0", "1"], "--values takes a whole number from 1 to 1000000, not `0`");
    check(&["--min-time", "0", "1"], "the time of a value must be above zero");
    check(&[" "], "the statement is empty");
    check(&["--lang", "cobol", "1"], "expected one of python, node, ruby, perl, sh, c, c++, rust");
    check(&["--name", "cycles", "1"], "`cycles` is the name of a metric of becalm");
    check(&["--interpreter", "./mine", "1"], "set the language with --lang");
    check(&[], "needs STMT");
}

#[test]
fn the_options_of_pyperf_mean_the_same() {
    if !is_there("perl", "the_options_of_pyperf") {
        return;
    }
    let env = env();
    let arguments = ["--lang", "perl", "-l", "2^10", "--inner-loops", "2", "--duplicate", "3"];
    let more = ["--name", "addition", "--export-json", "r.json", "1 + 1"];
    let output = timeit(&env, &[&arguments[..], &more].concat()).exits_with(0);
    let headline = output.stdout.split("\n\n").next().unwrap().replace(['\n', '\u{a0}'], " ");
    assert!(headline.starts_with("addition: "), "{headline}");
    assert!(headline.ends_with("median of 2 processes × 2 values of 2^10 loops"), "{headline}");
    let record = env.record("r.json");
    check_record(&record, "addition");
    let timing = &record["conditions"]["harness"][0];
    assert_eq!((&timing["language"], &timing["values"]), (&"perl".into(), &2.into()));
    assert_eq!((&timing["warmups"], &timing["operations"]), (&0.into(), &6.0.into()));
    let worker = &timing["workers"][0];
    assert!(worker["version"].as_str().unwrap().starts_with("Perl "), "{timing}");
    assert_eq!(worker["loops"], 1 << 10);
}

#[test]
fn another_interpreter_is_compared_with_in_rounds() {
    if !is_there("bash", "another_interpreter_is_compared_with") {
        return;
    }
    let env = env();
    let statement = ["--interpreter", "bash", "--compare-to", "sh", "--json", ": $((1 + 1))"];
    let output = timeit(&env, &statement);
    assert!([Some(0), Some(3)].contains(&output.status.code()), "{}", output.stderr);
    let record = json(&output.stdout);
    check_record(&record, ": $((1 + 1))");
    let comparison = &record["comparisons"][0];
    assert_eq!((&comparison["baseline"], &comparison["candidate"]), (&"sh".into(), &"bash".into()));
    assert_eq!(comparison["metric"], ": $((1 + 1))");
    let workers = &record["conditions"]["harness"][0]["workers"];
    assert_eq!(workers[0]["version"], "sh");
    assert!(workers[1]["version"].as_str().unwrap().starts_with("bash "), "{workers}");
}
