//! How often tests have killed becalm or cut the power, and how often that showed.

use std::cell::Cell;
use std::fmt;

/// A count that all guests of a run share.
#[derive(Debug, Default)]
pub(crate) struct Deaths {
    kills: Cell<u32>,
    losses: Cell<u32>,
    differences: Cell<u32>,
}

/// The count at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counted {
    /// Processes, or all of several at once, that were killed at a chosen call.
    pub(crate) kills: u32,
    /// Losses of power.
    pub(crate) losses: u32,
    /// After how many of both the machine was not as before.
    pub(crate) differences: u32,
}

impl Deaths {
    /// Counts one kill.
    pub(super) fn killed(&self) {
        self.kills.update(|count| count + 1);
    }

    /// Counts one loss of power.
    pub(super) fn lost_power(&self) {
        self.losses.update(|count| count + 1);
    }

    /// Counts the last one as one after which the machine differed.
    pub(super) fn differed(&self) {
        self.differences.update(|count| count + 1);
    }

    /// Returns the count.
    pub(super) fn counted(&self) -> Counted {
        let [kills, losses, differences] =
            [&self.kills, &self.losses, &self.differences].map(Cell::get);
        Counted { kills, losses, differences }
    }
}

impl Counted {
    /// Returns what was counted since another moment.
    pub(super) fn since(self, other: Self) -> Self {
        Self {
            kills: self.kills - other.kills,
            losses: self.losses - other.losses,
            differences: self.differences - other.differences,
        }
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kills, losses, differences } = self;
        write!(f, "{kills} kills, {losses} power losses, {differences} with a difference")
    }
}
