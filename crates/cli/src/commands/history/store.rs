//! Where a history is, as flags, and opening it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use becalm_machine::{SysRoot, Topology, read_facts};
use becalm_model::counted;
use becalm_series::{
    ANNOTATE, Access, EntryFilter, HistoryLocation, SETTINGS, SPLIT, Store, StoreError, open,
};
use becalm_session::files::{FOLDER, make_if_missing, make_own_folder};
use becalm_session::{Repository, did_you_mean};

use super::settings::Settings;
use crate::error::CommandError;
use crate::ui::Ui;

/// Where a history is, as flags.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct StoreFlags {
    /// The history: an SQLite file, or a PostgreSQL URL [default: what becalm.toml says, else
    /// .becalm/history.db at the top of the repository]
    #[arg(
        long,
        value_name = "PLACE",
        env = "BECALM_STORE",
        hide_env_values = true,
        hide_default_value = true
    )]
    store: Option<String>,
}

impl StoreFlags {
    /// Returns what holds without a flag.
    pub(crate) fn of_environment() -> Self {
        Self { store: std::env::var("BECALM_STORE").ok() }
    }

    /// Opens the history for reading.
    pub(crate) fn open_for_reading(&self, settings: &Settings) -> Result<Store, CommandError> {
        Ok(open(&self.place(settings)?, Access::Read)?)
    }

    /// Opens the history for reading; `None` if there is none yet.
    pub(crate) fn open_if_there(&self, settings: &Settings) -> Result<Option<Store>, CommandError> {
        match open(&self.place(settings)?, Access::Read) {
            Ok(store) => Ok(Some(store)),
            Err(StoreError::Absent { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the history for writing, creates it if it does not exist, and groups its series as
    /// `becalm.toml` says.
    pub(crate) fn open_for_writing(
        &self,
        settings: &Settings,
        ui: &Ui,
    ) -> Result<Store, CommandError> {
        let place = self.place(settings)?;
        if let HistoryLocation::File(path) = &place {
            prepare(path)?;
        }
        let mut store = open(&place, Access::Write)?;
        regroup(&mut store, settings, ui)?;
        Ok(store)
    }

    /// Opens the history for writing if permitted, so that findings can be kept in it; otherwise
    /// for reading. It is never created.
    pub(crate) fn open_to_follow(
        &self,
        settings: &Settings,
        ui: &Ui,
    ) -> Result<(Store, Access), CommandError> {
        let place = self.place(settings)?;
        // Who writes makes what is not there, and brings what is old to the present version.
        let reading = match open(&place, Access::Read) {
            Ok(store) => Ok(store),
            Err(error @ StoreError::TooOld { .. }) => Err(error),
            Err(error) => return Err(error.into()),
        };
        if let Ok(mut store) = open(&place, Access::Write) {
            regroup(&mut store, settings, ui)?;
            return Ok((store, Access::Write));
        }
        Ok((reading?, Access::Read))
    }

    /// Says whether the flag itself is given.
    pub(crate) fn is_named(&self) -> bool {
        self.store.is_some() && self.store != Self::of_environment().store
    }

    /// Returns where the history is.
    pub(crate) fn place(&self, settings: &Settings) -> Result<HistoryLocation, CommandError> {
        // A secret that a CI does not have is an empty variable.
        let given = self.store.as_ref().filter(|place| !place.is_empty());
        let place = match (given, &settings.store) {
            (Some(given), _) => HistoryLocation::parse(given),
            (None, Some(configured)) => configured.clone(),
            (None, None) => {
                let top = match Repository::find()? {
                    Some(repository) => repository.top().to_owned(),
                    None => PathBuf::from("."),
                };
                HistoryLocation::File(top.join(FOLDER).join("history.db"))
            }
        };
        Ok(with_password(place))
    }
}

/// Returns the place that a user wrote on the command line.
pub(crate) fn place_of(text: &str) -> HistoryLocation {
    with_password(HistoryLocation::parse(text))
}

fn with_password(place: HistoryLocation) -> HistoryLocation {
    place.with_password(|| std::env::var("PGPASSWORD").ok())
}

/// Groups the series of a history as `becalm.toml` says.
fn regroup(store: &mut Store, settings: &Settings, ui: &Ui) -> Result<(), CommandError> {
    let Some(split) = &settings.split else { return Ok(()) };
    check_split(store, split)?;
    let moved = store.regroup(split)?;
    if moved > 0 {
        ui.say(format!(
            "the facts that split series have changed: {} moved to other series",
            counted(moved, "entry")
        ));
    }
    Ok(())
}

/// Refuses names that no fact has: series split by them would be merged.
fn check_split(store: &mut Store, split: &[String]) -> Result<(), CommandError> {
    let usual = SPLIT.into_iter().chain(ANNOTATE).chain(SETTINGS);
    let mut known: BTreeSet<String> = usual.map(str::to_owned).collect();
    let is_known =
        |known: &BTreeSet<String>, name: &str| name.starts_with("knob.") || known.contains(name);
    if split.iter().all(|name| is_known(&known, name)) {
        return Ok(());
    }
    // What becalm reads of a machine has the same names on each, whether it can be read there or not.
    let root = SysRoot::default();
    let machine =
        Topology::read(&root).map(|topology| read_facts(&root, &topology)).unwrap_or_default();
    known.extend(machine.facts.into_keys().chain(machine.unreadable.into_keys()));
    if !split.iter().all(|name| is_known(&known, name)) {
        let entries = store.entries(&EntryFilter::default())?;
        known.extend(entries.into_iter().flat_map(|entry| entry.facts.into_keys()));
    }
    let Some(unknown) = split.iter().find(|name| !is_known(&known, name)) else { return Ok(()) };
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    Err(CommandError::usage(format!(
        "[history] split in becalm.toml: there is no fact called `{unknown}`; {}",
        did_you_mean(unknown, &names)
    ))
    .hint(
        "the series were not regrouped; facts from another tool's files can split series once an \
         entry has them",
    ))
}

/// Creates an empty file, and the folder `.becalm` around it. Under sudo they belong to the owner
/// of the folder.
fn prepare(path: &Path) -> Result<(), CommandError> {
    if path.exists() {
        return Ok(());
    }
    make_own_folder(path).and_then(|()| make_if_missing(path, "")).map_err(|error| {
        CommandError::measure(format!("cannot create {}: {error}", path.display()))
    })
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        let failed = Self::measure(&error);
        match error {
            StoreError::Absent { .. } => failed.hint(
                "`becalm history add FILE` creates it, in a folder that exists; --store, BECALM_STORE or [history] store \
                 in becalm.toml choose another",
            ),
            StoreError::Missing { .. } => {
                Self::usage(&error).hint("`becalm history list` lists the entries")
            }
            StoreError::TooNew { .. } => {
                failed.hint("use the becalm that wrote it, or a newer one")
            }
            StoreError::TooOld { .. } => failed
                .hint("`becalm history add` or `prune` upgrades it, if you have write permission"),
            StoreError::Full { .. } => failed.hint(
                "free some space and run the command again; `becalm history prune` removes old \
                 records",
            ),
            StoreError::Busy { .. } => failed.hint("run the command again later"),
            StoreError::Damaged { .. } => {
                failed.hint("restore a copy; `sqlite3 FILE .recover` saves what is readable")
            }
            StoreError::Database { .. } | StoreError::Unknown { .. } => {
                failed.hint("see whether the database can be reached and written, then run the command again")
            }
            _ => failed,
        }
    }
}
