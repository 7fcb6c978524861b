//! Undoing what the journal tells of, whoever wrote it.

use std::path::PathBuf;

use becalm_model::wire::Journal;
use serde::{Deserialize, Serialize};

use super::journal::{
    JournalFile, JournalFileError, boot_id, is_of_boot, is_of_earlier_boot, is_settled, keep_only,
    load, load_readable, set_aside,
};
use super::restore::{Foreign, Left, Restored, find_foreign, restore};
use super::saved::{Saved, Trace, saved};
use super::target::{self, is};
use crate::knobs::{MAY_OUTLIVE_A_BOOT, STOPPING};
use crate::{Reading, SysRoot};

/// What the journal led to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Recovered {
    /// There was none: the machine is not tuned by becalm.
    Nothing,
    /// It was of an earlier boot, which reset everything that it tells of.
    OtherBoot {
        /// How many changes it told of; fewer where it cannot be read to its end.
        changes: usize,
        /// Those whose values are there all the same, and were not before: firmware may have kept them. They are
        /// left, because somebody may have chosen them since.
        kept: Vec<Left>,
    },
    /// It could not be used, and was moved aside because somebody insisted. Nothing was put back.
    SetAside {
        /// Where it is now.
        place: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The machine was restored, as far as told.
    Restored(Restored),
}

impl Recovered {
    /// Returns what could not be put back.
    pub fn left(&self) -> &[super::Left] {
        match self {
            Self::Restored(restored) => &restored.left,
            Self::Nothing | Self::OtherBoot { .. } | Self::SetAside { .. } => &[],
        }
    }
}

/// Puts back everything that the journal tells of. The caller holds the machine's lock.
///
/// What cannot be put back stays in the journal. With [`Foreign::Overwrite`] the lines of a damaged one
/// count up to the damage, and one that cannot be used at all is moved aside. A journal that cannot be
/// written to does not keep the machine from being restored; [`Restored::stale_journal`] says so afterwards.
///
/// # Errors
///
/// If the journal cannot be read, then nothing was done.
pub fn recover(root: &SysRoot, foreign: Foreign) -> Result<Recovered, JournalFileError> {
    // Who insists gets back what can be read of a damaged one.
    let loaded = match foreign {
        Foreign::Leave => load(root),
        Foreign::Overwrite => load_readable(root),
    };
    let journal = match loaded {
        Ok(Some(journal)) if is_of_boot(&journal.header.boot_id, &boot_id(root)) => journal,
        Ok(None) => {
            keep_only(root, &[])?;
            return Ok(Recovered::Nothing);
        }
        Ok(Some(journal)) => return Ok(discard(root, Some(&journal))),
        // Whatever is wrong with it: what it tells of was reset.
        Err(_) if is_of_earlier_boot(root) => {
            let readable = load_readable(root).ok().flatten();
            return Ok(discard(root, readable.as_ref()));
        }
        Err(error @ JournalFileError::NotOurs { .. }) => return Err(error),
        Err(error) => {
            let place = if foreign == Foreign::Overwrite { set_aside(root)? } else { None };
            let why = std::error::Error::source(&error).map_or(String::new(), ToString::to_string);
            return place.map(|place| Recovered::SetAside { place, why }).ok_or(error);
        }
    };
    if is_settled(&journal) {
        // Where that is still not possible, it goes on to say so.
        let _ = keep_only(root, &[]);
        return Ok(Recovered::Nothing);
    }
    let mut saved = saved(&journal);
    find_foreign(root, &mut saved);
    let theirs: Vec<_> = saved
        .iter()
        .filter(|one| one.trace == Trace::Foreign)
        .map(|one| one.change.target.clone())
        .collect();
    // If that fails, whoever goes on should this process die takes what it has put back for somebody else's.
    let _ = JournalFile::reopen(root)
        .and_then(|file| file.map_or(Ok(()), |mut file| file.restoring(&theirs)));
    let (stopped, settings): (Vec<Saved>, Vec<Saved>) =
        saved.into_iter().partition(|one| STOPPING.contains(&one.change.knob.as_str()));
    let mut restored = restore(root, &settings, foreign);
    if !stopped.is_empty() {
        // A service that is started sets its own values again: whoever goes on if this process dies now must
        // not put back what was there before it.
        let is_ours = |one: &&Saved| foreign == Foreign::Overwrite || one.trace != Trace::Foreign;
        let open = stopped.iter().filter(is_ours).cloned();
        let _ = keep_only(root, &left(&restored).into_iter().chain(open).collect::<Vec<_>>());
        restored.extend(restore(root, &stopped, foreign));
    }
    restored.stale_journal = keep_only(root, &left(&restored)).err().map(|error| match error {
        JournalFileError::Write { path, source } => format!("{}: {source}", path.display()),
        other => other.to_string(),
    });
    Ok(Recovered::Restored(restored))
}

/// Returns what a journal has to know of what is left.
fn left(restored: &Restored) -> Vec<Saved> {
    restored.left.iter().map(Left::saved).collect()
}

/// Removes a journal of an earlier boot, as far as it can be read.
fn discard(root: &SysRoot, journal: Option<&Journal>) -> Recovered {
    // One that cannot be removed is passed over from now on.
    let _ = keep_only(root, &[]);
    let outlived = |one: Saved| {
        let Saved { change, .. } = one;
        let now = target::read(root, &change.target);
        let is_now =
            |value: &String| matches!(&now, Reading::Value(now) if is(&change.target, now, value));
        let has_outlived = MAY_OUTLIVE_A_BOOT.contains(&change.knob.as_str())
            && change.new.as_ref().is_some_and(is_now)
            && !is_now(&change.old);
        let why = "firmware may have kept it through the restart".to_owned();
        has_outlived.then_some(Left { change, now, why })
    };
    let kept = journal.map(saved).unwrap_or_default().into_iter().filter_map(outlived).collect();
    Recovered::OtherBoot { changes: journal.map_or(0, |journal| journal.changes.len()), kept }
}
