//! Where the workspace is and how cargo is called in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;

/// Returns the root folder of the workspace.
pub(crate) fn root() -> PathBuf {
    // Cargo sets it for `cargo run`; a binary started by hand falls back on where it was built.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest.parent().map(Path::to_owned).unwrap_or(manifest)
}

/// Returns a cargo command in the root folder, with no standard input.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root()).stdin(Stdio::null());
    command
}

/// Runs a command whose output the person sees.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let text = shown(command);
    let status = command.status().with_context(|| format!("cannot start `{text}`"))?;
    ensure!(status.success(), "`{text}` ended with {status}");
    Ok(())
}

/// Runs a command and returns what it wrote to standard output.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let text = shown(command);
    let output = command.output().with_context(|| format!("cannot start `{text}`"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("`{text}` ended with {}: {}", output.status, stderr.trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{text}` printed invalid UTF-8"))
}

/// Runs a command and returns what it wrote to standard output; the person sees the rest as it comes.
pub(crate) fn capture_chatty(command: &mut Command) -> Result<String> {
    let text = shown(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start `{text}`"))?;
    ensure!(output.status.success(), "`{text}` ended with {}", output.status);
    String::from_utf8(output.stdout).with_context(|| format!("`{text}` printed invalid UTF-8"))
}

/// Returns the command line, for messages.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut text = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text
}

/// Reads `cargo metadata`: the packages of this workspace without their dependencies.
pub(crate) fn metadata() -> Result<Value> {
    let text = capture(&mut cargo(&["metadata", "--format-version", "1", "--no-deps"]))?;
    serde_json::from_str(&text).context("cargo metadata did not print JSON")
}

/// Builds the `becalm` binary in a profile of cargo and returns where it lies.
pub(crate) fn build_becalm(profile: Profile) -> Result<PathBuf> {
    // With --workspace, so that features resolve as for the tests and nothing is built twice.
    let mut command = cargo(&["build", "--quiet", "--workspace", "--bin", "becalm"]);
    let folder = match profile {
        Profile::Dev => "debug",
        Profile::Release => {
            command.arg("--release");
            "release"
        }
    };
    run(&mut command)?;
    Ok(target()?.join(folder).join("becalm"))
}

/// Returns the folder of what cargo builds, which may also have what we build or write ourselves.
pub(crate) fn target() -> Result<PathBuf> {
    let metadata = metadata()?;
    Ok(PathBuf::from(metadata["target_directory"].as_str().context("no target_directory")?))
}

/// Makes a folder for large files of a benchmark, on the disk that is built on; it is removed with what is returned.
pub(crate) fn scratch() -> Result<TempDir> {
    let target = target()?;
    fs::create_dir_all(&target)?;
    tempfile::tempdir_in(&target).with_context(|| format!("no folder in {}", target.display()))
}

/// How a binary is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// As tests are.
    Dev,
    /// As it is shipped.
    Release,
}
