//! `becalm history show`: one entry with its record.

use becalm_model::history::EntryId;
use becalm_model::wire::read_document;
use becalm_report::{entry_text, show_text};
use becalm_series::{EntryFilter, fact};
use becalm_session::disturbed_runs;
use clap::builder::NonEmptyStringValueParser;

use super::{Settings, StoreFlags};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::traced_text;
use crate::ui::Ui;

/// Show an entry of the history: its commit, its machine, and its whole record
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The number of the entry, the beginning of a commit id, or a tag; if several entries match,
    /// becalm shows the last
    #[arg(value_name = "ENTRY", value_parser = NonEmptyStringValueParser::new())]
    entry: String,
    #[command(flatten)]
    store: StoreFlags,
    /// Print the record as the JSON that was added, for `becalm stats`, `diff` and others
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let settings = Settings::read()?;
    let mut store = args.store.open_for_reading(&settings)?;
    let found = match args.entry.parse() {
        Ok(id) => {
            let filter = EntryFilter { ids: vec![EntryId(id)], ..EntryFilter::default() };
            store.entries(&filter)?
        }
        Err(_) => Vec::new(),
    };
    let found = if let Some(entry) = found.into_iter().next_back() {
        Some(entry)
    } else {
        // Some commits have ids of digits alone.
        let filter = EntryFilter {
            commit: Some(args.entry.clone()),
            limit: Some(1),
            ..EntryFilter::default()
        };
        let of_commit = store.entries(&filter)?.pop();
        let filter =
            EntryFilter { tag: Some(args.entry.clone()), limit: Some(1), ..EntryFilter::default() };
        match of_commit {
            Some(entry) => Some(entry),
            None => store.entries(&filter)?.pop(),
        }
    };
    let Some(entry) = found else {
        return Err(CommandError::usage(format!(
            "{}: the history has no such entry or tag, and no commit whose id begins like this",
            args.entry
        ))
        .hint("`becalm history list` lists them"));
    };
    let document = store.document(entry.id)?;
    if args.json {
        let Some(document) = document else {
            return Err(CommandError::measure(format!(
                "the history has no record of entry {}, only its values",
                entry.id
            ))
            .hint("`becalm history export --csv` prints the values"));
        };
        ui.print_with(|out| out.write_all(document.as_bytes()))?;
        return Ok(Exit::Done);
    }
    let split = store.split()?;
    let with_values = |names: &[String]| -> Vec<(String, String)> {
        let value = |name: &String| Some((name.clone(), fact(&entry.facts, name)?));
        names.iter().filter_map(value).collect()
    };
    ui.print(&entry_text(
        &entry,
        &with_values(&split),
        &with_values(&settings.annotate),
        ui.style(),
    ))?;
    match document {
        Some(text) => {
            let record = read_document(&text).map_err(|error| {
                CommandError::measure(format!("the record of entry {}: {error}", entry.id))
            })?;
            ui.print("\n")?;
            ui.print(&show_text(&record, &disturbed_runs(&record), ui.style()))?;
            ui.print(&traced_text(&record, ui))?;
        }
        None => ui.print_folded("\nThe history does not have its record, only its values.\n")?,
    }
    Ok(Exit::Done)
}
