//! Harnesses that are really there, where they are installed: what becalm tells them they take, and what they
//! leave is read. How long anything takes is never looked at.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use becalm_testkit::{TestEnv, skipped};

use crate::support::{Measures, env};

/// Runs a program twice with `--harness auto` and returns the harness that it was taken for, and the benchmarks of
/// which both runs have a time above zero.
#[track_caller]
fn read_from(env: &TestEnv, flags: &[&str], command: &[&str]) -> (String, BTreeSet<String>) {
    let brief = ["--harness", "auto", "--harness-time", "2ms", "--warmup", "0", "--rounds", "2"];
    let saved = ["--export-json", "r.json", "--"];
    let _ = env.measure(&[&brief, flags, &saved, command].concat()).exits_with(0);
    let record = env.record("r.json");
    let name = record["conditions"]["harness"][0]["name"].as_str().unwrap().to_owned();
    let runs = record["subjects"][0]["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    let benchmarks = record["metrics"].as_array().unwrap().iter();
    let timed = benchmarks
        .filter(|metric| metric["benchmark"] == metric["name"] && metric["unit"] == "s")
        .map(|metric| metric["name"].as_str().unwrap().to_owned())
        .filter(|name| runs.iter().all(|run| run["metrics"][name].as_f64().unwrap() > 0.0))
        .collect();
    (name, timed)
}

#[track_caller]
fn check(found: &(String, BTreeSet<String>), harness: &str, benchmarks: &[&str]) {
    let benchmarks = benchmarks.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(*found, (harness.to_owned(), benchmarks));
}

/// Runs a program in the working folder with the environment of the tests, and says whether it went well.
fn does(env: &TestEnv, words: &[&str]) -> bool {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(env.work()).stdin(Stdio::null()).stderr(Stdio::null());
    command.stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Returns the path of the interpreter that has this module.
pub(crate) fn python_with(module: &str) -> Option<String> {
    let ask = format!("import {module}, sys; print(sys.executable)");
    let output = Command::new("python3").args(["-c", &ask]).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    Path::new(&path).is_file().then_some(path)
}

#[test]
fn go() {
    let env = env();
    if !does(&env, &["go", "version"]) {
        return skipped("real_harnesses::go: go is not installed");
    }
    env.write("go.mod", "module example.com/work\n\ngo 1.18\n");
    let text = "package work\n\nimport \"testing\"\n\nvar sink int\n\n\
                func work(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tsink += i\n\t}\n}\n\n\
                func BenchmarkOne(b *testing.B) { work(b) }\nfunc BenchmarkTwo(b *testing.B) { work(b) }\n";
    env.write("work_test.go", text);
    assert!(does(&env, &["go", "test", "-c", "-o", "bench", "."]));
    check(&read_from(&env, &[], &["./bench"]), "go", &["BenchmarkOne", "BenchmarkTwo"]);
    let filtered = read_from(&env, &["--filter", "Two"], &["./bench"]);
    check(&filtered, "go", &["BenchmarkTwo"]);
}

#[test]
fn google_benchmark() {
    let env = env();
    let text = "#include <benchmark/benchmark.h>\n\
                static void one(benchmark::State& s) { int x = 0; for (auto _ : s) benchmark::DoNotOptimize(++x); }\n\
                BENCHMARK(one);\nBENCHMARK(one)->Name(\"two\");\nBENCHMARK_MAIN();\n";
    env.write("bench.cpp", text);
    if !does(&env, &["g++", "bench.cpp", "-lbenchmark", "-lpthread", "-o", "bench"]) {
        return skipped("real_harnesses::google_benchmark: no C++ compiler with libbenchmark");
    }
    check(&read_from(&env, &[], &["./bench"]), "google-benchmark", &["one", "two"]);
    check(&read_from(&env, &["--filter", "two"], &["./bench"]), "google-benchmark", &["two"]);
}

#[test]
fn pyperf() {
    let env = env();
    let Some(python) = python_with("pyperf") else {
        return skipped("real_harnesses::pyperf: python3 has no pyperf");
    };
    env.write("bench.py", "import pyperf\npyperf.Runner().bench_func('one', sum, range(100))\n");
    check(&read_from(&env, &[], &[&python, "bench.py"]), "pyperf", &["one"]);
}

#[test]
fn pytest_benchmark() {
    let env = env();
    let Some(python) = python_with("pytest_benchmark") else {
        return skipped("real_harnesses::pytest_benchmark: python3 has no pytest-benchmark");
    };
    let text = "def test_one(benchmark):\n    benchmark(sum, range(100))\n\n\
                def test_two(benchmark):\n    benchmark(sum, range(200))\n";
    env.write("test_work.py", text);
    let command = [&python, "-m", "pytest", "test_work.py"];
    let both = ["test_work.py::test_one", "test_work.py::test_two"];
    check(&read_from(&env, &[], &command), "pytest-benchmark", &both);
    check(&read_from(&env, &["--filter", "two"], &command), "pytest-benchmark", &both[1..]);
}

#[test]
fn hyperfine() {
    let env = env();
    // The path of the tests need not be the one that becalm is given.
    let place = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path).map(|one| one.join("hyperfine")).find(|one| one.is_file())
    });
    let Some(hyperfine) = place else {
        return skipped("real_harnesses::hyperfine: hyperfine is not installed");
    };
    let command = [hyperfine.to_str().unwrap(), "-N", "-n", "one", "true", "-n", "two", "sleep 0"];
    check(&read_from(&env, &[], &command), "hyperfine", &["one", "two"]);
}

#[test]
fn a_harness_that_fails_is_told_with_what_it_was_told() {
    let env = env();
    env.script("bench", "exit 3");
    let output = env.measure(&["--harness", "google-benchmark", "--", "./bench"]).exits_with(4);
    assert!(
        output.stderr.contains(
            "to see its output, run it without becalm, with the same additions: google-benchmark with"
        ),
        "{}",
        output.stderr
    );
}
