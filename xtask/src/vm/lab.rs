//! Guests from snapshots: a machine boots once, and every test starts from where it had booted.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::acpi;
use super::cache::{Cache, key, remove};
use super::guest::{DiskFormat, Guest, Manner};
use super::initrd;
use super::kernel::Kernel;
use super::profile::{N_CPUS, Needs, Profile};
use crate::workspace::capture;

/// Name of the snapshot inside its file.
const SNAPSHOT: &str = "booted";

/// To its kernel a guest that the host does not run for a while has locked up. Such long waits are no
/// complaint: these are the longest that Linux allows. A timer that does not tick while the kernel counts to some millions
/// is not broken either.
pub(super) const STALLED: &str =
    "watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=300 no_timer_check";

/// What all guests need.
#[derive(Debug)]
pub(super) struct Lab {
    pub(super) cache: Cache,
    pub(super) qemu: PathBuf,
    /// Whether QEMU has the patch that some profiles need.
    pub(super) is_patched: bool,
    pub(super) manner: Manner,
    /// The disk with becalm.
    pub(super) programs: PathBuf,
}

/// One machine with one kernel.
#[derive(Debug, Clone)]
pub(super) struct Place<'a> {
    pub(super) lab: &'a Lab,
    pub(super) kernel: &'a Kernel,
    pub(super) profile: &'a Profile,
}

impl Place<'_> {
    /// Starts the guest from its snapshot, which is made when there is none.
    pub(super) fn guest(&self) -> Result<Guest> {
        let snapshot = self.snapshot()?;
        let mut command = self.command()?;
        command.arg("-drive").arg(state_drive(&snapshot)).args(["-loadvm", SNAPSHOT]);
        let mut guest = Guest::start(command, &self.lab.manner)?;
        copy_programs(&mut guest)?;
        Ok(guest)
    }

    /// Boots the guest; `disk` is a file that it sees as `/dev/vdb` and keeps when its power is cut.
    pub(super) fn boot(&self, disk: &Path, format: DiskFormat) -> Result<Guest> {
        let mut command = self.command()?;
        let drive = format!("file={},format={},if=none,id=disk", disk.display(), format.name());
        command.args(["-drive", &drive, "-device", "virtio-blk-pci,drive=disk,addr=0x12"]);
        let mut guest = Guest::start(command, &self.lab.manner)?;
        guest.wait_for_boot().with_context(|| guest.console())?;
        copy_programs(&mut guest)?;
        Ok(guest)
    }

    fn snapshot(&self) -> Result<PathBuf> {
        let command = self.command()?;
        let version = capture(Command::new(&self.lab.qemu).arg("--version"))?;
        let prefix = format!("booted-{}-{}-", self.kernel.series, self.profile.name);
        let variables: Vec<_> = command.get_envs().collect();
        let arguments: Vec<_> = command.get_args().collect();
        let parts = (version, variables, arguments, &self.kernel.release);
        let name = format!("{prefix}{}", key(&parts));
        self.lab.cache.forget(&prefix, &name)?;
        let folder = self.lab.cache.folder(&name, |folder| {
            let file = folder.join("state.qcow2");
            capture(
                Command::new("qemu-img")
                    .args(["create", "-q", "-f", "qcow2"])
                    .arg(&file)
                    .arg("64M"),
            )?;
            let mut command = self.command()?;
            command.arg("-drive").arg(state_drive(&file));
            let mut guest = Guest::start(command, &self.lab.manner)?;
            guest.wait_for_boot().with_context(|| guest.console())?;
            self.check(&mut guest).with_context(|| guest.console())?;
            guest.monitor(&format!("savevm {SNAPSHOT}"))
        })?;
        Ok(folder.join("state.qcow2"))
    }

    /// Makes sure that the machine is the one that its profile promises.
    fn check(&self, guest: &mut Guest) -> Result<()> {
        let driver =
            guest.run("cat /sys/devices/system/cpu/cpufreq/policy0/scaling_driver 2>/dev/null")?;
        let driver = Some(driver.text.trim()).filter(|driver| !driver.is_empty());
        ensure!(
            driver == self.profile.driver,
            "the guest has the cpufreq driver {driver:?}, but {} is a machine with {:?}",
            self.profile.name,
            self.profile.driver
        );
        Ok(())
    }

    fn command(&self) -> Result<Command> {
        let mut command = self.machine()?;
        self.add_programs(&mut command);
        command.arg("-kernel").arg(self.kernel.image()).arg("-initrd").arg(self.initrd()?);
        let boot = self.profile.boot;
        command.arg("-append").arg(format!("console=ttyS0 quiet panic=-1 {STALLED} {boot}"));
        Ok(command)
    }

    /// Returns the command line of QEMU without what is booted.
    pub(super) fn machine(&self) -> Result<Command> {
        let profile = self.profile;
        let mut command = Command::new(&self.lab.qemu);
        if let Needs::Patched(variables) = profile.needs {
            command.envs(variables.iter().copied());
        }
        // All CPUs in one thread: with one thread each, CPUs that wait for each other keep the host busy for nothing where it
        // has fewer, and a breakpoint by which a kernel patches itself may be met after it is gone.
        command.args(["-accel", "tcg,thread=single", "-machine", "q35", "-cpu", profile.cpu]);
        // Below 512 MB of usable memory the kernel switches huge pages off.
        command.args(["-smp", profile.smp, "-m", "768", "-display", "none", "-nodefaults"]);
        // A network card that is connected to nothing.
        command.args(["-no-reboot", "-netdev", "hubport,id=net,hubid=0"]);
        command.args(["-device", "virtio-net-pci,netdev=net,romfile="]);
        command.args(profile.devices);
        if !profile.power.is_empty() {
            command.arg("-acpitable").arg(format!("file={}", self.table()?.display()));
        }
        // A QEMU out of its build folder does not find its firmware.
        for folder in ["/usr/share/qemu", "/usr/share/seabios"] {
            if self.lab.is_patched && Path::new(folder).is_dir() {
                command.args(["-L", folder]);
            }
        }
        Ok(command)
    }

    /// Adds the disk with becalm.
    pub(super) fn add_programs(&self, command: &mut Command) {
        let programs = self.lab.programs.display();
        let drive = format!("file={programs},format=raw,if=none,id=programs,readonly=on");
        command.args(["-drive", &drive, "-device", "virtio-blk-pci,drive=programs,addr=0x11"]);
    }

    fn table(&self) -> Result<PathBuf> {
        let name = format!("acpi-{}", key(&acpi::text(N_CPUS, self.profile.power)));
        let folder = self
            .lab
            .cache
            .folder(&name, |folder| acpi::compile(folder, N_CPUS, self.profile.power))?;
        Ok(folder.join(acpi::TABLE))
    }

    fn initrd(&self) -> Result<PathBuf> {
        let file = self.lab.cache.path(&format!("initrd-{}-{}", self.kernel.series, initrd::key()));
        if !file.exists() {
            let prefix = format!("initrd-{}-", self.kernel.series);
            self.lab.cache.forget(&prefix, "")?;
            initrd::write(self.kernel, &file)?;
        }
        Ok(file)
    }
}

/// Returns a name for a file as it is now, by its place, size and time.
pub(super) fn key_of(file: &Path) -> String {
    let about = std::fs::metadata(file).ok().map(|about| (about.len(), about.modified().ok()));
    key(&(file, about))
}

/// Makes an empty disk with a file system.
pub(super) fn empty_disk(file: &Path, format: DiskFormat) -> Result<()> {
    remove(file)?;
    let raw = match format {
        DiskFormat::Raw => file.to_owned(),
        DiskFormat::Qcow2 => file.with_extension("below"),
    };
    remove(&raw)?;
    let mke2fs = crate::install::find("mke2fs").context("mke2fs is not here")?;
    capture(Command::new(mke2fs).args(["-q", "-t", "ext4"]).arg(&raw).arg("64M"))?;
    match format {
        DiskFormat::Raw => Ok(()),
        DiskFormat::Qcow2 => new_overlay(&raw, file),
    }
}

/// Makes a disk that begins as another, which is raw, and keeps what is written to it.
pub(super) fn new_overlay(below: &Path, file: &Path) -> Result<()> {
    let mut create = Command::new("qemu-img");
    create.args(["create", "-q", "-f", "qcow2", "-F", "raw", "-b"]).arg(below).arg(file);
    capture(&mut create).map(drop)
}

fn state_drive(file: &Path) -> String {
    format!("file={},format=qcow2,if=none,id=state", file.display())
}

/// Unpacks the disk with becalm. Its first page may be older than the snapshot, because the kernel
/// has looked for partitions there.
fn copy_programs(guest: &mut Guest) -> Result<()> {
    guest.ok("blockdev --flushbufs /dev/vda && cd / && cpio -idu </dev/vda 2>/dev/null")?;
    Ok(())
}
