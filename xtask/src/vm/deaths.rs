//! How often tests have killed becalm, cut the power or a connection, and how often that showed.

use std::cell::Cell;
use std::fmt;

/// A count that all guests of a run share.
#[derive(Debug, Default)]
pub(crate) struct Deaths {
    kills: Cell<u32>,
    losses: Cell<u32>,
    cuts: Cell<u32>,
    differences: Cell<u32>,
}

/// The count at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counted {
    /// Processes, or all of several at once, that were killed at a chosen call.
    pub(crate) kills: u32,
    /// Losses of power.
    pub(crate) losses: u32,
    /// Connections that were cut.
    pub(crate) cuts: u32,
    /// After how many of these the machine was not as before.
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

    /// Counts one connection that was cut.
    pub(super) fn cut(&self) {
        self.cuts.update(|count| count + 1);
    }

    /// Counts the last one as one after which the machine differed.
    pub(super) fn differed(&self) {
        self.differences.update(|count| count + 1);
    }

    /// Returns the count.
    pub(super) fn counted(&self) -> Counted {
        let [kills, losses, cuts, differences] =
            [&self.kills, &self.losses, &self.cuts, &self.differences].map(Cell::get);
        Counted { kills, losses, cuts, differences }
    }
}

impl Counted {
    /// Returns what was counted since another moment.
    pub(super) fn since(self, other: Self) -> Self {
        Self {
            kills: self.kills - other.kills,
            losses: self.losses - other.losses,
            cuts: self.cuts - other.cuts,
            differences: self.differences - other.differences,
        }
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kills, losses, cuts, differences } = self;
        write!(
            f,
            "{kills} kills, {losses} power losses, {cuts} cuts of a connection, {differences} with a difference"
        )
    }
}
