//! The projects that are tried, and of each what a user knows who wants to measure it.

/// Where a project is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Registry {
    /// Cargo's.
    Cargo,
    /// The Go module proxy.
    Go,
    /// `PyPI`, source archives.
    Python,
    /// The npm registry.
    Npm,
    /// Maven Central: the project's description and its sources.
    Maven,
    /// Debian's archive: the release as its authors made it, without what Debian changes.
    Debian,
}

/// One project.
#[derive(Debug)]
pub(super) struct Project {
    /// Where it is published.
    pub(super) registry: Registry,
    /// Its name there.
    pub(super) name: &'static str,
    /// Two releases, the older first.
    pub(super) releases: [&'static str; 2],
    /// The harness that is to be found, as becalm calls it.
    pub(super) harness: &'static str,
    /// The benchmark of the suite that is run.
    pub(super) only: &'static str,
    /// What `compare --rev` is given to build each release.
    pub(super) build: &'static str,
    /// The command that it compares.
    pub(super) command: &'static [&'static str],
    /// Which benchmarks inside it compares, where the harness can be told.
    pub(super) filter: Option<&'static str>,
    /// Variables that becalm is started with.
    pub(super) env: &'static [(&'static str, &'static str)],
    /// What its users have installed, by the name of the language's packages, or of Debian's for C++.
    pub(super) needs: &'static [&'static str],
    /// If it does not work as it is: the edit that helps, or what stands in the way after it.
    pub(super) edit: Option<&'static str>,
}

const CRATE: Project = Project {
    registry: Registry::Cargo,
    name: "",
    releases: ["", ""],
    harness: "criterion",
    only: "",
    build: "",
    command: &[],
    filter: None,
    env: &[],
    needs: &[],
    edit: None,
};

/// Packages that are needed to run benchmarks of pytest.
const PYTEST: &[&str] = &["pytest", "pytest-benchmark"];

/// All of them.
pub(super) const PROJECTS: &[Project] = &[
    Project {
        name: "httparse",
        releases: ["1.9.5", "1.10.1"],
        only: "parse",
        build: "cargo bench --quiet --bench parse --no-run",
        command: &["cargo", "bench", "--quiet", "--bench", "parse"],
        filter: Some("uri"),
        ..CRATE
    },
    Project {
        name: "base64",
        releases: ["0.22.0", "0.22.1"],
        only: "benchmarks",
        build: "cargo bench --quiet --bench benchmarks --no-run",
        command: &["cargo", "bench", "--quiet", "--bench", "benchmarks"],
        filter: Some("encode/50"),
        ..CRATE
    },
    Project {
        name: "unicode-segmentation",
        releases: ["1.13.2", "1.13.3"],
        only: "words",
        build: "cargo bench --quiet --bench words --no-run",
        command: &["cargo", "bench", "--quiet", "--bench", "words"],
        filter: Some("english"),
        edit: Some(
            "the package leaves out `benches/texts`, which its benchmarks read; no edit was tried",
        ),
        ..CRATE
    },
    Project {
        name: "itoa",
        releases: ["1.0.17", "1.0.18"],
        only: "bench",
        build: "cargo bench --quiet --bench bench --no-run",
        command: &["cargo", "bench", "--quiet", "--bench", "bench"],
        ..CRATE
    },
    Project {
        name: "fastrand",
        releases: ["2.4.1", "2.5.0"],
        harness: "libtest",
        only: "bench",
        build: "RUSTC_BOOTSTRAP=1 cargo bench --quiet --bench bench --no-run",
        command: &["cargo", "bench", "--quiet", "--bench", "bench"],
        env: &[("RUSTC_BOOTSTRAP", "1")],
        ..CRATE
    },
    Project {
        name: "smol_str",
        releases: ["0.3.4", "0.3.7"],
        only: "bench",
        build: "cargo bench --quiet --bench bench --no-run",
        command: &["cargo", "bench", "--quiet", "--bench", "bench"],
        filter: Some("SmolStr::clone"),
        ..CRATE
    },
    Project {
        name: "chili",
        releases: ["0.2.0", "0.2.1"],
        harness: "divan",
        only: "overhead",
        build: "cargo bench --quiet --bench overhead --no-run",
        command: &["cargo", "bench", "--quiet", "--bench", "overhead"],
        filter: Some("no_overhead"),
        ..CRATE
    },
    Project {
        name: "arrayvec",
        releases: ["0.7.6", "0.7.8"],
        harness: "libtest",
        only: "extend",
        build: "cargo bench --quiet --bench extend --no-run",
        command: &["cargo", "bench", "--quiet", "--bench", "extend"],
        ..CRATE
    },
    Project {
        registry: Registry::Go,
        name: "github.com/google/uuid",
        releases: ["v1.5.0", "v1.6.0"],
        harness: "go",
        only: "go",
        build: "go test -c -o bench .",
        command: &["./bench"],
        filter: Some("Parse"),
        ..CRATE
    },
    Project {
        registry: Registry::Go,
        name: "github.com/cespare/xxhash/v2",
        releases: ["v2.2.0", "v2.3.0"],
        harness: "go",
        only: "go",
        build: "go test -c -o bench .",
        command: &["./bench"],
        filter: Some("Sum64"),
        ..CRATE
    },
    Project {
        registry: Registry::Go,
        name: "github.com/tidwall/gjson",
        releases: ["v1.20.1", "v1.20.2"],
        harness: "go",
        only: "go",
        build: "go test -c -o bench .",
        command: &["./bench"],
        filter: Some("Valid"),
        ..CRATE
    },
    Project {
        registry: Registry::Python,
        name: "pluggy",
        releases: ["1.5.0", "1.6.0"],
        harness: "pytest-benchmark",
        only: "benchmark",
        command: &["python3", "-m", "pytest", "-o", "addopts=", "testing/benchmark.py"],
        filter: Some("hook"),
        env: &[("PYTHONPATH", "src")],
        needs: PYTEST,
        ..CRATE
    },
    Project {
        registry: Registry::Python,
        name: "wcwidth",
        releases: ["0.5.2", "0.5.3"],
        harness: "pytest-benchmark",
        only: "benchmarks",
        command: &["python3", "-m", "pytest", "-o", "addopts=", "tests/test_benchmarks.py"],
        filter: Some("wcwidth_ascii"),
        env: &[("PYTHONPATH", ".")],
        needs: PYTEST,
        edit: Some("its conftest.py has a `benchmark` fixture of its own: remove that"),
        ..CRATE
    },
    Project {
        registry: Registry::Python,
        name: "cattrs",
        releases: ["26.2.0", "26.2.1"],
        harness: "pytest-benchmark",
        only: "enums",
        command: &["python3", "-m", "pytest", "bench/test_enums.py"],
        env: &[("PYTHONPATH", "src")],
        needs: &["pytest", "pytest-benchmark", "attrs", "typing_extensions", "msgspec", "orjson"],
        ..CRATE
    },
    Project {
        registry: Registry::Python,
        name: "inline-snapshot",
        releases: ["0.36.0", "0.36.1"],
        harness: "asv",
        only: "asv",
        build: "python3 -m venv .asv/becalm && .asv/becalm/bin/python -m pip install --quiet asv pytest black \
                asttokens executing rich dirty-equals pydantic .",
        command: &[".asv/becalm/bin/python", "-m", "asv", "run"],
        filter: Some("PytestSession"),
        needs: &["asv"],
        ..CRATE
    },
    Project {
        registry: Registry::Npm,
        name: "fast-uri",
        releases: ["4.2.2", "4.2.3"],
        harness: "tinybench",
        only: "bench",
        build: "cd benchmark && npm install --no-audit --no-fund",
        command: &["npm", "run", "--silent", "--prefix", "benchmark", "bench"],
        ..CRATE
    },
    Project {
        registry: Registry::Npm,
        name: "light-my-request",
        releases: ["6.6.0", "6.8.1"],
        harness: "tinybench",
        only: "benchmark",
        build: "npm install --no-audit --no-fund",
        command: &["npm", "run", "--silent", "benchmark"],
        edit: Some(
            "Cannot find module 'tinybench'; with `npm install tinybench` its script says `req.prepare is not a function`",
        ),
        ..CRATE
    },
    Project {
        registry: Registry::Maven,
        name: "org.openjdk.jmh:jmh-samples",
        releases: ["1.36", "1.37"],
        harness: "jmh",
        only: "jmh-samples",
        build: "mvn --quiet --batch-mode -DskipTests -Dlicense.skip package",
        command: &["java", "-jar", "target/benchmarks.jar"],
        filter: Some("JMHSample_02"),
        ..CRATE
    },
    Project {
        registry: Registry::Debian,
        name: "cctz",
        releases: ["2.4+dfsg1-2", "2.5+dfsg1-1"],
        harness: "google-benchmark",
        only: "cctz_benchmark",
        build: "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build --target cctz_benchmark",
        command: &["./build/cctz_benchmark"],
        filter: Some("BM_Difference"),
        needs: &["libbenchmark-dev", "libgmock-dev", "libgtest-dev"],
        ..CRATE
    },
    Project {
        registry: Registry::Debian,
        name: "ftxui",
        releases: ["5.0.0-2", "6.1.9-2"],
        harness: "google-benchmark",
        only: "ftxui-benchmark",
        build: "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DFTXUI_BUILD_TESTS=ON && \
                cmake --build build --target ftxui-benchmark",
        command: &["./build/ftxui-benchmark"],
        needs: &["libbenchmark-dev", "libgmock-dev", "libgtest-dev"],
        ..CRATE
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_project_is_there_once_with_two_releases() {
        for (at, one) in PROJECTS.iter().enumerate() {
            assert!(PROJECTS[..at].iter().all(|other| other.name != one.name), "{}", one.name);
            assert!(one.releases[0] != one.releases[1] && !one.command.is_empty(), "{}", one.name);
        }
    }
}
