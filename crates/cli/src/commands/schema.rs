//! `becalm schema`: the JSON Schema of saved records.

use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Print the JSON Schema of the documents that `run` and `compare` write
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let schema = becalm_model::wire::json_schema();
    let text = serde_json::to_string_pretty(&schema).expect("a JSON value can be written");
    ui.print(&format!("{text}\n"))?;
    Ok(Exit::Done)
}
