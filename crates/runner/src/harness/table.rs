//! The harnesses: one entry each, with what is particular about it.
//!
//! Each is asked for a few short samples and not for one long one, where it can be: what stands for the
//! process is their median, which a single interruption does not move. `docs/HARNESSES.md` has the versions
//! that were tried.

use std::path::Path;

use super::words::{Invocation, with_flags};

/// What a run of a harness is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// How long each benchmark may be timed in one process, in seconds, where the harness can be told; what it
    /// does beside, to warm up and to find out how often to call, is about as much again.
    pub time: f64,
    /// Which benchmarks to run, in the harness's own way of writing it.
    pub filter: Option<&'a str>,
    /// Where the results go, see [`Harness::place`].
    pub results: &'a Path,
    /// Where the command starts.
    pub folder: &'a Path,
}

/// Where a harness leaves its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultsPlace {
    /// It prints them.
    Output,
    /// It writes one file, of this name.
    File(&'static str),
    /// It writes a folder with files of these endings.
    Folder(&'static [&'static str]),
}

/// One harness that becalm can drive.
#[derive(Debug, Clone, Copy)]
pub struct Harness {
    /// Its name on the command line.
    pub name: &'static str,
    /// The format of its results, as `becalm import --format` has it; `None` where it is found out.
    pub format: Option<&'static str>,
    /// Where they are.
    pub place: ResultsPlace,
    /// Whether it can be told which benchmarks to run.
    pub filters: bool,
    /// Builds the command line.
    pub invoke: fn(&[String], &Terms<'_>) -> Invocation,
}

/// Samples that are asked of a harness that would else give one value: the fewest whose median leaves one out.
const SAMPLES: f64 = 3.0;

/// Returns the harness of this name.
pub fn harness(name: &str) -> Option<&'static Harness> {
    HARNESSES.iter().find(|harness| harness.name == name)
}

/// All harnesses, in alphabetical order.
pub const HARNESSES: &[Harness] = &[
    // With `--python=same` it measures what is installed, and stores nothing.
    Harness {
        name: "asv",
        format: Some("asv-console"),
        place: ResultsPlace::Output,
        filters: true,
        invoke: |command, terms| {
            let mut early = flags(&["--python=same"]);
            early.extend(terms.filter.map(|filter| format!("--bench={filter}")));
            let time = seconds(terms.time / SAMPLES);
            let attributes = [
                "processes=1".to_owned(),
                "rounds=1".to_owned(),
                format!("repeat={SAMPLES}"),
                format!("warmup_time={}", seconds(terms.time / 2.0)),
                format!("sample_time={time}"),
            ];
            let late: Vec<String> =
                attributes.into_iter().map(|value| format!("--attribute={value}")).collect();
            plain(command, &early, &late)
        },
    },
    Harness {
        name: "benchmarkdotnet",
        format: Some("benchmarkdotnet"),
        place: ResultsPlace::Folder(&["-report-full.json"]),
        filters: true,
        invoke: |command, terms| {
            let mut early =
                flags(&["--launchCount", "1", "--warmupCount", "3", "--iterationCount", "5"]);
            early.extend(["--filter".to_owned(), terms.filter.unwrap_or("*").to_owned()]);
            let late = ["--exporters", "fulljson", "--artifacts", &path(terms)].map(str::to_owned);
            plain(command, &early, &late)
        },
    },
    // Takes no time for a benchmark, only a number of samples, each as long as the clock needs, and prints their
    // mean and not them. The time to warm up goes to calls of the clock, and again to find out how often to call.
    // Each process spends about a second to learn about the clock. Versions 2 and 3 take the same flags.
    Harness {
        name: "catch2",
        format: Some("catch2-xml"),
        place: ResultsPlace::File("catch2.xml"),
        filters: true,
        invoke: |command, terms| {
            let early = [
                "--benchmark-samples".to_owned(),
                "50".to_owned(),
                "--benchmark-resamples".to_owned(),
                "100".to_owned(),
                "--benchmark-warmup-time".to_owned(),
                format!("{:.0}", (terms.time * 500.0).max(1.0)),
            ];
            let mut late = flags(&["--reporter", "xml", "--out", &path(terms)]);
            late.extend(terms.filter.map(str::to_owned));
            plain(command, &early, &late)
        },
    },
    // It takes no fewer samples than 10. Without `--bench` it makes each benchmark once, as a test. Cargo tells
    // it where `target` is by a variable that CRITERION_HOME overrides.
    Harness {
        name: "criterion",
        format: Some("criterion"),
        place: ResultsPlace::Folder(&[".json"]),
        filters: true,
        invoke: |command, terms| {
            let (time, warm_up) = if super::criterion::takes_whole_seconds(terms.folder) {
                let whole = |time: f64| time.ceil().max(1.0);
                (whole(terms.time), whole(terms.time / 2.0))
            } else {
                let time = terms.time.max(0.01);
                (time, time / 2.0)
            };
            let mut early =
                flags(&["--bench", "--noplot", "--sample-size", "10", "--nresamples", "100"]);
            early.extend(["--measurement-time".to_owned(), time.to_string()]);
            early.extend(["--warm-up-time".to_owned(), seconds(warm_up)]);
            let late: Vec<String> = terms.filter.map(str::to_owned).into_iter().collect();
            let environment = vec![("CRITERION_HOME".to_owned(), path(terms))];
            Invocation { environment, ..plain(command, &early, &late) }
        },
    },
    Harness {
        name: "custom",
        format: None,
        place: ResultsPlace::Output,
        filters: false,
        invoke: |command, _| plain(command, &[], &[]),
    },
    // A sample is only as long as its clock needs, and of those it takes 100 by itself, which for short functions
    // is a millisecond in all.
    Harness {
        name: "divan",
        format: Some("divan"),
        place: ResultsPlace::Output,
        filters: true,
        invoke: |command, terms| {
            let mut early = flags(&["--bench", "--sample-count", "1000", "--max-time"]);
            early.push(seconds(terms.time));
            let late: Vec<String> = terms.filter.map(str::to_owned).into_iter().collect();
            plain(command, &early, &late)
        },
    },
    // Finds the number of calls again for each of `count`, which costs about half as much as is timed. With
    // several packages `go test` runs each one's tests in a process of its own, one after the other because of
    // `-bench`.
    Harness {
        name: "go",
        format: Some("go-bench"),
        place: ResultsPlace::Output,
        filters: true,
        invoke: |command, terms| {
            // A compiled test takes the same flags with a prefix.
            let prefix = if super::words::is(command, 0, "go") { "-" } else { "-test." };
            let early = [
                format!("{prefix}run=^$"),
                format!("{prefix}bench={}", terms.filter.unwrap_or(".")),
                format!("{prefix}benchtime={}s", seconds(terms.time / SAMPLES)),
                format!("{prefix}count={SAMPLES}"),
            ];
            plain(command, &early, &[])
        },
    },
    // The number of calls is found once and kept for all repetitions. A benchmark that sets its own MinTime or
    // Repetitions keeps them.
    Harness {
        name: "google-benchmark",
        format: Some("google-benchmark"),
        place: ResultsPlace::File("google-benchmark.json"),
        filters: true,
        invoke: |command, terms| {
            // Without a suffix every version takes it, from 1.8 on with a warning that nobody sees.
            let mut early = vec![format!("--benchmark_min_time={}", seconds(terms.time / SAMPLES))];
            early.push(format!("--benchmark_repetitions={SAMPLES}"));
            early.extend(terms.filter.map(|filter| format!("--benchmark_filter={filter}")));
            let late = [
                format!("--benchmark_out={}", path(terms)),
                "--benchmark_out_format=json".to_owned(),
            ];
            plain(command, &early, &late)
        },
    },
    // Its commands are the benchmarks; those of two subjects are matched by name, which `-n` gives.
    Harness {
        name: "hyperfine",
        format: Some("hyperfine"),
        place: ResultsPlace::File("hyperfine.json"),
        filters: false,
        invoke: |command, terms| {
            plain(command, &flags(&["--runs", "3"]), &flags(&["--export-json", &path(terms)]))
        },
    },
    // Every benchmark gets a JVM of its own, which takes half a second to start. Five iterations of the time
    // are given to the compiler before five are timed: code that warms up slowly needs flags of the user. By
    // itself JMH goes on after a benchmark that failed.
    Harness {
        name: "jmh",
        format: Some("jmh"),
        place: ResultsPlace::File("jmh.json"),
        filters: true,
        invoke: |command, terms| {
            let time = format!("{:.0}ms", (terms.time * 1e3).max(1.0));
            let early = flags(&[
                "-f", "1", "-wi", "5", "-w", &time, "-i", "5", "-r", &time, "-foe", "true",
            ]);
            let mut late = flags(&["-rf", "json", "-rff", &path(terms)]);
            late.extend(terms.filter.map(str::to_owned));
            plain(command, &early, &late)
        },
    },
    Harness {
        name: "libtest",
        format: Some("libtest-bench"),
        place: ResultsPlace::Output,
        filters: true,
        invoke: |command, terms| {
            let late: Vec<String> = terms.filter.map(str::to_owned).into_iter().collect();
            plain(command, &flags(&["--bench"]), &late)
        },
    },
    Harness {
        name: "nanobench",
        format: Some("nanobench"),
        place: ResultsPlace::Output,
        filters: false,
        invoke: |command, _| plain(command, &[], &[]),
    },
    // It starts two processes for each benchmark, one of them only to find the number of calls, about half a
    // second together. A user who gives `--worker --loops=N` has all benchmarks in one process.
    Harness {
        name: "pyperf",
        format: Some("pyperf"),
        place: ResultsPlace::File("pyperf.json"),
        filters: false,
        invoke: |command, terms| {
            let time = format!("--min-time={}", seconds(terms.time / 4.0));
            let early = flags(&["--processes=1", "--values=3", "--warmups=1", &time, "--quiet"]);
            // pyperf refuses a file that is there; the folder is emptied before each run.
            plain(command, &early, &flags(&["--output", &path(terms)]))
        },
    },
    // Names begin with the path from pytest's root, so that the same tests in two folders are told apart unless
    // `--rootdir` says which is which.
    Harness {
        name: "pytest-benchmark",
        format: Some("pytest-benchmark"),
        place: ResultsPlace::File("pytest-benchmark.json"),
        filters: true,
        invoke: |command, terms| {
            // Many projects keep benchmarks out of their tests by a setting.
            let mut early =
                flags(&["--benchmark-enable", "--benchmark-only", "--benchmark-min-rounds=5"]);
            early.push(format!("--benchmark-max-time={}", terms.time));
            early.extend(
                terms.filter.into_iter().flat_map(|filter| ["-k", filter]).map(str::to_owned),
            );
            plain(command, &early, &[format!("--benchmark-json={}", path(terms))])
        },
    },
    // A library without a command line: the script prints the tasks as JSON or, as most do, in the library's table, and
    // says itself how long.
    Harness {
        name: "tinybench",
        format: None,
        place: ResultsPlace::Output,
        filters: false,
        invoke: |command, _| plain(command, &[], &[]),
    },
    // How long is said in the benchmark or the configuration only; without, it is 500 ms and as much as half
    // of it again to warm up.
    Harness {
        name: "vitest",
        format: Some("vitest"),
        place: ResultsPlace::File("vitest.json"),
        filters: true,
        invoke: |command, terms| {
            let mut early = flags(&["--run"]);
            early.extend(
                terms.filter.into_iter().flat_map(|filter| ["-t", filter]).map(str::to_owned),
            );
            let late = if super::vitest::reports(command, terms.folder) {
                flags(&["--reporter=json", &format!("--outputFile={}", path(terms))])
            } else {
                flags(&["--outputJson", &path(terms)])
            };
            plain(command, &early, &late)
        },
    },
];

fn flags(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Writes seconds without an exponent and with no more digits than a microsecond needs.
fn seconds(time: f64) -> String {
    ((time * 1e6).round().max(1.0) / 1e6).to_string()
}

fn path(terms: &Terms<'_>) -> String {
    terms.results.display().to_string()
}

fn plain(command: &[String], early: &[String], late: &[String]) -> Invocation {
    Invocation { words: with_flags(command, early, late), environment: Vec::new() }
}
