//! The user's own `ssh`, with its configuration, agent, jump hosts and known hosts.
//!
//! All calls for a host share one connection: `ssh` keeps it open at a socket in a private folder, unless the user's
//! configuration already has one open.

use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use tempfile::TempDir;

use crate::error::FleetError;
use crate::hosts::Host;

/// How `ssh` ends if it fails itself, rather than the command on the host.
const OF_SSH: i32 = 255;

/// Longest path of a socket that `ssh` can make, less what it adds to the name while it does.
const LONGEST_SOCKET: usize = 85;

/// Options of every call. A link that is dead for 15 seconds ends the connection; nothing of the user's configuration that
/// would open ports, run another command or ask for a terminal is used.
const OPTIONS: [&str; 14] = [
    "-T",
    "-a",
    "-x",
    "-o",
    "ServerAliveInterval=5",
    "-o",
    "ServerAliveCountMax=3",
    "-o",
    "ClearAllForwardings=yes",
    "-o",
    "RemoteCommand=none",
    "-o",
    "LogLevel=ERROR",
    // What follows is the destination, whatever it begins with.
    "--",
];

/// A connection to a host.
#[derive(Debug)]
pub(crate) struct Ssh {
    host: Host,
    /// Where the socket of the shared connection is; `None` where the user has one.
    control: Option<TempDir>,
}

impl Ssh {
    /// Prepares it; the first call connects.
    pub(crate) fn new(host: &Host) -> Result<Self, FleetError> {
        let own = Command::new("ssh")
            .args(["-O", "check", "--", &host.ssh])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(FleetError::NoSsh)?;
        let control = if own.success() { None } else { Some(private_folder()?) };
        Ok(Self { host: host.clone(), control })
    }

    /// Returns `ssh` with a command for the host's shell.
    fn command(&self, line: &str) -> Command {
        let mut command = Command::new("ssh");
        if let Some(folder) = &self.control {
            let socket = folder.path().join("s");
            command.arg("-o").arg("ControlMaster=auto");
            command.arg("-o").arg(format!("ControlPath={}", socket.display()));
            command.arg("-o").arg("ControlPersist=60");
        }
        command.args(OPTIONS).arg(&self.host.ssh).arg(line);
        command
    }

    /// Runs a script on the host by its `sh`, whatever the login shell is; returns what it prints, and how it ended with
    /// what it says on standard error.
    pub(crate) fn script(&self, script: &str) -> Result<(String, Ended), FleetError> {
        self.run(&format!("exec sh -c {}", shell_words::quote(script)), |_| Ok(()))
    }

    /// Runs a script that reads what `feed` writes.
    pub(crate) fn run(
        &self,
        line: &str,
        feed: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
    ) -> Result<(String, Ended), FleetError> {
        let mut child = self
            .command(line)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(FleetError::NoSsh)?;
        let errors = child.stderr.take().map(tail_of);
        let fed = child
            .stdin
            .take()
            .map_or(Ok(()), |mut input| feed(&mut input).and_then(|()| input.flush()));
        let mut output = Vec::new();
        if let Some(stdout) = &mut child.stdout {
            let _ = stdout.take(MOST).read_to_end(&mut output);
        }
        let status = child.wait().map_err(FleetError::NoSsh)?;
        let text = errors.and_then(|reader| reader.join().ok()).unwrap_or_default();
        if status.code() == Some(OF_SSH) {
            return Err(self.failure(&text));
        }
        if status.code().is_none() {
            // Somebody has killed it; what it printed is not all.
            return Err(self.lost(&format!("ssh: {status}")));
        }
        if let (Err(error), true) = (fed, status.success()) {
            return Err(self.lost(&error.to_string()));
        }
        Ok((String::from_utf8_lossy(&output).into_owned(), Ended { status, text }))
    }

    /// Starts a command that talks to this process. A terminal's Ctrl-C does not reach it: becalm passes it on.
    pub(crate) fn start(&self, script: &str) -> Result<Child, FleetError> {
        self.command(&format!("exec sh -c {}", shell_words::quote(script)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(FleetError::NoSsh)
    }

    /// Returns why `ssh` failed, by what it says.
    pub(crate) fn failure(&self, text: &str) -> FleetError {
        let host = self.host.name.clone();
        let said = |part: &str| text.contains(part);
        let text = last_line(text);
        if said("Host key verification failed") || said("REMOTE HOST IDENTIFICATION HAS CHANGED") {
            FleetError::HostKey { host, text }
        } else if said("Permission denied") || said("Too many authentication failures") {
            FleetError::Refused { host, text }
        } else {
            FleetError::Unreachable { host, text }
        }
    }

    /// Returns that the connection ended before the job, with what `ssh` has said.
    pub(crate) fn lost(&self, text: &str) -> FleetError {
        let text =
            if text.trim().is_empty() { "it was closed".to_owned() } else { last_line(text) };
        FleetError::Lost { host: self.host.name.clone(), text }
    }

    pub(crate) fn host(&self) -> &Host {
        &self.host
    }
}

/// Most that a script may print, in bytes.
const MOST: u64 = 1 << 20;

/// How a script ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// The end of what it said on standard error.
    pub(crate) text: String,
}

impl Ended {
    /// Returns its last line.
    pub(crate) fn last_line(&self) -> String {
        last_line(&self.text)
    }
}

/// Returns the last line that says something, without anything that a terminal would obey.
pub(crate) fn last_line(text: &str) -> String {
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    line.map_or_else(
        || "ssh ended without a message".to_owned(),
        |line| line.chars().filter(|c| !c.is_control()).take(300).collect(),
    )
}

/// The last 4 KiB of what was said on standard error.
#[derive(Debug, Default)]
pub(crate) struct Tail(Vec<u8>);

impl Tail {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        const KEPT: usize = 4096;
        self.0.extend_from_slice(bytes);
        let surplus = self.0.len().saturating_sub(KEPT);
        self.0.drain(..surplus);
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

/// Reads to the end and keeps its last part.
fn tail_of(mut from: std::process::ChildStderr) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut kept = Tail::default();
        let mut buffer = [0; 1024];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            kept.add(&buffer[..read]);
        }
        kept.text()
    })
}

/// Makes a folder that only this user can look into, where a socket has room for its name.
fn private_folder() -> Result<TempDir, FleetError> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").unwrap_or_default();
    let places = [Path::new(&runtime), &std::env::temp_dir(), Path::new("/tmp")];
    let usable = places.into_iter().filter(|place| place.is_dir());
    let mut error = std::io::Error::from(std::io::ErrorKind::NotFound);
    for place in usable {
        if place.as_os_str().len() + ".becalm-123456/s".len() > LONGEST_SOCKET {
            continue;
        }
        match tempfile::Builder::new().prefix(".becalm-").tempdir_in(place) {
            Ok(folder) => return Ok(folder),
            Err(why) => error = why,
        }
    }
    Err(FleetError::Here { path: "/tmp".into(), source: error })
}

impl Drop for Ssh {
    fn drop(&mut self) {
        let Some(folder) = &self.control else { return };
        let socket = folder.path().join("s");
        // ssh makes the socket when it connects.
        if socket.exists() {
            let _ = Command::new("ssh")
                .arg("-o")
                .arg(format!("ControlPath={}", socket.display()))
                .args(["-O", "exit", "--", &self.host.ssh])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::Hosts;

    #[test]
    fn what_ssh_says_tells_what_is_wrong() {
        let host = Hosts::default().host("bench").unwrap();
        let ssh = Ssh { host, control: None };
        let check = |text: &str, expected: &str| {
            assert_eq!(ssh.failure(text).to_string(), expected);
        };
        check(
            "ssh: Could not resolve hostname bench: Name or service not known\r\n",
            "cannot connect to bench: ssh: Could not resolve hostname bench: Name or service not known",
        );
        check(
            "No ED25519 host key is known for bench and you have requested strict checking.\r\nHost key \
             verification failed.\r\n",
            "the key of bench is not the one that ssh knows: Host key verification failed.",
        );
        check(
            "me@bench: Permission denied (publickey).\r\n",
            "bench refuses the login: me@bench: Permission denied (publickey).",
        );
        check("", "cannot connect to bench: ssh ended without a message");
        check("\u{1b}]0;title\u{7}x", "cannot connect to bench: ]0;titlex");
    }
}
