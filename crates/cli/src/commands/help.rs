//! `becalm help`: a concept, or the help of a command.

use becalm_report::refilled;

use crate::args::command;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::help::topic;
use crate::ui::Ui;

/// Explain a concept or a command: verdict, margin, noise, limits
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// `verdict`, `margin`, `noise` or `limits`, or the name of a command
    #[arg(value_name = "TOPIC")]
    words: Vec<String>,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    if let [name] = &args.words[..]
        && let Some(page) = topic(name)
    {
        ui.print(&refilled(page, ui.style().width))?;
        return Ok(Exit::Done);
    }
    let mut found = command();
    found.build();
    for word in &args.words {
        let Some(inner) = found.find_subcommand(word) else {
            return Err(CommandError::usage(format!("there is no help for `{word}`"))
                .hint("`becalm help` lists the commands; the concepts are verdict, margin, noise and limits"));
        };
        found = inner.clone();
    }
    let is_whole = args.words.is_empty();
    let text = if is_whole { found.render_help() } else { found.render_long_help() };
    ui.print(&text.ansi().to_string())?;
    Ok(Exit::Done)
}
