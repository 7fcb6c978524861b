//! The `becalm` that goes into a guest, which has no libraries: linked statically.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::cache::Cache;
use super::cpio::Cpio;
use crate::install::find;
use crate::workspace::{capture, cargo, run};

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The disk has one size, because a snapshot is bound to it.
const DISK_BYTES: u64 = 128 << 20;

/// Builds the binary and returns its file. It has the checks of a debug build, but some optimisation,
/// because an emulated CPU is slow.
pub(super) fn build(cache: &Cache) -> Result<PathBuf> {
    let target = cache.path("cargo");
    run(cargo(&["build", "--quiet", "--bin", "becalm", "--target", TARGET])
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_PROFILE_DEV_STRIP", "symbols")
        .env("RUSTFLAGS", "-C target-feature=+crt-static"))?;
    Ok(target.join(TARGET).join("debug/becalm"))
}

/// Writes the disk that guests find their programs on: a cpio archive without a file system.
pub(super) fn write_disk(becalm: &Path, to: &Path) -> Result<()> {
    let mut archive = Cpio::default();
    archive.copy("lab/becalm", becalm)?;
    if let Some(strace) = find("strace") {
        archive.copy("lab/strace", &strace)?;
        for (path, file) in libraries(&strace)? {
            archive.copy(&path, &file)?;
        }
    }
    let mut bytes = archive.finish();
    let size = usize::try_from(DISK_BYTES)?;
    ensure!(bytes.len() <= size, "{} is larger than its disk", becalm.display());
    bytes.resize(size, 0);
    // Renamed to its place, because a guest of another run may have the old one.
    let fresh = to.with_extension("new");
    fs::write(&fresh, bytes).with_context(|| format!("cannot write {}", fresh.display()))?;
    fs::rename(&fresh, to).with_context(|| format!("cannot write {}", to.display()))
}

/// Returns the shared libraries of a program: where it looks for each, without the first slash, and
/// where that is. All go to `lib` or `lib64`, the loader by its full path.
fn libraries(program: &Path) -> Result<Vec<(String, PathBuf)>> {
    Ok(parse_ldd(&capture(Command::new("ldd").arg(program))?))
}

/// Reads lines like `libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x7f..)` and
/// `/lib64/ld-linux-x86-64.so.2 (0x7f..)`.
fn parse_ldd(text: &str) -> Vec<(String, PathBuf)> {
    text.lines()
        .filter_map(|line| {
            let file = match line.trim().split_once(" => ") {
                Some((name, place)) => (format!("lib/{name}"), place),
                None => (line.trim().strip_prefix('/')?.split(' ').next()?.to_owned(), line.trim()),
            };
            let place = file.1.split(" (").next()?;
            Some((file.0, PathBuf::from(place)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_read_as_ldd_prints_them() {
        let text = "\tlinux-vdso.so.1 (0x00007ffd)\n\
                    \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f27)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x00007f28)\n";
        let expect = [
            ("lib/libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6"),
            ("lib64/ld-linux-x86-64.so.2", "/lib64/ld-linux-x86-64.so.2"),
        ];
        assert_eq!(
            parse_ldd(text),
            expect.map(|(path, file)| (path.to_owned(), PathBuf::from(file)))
        );
    }
}
