//! `--on HOST`, with a real ssh and its real server, which talk over a pipe.

mod cuts;
mod errors;
mod fleet;
mod hostile;
mod sessions;
mod slurm;

use std::path::PathBuf;

use becalm_testkit::{SshHost, TestEnv, skipped};

use crate::support::env;

/// A folder for commands, from which a host `bench` is reached.
struct Reach {
    env: TestEnv,
    host: SshHost,
}

impl Reach {
    /// Makes it; `None`, visibly, where there is no ssh. The host has the becalm of these tests installed.
    fn with_becalm(test: &str) -> Option<Self> {
        let reach = Self::without_becalm(test)?;
        reach.hosts(&format!("becalm = '{}'\n", env!("CARGO_BIN_EXE_becalm")));
        Some(reach)
    }

    /// The same without a becalm on the host.
    fn without_becalm(test: &str) -> Option<Self> {
        let env = env();
        let host = match SshHost::make(env.path()) {
            Ok(host) => host,
            Err(why) => {
                skipped(&format!("{test}: {why}"));
                return None;
            }
        };
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", host.programs().display());
        let reach = Self { env: env.variable("PATH", &path), host };
        reach.hosts("");
        Some(reach)
    }

    /// Writes the file of hosts, with more about the host.
    fn hosts(&self, more: &str) {
        let folder = self.env.path().join("config/becalm");
        std::fs::create_dir_all(&folder).unwrap();
        let store = self.store();
        let text = format!("[bench]\nfolder = '{}'\n{more}", store.display());
        std::fs::write(folder.join("hosts.toml"), text).unwrap();
    }

    /// Returns where becalm keeps its files on the host.
    fn store(&self) -> PathBuf {
        self.env.path().join("store")
    }

    /// Returns the names in a folder of the store.
    fn stored(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.store().join(folder)).into_iter().flatten();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}
