//! `becalm show`: what a saved record says.

use std::path::PathBuf;

use becalm_model::wire::SavedLoad;
use becalm_report::{load_find_text, load_text, metadata_text, show_text};
use becalm_session::{disturbed_runs, last_session};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::traced_text;
use crate::records::{self, Shown, read_shown};
use crate::ui::Ui;

/// Show a saved result, or the last one
///
/// It prints everything: the answer, the numbers, every run, the conditions, notes and limits.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Saved records, or files of other tools that `import` reads; `-` is standard input [default:
    /// the last session of `run`, `compare` or `timeit`]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Show the facts about session, subjects and machine instead
    #[arg(long)]
    metadata: bool,

    /// Print the record as JSON, one document per file; this also works for a session that did not
    /// finish
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let files = match &args.files[..] {
        [] => vec![last()?],
        files => files.to_vec(),
    };
    if args.json {
        records::read_stdin_once(&files)?;
        for path in &files {
            ui.print(&records::shown_json(path)?)?;
        }
        return Ok(Exit::Done);
    }
    if args.metadata {
        return records::for_each_record(&files, ui, |one| Ok(metadata_text(one, ui.style())));
    }
    records::read_stdin_once(&files)?;
    let all: Vec<Shown> = files.iter().map(|path| read_shown(path)).collect::<Result<_, _>>()?;
    let style = ui.style();
    records::for_each_read(&files, &all, ui, |one| {
        Ok(match one {
            Shown::Record(record) => {
                show_text(record, &disturbed_runs(record), style) + &traced_text(record, ui)
            }
            Shown::Load(SavedLoad::Run(document)) => load_text(document, style),
            Shown::Load(SavedLoad::Find(document)) => load_find_text(document, style),
        })
    })
}

/// Returns the record of the last session.
fn last() -> Result<PathBuf, CommandError> {
    let path = last_session().filter(|path| path.is_file());
    path.ok_or_else(|| {
        CommandError::usage("there is no saved record of an earlier session").hint(
            "`becalm compare ./old ./new` makes one; `becalm show FILE` shows a file saved with --export-json",
        )
    })
}
