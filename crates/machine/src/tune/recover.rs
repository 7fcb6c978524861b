//! Undoing what the journal tells of, whoever wrote it.

use std::path::PathBuf;

use super::journal::{
    JournalFile, JournalFileError, boot_id, is_of_boot, is_of_earlier_boot, keep_only, load,
    load_readable, set_aside,
};
use super::restore::{Foreign, Left, Restored, Saved, Trace, find_foreign, restore, saved};
use crate::SysRoot;
use crate::knobs::STOPPING;

/// What the journal led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovered {
    /// There was none: the machine is not tuned by becalm.
    Nothing,
    /// It was of an earlier boot, which reset everything that it tells of.
    OtherBoot {
        /// How many changes it told of; fewer where it cannot be read to its end.
        changes: usize,
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
/// written to does not keep the machine from being restored; the error says so afterwards.
///
/// # Errors
///
/// If the journal cannot be read, then nothing was done, or cannot be written.
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
        Ok(Some(journal)) => return Ok(discard(root, journal.changes.len())),
        // Whatever is wrong with it: what it tells of was reset.
        Err(_) if is_of_earlier_boot(root) => {
            let readable = load_readable(root).ok().flatten();
            return Ok(discard(root, readable.map_or(0, |journal| journal.changes.len())));
        }
        Err(error @ JournalFileError::NotOurs { .. }) => return Err(error),
        Err(error) => {
            let place = if foreign == Foreign::Overwrite { set_aside(root)? } else { None };
            let why = std::error::Error::source(&error).map_or(String::new(), ToString::to_string);
            return place.map(|place| Recovered::SetAside { place, why }).ok_or(error);
        }
    };
    let mut saved = saved(&journal);
    find_foreign(root, &mut saved);
    let theirs: Vec<_> = saved
        .iter()
        .filter(|one| one.trace == Trace::Foreign)
        .map(|one| one.change.target.clone())
        .collect();
    let noted = JournalFile::reopen(root)
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
    let left = left(&restored);
    keep_only(root, &left)?;
    // With the journal gone or rewritten a failed note no longer matters, unless things are left.
    if left.is_empty() {
        Ok(Recovered::Restored(restored))
    } else {
        noted.map(|()| Recovered::Restored(restored))
    }
}

/// Returns what a journal has to know of what is left.
fn left(restored: &Restored) -> Vec<Saved> {
    restored.left.iter().map(Left::saved).collect()
}

/// Removes a journal of an earlier boot, which told of so many changes.
fn discard(root: &SysRoot, changes: usize) -> Recovered {
    // One that cannot be removed is passed over from now on.
    let _ = keep_only(root, &[]);
    Recovered::OtherBoot { changes }
}
