//! Kernels of Debian, downloaded and unpacked, not installed.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

use super::cache::{Cache, remove};
use crate::install::find;
use crate::workspace::{capture, run};

/// A series of kernels that becalm is tested on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum)]
pub(super) enum Series {
    /// Debian 12.
    #[value(name = "6.1")]
    V6_1,
    /// Debian 13, and Debian 12 through its security archive.
    #[value(name = "6.12")]
    V6_12,
    /// The same for real time, which has tracers that the others lack.
    #[value(name = "6.12-rt")]
    V6_12Rt,
}

impl Series {
    /// All of them, the most important last.
    pub(super) const ALL: [Self; 3] = [Self::V6_12Rt, Self::V6_1, Self::V6_12];

    /// Returns how names of its packages begin, and how they end.
    fn package(self) -> (&'static str, &'static str) {
        match self {
            Self::V6_1 => ("linux-image-6.1.", "-amd64"),
            Self::V6_12 => ("linux-image-6.12.", "-amd64"),
            Self::V6_12Rt => ("linux-image-6.12.", "-rt-amd64"),
        }
    }
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V6_1 => "6.1",
            Self::V6_12 => "6.12",
            Self::V6_12Rt => "6.12-rt",
        })
    }
}

/// An unpacked kernel.
#[derive(Debug, Clone)]
pub(super) struct Kernel {
    pub(super) series: Series,
    /// As `uname -r` prints it.
    pub(super) release: String,
    folder: PathBuf,
}

impl Kernel {
    /// Finds the kernel in the cache or downloads the newest one that the package lists name.
    pub(super) fn get(cache: &Cache, series: Series) -> Result<Self> {
        let folder =
            cache.folder(&format!("kernel-{series}"), |folder| download(series, folder))?;
        let modules = folder.join("lib/modules");
        let release = fs::read_dir(&modules)?
            .next()
            .with_context(|| format!("{} is empty", modules.display()))??
            .file_name()
            .to_string_lossy()
            .into_owned();
        Ok(Self { series, release, folder })
    }

    /// Returns the file that boots.
    pub(super) fn image(&self) -> PathBuf {
        self.folder.join(format!("boot/vmlinuz-{}", self.release))
    }

    /// Returns the folder of the modules.
    pub(super) fn modules(&self) -> PathBuf {
        self.folder.join("lib/modules").join(&self.release)
    }

    /// Returns the files of modules and of all that they need, relative to [`Kernel::modules`].
    /// Those that are built in, or not there, have none.
    pub(super) fn closure(&self, names: &[&str]) -> Result<Vec<String>> {
        let file = self.modules().join("modules.dep");
        let text =
            fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        Ok(closure(&text, names))
    }
}

/// Reads `modules.dep`: `file: files that it needs`, all of them, not only the next ones. The order
/// there is the reverse of the one in which they can be loaded, and is kept.
fn closure(dependencies: &str, names: &[&str]) -> Vec<String> {
    let mut files: Vec<&str> = Vec::new();
    for line in dependencies.lines() {
        let Some((file, needs)) = line.split_once(':') else { continue };
        if names.iter().any(|name| same_module(module(file), name)) {
            for file in std::iter::once(file).chain(needs.split_whitespace()) {
                if !files.contains(&file) {
                    files.push(file);
                }
            }
        }
    }
    files.into_iter().map(str::to_owned).collect()
}

/// Returns the name of the module in a file, whichever way it is compressed.
pub(super) fn module(file: &str) -> &str {
    let name = file.rsplit_once('/').map_or(file, |(_, name)| name);
    name.split_once(".ko").map_or(name, |(name, _)| name)
}

/// To the kernel `-` and `_` are the same in a module's name.
fn same_module(a: &str, b: &str) -> bool {
    a.len() == b.len()
        && a.bytes()
            .zip(b.bytes())
            .all(|(a, b)| a == b || (matches!((a, b), (b'-' | b'_', b'-' | b'_'))))
}

fn download(series: Series, folder: &Path) -> Result<()> {
    let package = package(series)?;
    println!("downloading {package}");
    run(Command::new("apt-get").args(["download", "-qq", &package]).current_dir(folder))?;
    let deb = fs::read_dir(folder)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .with_context(|| format!("apt-get downloaded no package {package}"))?;
    run(Command::new("dpkg-deb").arg("--extract").arg(&deb).arg(folder))?;
    remove(&deb)?;
    let release = package.strip_prefix("linux-image-").unwrap_or(&package);
    // The package makes this file when it is installed.
    run(Command::new(find("depmod").context("depmod is not here")?)
        .arg("-b")
        .arg(folder)
        .arg(release))
}

fn package(series: Series) -> Result<String> {
    let (prefix, suffix) = series.package();
    let names = capture(Command::new("apt-cache").args(["pkgnames", prefix]))?;
    let newest = newest(&names, prefix, suffix);
    ensure!(
        newest.is_some(),
        "the package lists have no kernel {series} (apt-cache pkgnames {prefix}); is this Debian 12 \
         with its security archive, and did `apt-get update` run?"
    );
    Ok(newest.unwrap_or_default().to_owned())
}

/// Returns the newest kernel among package names that begin and end like this: not the ones for
/// clouds, of another flavour, with debugging symbols, or unsigned.
fn newest<'a>(names: &'a str, prefix: &str, suffix: &str) -> Option<&'a str> {
    names
        .lines()
        .filter_map(|name| {
            let version = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
            let is_generic = !version.contains(|c: char| c.is_ascii_alphabetic())
                || version.contains("+deb")
                    && !version.contains("-cloud")
                    && !version.contains("-rt");
            is_generic.then(|| (numbers(version), name))
        })
        .max()
        .map(|(_, name)| name)
}

fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_generic_kernel_is_taken() {
        let names = "linux-image-6.12.9+deb12-amd64\nlinux-image-6.12.117+deb12-amd64\n\
                     linux-image-6.12.118+deb12-cloud-amd64\nlinux-image-6.12.118+deb12-rt-amd64\n\
                     linux-image-6.12.118+deb12-amd64-dbg\nlinux-image-6.12.119+deb12-amd64-unsigned\n\
                     linux-image-6.12-rt-amd64";
        let check = |names, series: Series, expected| {
            let (prefix, suffix) = series.package();
            assert_eq!(newest(names, prefix, suffix), expected);
        };
        check(names, Series::V6_12, Some("linux-image-6.12.117+deb12-amd64"));
        check(names, Series::V6_12Rt, Some("linux-image-6.12.118+deb12-rt-amd64"));
        let names = "linux-image-6.1.0-9-amd64\nlinux-image-6.1.0-50-amd64\n\
                     linux-image-6.1.0-51-rt-amd64\nlinux-image-6.1.0-51-cloud-amd64";
        check(names, Series::V6_1, Some("linux-image-6.1.0-50-amd64"));
        check("", Series::V6_1, None);
    }

    #[test]
    fn modules_come_with_what_they_need() {
        let dependencies = "kernel/fs/ext4/ext4.ko.xz: kernel/fs/jbd2/jbd2.ko.xz kernel/lib/crc16.ko.xz\n\
                            kernel/fs/jbd2/jbd2.ko.xz:\nkernel/drivers/cpufreq/acpi-cpufreq.ko:\n";
        assert_eq!(
            closure(dependencies, &["ext4", "acpi_cpufreq", "built-in"]),
            [
                "kernel/fs/ext4/ext4.ko.xz",
                "kernel/fs/jbd2/jbd2.ko.xz",
                "kernel/lib/crc16.ko.xz",
                "kernel/drivers/cpufreq/acpi-cpufreq.ko",
            ]
        );
        assert_eq!(module("kernel/fs/jbd2/jbd2.ko.xz"), "jbd2");
    }
}
