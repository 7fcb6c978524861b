//! The initramfs of the small guest: busybox, some modules, and the agent.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::cpio::Cpio;
use super::kernel::{Kernel, module};
use crate::install::find;

/// Loaded at boot, in this order, where the kernel has them and the machine wants them.
const MODULES: &[&str] = &[
    "virtio_pci",
    "virtio_blk",
    "virtio_console",
    "virtio_net",
    "virtio_scsi",
    "ext4",
    "crc32c_generic",
    "msr",
    "cpufreq_powersave",
    "cpufreq_ondemand",
    "cpufreq_userspace",
    "cpufreq_conservative",
    "acpi-cpufreq",
];

/// There for tests that load them.
const MORE_MODULES: &[&str] = &["fuse", "zram"];

const FOLDERS: &[&str] = &[
    "bin",
    "dev",
    "proc",
    "sys",
    "tmp",
    "run",
    "lab",
    "etc",
    "root",
    "mnt",
    "home",
    "home/tester",
    "var",
    "var/lib",
    "lib",
    "lib64",
    "lib/modules",
];

const INIT: &str = include_str!("guest/init.sh");
pub(super) const UNTIL_SO: &str = include_str!("guest/until_so.sh");
const LOSE_POWER: &str = include_str!("guest/lose_power.sh");
pub(super) const AGENT: &str = include_str!("guest/agent.sh");

/// Users of the guest; tests run subjects as `tester`.
const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\ntester:x:1000:1000::/home/tester:/bin/sh\n";
const GROUP: &str = "root:x:0:\ntester:x:1000:\nbenchers:x:1001:tester\n";

/// Writes the initramfs for a kernel.
pub(super) fn write(kernel: &Kernel, to: &Path) -> Result<()> {
    let mut archive = base(kernel, MODULES, MORE_MODULES)?;
    archive.file("init", 0o755, INIT.as_bytes());
    archive.file("bin/until_so", 0o755, UNTIL_SO.as_bytes());
    archive.file("bin/lose_power", 0o755, LOSE_POWER.as_bytes());
    archive.file("agent", 0o644, AGENT.as_bytes());
    archive.file("etc/passwd", 0o644, PASSWD.as_bytes());
    archive.file("etc/group", 0o644, GROUP.as_bytes());
    fs::write(to, archive.finish()).with_context(|| format!("cannot write {}", to.display()))
}

/// Begins an initramfs: folders, busybox, and modules; the names of those to be loaded stand in the file `modules`.
pub(super) fn base(kernel: &Kernel, modules: &[&str], more: &[&str]) -> Result<Cpio> {
    let mut archive = Cpio::default();
    let release = format!("lib/modules/{}", kernel.release);
    for folder in FOLDERS.iter().chain([&release.as_str()]) {
        archive.folder(folder);
    }
    archive.copy("bin/busybox", &busybox()?)?;
    archive.link("sbin", "bin");
    archive.file("modules", 0o644, modules.join("\n").as_bytes());
    let mut dependencies = String::new();
    for file in kernel.closure(&[modules, more].concat())? {
        let name = module(&file);
        let content = decompressed(&kernel.modules().join(&file))?;
        archive.file(&format!("{release}/{name}.ko"), 0o644, &content);
        let needs: Vec<String> = kernel
            .closure(&[name])?
            .iter()
            .map(|file| module(file))
            .filter(|other| *other != name)
            .map(|other| format!(" {other}.ko"))
            .collect();
        let _ = writeln!(dependencies, "{name}.ko:{}", needs.concat());
    }
    archive.file(&format!("{release}/modules.dep"), 0o644, dependencies.as_bytes());
    Ok(archive)
}

/// Returns a name for what the initramfs is made of, beside the kernel.
pub(super) fn key() -> String {
    super::cache::key(&(
        MODULES,
        MORE_MODULES,
        INIT,
        UNTIL_SO,
        LOSE_POWER,
        AGENT,
        PASSWD,
        GROUP,
        FOLDERS,
    ))
}

/// Returns the busybox that needs no libraries.
fn busybox() -> Result<PathBuf> {
    find("busybox").context("busybox is not here; the package busybox-static has it")
}

/// Reads a module; newer Debian kernels compress theirs, which busybox cannot load.
fn decompressed(file: &Path) -> Result<Vec<u8>> {
    if file.extension().is_some_and(|extension| extension == "xz") {
        let output = Command::new("xz").args(["--decompress", "--stdout"]).arg(file).output()?;
        anyhow::ensure!(output.status.success(), "xz cannot read {}", file.display());
        Ok(output.stdout)
    } else {
        fs::read(file).with_context(|| format!("cannot read {}", file.display()))
    }
}
