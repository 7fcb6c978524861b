//! The `becalm` that goes into a guest, which has no libraries: linked statically.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::cache::Cache;
use super::cpio::Cpio;
use super::ssh;
use crate::workspace::{cargo, run};

/// Kills becalm at a chosen system call.
const KILL_AT: &str = include_str!("guest/kill_at.c");
/// Takes a CPU away for a known share of the time.
const DISTURB: &str = include_str!("guest/disturb.c");
/// Switches swap on with a priority.
const SWAP_ON: &str = include_str!("guest/swap_on.c");
/// Answers as a resctrl, where the processor has none.
const RESCTRL: &str = include_str!("guest/resctrl.c");

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The disk has one size, because a snapshot is bound to it.
const DISK_BYTES: u64 = 128 << 20;

/// Where on the disk, in MiB, the archive with OpenSSH begins, which only some tests unpack.
pub(super) const SSH_AT: usize = 100;

/// The parser of the command line checks its own tables at every start: half of what a short command takes there.
const UNCHECKED: [&str; 2] = [
    "profile.dev.package.clap_builder.debug-assertions=false",
    "profile.dev.package.clap_builder.opt-level=3",
];

/// Builds the binary and returns its file. It has the checks of a debug build, but some optimisation,
/// because an emulated CPU is slow.
pub(super) fn build(cache: &Cache) -> Result<PathBuf> {
    let target = cache.path("cargo");
    run(cargo(&["build", "--quiet", "--bin", "becalm", "--target", TARGET])
        .args(UNCHECKED.iter().flat_map(|one| ["--config", one]))
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_PROFILE_DEV_STRIP", "symbols")
        .env("RUSTFLAGS", "-C target-feature=+crt-static"))?;
    Ok(target.join(TARGET).join("debug/becalm"))
}

/// Writes the disk that guests find their programs on: a cpio archive without a file system.
pub(super) fn write_disk(cache: &Cache, becalm: &Path, to: &Path) -> Result<()> {
    let mut archive = Cpio::default();
    archive.copy("lab/becalm", becalm)?;
    for (name, source) in
        [("kill_at", KILL_AT), ("disturb", DISTURB), ("resctrl", RESCTRL), ("swap_on", SWAP_ON)]
    {
        archive.copy(&format!("lab/{name}"), &compiled(cache, name, source)?)?;
    }
    let mut bytes = archive.finish();
    ensure!(bytes.len() <= SSH_AT << 20, "{} is larger than its disk", becalm.display());
    bytes.resize(SSH_AT << 20, 0);
    bytes.extend(ssh::archive()?);
    let size = usize::try_from(DISK_BYTES)?;
    ensure!(bytes.len() <= size, "OpenSSH is larger than its disk");
    bytes.resize(size, 0);
    // Renamed to its place, because a guest of another run may have the old one.
    let fresh = to.with_extension("new");
    fs::write(&fresh, bytes).with_context(|| format!("cannot write {}", fresh.display()))?;
    fs::rename(&fresh, to).with_context(|| format!("cannot write {}", to.display()))
}

/// Compiles a program with the C compiler that Rust links with.
fn compiled(cache: &Cache, name: &str, text: &str) -> Result<PathBuf> {
    let source = cache.path(&format!("{name}.c"));
    fs::write(&source, text).with_context(|| format!("cannot write {}", source.display()))?;
    let program = cache.path(name);
    run(Command::new("cc").args(["-O1", "-static", "-o"]).arg(&program).arg(&source))?;
    Ok(program)
}
