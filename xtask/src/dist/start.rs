//! A program is started before it is shipped: by this processor, or by an emulator of the other one.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::arch::Arch;
use crate::install::find;
use crate::workspace::{capture, shown};

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

/// Lets a program of this version say which it is, and compare two programs in a folder of its own.
pub(super) fn start(arch: Arch, program: &Path, version: &str, target: &Path) -> Result<()> {
    let Some(starter) = Starter::of(arch) else {
        println!("  skipped: not started, there is no qemu-{}-static here", arch.processor());
        return Ok(());
    };
    let said = capture(&mut starter.command(program, &["--version"]))?;
    ensure!(said.trim() == format!("becalm {version}"), "it says that it is `{}`", said.trim());
    let folder = tempfile::tempdir_in(target)?;
    let compare = ["compare", "--rounds", "6", "--json", "--", "true", "true"];
    let mut compare = starter.command(program, &compare);
    compare.current_dir(&folder).env("XDG_STATE_HOME", folder.path());
    let record = capture(&mut compare)?;
    check(&record).with_context(|| format!("`{}` printed something else", shown(&compare)))?;
    let how = match starter {
        Starter::Processor => String::new(),
        Starter::Emulator(emulator) => format!(" under {}", emulator.display()),
    };
    println!("  it starts and compares{how}");
    Ok(())
}

/// Fails if this is not the record of a comparison.
fn check(record: &str) -> Result<()> {
    let record: Value = serde_json::from_str(record).context("not JSON")?;
    let runs = record["runs"].as_array().context("no runs")?;
    ensure!(runs.len() >= 12, "only {} runs", runs.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_record_has_the_runs_that_were_asked_for() {
        let record = |runs: usize| serde_json::json!({ "runs": vec![0; runs] }).to_string();
        assert!(check(&record(12)).is_ok());
        assert!(check(&record(11)).is_err() && check("{}").is_err() && check("").is_err());
    }
}
