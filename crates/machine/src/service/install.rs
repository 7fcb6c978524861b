//! The units of systemd that start the service.

use std::io;
use std::path::PathBuf;

use super::SOCKET;
use super::trust::{Untrusted, of_root_alone};
use crate::{Reading, SysRoot, systemd};

/// Where units lie that an administrator has made.
const FOLDER: &str = "/etc/systemd/system";
const UNITS: [&str; 2] = ["becalm.socket", "becalm.service"];
/// First line of what becalm has written, and may remove.
const OURS: &str = "# Written by `becalm machine service install`, and removed by `... remove`.";

/// Why the service is not installed or removed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// Root would run what others put there.
    #[error(transparent)]
    Untrusted(#[from] Untrusted),
    /// Units have rules of their own for these.
    #[error("{0} contains characters that would need escaping in a systemd unit")]
    Name(PathBuf),
    /// Nobody starts it.
    #[error("{FOLDER} does not exist: systemd does not manage the services of this machine")]
    NoSystemd,
    /// Somebody else has made such a unit.
    #[error("{0} was not written by becalm, so it was not changed")]
    NotOurs(String),
    /// A file cannot be written or removed.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// systemd does not take it.
    #[error("{0}")]
    Systemd(io::Error),
}

/// What was written or removed.
#[derive(Debug, PartialEq, Eq)]
pub struct Installed {
    /// Files.
    pub files: Vec<String>,
    /// Whether systemd was told.
    pub is_live: bool,
}

/// Writes the units, for users of `group`, and the policy where there is none yet; then starts the socket.
pub fn install(
    root: &SysRoot,
    group: &str,
    (policy, default_policy): (&str, &str),
) -> Result<Installed, InstallError> {
    let program = of_root_alone(std::path::Path::new("/proc/self/exe"))?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._+-".contains(c);
    let name = program.to_str().filter(|name| name.chars().all(is_plain));
    let Some(name) = name else { return Err(InstallError::Name(program)) };
    if !root.exists(FOLDER) {
        return Err(InstallError::NoSystemd);
    }
    for unit in UNITS {
        is_ours(root, unit)?;
    }
    let mut files = Vec::new();
    for (unit, text) in UNITS.into_iter().zip([socket_unit(group), service_unit(name)]) {
        let path = format!("{FOLDER}/{unit}");
        put(root, &path, &text)?;
        files.push(path);
    }
    if !root.exists(policy) {
        make_folder_above(root, policy)?;
        put(root, policy, default_policy)?;
        files.push(policy.to_owned());
    }
    tell(root, &["daemon-reload"])?;
    tell(root, &["enable", "--now", UNITS[0]])?;
    Ok(Installed { files, is_live: systemd::is_there(root) })
}

/// Stops the service, which puts the machine back, and removes its units. The policy stays.
pub fn remove(root: &SysRoot) -> Result<Installed, InstallError> {
    let mut there = Vec::new();
    for unit in UNITS {
        if is_ours(root, unit)? {
            there.push(unit);
        }
    }
    if !there.is_empty() {
        tell(root, &[&["disable", "--now", "--"], &there[..]].concat())?;
    }
    let mut files = Vec::new();
    for unit in there {
        let path = format!("{FOLDER}/{unit}");
        root.remove_file(&path)
            .map_err(|source| InstallError::File { path: path.clone(), source })?;
        files.push(path);
    }
    tell(root, &["daemon-reload"])?;
    Ok(Installed { files, is_live: systemd::is_there(root) })
}

/// Says whether becalm has written a unit; `false` where there is none.
fn is_ours(root: &SysRoot, unit: &str) -> Result<bool, InstallError> {
    let path = format!("{FOLDER}/{unit}");
    match root.read(&path) {
        Reading::Absent => Ok(false),
        Reading::Value(text) if text.lines().next() == Some(OURS) => Ok(true),
        _ => Err(InstallError::NotOurs(path)),
    }
}

fn put(root: &SysRoot, path: &str, text: &str) -> Result<(), InstallError> {
    root.put_file(path, text).map_err(|source| InstallError::File { path: path.to_owned(), source })
}

fn make_folder_above(root: &SysRoot, path: &str) -> Result<(), InstallError> {
    let folder = path.rsplit_once('/').map_or("/", |(folder, _)| folder);
    match root.make_folder(folder) {
        Err(source) if source.kind() != io::ErrorKind::AlreadyExists => {
            Err(InstallError::File { path: folder.to_owned(), source })
        }
        _ => Ok(()),
    }
}

fn tell(root: &SysRoot, arguments: &[&str]) -> Result<(), InstallError> {
    if !systemd::is_there(root) {
        return Ok(());
    }
    systemd::order(arguments).map_err(InstallError::Systemd)
}

fn socket_unit(group: &str) -> String {
    format!(
        "\
{OURS}
[Unit]
Description=becalm quiets this machine for users

[Socket]
ListenStream={SOCKET}
SocketUser=root
SocketGroup={group}
SocketMode=0660
DirectoryMode=0711

[Install]
WantedBy=sockets.target
"
    )
}

/// The hardening leaves what knobs need: /proc/sys, /sys, control groups, processes of others, interfaces, systemctl.
/// When it is stopped only the service itself is killed: its steward sees that and puts the machine back.
fn service_unit(program: &str) -> String {
    format!(
        "\
{OURS}
[Unit]
Description=becalm quiets this machine for users
Requires=becalm.socket
After=becalm.socket

[Service]
ExecStart={program} machine service run
KillMode=process
StateDirectory=becalm
StateDirectoryMode=0711
UMask=0022
NoNewPrivileges=yes
CapabilityBoundingSet=~CAP_AUDIT_CONTROL CAP_AUDIT_READ CAP_AUDIT_WRITE CAP_BLOCK_SUSPEND CAP_IPC_OWNER CAP_LEASE \
CAP_LINUX_IMMUTABLE CAP_MAC_ADMIN CAP_MAC_OVERRIDE CAP_MKNOD CAP_NET_BIND_SERVICE CAP_NET_RAW CAP_SETFCAP CAP_SETGID \
CAP_SETPCAP CAP_SETUID CAP_SYSLOG CAP_SYS_BOOT CAP_SYS_CHROOT CAP_SYS_MODULE CAP_SYS_PACCT CAP_SYS_TIME \
CAP_SYS_TTY_CONFIG CAP_WAKE_ALARM
LockPersonality=yes
MemoryDenyWriteExecute=yes
PrivateTmp=yes
ProtectClock=yes
ProtectHome=read-only
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectSystem=full
RestrictAddressFamilies=AF_UNIX AF_NETLINK AF_INET AF_INET6
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
TasksMax=64
MemoryMax=256M
LimitCORE=0

[Install]
Also=becalm.socket
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    const FILE: &str = "/etc/systemd/system/becalm.service";

    #[test]
    fn the_units_let_a_group_in_and_start_one_program() {
        let socket = socket_unit("bench");
        for line in
            ["ListenStream=/run/becalm/service.sock", "SocketGroup=bench", "SocketMode=0660"]
        {
            assert!(socket.lines().any(|one| one == line), "{line}");
        }
        let service = service_unit("/usr/bin/becalm");
        let exec: Vec<&str> = service.lines().filter(|line| line.starts_with("Exec")).collect();
        assert_eq!(exec, ["ExecStart=/usr/bin/becalm machine service run"]);
        for text in [&socket, &service] {
            assert!(
                text.lines().all(|line| line.starts_with(['[', '#'])
                    || line.is_empty()
                    || line.contains('='))
            );
        }
    }

    #[test]
    fn a_unit_of_somebody_else_is_left_alone() {
        let tree = FakeTree::new().file(FILE, "[Service]\nExecStart=/bin/true\n");
        let root = SysRoot::new(tree.path());
        assert!(matches!(remove(&root), Err(InstallError::NotOurs(_))));
        let tree = tree.file(FILE, format!("{OURS}\n[Service]\n"));
        assert_eq!(remove(&root).unwrap().files, [FILE]);
        assert!(!root.exists(FILE));
        assert_eq!(remove(&root).unwrap().files, Vec::<String>::new(), "nothing is there");
        drop(tree);
    }
}
