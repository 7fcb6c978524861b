//! Programs that tests write, and processes that they need.

use std::path::Path;
use std::process::{Child, Command};

/// Writes a program that can be executed at once. A child does it: what another test starts just then would
/// inherit the file, open for writing, and until it executes something nobody can execute the file.
#[track_caller]
pub fn write_program(path: &Path, text: &str) {
    let script = r#"printf %s "$1" >"$0" && chmod 755 "$0""#;
    let written = Command::new("sh").args(["-c", script]).arg(path).arg(text).status();
    assert!(written.is_ok_and(|status| status.success()), "cannot write {}", path.display());
}

/// A process that does nothing until it is dropped. It ends with a test that fails, too: who reads the output
/// of the tests waits for everybody who could write to it.
#[derive(Debug)]
pub struct Sleeper(Child);

impl Sleeper {
    /// Starts it.
    pub fn start() -> Self {
        Self(Command::new("sleep").arg("1000").spawn().expect("sleep is everywhere"))
    }

    /// Returns its process id.
    pub fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        // It ends by nothing else, and nobody else waits for it.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_written_as_it_is_and_can_be_executed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b");
        let text = "#!/bin/sh\nprintf '100%%\\n'\n";
        write_program(&path, text);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        assert_eq!(Command::new(&path).output().unwrap().stdout, b"100%\n");
    }

    #[test]
    fn a_sleeper_that_is_dropped_is_gone() {
        let sleeper = Sleeper::start();
        let place = format!("/proc/{}", sleeper.id());
        assert!(Path::new(&place).exists());
        drop(sleeper);
        assert!(!Path::new(&place).exists());
    }
}
