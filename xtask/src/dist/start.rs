//! A program is started before it is shipped: by this processor, or by an emulator of the other one.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::arch::Arch;
use crate::install::find;
use crate::workspace::{capture, root};

/// A program that was built.
#[derive(Clone, Copy)]
pub(super) struct Program<'a> {
    pub(super) arch: Arch,
    pub(super) file: &'a Path,
    /// Which release it is.
    pub(super) version: &'a str,
}

/// What starts programs for a processor here.
enum Starter {
    Processor,
    Emulator(PathBuf),
}

impl Starter {
    fn of(arch: Arch) -> Option<Self> {
        let processor = arch.processor();
        if processor == std::env::consts::ARCH {
            return Some(Self::Processor);
        }
        let names = [format!("qemu-{processor}-static"), format!("qemu-{processor}")];
        names.iter().find_map(|name| find(name)).map(Self::Emulator)
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = match self {
            Self::Processor => Command::new(program),
            Self::Emulator(emulator) => {
                let mut command = Command::new(emulator);
                command.arg(program);
                command
            }
        };
        command.args(arguments);
        command
    }
}

/// Runs of a program that another tool measured.
const SAMPLE: &str = "crates/formats/tests/captures/pyperf/self_command_fast.json";

/// Lets a program of this version say which it is, compute what `other`, a becalm for this processor, computes, and
/// compare two programs in a folder of its own.
pub(super) fn start(program: &Program<'_>, other: &Path, target: &Path) -> Result<()> {
    let Program { arch, file, version } = *program;
    let Some(starter) = Starter::of(arch) else {
        println!("  skipped: not started, there is no qemu-{}-static here", arch.processor());
        return Ok(());
    };
    let said = capture(&mut starter.command(file, &["--version"]))?;
    ensure!(said.trim() == format!("becalm {version}"), "it says that it is `{}`", said.trim());
    let sample = root().join(SAMPLE);
    let stats = |mut command: Command| capture(command.args(["stats", "--json"]).arg(&sample));
    let computed = stats(starter.command(file, &[]))?;
    ensure!(computed == stats(Command::new(other))?, "it computes something else: {computed}");
    let folder = tempfile::tempdir_in(target)?;
    // Exact numbers, so that any machine gives a verdict.
    let metric = ["--metric", r"t[ns,exact]=t: (\S+)", "echo t: 1000", "echo t: 1030"];
    let compare = [&["compare", "--rounds", "6", "--json"], &metric[..]].concat();
    let mut compare = starter.command(file, &compare);
    compare.current_dir(&folder).env("XDG_STATE_HOME", folder.path());
    match (capture(&mut compare).and_then(|record| check(&record)), starter) {
        (Ok(()), _) => println!("  it starts, computes and compares"),
        (Err(error), Starter::Processor) => return Err(error),
        // QEMU lacks the call by which becalm makes a process.
        (Err(error), Starter::Emulator(emulator)) => {
            println!("  it starts and computes under {}", emulator.display());
            println!("  skipped: no comparison there: {error:#}");
        }
    }
    Ok(())
}

/// Fails if this is not the record of a comparison that found the difference.
fn check(record: &str) -> Result<()> {
    let record: Value = serde_json::from_str(record).context("it printed no record")?;
    let verdict = &record["comparisons"][0]["verdict"];
    ensure!(verdict == "slower", "its verdict is {verdict}, not slower");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::shown;

    #[test]
    fn this_processor_starts_programs_itself_and_qemu_those_of_others() {
        let program = Path::new("becalm");
        let emulator = Starter::Emulator("/usr/bin/qemu-aarch64-static".into());
        let command = emulator.command(program, &["--version"]);
        assert_eq!(shown(&command), "qemu-aarch64-static becalm --version");
        let command = Starter::Processor.command(program, &["--version"]);
        assert_eq!(shown(&command), "becalm --version");
    }

    #[test]
    fn a_record_has_the_verdict_that_is_right() {
        let record = |verdict: &str| serde_json::json!({ "comparisons": [{ "verdict": verdict }] });
        assert!(check(&record("slower").to_string()).is_ok());
        assert!(check(&record("faster").to_string()).is_err());
        assert!(check("{}").is_err() && check("").is_err());
    }
}
