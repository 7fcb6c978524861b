//! `--history`: each block of a fleet becomes an entry of the history as it comes.

use becalm_model::Record;
use becalm_series::EntryTerms;

use crate::commands::history::{Home, Settings, StoreFlags, measurements};
use crate::error::CommandError;
use crate::ui::Ui;

/// Whether blocks are kept in the history, as flags.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Flags {
    /// Add each block to the history as it arrives
    #[arg(long, help_heading = "Fleet")]
    history: bool,

    #[command(flatten)]
    store: StoreFlags,
}

/// Adds blocks to a history.
pub(crate) struct Keeper {
    settings: Settings,
    home: Home,
    store: StoreFlags,
}

impl Flags {
    /// Returns who adds blocks to the history, if that is asked for.
    pub(super) fn keeper(&self) -> Result<Option<Keeper>, CommandError> {
        if !self.history {
            return Ok(None);
        }
        let (settings, home) = (Settings::read()?, Home::look()?);
        Ok(Some(Keeper { settings, home, store: self.store.clone() }))
    }
}

impl Keeper {
    /// Adds a block. If that fails, the fleet goes on, and the block is in its folder.
    pub(super) fn keep(&self, record: &Record, ui: &Ui) {
        if let Err(error) = self.add(record, ui) {
            ui.warn(format!(
                "a block was not added to the history: {}; add its record.json with `becalm history add`",
                error.message
            ));
        }
    }

    fn add(&self, record: &Record, ui: &Ui) -> Result<(), CommandError> {
        let mut store = self.store.open_for_writing(&self.settings, ui)?;
        for one in measurements(record.clone()) {
            let entry = self.home.entry(&one, &EntryTerms::default(), &self.settings.branch);
            if !entry.points.is_empty() {
                // What is there already is recognised.
                store.add(&entry)?;
            }
        }
        Ok(())
    }
}
