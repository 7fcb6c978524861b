//! `becalm machine dump`: the files that describe a machine and its settings, for bug reports.

use std::path::{Path, PathBuf};

use becalm_machine::SysRoot;
use becalm_machine::dump::{Dump, archive};
use becalm_session::files;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::rights::Rights;
use crate::ui::Ui;

/// Write the files of /proc and /sys that becalm reads to an archive, for bug reports
///
/// Serial numbers, host and user names, hardware addresses and UUIDs are removed. The unpacked
/// folder can take the place of the machine: `becalm topology --root becalm-machine`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The archive; `-` is standard output
    #[arg(default_value = "becalm-machine.tar.gz")]
    file: PathBuf,

    /// Capture this folder instead of the machine
    #[arg(long, default_value = "/", hide = true)]
    root: PathBuf,
}

/// The folder inside the archive.
const TOP: &str = "becalm-machine";

impl Args {
    /// Returns the rights with which it starts: see [`run`].
    pub(crate) fn rights(&self) -> Rights {
        Rights::to_look_at(&self.root)
    }
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let dump = Dump::of(&SysRoot::new(&args.root), &user_names());
    if dump.entries.is_empty() {
        return Err(CommandError::measure(format!(
            "nothing to capture below {}: it contains neither `proc` nor `sys`",
            args.root.display()
        )));
    }
    let bytes = archive(&dump, TOP)
        .map_err(|error| CommandError::measure(format!("cannot compress the archive: {error}")))?;
    // What was to be seen as root is seen; the file is the user's.
    Rights::User.take(false)?;
    write(&args.file, &bytes, ui)?;
    let sizes = format!(
        "{}, {} KiB",
        becalm_model::counted(dump.entries.len(), "file"),
        bytes.len().div_ceil(1024)
    );
    if args.file != Path::new("-") {
        ui.say(format!("wrote {}: {sizes}", args.file.display()));
    }
    ui.say("Not included:");
    for one in &dump.left_out {
        ui.say(format!("- {one}"));
    }
    ui.say(
        "The archive contains the names of running programs; look through it before you publish \
         it.",
    );
    Ok(Exit::Done)
}

fn write(path: &Path, bytes: &[u8], ui: &Ui) -> Result<(), CommandError> {
    if path == Path::new("-") {
        return ui.print_bytes(bytes);
    }
    Ok(files::write_bytes_atomically(path, bytes)?)
}

/// Names of the user, which must not be in the archive.
fn user_names() -> Vec<String> {
    let variable = |name: &str| std::env::var(name).ok();
    let home = variable("HOME");
    let of_home = home.as_deref().and_then(|home| Path::new(home).file_name()?.to_str());
    let named = ["USER", "LOGNAME", "SUDO_USER"].into_iter().filter_map(variable);
    named.chain(of_home.map(str::to_owned)).collect()
}
