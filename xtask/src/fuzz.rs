//! `cargo xtask fuzz`: coverage-guided fuzzing of the importers and of the dashboard by LLVM's libFuzzer, on stable Rust.
//!
//! The instrumentation is that of cargo-fuzz without an address sanitizer, which needs nightly Rust and finds
//! what safe code does not have. A panic, a run of more than ten seconds or more than a gibibyte ends it,
//! with the input in `target/fuzz`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::workspace::{cargo, root, run, shown};

/// Fuzz the importers of other tools' files, and the dashboard
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to fuzz, each for --seconds: `web` for the dashboard, or formats; without any all formats are tried at once, by
    /// what recognises an input
    what: Vec<String>,

    /// How long, in seconds
    #[arg(long, default_value_t = 600)]
    seconds: u32,
}

/// What LLVM has to add, as cargo-fuzz asks for it.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
                        -Cllvm-args=-sanitizer-coverage-pc-table --cfg fuzzing";

/// Flags of the compiler are for this target only, and not for build scripts.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// What is not a format.
const DASHBOARD: &str = "web";

pub(crate) fn run_all(args: &Args) -> Result<()> {
    if args.what.is_empty() {
        return fuzz(None, args.seconds);
    }
    args.what.iter().try_for_each(|name| fuzz(Some(name), args.seconds))
}

fn fuzz(what: Option<&str>, seconds: u32) -> Result<()> {
    let (name, program, seeds) = match what {
        Some(DASHBOARD) => (DASHBOARD, "web", "crates/web/tests/requests"),
        format => (format.unwrap_or("all"), "formats", "crates/formats/tests/captures"),
    };
    let manifest = root().join("fuzz/Cargo.toml");
    let manifest = manifest.display().to_string();
    let mut build = cargo(&["build", "--release", "--quiet", "--target", TARGET, "--bin", program]);
    build.args(["--manifest-path", &manifest]);
    let target = root().join("target/fuzz");
    run(build.env("RUSTFLAGS", COVERAGE).env("CARGO_TARGET_DIR", &target))?;
    let first = target.join("seeds").join(program);
    collect(&root().join(seeds), &first)?;
    let corpus = target.join("corpus").join(name);
    fs::create_dir_all(&corpus)?;
    println!("fuzzing {name} for {seconds} s");
    let mut command = std::process::Command::new(target.join(TARGET).join("release").join(program));
    command
        .args([&corpus, &first])
        .arg(format!("-max_total_time={seconds}"))
        .args(["-rss_limit_mb=1024", "-timeout=10", "-max_len=65536", "-print_final_stats=1"])
        .args(["-verbosity=0", &format!("-artifact_prefix={}/{name}-", target.display())]);
    if let (Some(format), "formats") = (what, program) {
        command.env("BECALM_FUZZ_FORMAT", format);
    }
    let status = command.status().with_context(|| format!("cannot start `{}`", shown(&command)))?;
    if !status.success() {
        bail!("{name}: {status}; the input is in {}", target.display());
    }
    Ok(())
}

/// Copies all files into one folder: first inputs that are nearly right.
fn collect(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    let mut folders: Vec<PathBuf> = vec![from.to_owned()];
    let mut number = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                fs::copy(&path, to.join(format!("{number:04}")))?;
                number += 1;
            }
        }
    }
    Ok(())
}
