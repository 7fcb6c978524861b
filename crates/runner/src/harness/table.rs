//! The harnesses: one entry each.

use std::path::Path;

use super::words::{Invocation, with_flags};

/// What a run of a harness is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// How long each benchmark may be timed in one process, in seconds, where the harness can be told.
    pub time: f64,
    /// Which benchmarks to run, in the harness's own way of writing it.
    pub filter: Option<&'a str>,
    /// Where the results go, see [`Harness::place`].
    pub results: &'a Path,
}

/// Where a harness leaves its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
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
    pub place: Place,
    /// Whether it can be told which benchmarks to run.
    pub filters: bool,
    /// Builds the command line.
    pub invoke: fn(&[String], &Terms<'_>) -> Invocation,
}

/// Returns the harness of this name.
pub fn harness(name: &str) -> Option<&'static Harness> {
    HARNESSES.iter().find(|harness| harness.name == name)
}

/// All harnesses, in alphabetical order.
pub const HARNESSES: &[Harness] = &[
    Harness {
        name: "benchmarkdotnet",
        format: Some("benchmarkdotnet"),
        place: Place::Folder(&["-report-full.json"]),
        filters: true,
        invoke: |command, terms| {
            let mut early =
                flags(&["--launchCount", "1", "--warmupCount", "3", "--iterationCount", "5"]);
            early.extend(["--filter".to_owned(), terms.filter.unwrap_or("*").to_owned()]);
            let late = ["--exporters", "fulljson", "--artifacts", &path(terms)].map(str::to_owned);
            plain(command, &early, &late)
        },
    },
    Harness {
        name: "catch2",
        format: Some("catch2-xml"),
        place: Place::File("catch2.xml"),
        filters: true,
        invoke: |command, terms| {
            let early = [
                "--benchmark-samples".to_owned(),
                "20".to_owned(),
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
    Harness {
        name: "criterion",
        format: Some("criterion"),
        place: Place::Folder(&[".json"]),
        filters: true,
        invoke: |command, terms| {
            let time = terms.time.max(0.01);
            let mut early =
                flags(&["--bench", "--noplot", "--sample-size", "10", "--nresamples", "100"]);
            early.extend(["--measurement-time".to_owned(), time.to_string()]);
            early.extend(["--warm-up-time".to_owned(), (time / 2.0).to_string()]);
            let late: Vec<String> = terms.filter.map(str::to_owned).into_iter().collect();
            let environment = vec![("CRITERION_HOME".to_owned(), path(terms))];
            Invocation { environment, ..plain(command, &early, &late) }
        },
    },
    Harness {
        name: "custom",
        format: None,
        place: Place::Output,
        filters: false,
        invoke: |command, _| plain(command, &[], &[]),
    },
    Harness {
        name: "divan",
        format: Some("divan"),
        place: Place::Output,
        filters: true,
        invoke: |command, terms| {
            let early = ["--bench".to_owned(), "--max-time".to_owned(), terms.time.to_string()];
            let late: Vec<String> = terms.filter.map(str::to_owned).into_iter().collect();
            plain(command, &early, &late)
        },
    },
    Harness {
        name: "go",
        format: Some("go-bench"),
        place: Place::Output,
        filters: true,
        invoke: |command, terms| {
            // A compiled test takes the same flags with a prefix.
            let prefix = if super::words::is(command, 0, "go") { "-" } else { "-test." };
            let early = [
                format!("{prefix}run=^$"),
                format!("{prefix}bench={}", terms.filter.unwrap_or(".")),
                format!("{prefix}benchtime={}s", terms.time),
                format!("{prefix}count=1"),
            ];
            plain(command, &early, &[])
        },
    },
    Harness {
        name: "google-benchmark",
        format: Some("google-benchmark"),
        place: Place::File("google-benchmark.json"),
        filters: true,
        invoke: |command, terms| {
            // Without a suffix every version takes it.
            let mut early = vec![format!("--benchmark_min_time={}", terms.time)];
            early.extend(terms.filter.map(|filter| format!("--benchmark_filter={filter}")));
            let late = [
                format!("--benchmark_out={}", path(terms)),
                "--benchmark_out_format=json".to_owned(),
            ];
            plain(command, &early, &late)
        },
    },
    Harness {
        name: "hyperfine",
        format: Some("hyperfine"),
        place: Place::File("hyperfine.json"),
        filters: false,
        invoke: |command, terms| {
            plain(command, &flags(&["--runs", "3"]), &flags(&["--export-json", &path(terms)]))
        },
    },
    Harness {
        name: "jmh",
        format: Some("jmh"),
        place: Place::File("jmh.json"),
        filters: true,
        invoke: |command, terms| {
            let time = format!("{:.0}ms", (terms.time * 1e3).max(1.0));
            let early = flags(&["-f", "1", "-wi", "3", "-w", &time, "-i", "3", "-r", &time]);
            let mut late = flags(&["-rf", "json", "-rff", &path(terms)]);
            late.extend(terms.filter.map(str::to_owned));
            plain(command, &early, &late)
        },
    },
    Harness {
        name: "libtest",
        format: Some("libtest-bench"),
        place: Place::Output,
        filters: true,
        invoke: |command, terms| {
            let late: Vec<String> = terms.filter.map(str::to_owned).into_iter().collect();
            plain(command, &flags(&["--bench"]), &late)
        },
    },
    Harness {
        name: "nanobench",
        format: Some("nanobench"),
        place: Place::Output,
        filters: false,
        invoke: |command, _| plain(command, &[], &[]),
    },
    Harness {
        name: "pyperf",
        format: Some("pyperf"),
        place: Place::File("pyperf.json"),
        filters: false,
        invoke: |command, terms| {
            let time = format!("--min-time={}", terms.time / 2.0);
            let early = flags(&["--processes=1", "--values=3", "--warmups=1", &time, "--quiet"]);
            // pyperf refuses a file that is there; the folder is emptied before each run.
            plain(command, &early, &flags(&["--output", &path(terms)]))
        },
    },
    Harness {
        name: "pytest-benchmark",
        format: Some("pytest-benchmark"),
        place: Place::File("pytest-benchmark.json"),
        filters: true,
        invoke: |command, terms| {
            let mut early = flags(&["--benchmark-only", "--benchmark-min-rounds=5"]);
            early.push(format!("--benchmark-max-time={}", terms.time));
            early.extend(
                terms.filter.into_iter().flat_map(|filter| ["-k", filter]).map(str::to_owned),
            );
            plain(command, &early, &[format!("--benchmark-json={}", path(terms))])
        },
    },
    Harness {
        name: "tinybench",
        format: Some("tinybench"),
        place: Place::Output,
        filters: false,
        invoke: |command, _| plain(command, &[], &[]),
    },
    Harness {
        name: "vitest",
        format: Some("vitest"),
        place: Place::File("vitest.json"),
        filters: true,
        invoke: |command, terms| {
            let mut early = flags(&["--run"]);
            early.extend(
                terms.filter.into_iter().flat_map(|filter| ["-t", filter]).map(str::to_owned),
            );
            plain(command, &early, &flags(&["--outputJson", &path(terms)]))
        },
    },
];

fn flags(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn path(terms: &Terms<'_>) -> String {
    terms.results.display().to_string()
}

fn plain(command: &[String], early: &[String], late: &[String]) -> Invocation {
    Invocation { words: with_flags(command, early, late), environment: Vec::new() }
}
