//! Which file a command means, found once and not for every run.

use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::launch_error::LaunchError;

/// A program to execute, with its arguments, in the form that the kernel takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    path: CString,
    arguments: Vec<CString>,
    name: String,
}

/// Where `execvp` looks when there is no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl Program {
    /// Finds the file that a command means, as `execvp` would, but only once.
    ///
    /// `path_variable` is the `PATH` that the subject will see; `cwd` the directory it starts in,
    /// which relative names are looked for from (the present directory if `None`). A script
    /// without `#!` is not handed to a shell behind the user's back: executing it fails.
    pub fn resolve(
        command: &[String],
        path_variable: Option<&OsStr>,
        cwd: Option<&Path>,
    ) -> Result<Self, LaunchError> {
        let name = command.first().filter(|name| !name.is_empty()).ok_or(LaunchError::Empty)?;
        let cwd = cwd.unwrap_or(Path::new("."));
        let path = if name.contains('/') {
            let path = PathBuf::from(name);
            match is_executable(&cwd.join(&path)) {
                Found::Executable => path,
                Found::Not(why) => return Err(LaunchError::NotExecutable { path, why }),
                Found::Nothing => {
                    let searched = "no such file".to_owned();
                    return Err(LaunchError::NotFound { command: name.clone(), searched });
                }
            }
        } else {
            search(name, path_variable, cwd)?
        };
        let arguments = command.iter().enumerate().map(|(index, word)| {
            CString::new(word.as_bytes()).map_err(|_| LaunchError::ZeroByte {
                what: format!("argument {index} of `{}`", name.replace('\0', "\\0")),
            })
        });
        Ok(Self {
            arguments: arguments.collect::<Result<_, _>>()?,
            path: CString::new(path.into_os_string().into_encoded_bytes())
                .map_err(|_| LaunchError::ZeroByte { what: "the program's path".into() })?,
            name: name.clone(),
        })
    }

    /// The same program, found from any directory.
    ///
    /// # Errors
    ///
    /// If the present directory cannot be told.
    pub fn from_anywhere(self) -> std::io::Result<Self> {
        let path = std::path::absolute(self.path())?;
        Ok(Self { path: CString::new(path.into_os_string().into_encoded_bytes())?, ..self })
    }

    /// The same program with a text in place of a mark in its arguments.
    ///
    /// # Errors
    ///
    /// If that makes an argument with a zero byte.
    pub(crate) fn filled(&self, mark: &str, text: &str) -> Result<Self, LaunchError> {
        let arguments = self.arguments.iter().map(|argument| filled(argument, mark, text));
        Ok(Self { arguments: arguments.collect::<Result<_, _>>()?, ..self.clone() })
    }

    /// Returns the file that is executed.
    pub fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(self.path.to_bytes()))
    }

    /// Returns the first word of the command, as the user wrote it.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn c_path(&self) -> &CStr {
        &self.path
    }

    pub(crate) fn arguments(&self) -> &[CString] {
        &self.arguments
    }
}

/// Puts a text in place of a mark, where that is there.
pub(crate) fn filled(word: &CStr, mark: &str, text: &str) -> Result<CString, LaunchError> {
    match word.to_str() {
        Ok(known) if known.contains(mark) => CString::new(known.replace(mark, text))
            .map_err(|_| LaunchError::ZeroByte { what: format!("what replaces {mark}") }),
        _ => Ok(word.to_owned()),
    }
}

enum Found {
    Executable,
    Not(&'static str),
    Nothing,
}

fn is_executable(path: &Path) -> Found {
    match path.metadata() {
        Ok(facts) if facts.is_dir() => Found::Not("it is a directory"),
        Ok(facts) if !facts.is_file() => Found::Not("it is not a regular file"),
        Ok(facts) if facts.permissions().mode() & 0o111 == 0 => {
            Found::Not("it is not marked as executable (chmod +x)")
        }
        Ok(_) => Found::Executable,
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Found::Not("a directory in its path may not be entered")
        }
        Err(_) => Found::Nothing,
    }
}

/// Goes through `PATH`; like a shell, passes over what is not executable if something later is.
fn search(name: &str, variable: Option<&OsStr>, cwd: &Path) -> Result<PathBuf, LaunchError> {
    let variable = variable.unwrap_or(OsStr::new(DEFAULT_PATH));
    let mut refused = None;
    for folder in std::env::split_paths(variable) {
        // An empty entry means the present directory, and the path must keep a slash.
        let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
        let path = folder.join(name);
        match is_executable(&cwd.join(&path)) {
            Found::Executable => return Ok(path),
            Found::Not(why) => refused = refused.or(Some((path, why))),
            Found::Nothing => {}
        }
    }
    Err(match refused {
        Some((path, why)) => LaunchError::NotExecutable { path, why },
        None => LaunchError::NotFound {
            command: name.to_owned(),
            searched: format!("searched in PATH={}", variable.display()),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[track_caller]
    fn check(command: &[&str], path: Option<&str>, cwd: Option<&Path>, expected: &str) {
        let command: Vec<String> = command.iter().map(ToString::to_string).collect();
        let shown = match Program::resolve(&command, path.map(OsStr::new), cwd) {
            Ok(program) => program.path().display().to_string(),
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_command_without_words_is_refused() {
        check(&[], None, None, "error: the command is empty");
        check(&[""], None, None, "error: the command is empty");
    }

    #[test]
    fn a_plain_name_is_searched_for_in_path() {
        check(&["sh"], Some("/nowhere:/bin"), None, "/bin/sh");
        check(
            &["becalm-no-such"],
            Some("/nowhere:/bin"),
            None,
            "error: cannot find the program `becalm-no-such` (searched in PATH=/nowhere:/bin)",
        );
    }

    #[test]
    fn a_name_with_a_slash_is_taken_from_the_working_directory() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("tool"), "#!/bin/sh\n").unwrap();
        check(
            &["./tool"],
            None,
            Some(folder.path()),
            "error: cannot execute `./tool`: it is not marked as executable (chmod +x)",
        );
        fs::set_permissions(folder.path().join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
        check(&["./tool"], None, Some(folder.path()), "./tool");
        check(&["tool"], Some("/nowhere:"), Some(folder.path()), "./tool");
        check(
            &["./other"],
            None,
            Some(folder.path()),
            "error: cannot find the program `./other` (no such file)",
        );
        check(&["/"], None, None, "error: cannot execute `/`: it is a directory");
    }

    #[test]
    fn a_zero_byte_is_refused_and_located() {
        let error = "error: argument 1 of `sh` contains a zero byte";
        check(&["sh", "a\0b"], Some("/bin"), None, error);
    }
}
