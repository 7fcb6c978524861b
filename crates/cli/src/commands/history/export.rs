//! `becalm history export`: everything in the history, for other programs.

use std::io::Write;
use std::path::{Path, PathBuf};

use becalm_model::counted;
use becalm_model::history::{Entry, Point, Series};
use becalm_series::{EntryFilter, SeriesFilter, Store};
use becalm_session::files;
use serde_json::Value;

use super::{SeriesFlags, Settings, StoreFlags, moment};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Export the history: records as JSON lines or as files, values as CSV
///
/// Without --csv or --folder, becalm writes one line of JSON per entry: its facts and its record.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreFlags,
    /// Write the values of series as CSV, one row per value
    #[arg(long, conflicts_with = "folder")]
    csv: bool,
    /// Write each record to a file in this folder, as it was added
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    chosen: SeriesFlags,
    /// Only entries since then: a date, or an age such as 90d
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<f64>,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let settings = Settings::read()?;
    let mut store = args.store.open_for_reading(&settings)?;
    if args.csv {
        return write_csv(args, &mut store, ui);
    }
    if args.chosen.benchmark.is_some() || args.chosen.metric.is_some() {
        return Err(CommandError::usage("--benchmark and --metric choose series").hint(
            "add --csv: without it, whole records are exported, and a record has all series \
                 of its time",
        ));
    }
    let filter = EntryFilter {
        branch: args.chosen.branch.clone(),
        since: args.since,
        ..EntryFilter::default()
    };
    let entries = store.entries(&filter)?;
    match &args.folder {
        Some(folder) => write_files(&entries, folder, &mut store, ui),
        None => write_lines(&entries, &mut store, ui),
    }
}

fn write_lines(entries: &[Entry], store: &mut Store, ui: &Ui) -> Result<Exit, CommandError> {
    for entry in entries {
        let document = store.document(entry.id)?;
        let record: Value = match document {
            Some(text) => serde_json::from_str(&text).map_err(|error| {
                CommandError::measure(format!("the record of entry {}: {error}", entry.id))
            })?,
            None => Value::Null,
        };
        let line = serde_json::json!({
            "entry": entry.id.0,
            "measured": entry.measured,
            "commit": entry.commit.as_ref().map(|commit| &commit.id),
            "commit_time": entry.commit.as_ref().and_then(|commit| commit.time),
            "commit_author": entry.commit.as_ref().and_then(|commit| commit.author.as_ref()),
            "commit_title": entry.commit.as_ref().and_then(|commit| commit.title.as_ref()),
            "branch": entry.branch,
            "dirty": entry.dirty,
            "tags": entry.tags,
            "record": record,
        });
        ui.print(&format!("{line}\n"))?;
    }
    Ok(Exit::Done)
}

fn write_files(
    entries: &[Entry],
    folder: &Path,
    store: &mut Store,
    ui: &Ui,
) -> Result<Exit, CommandError> {
    if !folder.exists() {
        // A name alone has no folder above it to be looked at.
        files::make_folder(&Path::new(".").join(folder)).map_err(|error| {
            CommandError::measure(format!("cannot create {}: {error}", folder.display()))
        })?;
    }
    let mut pruned = 0;
    for entry in entries {
        let Some(text) = store.document(entry.id)? else {
            pruned += 1;
            continue;
        };
        // Ids of commits come from files of others.
        let commit = entry.commit.as_ref().map_or("", |commit| commit.id.as_str());
        let commit: String = commit.chars().filter(char::is_ascii_alphanumeric).take(10).collect();
        let dash = if commit.is_empty() { "" } else { "-" };
        let path = folder.join(format!("{:06}{dash}{commit}.json", entry.id.0));
        files::write_atomically(&path, &text)?;
        ui.print(&format!("{}\n", path.display()))?;
    }
    if pruned > 0 {
        ui.say(format!(
            "the record was pruned for {}; --csv exports the values",
            counted(pruned, "entry")
        ));
    }
    Ok(Exit::Done)
}

const COLUMNS: &str = "series,benchmark,metric,unit,better,parameters,branch,machine,entry,time,commit,value,\
                       error,runs\n";

fn write_csv(args: &Args, store: &mut Store, ui: &Ui) -> Result<Exit, CommandError> {
    let series = store.series(&SeriesFilter::from(&args.chosen))?;
    let ids: Vec<_> = series.iter().map(|one| one.id).collect();
    let points = store.points(&ids)?;
    ui.print_with(|out| {
        out.write_all(COLUMNS.as_bytes())?;
        for (one, points) in series.iter().zip(&points) {
            let begins = series_cells(one);
            for point in points.iter().filter(|p| args.since.is_none_or(|since| p.at >= since)) {
                write_row(out, &begins, point)?;
            }
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn series_cells(series: &Series) -> String {
    let key = &series.key;
    let better = key.direction.name();
    let parameters: Vec<String> =
        key.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let cells = [
        series.id.0.to_string(),
        cell(&key.benchmark),
        cell(&key.metric),
        cell(&key.unit.to_string()),
        better.to_owned(),
        cell(&parameters.join(" ")),
        cell(&key.branch),
        key.fingerprint.clone(),
    ];
    cells.join(",")
}

fn write_row(out: &mut dyn Write, begins: &str, point: &Point) -> std::io::Result<()> {
    let commit = point.commit.as_deref().map(cell).unwrap_or_default();
    let error = point.error.map(|error| error.to_string()).unwrap_or_default();
    let Point { entry, at, value, runs, .. } = point;
    writeln!(out, "{begins},{entry},{at},{commit},{value},{error},{runs}")
}

/// Quotes a cell if necessary.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
