//! Making changes, each read back.

use std::io;
use std::time::Instant;

use becalm_kernel::errno;
use becalm_model::{Change, Nature};
use serde::{Deserialize, Serialize};

use super::journal::{JournalFile, JournalFileError};
use super::late;
use super::target::{self, is, tells_late};
use crate::{Reading, SysRoot};

/// What happened to one change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// The change.
    pub change: Change,
    /// What came of it.
    pub effect: Effect,
}

/// What came of one change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    /// The target has its new value.
    Set,
    /// The kernel made something else of it: it clamps and rounds without saying so.
    Otherwise {
        /// What it has now.
        now: String,
    },
    /// The kernel took the value and nothing changed.
    Ignored,
    /// The kernel refused it.
    Refused {
        /// What it answered.
        reason: String,
        /// The same as the system's number, if it was an answer to the write.
        code: Option<i32>,
    },
    /// Nothing was to be set.
    Guarded,
}

impl Effect {
    /// Returns its name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Otherwise { .. } => "otherwise",
            Self::Ignored => "ignored",
            Self::Refused { .. } => "refused",
            Self::Guarded => "guarded",
        }
    }
}

impl Applied {
    /// Says whether the kernel keeps the target to itself: it lets nobody set it, to whatever value.
    pub fn is_the_kernels(&self) -> bool {
        matches!(self.effect, Effect::Refused { code: Some(errno::EIO | errno::EPERM), .. })
    }

    /// Says whether what was wanted was not had, and somebody should know.
    pub fn is_failure(&self) -> bool {
        match self.effect {
            Effect::Set | Effect::Guarded => false,
            Effect::Otherwise { .. } | Effect::Ignored => true,
            Effect::Refused { .. } => self.change.nature != Nature::MayBeRefused,
        }
    }
}

/// Makes `changes` in order. They are in `journal`, on disk, before the first is made; afterwards
/// the journal gets the values of all targets that it knows, but for those that somebody else had set before.
///
/// A refused change does not keep the others from being made. Whether a target has its new value is read
/// after the last change, because one may undo another.
///
/// # Errors
///
/// If the journal cannot be written: before the first change, then nothing was changed; or after
/// the last, then everything that was journalled is still known.
pub fn apply(
    root: &SysRoot,
    journal: &mut JournalFile,
    changes: &[Change],
) -> Result<Vec<Applied>, JournalFileError> {
    journal.look(root);
    journal.plan(changes)?;
    let mut answers: Vec<io::Result<()>> = Vec::new();
    for change in changes {
        let is_cut_off =
            change.nature == Nature::Follows && answers.last().is_some_and(Result::is_err);
        answers.push(if is_cut_off { Err(cut_off()) } else { make(root, change) });
    }
    let taken = changes.iter().zip(&answers).filter(|(_, answer)| answer.is_ok());
    let late: Vec<&Change> =
        taken.map(|(change, _)| change).filter(|change| late::is_late(&change.target)).collect();
    late::wait(Instant::now() + late::BRIEFLY, || {
        late.iter()
            .all(|change| matches!(effect(root, change, Ok(())), Effect::Set | Effect::Guarded))
    });
    journal.settled(root)?;
    let applied = changes.iter().zip(answers).map(|(change, answer)| Applied {
        change: change.clone(),
        effect: effect(root, change, answer),
    });
    Ok(applied.collect())
}

fn make(root: &SysRoot, change: &Change) -> io::Result<()> {
    let new = change.new.as_ref();
    new.map_or(Ok(()), |new| target::write(root, &change.target, new))
}

fn cut_off() -> io::Error {
    io::Error::other("not tried, because an earlier change was refused")
}

/// Says what came of a change that the kernel has answered so.
fn effect(root: &SysRoot, change: &Change, answer: io::Result<()>) -> Effect {
    let Some(new) = &change.new else { return Effect::Guarded };
    if let Err(error) = answer {
        return Effect::Refused { reason: error.to_string(), code: error.raw_os_error() };
    }
    if tells_late(&change.target) {
        return Effect::Set;
    }
    match target::read(root, &change.target) {
        Reading::Value(now) if is(&change.target, &now, new) => Effect::Set,
        Reading::Value(now) if is(&change.target, &now, &change.old) => Effect::Ignored,
        Reading::Value(now) => Effect::Otherwise { now },
        other => Effect::Refused {
            reason: format!("set to {new}, but then it {}", other.why_not().unwrap_or_default()),
            code: None,
        },
    }
}
