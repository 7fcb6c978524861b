//! `becalm changes acknowledge`, `dismiss` and `reopen`: what somebody decided about a change.

use becalm_model::history::{ChangeId, Decision, EntryId, Review, StoredChange};
use becalm_model::{Direction, counted};
use becalm_series::{ChangeTerms, Decided, SeriesFilter, Store, follow, rose};
use becalm_stats::changes::Change;
use clap::Subcommand;

use crate::commands::history::{CountedFlags, Home, LeftOut, Settings, StoreFlags, now};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// What to do with changes.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Accept changes as real and known, or the level from an entry on: the list shows that, and
    /// `becalm gate` judges by the new level from there on
    Acknowledge {
        #[command(flatten)]
        about: About,
        /// Every open change for the worse of the history, confirmed or not
        #[arg(long, conflicts_with = "changes")]
        all: bool,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Declare that changes are not real or do not matter: only --dismissed lists them, and no gate
    /// fails because of them
    Dismiss {
        #[command(flatten)]
        about: About,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Undo the decision about changes, so that they are open again
    Reopen(About),
}

/// Which changes, and who says something about them.
#[derive(Debug, clap::Args)]
pub(super) struct About {
    /// The changes, by their ids in `becalm changes`: series and entry, such as 3@120
    #[arg(value_name = "CHANGE")]
    changes: Vec<ChangeId>,
    /// Who decides [default: the name of the user]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    #[command(flatten)]
    store: StoreFlags,
}

pub(super) fn run(command: &Command, ui: &Ui) -> Result<Exit, CommandError> {
    let (about, decision, word) = match command {
        Command::Acknowledge { about, reason, .. } => {
            let reason = reason.clone();
            (about, Some(Decision::Acknowledged { reason }), "acknowledged")
        }
        Command::Dismiss { about, reason } => {
            (about, Some(Decision::Dismissed { reason: reason.clone() }), "dismissed")
        }
        Command::Reopen(about) => (about, None, "open again"),
    };
    let settings = Settings::read()?;
    let mut store = about.store.open_for_writing(&settings, ui)?;
    let changes = match command {
        Command::Acknowledge { all: true, .. } => open_changes(&mut store, &settings)?,
        _ => about.changes.clone(),
    };
    if changes.is_empty() && !matches!(command, Command::Acknowledge { all: true, .. }) {
        return Err(CommandError::usage("the command names no change")
            .hint("`becalm changes` lists them with their ids, such as 3@120"));
    }
    let by = about.by.clone().or_else(|| std::env::var("USER").ok()).unwrap_or_default();
    let mut seen = Vec::new();
    for change in &changes {
        check(&mut store, &settings, *change, decision.as_ref())?;
        let present = present(&mut store, *change)?;
        let overrules = |present: &&Review| present.by != by && decision.is_some();
        if let Some(present) = present.as_ref().filter(overrules) {
            return Err(decided(*change, Some(present))
                .hint(format!("`becalm changes reopen {change}` undoes that")));
        }
        seen.push(present.map(|present| present.time));
    }
    let time = now();
    for (change, seen) in changes.iter().zip(seen) {
        let review = decision.clone().map(|decision| Review { decision, by: by.clone(), time });
        // Another user may decide at the same time.
        match store.decide(change.series, change.entry, seen, review.as_ref())? {
            Decided::Kept => {}
            Decided::Meanwhile(present) => return Err(decided(*change, present.as_ref())),
        }
    }
    if matches!(command, Command::Acknowledge { all: true, .. }) {
        ui.print(&format!("{} {word}\n", counted(changes.len(), "change")))?;
    } else {
        for change in &changes {
            ui.print(&format!("{change} is {word}\n"))?;
        }
    }
    Ok(Exit::Done)
}

/// Returns what is decided about a change now.
fn present(store: &mut Store, change: ChangeId) -> Result<Option<Review>, CommandError> {
    let reviews = store.snapshot(&[change.series])?.reviews.pop().unwrap_or_default();
    Ok(reviews.into_iter().find(|(entry, _)| *entry == change.entry).map(|(_, review)| review))
}

/// Says that somebody decided about a change, so that nobody overrules what they have not seen.
fn decided(change: ChangeId, present: Option<&Review>) -> CommandError {
    let Some(Review { decision, by, .. }) = present else {
        return CommandError::usage(format!("another user reopened {change} meanwhile"));
    };
    let (word, reason) = match decision {
        Decision::Acknowledged { reason } => ("acknowledged", reason.as_deref()),
        Decision::Dismissed { reason } => ("dismissed", Some(reason.as_str())),
    };
    let by = if by.is_empty() { "another user" } else { by };
    let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
    CommandError::usage(format!("{by} has already {word} {change}{reason}"))
}

/// Refuses what the history does not have. A level may be acknowledged from any entry on: a gate may fail before a change
/// is found.
fn check(
    store: &mut Store,
    settings: &Settings,
    change: ChangeId,
    decision: Option<&Decision>,
) -> Result<(), CommandError> {
    let absent = || {
        CommandError::usage(format!("the history has no change {change}"))
            .hint("`becalm changes --dismissed` lists all changes")
    };
    let filter = SeriesFilter { ids: vec![change.series], ..SeriesFilter::default() };
    let series = store.series(&filter)?;
    if series.is_empty() {
        return Err(absent());
    }
    let entries: Vec<EntryId> = if let Some(Decision::Acknowledged { .. }) = decision {
        let points = store.points(&[change.series])?.pop().unwrap_or_default();
        points.into_iter().map(|point| point.entry).collect()
    } else {
        let mut all = store.snapshot(&[change.series])?;
        let changes = all.changes.pop().unwrap_or_default().into_iter().map(|one| one.entry);
        // What was decided can be undone, whether the change is still found or not.
        let reviews = all.reviews.pop().unwrap_or_default().into_iter().map(|(entry, _)| entry);
        let kept = changes.chain(reviews.filter(|_| decision.is_none()));
        // What a clone shows that lacks commits is not kept, and neither is what flags show.
        let home = Home::look()?;
        let mut shown = Vec::new();
        for counted in CountedFlags::EACH {
            let LeftOut { entries: left_out, .. } = home.left_out_of(store, &series, &counted)?;
            let terms = ChangeTerms { left_out, ..settings.change_terms() };
            for one in follow(store, series.clone(), &terms, false, now())? {
                shown.extend(one.changes.iter().map(|(_, stored)| stored.entry));
            }
        }
        kept.chain(shown).collect()
    };
    if entries.contains(&change.entry) { Ok(()) } else { Err(absent()) }
}

/// Returns every change for the worse that nobody decided about.
fn open_changes(store: &mut Store, settings: &Settings) -> Result<Vec<ChangeId>, CommandError> {
    let series = store.series(&SeriesFilter::default())?;
    let (terms, keep) = Home::look()?.change_terms(store, &series, settings)?;
    let followed = follow(store, series, &terms, keep, now())?;
    let mut found = Vec::new();
    for one in &followed {
        let is_open = |(change, stored): &&(Change, StoredChange)| {
            let is_worse = rose(change, stored) == (one.series.key.direction == Direction::Lower);
            stored.review.is_none() && is_worse
        };
        let series = one.series.id;
        let open = one.changes.iter().filter(is_open);
        found.extend(open.map(|(_, stored)| ChangeId { series, entry: stored.entry }));
    }
    Ok(found)
}
