//! `becalm schema`: the JSON Schemas of what becalm writes and prints.

use becalm_model::wire::{json_schema, schema_names};
use clap::builder::PossibleValuesParser;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Print the JSON Schema of the documents that becalm writes
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which documents: `record` is what `run` and `compare` save; `suite` is becalm.toml;
    /// `cpu-noise` and `mitigation-effects` are what `noise probe` and `noise ablate` keep;
    /// `steady` is what `stats --steady --json` prints; every other name is a command whose --json
    /// output it describes
    #[arg(value_parser = names(), default_value = RECORD)]
    name: String,

    /// List the names and exit
    #[arg(long, conflicts_with = "name")]
    list: bool,
}

const RECORD: &str = "record";

fn names() -> PossibleValuesParser {
    schema_names().collect::<Vec<_>>().into()
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    if args.list {
        let lines = schema_names().map(|name| format!("{name}\n"));
        ui.print(&lines.collect::<String>())?;
        return Ok(Exit::Done);
    }
    let schema = json_schema(&args.name).expect("the parser accepts only these names");
    ui.print_json(&schema)?;
    Ok(Exit::Done)
}
