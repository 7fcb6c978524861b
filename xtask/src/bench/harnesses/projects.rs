//! How each project is built: what it needs is taken from the registry of its language.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::place::Place;
use crate::install;
use crate::workspace::capture;

/// A project that was built.
#[derive(Debug)]
pub(super) struct Built {
    /// Version of the harness.
    pub(super) version: String,
    /// Command line of the first variant.
    pub(super) baseline: String,
    /// The same of a copy of it.
    pub(super) copy: String,
    /// The same of the second variant.
    pub(super) slower: String,
}

impl Built {
    /// Makes the three command lines from one with `{}` in the place of the variant.
    fn new(version: String, command: &str) -> Self {
        let of = |variant| command.replace("{}", variant);
        Self { version, baseline: of("a"), copy: of("a2"), slower: of("b") }
    }
}

/// One project.
#[derive(Debug)]
pub(super) struct Project {
    /// Its folder.
    pub(super) name: &'static str,
    /// The harness as becalm calls it.
    pub(super) harness: &'static str,
    /// What the name of the fourth benchmark contains, and no other.
    pub(super) fourth: &'static str,
    /// Installs and builds.
    pub(super) build: fn(&Place) -> Result<Built>,
}

/// All of them.
pub(super) const PROJECTS: &[Project] = &[
    Project {
        name: "google-benchmark",
        harness: "google-benchmark",
        fourth: "04",
        build: |place| {
            let version = debian("libbenchmark-dev")?;
            place.copy("src")?;
            compile(place, &["g++", "-O2", "work.cpp", "-lbenchmark", "-lpthread"])?;
            Ok(Built::new(version, "./{}"))
        },
    },
    Project {
        name: "google-benchmark-python",
        harness: "google-benchmark",
        fourth: "work_04",
        build: |place| python(place, "google-benchmark", "{python} {}/bench.py"),
    },
    Project {
        name: "catch2",
        harness: "catch2",
        fourth: "work_04",
        build: |place| {
            let version = debian("catch2")?;
            place.copy("src")?;
            place.run("src", &["g++", "-O1", "-c", "main.cpp", "-o", "main.o"])?;
            compile(place, &["g++", "-O2", "work.cpp", "main.o"])?;
            Ok(Built::new(version, "./{}"))
        },
    },
    Project {
        name: "criterion",
        harness: "criterion",
        fourth: "work_04",
        build: |p| cargo(p, "criterion"),
    },
    Project { name: "divan", harness: "divan", fourth: "work::4", build: |p| cargo(p, "divan") },
    Project {
        name: "go",
        harness: "go",
        fourth: "Work/04",
        build: |place| {
            let version = capture(Command::new("go").arg("version"))?;
            let version = version.split(' ').nth(2).unwrap_or("?").trim_start_matches("go");
            place.copy("src")?;
            place.run("src", &["go", "test", "-c", "-o", "../a", "."])?;
            place.run("src", &["go", "test", "-c", "-tags", "b", "-o", "../b", "."])?;
            place.copy_file(&place.path("a"), "a2")?;
            Ok(Built::new(version.to_owned(), "./{}"))
        },
    },
    Project {
        name: "pytest-benchmark",
        harness: "pytest-benchmark",
        fourth: "[4]",
        build: |place| python(place, "pytest-benchmark", "{python} -m pytest --rootdir {} {}"),
    },
    Project {
        name: "pyperf",
        harness: "pyperf",
        fourth: "work_04",
        build: |place| python(place, "pyperf", "{python} {}/bench.py"),
    },
    Project {
        name: "jmh",
        harness: "jmh",
        fourth: "number=4",
        build: |place| {
            place.variants("src/main/java/work/Work.java", "EXTRA = 0", "EXTRA = 1")?;
            for variant in ["a", "b"] {
                place.run(variant, &["mvn", "--batch-mode", "--quiet", "package"])?;
            }
            std::fs::create_dir_all(place.path("a2/target"))?;
            place.copy_file(&place.path("a/target/benchmarks.jar"), "a2/target/benchmarks.jar")?;
            let pom = std::fs::read_to_string(place.path("a/pom.xml"))?;
            let version = pom.split("<jmh.version>").nth(1).and_then(|rest| rest.split('<').next());
            let version = version.context("pom.xml names no version of JMH")?;
            Ok(Built::new(version.to_owned(), "java -jar {}/target/benchmarks.jar"))
        },
    },
    Project {
        name: "vitest",
        harness: "vitest",
        fourth: "work_04",
        build: |place| node(place, "vitest", "node_modules/.bin/vitest bench --root {}"),
    },
    Project {
        name: "vitest-5",
        harness: "vitest",
        fourth: "work_04",
        build: |place| node(place, "vitest", "node_modules/.bin/vitest bench --root {}"),
    },
    Project {
        name: "tinybench",
        harness: "tinybench",
        fourth: "work_04",
        build: |place| node(place, "tinybench", "node {}/bench.mjs"),
    },
    Project {
        name: "hyperfine",
        harness: "hyperfine",
        fourth: "work_04",
        build: |place| {
            let hyperfine = install::hyperfine()?;
            place.copy("src")?;
            compile(place, &["gcc", "-O2", "work.c"])?;
            let version = capture(Command::new(&hyperfine).arg("--version"))?;
            let mut line = format!("{} -N", hyperfine.display());
            line.extend((1..=10).map(|number| format!(" -n work_{number:02} './{{}} {number}'")));
            Ok(Built::new(version.trim().trim_start_matches("hyperfine ").to_owned(), &line))
        },
    },
];

/// Returns the version of an installed package of Debian.
fn debian(package: &str) -> Result<String> {
    let mut query = Command::new("dpkg-query");
    query.args(["--show", "--showformat", "${Version}", package]);
    capture(&mut query).with_context(|| format!("the package {package} is not installed"))
}

/// Compiles both variants.
fn compile(place: &Place, words: &[&str]) -> Result<()> {
    let split = words.iter().position(|word| word.starts_with("-l")).unwrap_or(words.len());
    for (variant, define) in [("../a", "-DVARIANT_A"), ("../b", "-DVARIANT_B")] {
        // Libraries stand behind what needs them.
        let all = [&words[..split], &[define, "-o", variant], &words[split..]].concat();
        place.run("src", &all)?;
    }
    place.copy_file(&place.path("a"), "a2")
}

/// Builds both variants of a bench of cargo.
fn cargo(place: &Place, package: &str) -> Result<Built> {
    place.copy("src")?;
    for (variant, features) in [("a", &[][..]), ("b", &["--features", "b"])] {
        let mut command = place.command("cargo");
        command.current_dir(place.path("src"));
        command.env("CARGO_TARGET_DIR", place.path("target"));
        command.args(["build", "--quiet", "--release", "--benches", "--message-format", "json"]);
        let said = capture(command.args(features))?;
        let messages = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let program = messages
            .filter(|message| message["target"]["kind"][0] == "bench")
            .find_map(|message| message["executable"].as_str().map(PathBuf::from))
            .context("cargo has built no bench")?;
        place.copy_file(&program, variant)?;
    }
    place.copy_file(&place.path("a"), "a2")?;
    let lock = std::fs::read_to_string(place.path("src/Cargo.lock"))?;
    let entry = lock.split(&format!("name = \"{package}\"\nversion = \"")).nth(1);
    let version = entry.and_then(|rest| rest.split('"').next()).context("no version is locked")?;
    Ok(Built::new(version.to_owned(), "./{}"))
}

/// Installs a package of Python into an environment of its own and copies the variants.
fn python(place: &Place, package: &str, line: &str) -> Result<Built> {
    place.variants("work.py", "EXTRA = 0", "EXTRA = 1")?;
    let python = install::python(&place.shared("python"), &[package])?;
    let ask = format!("from importlib.metadata import version; print(version('{package}'))");
    let version = capture(Command::new(&python).args(["-c", &ask]))?;
    let python = python.to_str().context("a path that is no text")?;
    Ok(Built::new(version.trim().to_owned(), &line.replace("{python}", python)))
}

/// Installs a package of node beside the variants.
fn node(place: &Place, package: &str, line: &str) -> Result<Built> {
    place.variants("work.mjs", "EXTRA = 0", "EXTRA = 1")?;
    place.copy_file(&place.path("a/package.json"), "package.json")?;
    place.run(".", &["npm", "install", "--silent", "--no-audit", "--no-fund"])?;
    let version = node_version(&place.path(&format!("node_modules/{package}/package.json")))?;
    Ok(Built::new(version, line))
}

fn node_version(package: &Path) -> Result<String> {
    ensure!(package.is_file(), "npm has not installed {}", package.display());
    let package: Value = serde_json::from_slice(&std::fs::read(package)?)?;
    Ok(package["version"].as_str().context("no version")?.to_owned())
}
