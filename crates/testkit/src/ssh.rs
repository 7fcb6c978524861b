//! A host that `ssh` reaches without a network: the server is started by the client, and talks to it over a pipe.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Debian and others have the server, which wants to be called by its whole path.
const SERVER: &str = "/usr/sbin/sshd";

/// What a server that root starts wants to be there.
const EMPTY: &str = "/run/sshd";

/// Where programs are on the host.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A host called `bench`, which is this machine, for `ssh` of one folder.
#[derive(Debug)]
pub struct SshHost {
    folder: PathBuf,
}

impl SshHost {
    /// Makes keys and configurations in a folder; fails with the reason where there is no ssh.
    pub fn make(folder: &Path) -> Result<Self, String> {
        if !Path::new(SERVER).is_file() {
            return Err("OpenSSH's server is not installed (package openssh-server)".to_owned());
        }
        let folder = folder.join("ssh");
        let failed = |error: std::io::Error| format!("no ssh host can be made: {error}");
        fs::DirBuilder::new().mode(0o700).create(&folder).map_err(failed)?;
        if !Path::new(EMPTY).is_dir() {
            // An ordinary user does not need it.
            let _ = fs::create_dir(EMPTY);
        }
        let host = Self { folder };
        for key in ["host_key", "id", "other_id"] {
            let mut make = Command::new("ssh-keygen");
            make.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(host.path(key));
            let made = make.status().map_err(|error| format!("ssh-keygen: {error}"))?;
            if !made.success() {
                return Err(format!("ssh-keygen: {made}"));
            }
        }
        host.configure().map_err(failed)?;
        Ok(host)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn configure(&self) -> std::io::Result<()> {
        let at = |name: &str| self.path(name).display().to_string();
        fs::copy(self.path("id.pub"), self.path("authorized_keys"))?;
        let state = self.path("state");
        fs::create_dir(&state)?;
        fs::create_dir(self.path("imitations"))?;
        let server = format!(
            "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n\
             KbdInteractiveAuthentication no\nPidFile none\nSetEnv XDG_STATE_HOME={} PATH={}:{PATH}\n",
            at("host_key"),
            at("authorized_keys"),
            state.display(),
            at("imitations"),
        );
        fs::write(self.path("sshd_config"), server)?;
        let public = fs::read_to_string(self.path("host_key.pub"))?;
        fs::write(self.path("known_hosts"), format!("bench {public}"))?;
        let client = format!(
            "Host bench\n  HostKeyAlias bench\n  ProxyCommand {SERVER} -i -f {} -E {}\n  IdentityFile {}\n  \
             IdentitiesOnly yes\n  UserKnownHostsFile {}\n  StrictHostKeyChecking yes\n  BatchMode yes\n",
            at("sshd_config"),
            at("log"),
            at("id"),
            at("known_hosts"),
        );
        fs::write(self.path("config"), client)?;
        let bin = self.path("bin");
        fs::create_dir(&bin)?;
        write_program(&bin.join("ssh"), &format!("exec /usr/bin/ssh -F {} \"$@\"", at("config")))
    }

    /// Puts a script before a program of the host: whoever logs in finds the script by that name.
    pub fn imitate(&self, name: &str, script: &str) {
        write_program(&self.path("imitations").join(name), script).expect("the folder is ours");
    }

    /// Returns the folder whose `ssh` knows the host.
    pub fn programs(&self) -> PathBuf {
        self.path("bin")
    }

    /// Returns the folder in which becalm keeps its state on the host.
    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// Makes `ssh` forget the key of the host.
    pub fn forget_key(&self) {
        fs::write(self.path("known_hosts"), "").expect("it was written before");
    }

    /// Makes the host refuse the user.
    pub fn refuse(&self) {
        fs::copy(self.path("other_id.pub"), self.path("authorized_keys"))
            .expect("both were made before");
    }
}

fn write_program(path: &Path, script: &str) -> std::io::Result<()> {
    fs::write(path, format!("#!/bin/sh\n{script}\n"))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}
