//! What tests and benchmarks need beside Rust, in one place.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use crate::workspace::{self, capture, cargo, run};

/// What tests need, and the Debian package that has it.
struct Need {
    /// A program, or the path of a file.
    program: &'static str,
    package: &'static str,
}

/// Everything that tests start.
const NEEDS: &[Need] = &[
    // Placement tests read affinity and scheduling class back with tools that are not ours.
    Need { program: "taskset", package: "util-linux" },
    Need { program: "chrt", package: "util-linux" },
    // `becalm timeit` is tested with the interpreters that are there; these are light.
    Need { program: "python3", package: "python3" },
    Need { program: "perl", package: "perl" },
    Need { program: "ruby", package: "ruby" },
    // Tests of `--backend callgrind`.
    Need { program: "valgrind", package: "valgrind" },
    // Harnesses and tools that measure, as they are.
    Need { program: "/usr/include/benchmark/benchmark.h", package: "libbenchmark-dev" },
    Need { program: "hyperfine", package: "hyperfine" },
    // The command that users are given to put routes back by hand.
    Need { program: "xxd", package: "xxd" },
    // Tests of `compare --rev`.
    Need { program: "git", package: "git" },
    // Tests of `--on HOST`: ssh and its server, which one of them starts for itself, without a port.
    Need { program: "ssh", package: "openssh-client" },
    Need { program: "/usr/sbin/sshd", package: "openssh-server" },
    // Tests of `--on slurm`: they start a cluster of their own.
    Need { program: "sbatch", package: "slurm-client" },
    Need { program: "slurmctld", package: "slurmctld" },
    Need { program: "slurmd", package: "slurmd" },
    // A server that tests of `becalm load` load; Debian's starts one of its own, which they leave alone.
    Need { program: "nginx", package: "nginx-light" },
    Need { program: "openssl", package: "openssl" },
    // The pages of `becalm serve`, as people see them.
    Need { program: "chromium", package: "chromium" },
    // Tests of histories in PostgreSQL; they start a server of their own. Debian keeps the server itself
    // out of the path, but this one of its package is in it.
    Need { program: "pg_lsclusters", package: "postgresql" },
];

/// What virtual machines need.
const VM_NEEDS: &[Need] = &[
    Need { program: "qemu-system-x86_64", package: "qemu-system-x86" },
    Need { program: "qemu-img", package: "qemu-utils" },
    Need { program: "iasl", package: "acpica-tools" },
    Need { program: "busybox", package: "busybox-static" },
    Need { program: "depmod", package: "kmod" },
    Need { program: "mke2fs", package: "e2fsprogs" },
    Need { program: "xz", package: "xz-utils" },
    Need { program: "mmdebstrap", package: "mmdebstrap" },
    // What a guest has of OpenSSH comes from here.
    Need { program: "ssh", package: "openssh-client" },
    Need { program: "/usr/sbin/sshd", package: "openssh-server" },
];

/// Release of hyperfine that benchmarks compare with.
const HYPERFINE: &str = "1.20.0";

/// Installs what tests need, when root; else says what to install. Tests that still lack something
/// say so and are counted as skipped. Returns folders with programs that are for the tests alone.
pub(crate) fn for_tests() -> Result<Vec<PathBuf>> {
    rust_components()?;
    let mut packages = missing(NEEDS);
    // Debian keeps what makes an environment apart.
    if capture(Command::new("python3").args(["-c", "import ensurepip"])).is_err() {
        packages.push("python3-venv");
    }
    if !packages.is_empty() && !apt(&packages) {
        println!("some tests need: apt-get {} {}", INSTALL.join(" "), packages.join(" "));
    }
    let tools = tools()?;
    let mut folders = Vec::new();
    match python(&tools.join("python"), PYTHON) {
        Ok(interpreter) => folders.extend(interpreter.parent().map(PathBuf::from)),
        Err(error) => println!("some tests need Python with {}: {error:#}", PYTHON.join(", ")),
    }
    match benchstat(&tools.join("bin")) {
        Ok(Some(folder)) => folders.push(folder),
        Ok(None) => {}
        Err(error) => println!("some tests need benchstat: {error:#}"),
    }
    match axe(&tools.join("npm")) {
        Ok(Some(folder)) => folders.push(folder),
        Ok(None) => {}
        Err(error) => println!("a test needs {AXE} of npm: {error:#}"),
    }
    Ok(folders)
}

/// The release of what looks for pages that keep people out.
const AXE: &str = "axe-core@4.10.3";

/// Returns the folder with the script of axe-core, or nothing if npm, which installs it, is missing.
fn axe(tools: &Path) -> Result<Option<PathBuf>> {
    if find("npm").is_none() {
        return Ok(None);
    }
    let folder = tools.join("node_modules/axe-core");
    if !folder.join("axe.min.js").is_file() {
        let install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"];
        capture(Command::new("npm").args(install).arg(tools).arg(AXE))?;
    }
    Ok(Some(folder))
}

/// What the tests need of Python: harnesses, a server of gRPC, and what reads files that becalm writes, and its templates.
const PYTHON: &[&str] = &[
    "pyperf==2.10.0",
    "pytest-benchmark==5.3.1",
    "pyarrow==26.0.1",
    "pyyaml==6.0.3",
    "grpcio==1.85.3",
];

/// Returns the interpreter of a Python environment of its own that has these packages.
pub(crate) fn python(environment: &Path, packages: &[&str]) -> Result<PathBuf> {
    let python = environment.join("bin/python");
    // One that was broken off has an interpreter and nothing to install with.
    if capture(Command::new(&python).args(["-m", "pip", "--version"])).is_err() {
        capture(Command::new("python3").args(["-m", "venv", "--clear"]).arg(environment))?;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    capture(Command::new(&python).args(install).args(packages))?;
    Ok(python)
}

/// The release of benchstat, which has no other numbers.
const BENCHSTAT: &str = "golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da";

/// Returns the folder with benchstat; nothing where there is no Go to build it.
fn benchstat(folder: &Path) -> Result<Option<PathBuf>> {
    if find("go").is_none() {
        return Ok(None);
    }
    if !folder.join("benchstat").is_file() {
        capture(Command::new("go").args(["install", BENCHSTAT]).env("GOBIN", folder))?;
    }
    Ok(Some(folder.to_owned()))
}

/// Returns the folder of programs that tests and benchmarks build for themselves.
fn tools() -> Result<PathBuf> {
    Ok(workspace::target()?.join("tools"))
}

/// Installs what virtual machines need, when root on a Debian-like system, and returns the packages
/// that are missing afterwards.
pub(crate) fn for_vm() -> Vec<&'static str> {
    let packages = missing(VM_NEEDS);
    if !packages.is_empty() {
        apt(&packages);
    }
    missing(VM_NEEDS)
}

/// Installs packages of Debian that are not there yet.
pub(crate) fn debian(packages: &[&str]) -> Result<()> {
    let is_there = |package: &&str| {
        let query = ["--show", "--showformat", "${db:Status-Status}", *package];
        capture(Command::new("dpkg-query").args(query)).is_ok_and(|text| text == "installed")
    };
    let missing: Vec<&str> = packages.iter().filter(|one| !is_there(one)).copied().collect();
    ensure!(missing.is_empty() || apt(&missing), "these are needed: {}", missing.join(" "));
    Ok(())
}

const INSTALL: [&str; 3] = ["install", "--yes", "--no-install-recommends"];

fn missing(needs: &[Need]) -> Vec<&'static str> {
    let mut packages: Vec<&str> =
        needs.iter().filter(|need| find(need.program).is_none()).map(|need| need.package).collect();
    packages.dedup();
    packages
}

/// Installs packages, as far as that is possible, and says whether all are there. One that is not does not keep the
/// others away, nor the tests that need none of them.
fn apt(packages: &[&str]) -> bool {
    if !is_root() || find("apt-get").is_none() {
        return false;
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        // Another one may be at work.
        command.args(["-o", "DPkg::Lock::Timeout=60"]).args(arguments);
        let result = run(command.env("DEBIAN_FRONTEND", "noninteractive"));
        if let Err(error) = &result {
            println!("{error:#}");
        }
        result.is_ok()
    };
    // Lists that are there already may do.
    let _ = apt(&["update"]);
    if apt(&[&INSTALL, packages].concat()) {
        return true;
    }
    let alone: Vec<bool> =
        packages.iter().map(|one| apt(&[&INSTALL[..], &[one]].concat())).collect();
    !alone.contains(&false)
}

/// A minimal toolchain lacks these two.
fn rust_components() -> Result<()> {
    for (subcommand, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        let is_there = capture(&mut cargo(&[subcommand, "--version"])).is_ok();
        if !is_there && find("rustup").is_some() {
            run(Command::new("rustup").args(["component", "add", component]))?;
        }
    }
    Ok(())
}

/// Returns hyperfine of the right release; builds it under the target folder when it is not in the
/// path.
pub(crate) fn hyperfine() -> Result<PathBuf> {
    if let Some(program) = find("hyperfine").filter(is_right_hyperfine) {
        return Ok(program);
    }
    let tools = tools()?;
    let program = tools.join("bin/hyperfine");
    if !is_right_hyperfine(&program) {
        println!("building hyperfine {HYPERFINE}");
        let package = format!("hyperfine@{HYPERFINE}");
        run(cargo(&["install", &package, "--locked", "--root"]).arg(&tools))?;
        ensure!(is_right_hyperfine(&program), "{} is not hyperfine {HYPERFINE}", program.display());
    }
    Ok(program)
}

fn is_right_hyperfine(program: &PathBuf) -> bool {
    capture(Command::new(program).arg("--version"))
        .is_ok_and(|text| text.trim() == format!("hyperfine {HYPERFINE}"))
}

/// Returns where a program lies in the path, or in the folders for root's programs, which the path of
/// an ordinary user lacks.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// Says whether this process runs as root.
pub(crate) fn is_root() -> bool {
    becalm_kernel::user::effective_uid() == 0
}
