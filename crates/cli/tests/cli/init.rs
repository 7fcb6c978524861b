//! `becalm init`: from a repository to a suite that can be measured.

use becalm_testkit::TestEnv;
use insta::assert_snapshot;

use crate::support::{Measures, env, said};

/// Makes a small repository.
fn repository(files: &[(&str, &str)]) -> TestEnv {
    let env = env();
    for (path, text) in files {
        let path = env.work().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    env
}

/// Returns the tables of the suite that is written for a repository, and what is said meanwhile. The suite
/// can be read again, which listing it shows.
fn written(files: &[(&str, &str)]) -> (String, String) {
    let env = repository(files);
    let output = env.run(["init"]).exits_with(0);
    let _ = env.run(["run", "--suite", "--list"]).exits_with(0);
    let text = env.read("becalm.toml");
    let tables = text.find("\n[benchmark.").map_or("", |at| &text[at + 1..]);
    (tables.to_owned(), output.stderr)
}

#[test]
fn cargo_benches() {
    let (tables, said) = written(&[
        (
            "Cargo.toml",
            "[package]\nname = 'sorter'\n[[bench]]\nname = 'sort'\nharness = false\n[dev-dependencies]\ncriterion = '0.5'\n",
        ),
        (
            "benches/sort.rs",
            "use criterion::{criterion_group, criterion_main};\ncriterion_main!(b);",
        ),
        ("benches/by_hand.rs", "fn main() {}"),
        ("target/package/x/Cargo.toml", "[package]\nname = 'copy'\n[[bench]]\nname = 'copy'\n"),
    ]);
    assert_snapshot!(tables, @r#"
    [benchmark.sort]
    command = ["cargo", "bench", "--quiet", "--bench", "sort"]
    harness = "criterion"
    setup = "cargo bench --quiet --bench sort --no-run"
    tags = ["cargo"]

    # Cargo target of Cargo.toml
    # its harness is unknown: name it, or the measurement includes the start of cargo
    [benchmark.by_hand]
    command = ["cargo", "bench", "--quiet", "--bench", "by_hand"]
    setup = "cargo bench --quiet --bench by_hand --no-run"
    tags = ["cargo"]
    "#);
    assert_snapshot!(said, @r"
    found sort (criterion): cargo bench --quiet --bench sort
    found by_hand: cargo bench --quiet --bench by_hand
    note: the harness of the bench target `by_hand` of Cargo.toml is unknown, so it is timed from outside, including the start of cargo
    wrote becalm.toml; `becalm run --suite` measures it
    ");
}

#[test]
fn go_benches() {
    let (tables, _) = written(&[
        ("go.mod", "module example.org/x\n"),
        ("list/list_test.go", "package list\n\nfunc BenchmarkPush(b *testing.B) {}\n"),
        ("list/other_test.go", "package list\n\nfunc TestPush(t *testing.T) {}\n"),
    ]);
    assert_snapshot!(tables, @r#"
    [benchmark.list]
    command = ["go", "test", "./list"]
    harness = "go"
    setup = "go test -run '^$' ./list"
    tags = ["go"]
    "#);
}

#[test]
fn pytest_benches() {
    let (tables, _) = written(&[
        ("requirements-dev.txt", "pytest\npytest-benchmark\n"),
        ("tests/test_speed.py", "def test_sum(benchmark):\n    benchmark(sum, [1])\n"),
        ("tests/test_right.py", "def test_sum():\n    pass\n"),
    ]);
    assert_snapshot!(tables, @r#"
    [benchmark.speed]
    command = ["python3", "-m", "pytest", "tests/test_speed.py"]
    harness = "pytest-benchmark"
    tags = ["pytest"]
    "#);
}

#[test]
fn cmake_benches() {
    let (tables, _) = written(&[(
        "CMakeLists.txt",
        "find_package(benchmark REQUIRED)\nadd_executable(vector_bench v.cc)\n\
         target_link_libraries(vector_bench benchmark::benchmark)\nadd_executable(app app.cc)\n",
    )]);
    assert_snapshot!(tables, @r#"
    [benchmark.vector_bench]
    command = ["./build/vector_bench"]
    harness = "google-benchmark"
    setup = "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build --target vector_bench"
    tags = ["cmake"]
    "#);
}

#[test]
fn npm_benches() {
    let (tables, said) = written(&[(
        "package.json",
        r#"{"scripts": {"bench": "vitest bench", "bench:io": "node io.js", "build": "tsc"}}"#,
    )]);
    assert_snapshot!(tables, @r#"
    [benchmark.bench]
    command = ["npx", "vitest", "bench"]
    harness = "vitest"
    setup = "{ test -d node_modules || npm install; }"
    tags = ["npm"]

    # script `bench:io` of package.json: node io.js
    # timed from outside, including the start of npm; `harness = "tinybench"` reads its tables
    [benchmark.bench-io]
    command = ["npm", "run", "--silent", "bench:io"]
    setup = "{ test -d node_modules || npm install; }"
    tags = ["npm"]
    "#);
    assert!(
        said.contains("the output format of the script `bench:io` of package.json is unknown"),
        "{said}"
    );
}

#[test]
fn where_nothing_is_found_an_example_is_written() {
    let env = repository(&[("README", "")]);
    let output = env.run(["init"]).exits_with(0);
    assert_snapshot!(said(&output), @"wrote becalm.toml with an example only, because no benchmark was found here: name your program in it, then `becalm run --suite` measures it");
    assert!(env.read("becalm.toml").contains("# [benchmark.sort]"));
    let output = env.measure(&["--suite"]).exits_with(2);
    assert!(said(&output).contains("the suite has no benchmark"));
}

#[test]
fn a_file_that_is_there_is_replaced_only_when_asked() {
    let env =
        repository(&[("becalm.toml", "mine"), ("package.json", r#"{"scripts": {"bench": "x"}}"#)]);
    let output = env.run(["init"]).exits_with(2);
    assert_snapshot!(said(&output), @r"
    error: becalm.toml already exists
    hint: --force replaces it; --stdout prints the new one without writing it
    ");
    let printed = env.run(["init", "--stdout"]).exits_with(0).stdout;
    assert_eq!(env.read("becalm.toml"), "mine");
    let _ = env.run(["init", "--force"]).exits_with(0);
    assert_eq!(env.read("becalm.toml"), printed);
    let _ = env.run(["init", "no-such-folder"]).exits_with(2);
}

#[test]
fn damaged_files_are_named_and_stop_nothing() {
    let env = repository(&[
        ("Cargo.toml", "[package\n"),
        ("package.json", "{"),
        ("web/package.json", r#"{"scripts": {"bench": "vitest bench", "bench_\"\\\n": "x"}}"#),
    ]);
    let output = env.run(["init"]).exits_with(0);
    assert!(output.stderr.contains("Cargo.toml is not valid TOML"), "{}", output.stderr);
    assert!(output.stderr.contains("package.json is not valid JSON"), "{}", output.stderr);
    let _ = env.run(["run", "--suite", "--list"]).exits_with(0);
}
