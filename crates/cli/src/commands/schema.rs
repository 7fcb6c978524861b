//! `becalm schema`: the JSON Schemas of what becalm writes and prints.

use std::io::Read as _;

use becalm_model::wire::schema_names;
use clap::builder::PossibleValuesParser;
use flate2::read::DeflateDecoder;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Print the JSON Schema of the documents that becalm writes
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which documents: `record` is what `run` and `compare` save; `suite` is becalm.toml;
    /// `cpu-noise` and `mitigation-effects` are what `noise probe` and `noise ablate` keep;
    /// `steady` is what `stats --steady --json` prints; those that begin with `web-` are what
    /// `becalm serve` answers below /api; every other name is a command whose --json output it
    /// describes
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
    ui.print(&text(&args.name).map_err(CommandError::measure)?)?;
    Ok(Exit::Done)
}

include!(concat!(env!("OUT_DIR"), "/schemas.rs"));

/// Returns the schema of this name, if there is one.
pub(crate) fn published(name: &str) -> Option<String> {
    schema_names().any(|known| known == name).then(|| text(name).ok()).flatten()
}

/// Returns a schema as `docs/schema` has it.
fn text(name: &str) -> std::io::Result<String> {
    let found = SCHEMAS.iter().find(|(known, _)| *known == name);
    let (_, numbers) = found.expect("the parser accepts only these names");
    let mut all = String::new();
    DeflateDecoder::new(BLOCKS).read_to_string(&mut all)?;
    let blocks: Vec<&str> = all.split('\0').collect();
    Ok(numbers.iter().map(|number| blocks[usize::from(*number)]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_model::wire::{json_schema, json_text};

    #[test]
    fn every_schema_is_that_of_its_documents() {
        assert_eq!(SCHEMAS.len(), schema_names().count());
        for name in schema_names() {
            let made = json_text(&json_schema(name).unwrap());
            assert!(text(name).unwrap() == made, "{name}: run `cargo xtask docs`");
        }
    }
}
