//! `becalm init`: a suite from the benchmarks in the repository.

use std::path::{Path, PathBuf};

use becalm_model::terms::Terms;
use becalm_session::files;
use becalm_session::init::{find, suite_toml, walk};
use becalm_session::suite::{FILE, SuiteFile, resolve};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Write a becalm.toml with the benchmarks of this repository
///
/// Looks for Cargo benches, Go benchmarks, pytest-benchmark, asv, CMake targets, JMH in Maven
/// projects and npm scripts. It builds and runs nothing.
#[derive(Debug, clap::Args)]
#[expect(clippy::doc_markdown, reason = "it is the help text, where names have no backticks")]
pub(crate) struct Args {
    /// The folder to search, and to write becalm.toml to
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,

    /// Replace an existing becalm.toml
    #[arg(long)]
    force: bool,

    /// Print the file instead of writing it
    #[arg(long, conflicts_with = "force")]
    stdout: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let path = if args.folder == Path::new(".") { FILE.into() } else { args.folder.join(FILE) };
    if !args.stdout && !args.force && path.symlink_metadata().is_ok() {
        return Err(CommandError::usage(format!("{} already exists", path.display()))
            .hint("--force replaces it; --stdout prints the new one without writing it"));
    }
    let finds = find(&walk(&args.folder)?);
    let text = suite_toml(&finds);
    // What was found is somebody else's text; a file that cannot be read again helps nobody.
    let file = SuiteFile::parse(path.clone(), text.clone())?;
    if !finds.benchmarks.is_empty() {
        resolve(&file, &Terms::default())?;
    }
    for one in &finds.benchmarks {
        let harness = one.harness.map_or(String::new(), |harness| format!(" ({harness})"));
        ui.say(format!("found {}{harness}: {}", one.name, shell_words::join(&one.command)));
    }
    for doubt in &finds.doubts {
        ui.say(format!("note: {doubt}"));
    }
    if args.stdout {
        ui.print(&text)?;
        return Ok(Exit::Done);
    }
    files::write_atomically(&path, &text)?;
    let path = path.display();
    if finds.benchmarks.is_empty() {
        ui.say(format!(
            "wrote {path} with an example only, because no benchmark was found here: name your program in it, then \
             `becalm run --suite` measures it"
        ));
    } else {
        ui.say(format!("wrote {path}; `becalm run --suite` measures it"));
    }
    Ok(Exit::Done)
}
