//! `becalm completions`: shell completions.

use crate::completing;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Print completions for a shell
///
/// They complete flags, files, revisions, benchmarks, metrics, branches and profiles.
///
/// bash: put `source <(becalm completions bash)` into ~/.bashrc. zsh: the same with zsh into ~/.zshrc, after compinit.
/// fish: `becalm completions fish > ~/.config/fish/completions/becalm.fish`. The script asks becalm at each completion
/// request, so it stays valid after an update.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which shell
    shell: clap_complete::Shell,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    // Called by a path, it may be found by no other name.
    let called = std::env::args_os().next().unwrap_or_default();
    let program = if called.as_encoded_bytes().contains(&b'/') {
        std::env::current_exe().ok().map(|path| path.to_string_lossy().into_owned())
    } else {
        None
    };
    let text = completing::script(args.shell, program.as_deref().unwrap_or("becalm"))
        .map_err(CommandError::measure)?;
    ui.print_bytes(&text)?;
    Ok(Exit::Done)
}
