//! A command line that sees nothing of the machine's user.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use becalm_kernel::process;

use crate::redact;

/// A place to run the `becalm` binary in: an empty home, an empty working folder and an environment
/// that is the same everywhere.
///
/// The caller names the binary, as only its own crate knows it:
/// `TestEnv::new(env!("CARGO_BIN_EXE_becalm"))`.
#[derive(Debug)]
pub struct TestEnv {
    binary: PathBuf,
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

impl TestEnv {
    /// Makes the folders.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for name in FOLDERS {
            std::fs::create_dir(folder.path().join(name)).expect("a fresh folder can be filled");
        }
        Self { binary: binary.into(), folder, variables: Vec::new() }
    }

    /// Returns the working folder of the commands.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Returns the folder that holds everything.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file in the working folder and returns its path.
    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        let above = path.parent().expect("a file lies in a folder");
        std::fs::create_dir_all(above)
            .unwrap_or_else(|error| panic!("{}: {error}", above.display()));
        std::fs::write(&path, content)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        path
    }

    /// Sets a variable for the commands that follow.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns the command, for callers that need to start or signal it themselves.
    pub fn command<I: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = I>) -> Command {
        let below = |name: &str| self.folder.path().join(name);
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .current_dir(below("work"))
            .stdin(Stdio::null())
            .env_clear()
            // Subjects such as `sleep` have to be found, and nothing else of the user's path.
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", below("home"))
            .env("TMPDIR", below("tmp"))
            .env("XDG_CONFIG_HOME", below("config"))
            .env("XDG_DATA_HOME", below("data"))
            .env("XDG_STATE_HOME", below("state"))
            .env("XDG_CACHE_HOME", below("cache"))
            .env("XDG_RUNTIME_DIR", below("runtime"))
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .env("TERM", "dumb")
            .env("COLUMNS", "100")
            .env("NO_COLOR", "1");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        // Tests that run in the background of a script inherit an ignored SIGINT, which a good program leaves ignored,
        // and who starts them may have given them a class or a niceness, which becalm keeps to.
        process::starts_afresh(&mut command);
        command
    }

    /// Runs the binary to its end.
    pub fn run<I: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = I>) -> CommandOutput {
        let output = self
            .command(arguments)
            .output()
            .unwrap_or_else(|error| panic!("{}: {error}", self.binary.display()));
        CommandOutput {
            status: output.status,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            folder: self.folder.path().to_owned(),
        }
    }
}

const FOLDERS: [&str; 8] = ["work", "home", "tmp", "config", "data", "state", "cache", "runtime"];

/// What a command left behind.
#[derive(Debug, Clone)]
#[must_use = "a command whose end nobody looks at proves nothing"]
pub struct CommandOutput {
    /// How it ended.
    pub status: ExitStatus,
    /// What it said on standard output.
    pub stdout: String,
    /// What it said on standard error.
    pub stderr: String,
    folder: PathBuf,
}

impl CommandOutput {
    /// Checks the exit code, and shows everything that was said when it is another one.
    #[track_caller]
    pub fn exits_with(self, code: i32) -> Self {
        assert_eq!(
            self.status.code(),
            Some(code),
            "{}\n--- stdout\n{}\n--- stderr\n{}",
            self.status,
            self.stdout,
            self.stderr
        );
        self
    }

    /// Returns the whole outcome as a text to compare, with everything that varies redacted.
    pub fn transcript(&self) -> String {
        let status = match self.status.code() {
            Some(code) => format!("exit code {code}"),
            None => self.status.to_string(),
        };
        let text = format!("{status}\n--- stdout\n{}--- stderr\n{}", self.stdout, self.stderr);
        redact(&text, &self.folder)
    }

    /// Returns standard output with everything that varies redacted.
    pub fn redacted_stdout(&self) -> String {
        redact(&self.stdout, &self.folder)
    }

    /// Returns standard error with everything that varies redacted.
    pub fn redacted_stderr(&self) -> String {
        redact(&self.stderr, &self.folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_sees_its_own_home_and_nothing_of_the_users_environment() {
        let env = TestEnv::new("/usr/bin/env").variable("EXTRA", "1");
        let output = env.run::<&str>([]).exits_with(0);
        let shown = output.redacted_stdout();
        assert!(shown.contains("HOME=[TMP]/home\n") && shown.contains("EXTRA=1\n"), "{shown}");
        assert!(!shown.contains("CARGO"), "{shown}");
    }

    #[test]
    fn a_transcript_has_the_code_and_both_streams() {
        let env = TestEnv::new("/bin/sh");
        let file = env.write("a/b", "text");
        assert!(file.starts_with(env.work()));
        let output = env.run(["-c", "echo took 12.5 ms; echo in $PWD >&2; exit 3"]).exits_with(3);
        assert_eq!(
            output.transcript(),
            "exit code 3\n--- stdout\ntook [TIME]\n--- stderr\nin [TMP]/work\n"
        );
    }
}
