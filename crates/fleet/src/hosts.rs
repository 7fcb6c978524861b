//! The user's file of hosts.
//!
//! ```toml
//! [bench]
//! ssh = "me@bench.example"    # what `ssh` is given; otherwise the name
//! folder = "/var/tmp/me"      # where becalm keeps itself and files there; otherwise ~/.cache/becalm
//! becalm = "/usr/bin/becalm"  # a becalm that is installed there; otherwise becalm copies itself
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// A machine that sessions can run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// What the user calls it.
    pub name: String,
    /// What `ssh` is given.
    pub ssh: String,
    /// Where becalm keeps itself and files on it.
    pub folder: Option<PathBuf>,
    /// A becalm that is installed on it.
    pub becalm: Option<PathBuf>,
}

/// All hosts of the file, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hosts(BTreeMap<String, Host>);

/// Why the file of hosts cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HostsError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is not such a file.
    #[error("{}: {}", path.display(), source.to_string().trim_end())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// Where, and what is wrong.
        source: Box<toml::de::Error>,
    },
    /// `ssh` would take the name for an option.
    #[error("`{0}` is not the name of a host")]
    Name(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    ssh: Option<String>,
    folder: Option<PathBuf>,
    becalm: Option<PathBuf>,
}

impl Hosts {
    /// Returns where the file is: `becalm/hosts.toml` in `$XDG_CONFIG_HOME` or `~/.config`.
    pub fn file() -> Option<PathBuf> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let folder = set("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".config")))?;
        Some(folder.join("becalm/hosts.toml"))
    }

    /// Reads the file; without one there are no hosts.
    pub fn read(path: &Path) -> Result<Self, HostsError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(path, &text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(HostsError::Read { path: path.to_owned(), source }),
        }
    }

    fn parse(path: &Path, text: &str) -> Result<Self, HostsError> {
        let wrong = |source| HostsError::Wrong { path: path.to_owned(), source: Box::new(source) };
        let entries: BTreeMap<String, Entry> = toml::from_str(text).map_err(wrong)?;
        let host = |(name, entry): (String, Entry)| {
            let ssh = entry.ssh.unwrap_or_else(|| name.clone());
            check_name(&name)?;
            check_name(&ssh)?;
            let host = Host { name, ssh, folder: entry.folder, becalm: entry.becalm };
            Ok((host.name.clone(), host))
        };
        entries.into_iter().map(host).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the host of this name: one of the file, or what `ssh` understands.
    pub fn host(&self, name: &str) -> Result<Host, HostsError> {
        check_name(name)?;
        Ok(self.0.get(name).cloned().unwrap_or_else(|| Host {
            name: name.to_owned(),
            ssh: name.to_owned(),
            folder: None,
            becalm: None,
        }))
    }

    /// Returns the hosts in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Host> {
        self.0.values()
    }
}

fn check_name(name: &str) -> Result<(), HostsError> {
    let is_wrong = name.is_empty()
        || name.starts_with('-')
        || name.contains(|c: char| c.is_control() || c.is_whitespace());
    if is_wrong { Err(HostsError::Name(name.escape_debug().to_string())) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Hosts, HostsError> {
        Hosts::parse(Path::new("hosts.toml"), text)
    }

    #[test]
    fn a_host_is_one_of_the_file_or_what_ssh_understands() {
        let hosts = parsed("[bench]\nssh = 'me@b'\nfolder = '/var/tmp'\n[other]\n").unwrap();
        let bench = hosts.host("bench").unwrap();
        assert_eq!((bench.ssh.as_str(), bench.folder), ("me@b", Some(PathBuf::from("/var/tmp"))));
        assert_eq!(hosts.host("other").unwrap().ssh, "other");
        assert_eq!(hosts.host("me@elsewhere").unwrap().ssh, "me@elsewhere");
        assert_eq!(hosts.iter().count(), 2);
    }

    #[test]
    fn no_name_becomes_an_option_of_ssh() {
        for name in ["-oProxyCommand=x", "", "a b", "a\nb"] {
            assert!(Hosts::default().host(name).is_err(), "{name}");
        }
        assert!(parsed("[bench]\nssh = '-oProxyCommand=x'\n").is_err());
    }

    #[test]
    fn a_mistake_is_shown_with_its_line() {
        let error = parsed("[bench]\nshs = 'b'\n").unwrap_err().to_string();
        assert!(error.contains("hosts.toml") && error.contains("line 2"), "{error}");
    }
}
