//! `becalm changes acknowledge`, `dismiss` and `reopen`: what somebody decided about a change.

use becalm_model::history::{ChangeId, Decision, Review};
use becalm_series::SeriesFilter;
use clap::Subcommand;

use crate::commands::history::{Settings, StoreFlags, now};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// What to do with a change.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Accept a change as real and known: the list shows that, and `becalm gate` no longer fails
    /// because of it
    Acknowledge(About),
    /// Declare that a change is not real or does not matter: only --dismissed lists it, and no gate
    /// fails because of it
    Dismiss {
        #[command(flatten)]
        about: About,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Undo the decision about a change, so that it is open again
    Reopen(About),
}

/// Which change, and who says something about it.
#[derive(Debug, clap::Args)]
pub(super) struct About {
    /// The change, by its id in `becalm changes`: series and entry, such as 3@120
    #[arg(value_name = "CHANGE")]
    change: ChangeId,
    /// Who decides [default: the name of the user]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    #[command(flatten)]
    store: StoreFlags,
}

pub(super) fn run(command: &Command, ui: &Ui) -> Result<Exit, CommandError> {
    let (about, decision, word) = match command {
        Command::Acknowledge(about) => (about, Some(Decision::Acknowledged), "acknowledged"),
        Command::Dismiss { about, reason } => {
            (about, Some(Decision::Dismissed { reason: reason.clone() }), "dismissed")
        }
        Command::Reopen(about) => (about, None, "open again"),
    };
    let settings = Settings::read()?;
    let mut store = about.store.open_for_writing(&settings, ui)?;
    let ChangeId { series, entry } = about.change;
    let absent = || {
        CommandError::usage(format!("the history has no change {}", about.change))
            .hint("`becalm changes --dismissed` lists all changes")
    };
    let known = store.series(&SeriesFilter::default())?;
    if !known.iter().any(|one| one.id == series) {
        return Err(absent());
    }
    let changes = store.changes(&[series])?.pop().unwrap_or_default();
    if !changes.iter().any(|change| change.entry == entry) {
        return Err(absent());
    }
    let by = about.by.clone().or_else(|| std::env::var("USER").ok()).unwrap_or_default();
    let review = decision.map(|decision| Review { decision, by, time: now() });
    store.review(series, entry, review.as_ref())?;
    ui.print(&format!("{} is {word}\n", about.change))?;
    Ok(Exit::Done)
}
