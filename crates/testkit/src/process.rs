//! Programs that tests write.

use std::path::Path;
use std::process::Command;

/// Writes a program that can be executed at once. A child does it: what another test starts just then would
/// inherit the file, open for writing, and until it executes something nobody can execute the file.
#[track_caller]
pub fn write_program(path: &Path, text: &str) {
    let script = r#"printf %s "$1" >"$0" && chmod 755 "$0""#;
    let written = Command::new("sh").args(["-c", script]).arg(path).arg(text).status();
    assert!(written.is_ok_and(|status| status.success()), "cannot write {}", path.display());
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
}
