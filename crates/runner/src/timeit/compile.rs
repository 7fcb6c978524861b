//! From a worker and a snippet to a program, by the compiler at hand.

use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::language::Language;

/// Why there is no program.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The compiler cannot be started.
    #[error("cannot start the compiler `{program}`: {source}")]
    Start {
        /// What was to be started.
        program: String,
        /// Why it could not.
        source: io::Error,
    },
    /// It refused the code.
    #[error("`{program}` cannot compile the code:\n{said}")]
    Refused {
        /// The compiler.
        program: String,
        /// What it said, with the user's lines.
        said: String,
    },
}

impl CompileError {
    /// Says whether the compiler is not there at all.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Start { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// Makes the program. The compiler works where becalm does, so that headers and libraries are found there.
pub(super) fn compile(
    language: Language,
    compiler: &[String],
    flags: &[String],
    source: &Path,
    program: &Path,
) -> Result<(), CompileError> {
    let name = compiler.first().cloned().unwrap_or_default();
    let mut command = Command::new(&name);
    command.args(compiler.iter().skip(1)).args(arguments(language));
    // Before the flags, because a library serves what stands before it.
    command.arg(source).args(flags).arg("-o").arg(program);
    if language == Language::C {
        command.arg("-lm");
    }
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|source| CompileError::Start { program: name.clone(), source })?;
    if output.status.success() {
        return Ok(());
    }
    Err(CompileError::Refused { program: name, said: said(&output, source) })
}

/// Returns what every compilation of a language needs.
fn arguments(language: Language) -> &'static [&'static str] {
    match language {
        Language::Rust => &["--edition", "2021", "--crate-name", "worker", "--color", "never"],
        // The user's own headers, which are not looked for beside the worker.
        _ => &["-iquote", "."],
    }
}

/// Returns what a compiler said, without the folder that means nothing to the user.
fn said(output: &Output, source: &Path) -> String {
    let mut text = String::from_utf8_lossy(&output.stderr).into_owned();
    if text.trim().is_empty() {
        text = output.status.to_string();
    }
    if let Some(folder) = source.parent() {
        text = text.replace(&format!("{}/", folder.display()), "");
    }
    text.trim_end().to_owned()
}
