//! `becalm history list`: entries, or series.

use std::collections::{BTreeSet, HashMap};

use becalm_model::history::Entry;
use becalm_model::wire::{HistoryDocument, HistorySeriesDocument};
use becalm_report::{Style, entries_text, series_text};
use becalm_series::{EntryFilter, Place, SeriesFilter, Store, fact, follow_in, state_word};
use clap::builder::NonEmptyStringValueParser;

use super::{Home, SeriesFlags, Settings, StoreFlags, moment, now};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// List the entries of the history, or its series
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreFlags,
    /// List series instead of entries: one per benchmark, metric, parameters, branch and machine
    #[arg(long)]
    series: bool,
    #[command(flatten)]
    chosen: SeriesFlags,
    /// Only entries with this tag
    #[arg(long, value_name = "WORD", conflicts_with = "series", value_parser = NonEmptyStringValueParser::new())]
    tag: Option<String>,
    /// Only entries since then: a date, or an age such as 90d
    #[arg(long, value_name = "TIME", value_parser = moment)]
    since: Option<f64>,
    /// Only the last N
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print them as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let settings = Settings::read()?;
    let mut store = args.store.open_for_reading(&settings)?;
    let style = ui.table_style();
    if args.series {
        return list_series(args, &settings, &mut store, &style, ui);
    }
    if args.chosen.benchmark.is_some() || args.chosen.metric.is_some() {
        return Err(CommandError::usage(
            "--benchmark and --metric choose series, but an entry has all series of its time",
        )
        .hint("add --series"));
    }
    let filter = EntryFilter {
        branch: args.chosen.branch.clone(),
        since: args.since,
        limit: args.limit,
        tag: args.tag.clone(),
        ..EntryFilter::default()
    };
    let entries = store.entries(&filter)?;
    if args.json {
        let document = HistoryDocument::of_entries(store.split()?, &entries);
        ui.print_json(&document)?;
    } else {
        let mut noted = noted(entries, &settings.annotate);
        say_off_branch(&mut store, &mut noted)?;
        ui.print(&entries_text(&noted, &style))?;
    }
    Ok(Exit::Done)
}

fn list_series(
    args: &Args,
    settings: &Settings,
    store: &mut Store,
    style: &Style,
    ui: &Ui,
) -> Result<Exit, CommandError> {
    let series = store.series(&SeriesFilter::from(&args.chosen))?;
    let (terms, _) = Home::look()?.change_terms(store, &series, settings)?;
    let ids: Vec<_> = series.iter().map(|one| one.id).collect();
    let snapshot = store.snapshot(&ids)?;
    let of_all = series.iter().zip(&snapshot.points);
    let mut listed: Vec<_> =
        of_all.map(|(one, points)| HistorySeriesDocument::of(one, points)).collect();
    let (followed, _) = follow_in(snapshot, series, &terms, now());
    for (one, followed) in listed.iter_mut().zip(&followed) {
        one.state = followed.current_state().map(|state| state_word(state.kind).to_owned());
    }
    if let Some(since) = args.since {
        listed.retain(|one| one.last.is_some_and(|last| last >= since));
    }
    if let Some(limit) = args.limit {
        listed.drain(..listed.len().saturating_sub(limit));
    }
    if args.json {
        let document = HistoryDocument::of_series(store.split()?, listed);
        ui.print_json(&document)?;
    } else {
        ui.print(&series_text(&listed, style))?;
    }
    Ok(Exit::Done)
}

/// Adds to each entry that its commit is not on its branch any more, or only on one that was merged into it.
fn say_off_branch(
    store: &mut Store,
    noted: &mut [(Entry, Vec<String>)],
) -> Result<(), CommandError> {
    let home = Home::look()?;
    let branches: BTreeSet<String> = noted.iter().map(|(entry, _)| entry.branch.clone()).collect();
    let mut off = HashMap::new();
    for branch in branches {
        off.extend(home.off_branch(store, &branch)?);
    }
    for (entry, notes) in noted {
        let place = off.get(&entry.id).map(|place| match place {
            Place::Lost => format!("not on {} any more", entry.branch),
            Place::Newer => format!("newer than {} here", entry.branch),
            Place::Merged => format!("merged into {}", entry.branch),
            Place::OnBranch => format!("on {}", entry.branch),
        });
        notes.extend(place);
    }
    Ok(())
}

/// Adds to each entry the facts that changed since the previous one of the same branch and machine.
fn noted(entries: Vec<Entry>, annotate: &[String]) -> Vec<(Entry, Vec<String>)> {
    let mut last: HashMap<(String, String), Entry> = HashMap::new();
    let mut listed = Vec::with_capacity(entries.len());
    for entry in entries {
        let place = (entry.branch.clone(), entry.fingerprint.clone());
        let mut changed = Vec::new();
        if let Some(before) = last.get(&place) {
            for name in annotate {
                let (old, new) = (fact(&before.facts, name), fact(&entry.facts, name));
                if let (Some(old), Some(new)) = (old, new)
                    && old != new
                {
                    changed.push(format!("{name}: {old} -> {new}"));
                }
            }
        }
        last.insert(place, entry.clone());
        listed.push((entry, changed));
    }
    listed
}
