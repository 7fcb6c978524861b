//! How boot loaders take parameters.

use becalm_model::wire::BootLoader;

use crate::sysroot::SysRoot;

/// How the first line of a file of ours starts.
pub(super) const MARK: &str = "# Written by becalm boot-params";

/// A boot loader, or the tool that writes its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loader {
    /// GRUB, whose menu is generated from `/etc/default/grub`.
    Grub,
    /// Fedora and its relatives change the entries of their loader with `grubby`.
    Grubby,
    /// systemd-boot, with entries or unified kernel images.
    SystemdBoot,
    /// `Pop!_OS` keeps the parameters in kernelstub.
    Kernelstub,
}

/// Folder of GRUB's drop-ins, which `grub-mkconfig` of Debian, Ubuntu and relatives reads.
const GRUB_FOLDER: &str = "/etc/default/grub.d";

/// Folders with parts of the command line, read by what builds unified kernel images.
const CMDLINE_FOLDERS: [&str; 2] = ["/etc/kernel/cmdline.d", "/etc/cmdline.d"];

/// Returns how every loader takes `line`; the one used here comes first.
pub fn loaders(root: &SysRoot, line: &str) -> Vec<BootLoader> {
    let here = Loader::of(root);
    let all = [Loader::Grub, Loader::SystemdBoot, Loader::Kernelstub, Loader::Grubby];
    let mut all: Vec<Loader> = all.into_iter().filter(|one| Some(*one) != here).collect();
    all.splice(0..0, here);
    all.into_iter().map(|loader| loader.document(root, line, Some(loader) == here)).collect()
}

impl Loader {
    /// Finds the loader of this machine by what is installed.
    pub fn of(root: &SysRoot) -> Option<Self> {
        let any = |paths: &[&str]| paths.iter().any(|path| root.exists(path));
        if any(&["/etc/kernelstub/configuration"]) {
            Some(Self::Kernelstub)
        } else if any(&["/usr/sbin/grubby", "/sbin/grubby"]) {
            Some(Self::Grubby)
        } else if any(&["/etc/default/grub"]) {
            Some(Self::Grub)
        } else if any(&[
            "/boot/loader/loader.conf",
            "/boot/loader/entries",
            "/boot/efi/loader/loader.conf",
            "/efi/loader/loader.conf",
            "/etc/kernel/cmdline",
        ]) {
            Some(Self::SystemdBoot)
        } else {
            None
        }
    }

    /// Returns the file that a drop-in would be, where the loader has a folder for such files.
    pub fn dropin(self, root: &SysRoot) -> Option<String> {
        match self {
            Self::Grub if reads_dropins(root) => Some(format!("{GRUB_FOLDER}/99-becalm.cfg")),
            Self::SystemdBoot => CMDLINE_FOLDERS
                .iter()
                .find(|folder| root.exists(folder))
                .map(|folder| format!("{folder}/99-becalm.conf")),
            Self::Grub | Self::Grubby | Self::Kernelstub => None,
        }
    }

    /// Returns every file that [`Loader::dropin`] may have named when it was written.
    pub(super) fn all_dropins() -> Vec<String> {
        let of_folders = CMDLINE_FOLDERS.iter().map(|folder| format!("{folder}/99-becalm.conf"));
        std::iter::once(format!("{GRUB_FOLDER}/99-becalm.cfg")).chain(of_folders).collect()
    }

    /// Returns the text of the drop-in.
    pub fn dropin_text(self, line: &str) -> String {
        let note = format!("{MARK}; `becalm boot-params --remove-dropin` removes it.");
        match self {
            // Not GRUB_CMDLINE_LINUX: the recovery entries of the menu stay as they are.
            Self::Grub => format!(
                "{note}\nGRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT {line}\"\n"
            ),
            _ => format!("{note}\n{line}\n"),
        }
    }

    /// Returns the commands that make a change of the drop-in count at the next start.
    pub fn activation(self, root: &SysRoot) -> Vec<String> {
        match self {
            Self::Grub => {
                let has = |path: &str| root.exists(path);
                let command = if has("/usr/sbin/update-grub") || has("/sbin/update-grub") {
                    "sudo update-grub"
                } else if has("/boot/grub2") {
                    "sudo grub2-mkconfig -o /boot/grub2/grub.cfg"
                } else {
                    "sudo grub-mkconfig -o /boot/grub/grub.cfg"
                };
                vec![command.to_owned()]
            }
            Self::SystemdBoot if root.exists("/etc/mkinitcpio.conf") => {
                vec!["sudo mkinitcpio -P".to_owned()]
            }
            Self::SystemdBoot => vec!["sudo kernel-install add-all".to_owned()],
            Self::Grubby | Self::Kernelstub => Vec::new(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Grub => "GRUB",
            Self::Grubby => "grubby",
            Self::SystemdBoot => "systemd-boot",
            Self::Kernelstub => "kernelstub",
        }
    }

    fn document(self, root: &SysRoot, line: &str, found: bool) -> BootLoader {
        let file = self.dropin(root);
        let mut commands = self.activation(root);
        let text = match (self, &file) {
            (Self::Grub | Self::SystemdBoot, Some(file)) => {
                let content = self.dropin_text(line);
                format!("{file} with\n{}", content.lines().last().unwrap_or_default())
            }
            (Self::Grub, None) => format!(
                "in /etc/default/grub, at the end of the value of GRUB_CMDLINE_LINUX_DEFAULT:\n{line}"
            ),
            (Self::SystemdBoot, None) => format!(
                "at the end of /etc/kernel/cmdline, or of the line `options` of the entry in \
                 loader/entries:\n{line}"
            ),
            (Self::Kernelstub, _) => {
                commands = vec![format!("sudo kernelstub --add-options \"{line}\"")];
                format!("removed by\nsudo kernelstub --delete-options \"{line}\"")
            }
            (Self::Grubby, _) => {
                commands = vec![format!("sudo grubby --update-kernel=ALL --args=\"{line}\"")];
                let keys: Vec<&str> =
                    line.split(' ').filter_map(|word| word.split('=').next()).collect();
                format!(
                    "removed by\nsudo grubby --update-kernel=ALL --remove-args=\"{}\"",
                    keys.join(" ")
                )
            }
        };
        BootLoader { name: self.name().to_owned(), found, file, text, commands }
    }
}

/// Says whether this GRUB reads drop-ins: the plain one does not.
fn reads_dropins(root: &SysRoot) -> bool {
    let script = ["/usr/sbin/grub-mkconfig", "/usr/sbin/grub2-mkconfig", "/usr/bin/grub-mkconfig"];
    let reads =
        |path: &&str| root.read(path).value().is_some_and(|text| text.contains("/default/grub.d"));
    root.exists(GRUB_FOLDER) || script.iter().any(reads)
}
