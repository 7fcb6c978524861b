//! A Debian with systemd in a virtual machine.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::cache::key;
use super::guest::Guest;
use super::initrd;
use super::kernel::Kernel;
use super::lab::{Place, STALLED, key_of, new_overlay};
use crate::install::find;
use crate::workspace::run;

/// What is installed beside the smallest Debian: services and timers that disturb measurements, a boot
/// loader, and what tests look with.
const PACKAGES: &str = "systemd,systemd-sysv,dbus,udev,kmod,cron,logrotate,man-db,irqbalance,apt,\
                        login,cpio,util-linux,grub2-common,grub-pc-bin,procps,iproute2,\
                        sudo,opendoas,pkexec,polkitd";

const AGENT_UNIT: &str = include_str!("guest/agent.service");
const BOOT: &str = include_str!("guest/boot.sh");
const SETUP: &str = include_str!("guest/setup.sh");

/// What lies in its `/usr/local/bin`.
const SCRIPTS: [(&str, &str); 2] = [("lab-agent", initrd::AGENT), ("until_so", initrd::UNTIL_SO)];

/// The disk has room for tests to write.
const DISK: &str = "2048M";

const SNAPSHOT: &str = "ready";

const BOOT_LINE: &str = "root=/dev/vda console=ttyS0 quiet panic=-1 systemd.show_status=0";

impl Place<'_> {
    /// Starts the Debian guest from its snapshot, in which all services run; what a test writes to
    /// its disk is gone when it ends.
    pub(super) fn debian(&self) -> Result<Guest> {
        let image = self.image()?;
        let prefix = format!("debian-{}-", self.kernel.series);
        let name = format!("{prefix}{}", key(&(key_of(&image), BOOT_LINE, STALLED)));
        self.lab.cache.forget(&prefix, &name)?;
        let folder = self.lab.cache.folder(&name, |folder| {
            let overlay = folder.join("state.qcow2");
            new_overlay(&image, &overlay)?;
            let mut guest = Guest::start(self.debian_command(&overlay)?, &self.lab.manner)?;
            guest.wait_for_boot().with_context(|| guest.console())?;
            guest.ok("systemctl is-system-running --wait || systemctl --failed")?;
            guest.monitor(&format!("savevm {SNAPSHOT}"))
        })?;
        let mut command = self.debian_command(&folder.join("state.qcow2"))?;
        command.args(["-loadvm", SNAPSHOT]);
        let mut guest = Guest::start(command, &self.lab.manner)?;
        guest.ok(
            "blockdev --flushbufs /dev/vdb; cd / && cpio -idu --quiet </dev/vdb && ln -sf /lab/becalm /lab/kill_at /usr/local/bin/",
        )?;
        Ok(guest)
    }

    fn debian_command(&self, disk: &Path) -> Result<Command> {
        let mut command = self.machine()?;
        let drive = format!("file={},format=qcow2,if=none,id=disk", disk.display());
        command.args(["-drive", &drive, "-device", "virtio-blk-pci,drive=disk,addr=0x10"]);
        self.add_programs(&mut command);
        let initrd = self.lab.cache.path(&format!("initrd-debian-{}", self.kernel.series));
        write_initrd(self.kernel, &initrd)?;
        command.arg("-kernel").arg(self.kernel.image()).arg("-initrd").arg(initrd);
        command.arg("-append").arg(format!("{BOOT_LINE} {STALLED}"));
        Ok(command)
    }

    /// Returns the disk with the system, an ext4 without partitions. Nothing is mounted to make it.
    fn image(&self) -> Result<PathBuf> {
        let modules = self.kernel.modules();
        let prefix = format!("image-{}-", self.kernel.series);
        let name = format!(
            "{prefix}{}",
            key(&(PACKAGES, SETUP, AGENT_UNIT, SCRIPTS, GUEST_MODULES, MODULE_LISTS))
        );
        self.lab.cache.forget(&prefix, &name)?;
        let folder = self.lab.cache.folder(&name, |folder| {
            println!("installing Debian for the kernel {}", self.kernel.series);
            let root = folder.join("root");
            let setup = folder.join("setup.sh");
            fs::write(&setup, SETUP)?;
            run(Command::new(find("mmdebstrap").context("mmdebstrap is not here")?)
                .args(["--quiet", "--variant=minbase", "--include", PACKAGES])
                .arg(format!("--customize-hook=sh {} \"$1\"", setup.display()))
                .arg("bookworm")
                .arg(&root))?;
            for (name, text) in SCRIPTS {
                let file = root.join("usr/local/bin").join(name);
                fs::write(&file, text)?;
                fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
            }
            fs::write(root.join("etc/systemd/system/lab-agent.service"), AGENT_UNIT)?;
            let there = root.join("lib/modules").join(&self.kernel.release);
            fs::create_dir_all(&there)?;
            for name in MODULE_LISTS {
                fs::copy(modules.join(name), there.join(name))?;
            }
            for file in self.kernel.closure(GUEST_MODULES)? {
                let to = there.join(&file);
                fs::create_dir_all(to.parent().context("a module lies in a folder")?)?;
                fs::copy(modules.join(&file), to)?;
            }
            let image = folder.join("disk");
            run(Command::new(find("mke2fs").context("mke2fs is not here")?)
                .args(["-q", "-t", "ext4", "-d"])
                .arg(&root)
                .arg(&image)
                .arg(DISK))?;
            super::cache::remove(&root)
        })?;
        Ok(folder.join("disk"))
    }
}

/// What `modprobe` looks modules up in; it reads the binary ones alone.
const MODULE_LISTS: &[&str] = &[
    "modules.alias.bin",
    "modules.builtin",
    "modules.builtin.bin",
    "modules.builtin.alias.bin",
    "modules.dep",
    "modules.dep.bin",
    "modules.order",
    "modules.softdep",
    "modules.symbols.bin",
];

/// What udev and tests load.
const GUEST_MODULES: &[&str] = &[
    "virtio_pci",
    "virtio_blk",
    "virtio_console",
    "virtio_net",
    "ext4",
    "crc32c_generic",
    "dummy",
    "autofs4",
    "acpi-cpufreq",
    "cpufreq_powersave",
    "cpufreq_ondemand",
    "cpufreq_userspace",
    "cpufreq_conservative",
];

/// What the initramfs needs to find the disk.
const BOOT_MODULES: &[&str] = &["virtio_pci", "virtio_blk", "crc32c_generic", "ext4"];

fn write_initrd(kernel: &Kernel, to: &Path) -> Result<()> {
    if to.exists() {
        return Ok(());
    }
    let mut archive = initrd::base(kernel, BOOT_MODULES, &[])?;
    archive.file("init", 0o755, BOOT.as_bytes());
    fs::write(to, archive.finish()).with_context(|| format!("cannot write {}", to.display()))
}
