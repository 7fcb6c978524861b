//! `becalm completions`: shell completions.

use crate::args;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Print completions for a shell
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which shell
    shell: clap_complete::Shell,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut args::command(), "becalm", &mut text);
    ui.print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}
