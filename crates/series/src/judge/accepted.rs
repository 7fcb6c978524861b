//! The level that people accepted, and what is worse than that and was not accepted.
//!
//! A level that got better is the accepted one from then on. A level that got worse is not, however long it stays:
//! until somebody acknowledges it, or the series is back.

use std::ops::Range;

use becalm_model::Direction;
use becalm_model::history::{ChangeState, Decision, Review, StoredChange};
use becalm_stats::changes::{Change, State, shift};

use super::comparison::{Loss, Worse};
use crate::follow::{Followed, rose};

/// Confidence at which a level is another one than the accepted one.
pub(super) const CONFIDENCE: f64 = 0.95;

/// Most values on each side from which a level is estimated.
pub(super) const REACH: usize = 100;

/// What is accepted of a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Accepted {
    /// The points of the accepted level, in order.
    pub(super) ranges: Vec<Range<usize>>,
    /// The points of the level before, if somebody acknowledged this one.
    pub(super) before: Vec<Range<usize>>,
    /// The first open change for the worse after these, among the changes of the series; points from there on are not
    /// of the accepted level.
    pub(super) open: Option<usize>,
    /// The first point since the last change for the worse that somebody dismissed.
    pub(super) dismissed: Option<usize>,
    /// The change for the worse that is not confirmed yet, among the changes of the series.
    pub(super) pending: Option<usize>,
}

impl Accepted {
    /// Reads a series, whose changes count from the point `first` on: earlier ones are accepted.
    pub(super) fn of(followed: &Followed, first: usize) -> Self {
        let direction = followed.series.key.direction;
        let end = followed.points.len();
        let mut level =
            Level { ranges: std::iter::once(0..end).collect(), before: Vec::new(), open: None };
        let mut dismissed = None;
        let mut accepted_at = followed.accepted_at().peekable();
        let confirmed = followed.changes.iter().enumerate().filter(|(_, (_, stored))| {
            stored.state == ChangeState::Confirmed || stored.review.is_some()
        });
        let mut confirmed: Vec<_> =
            confirmed.map(|(at, (change, stored))| (at, change, stored)).collect();
        confirmed.sort_by_key(|(_, change, _)| change.index);
        for (i, (at, change, stored)) in confirmed.iter().enumerate() {
            while let Some(index) = accepted_at.next_if(|index| *index < change.index) {
                level.begin(index, end);
            }
            let next = confirmed.get(i + 1).map_or(end, |(_, next, _)| next.index);
            match &stored.review {
                Some(Review { decision: Decision::Dismissed { .. }, .. }) => {
                    dismissed = Some(change.index).filter(|_| is_worse(change, stored, direction));
                }
                Some(Review { decision: Decision::Acknowledged { .. }, .. }) => {
                    level.begin(change.index, end);
                }
                None if change.index < first => level.begin(change.index, end),
                None if is_worse(change, stored, direction) => level.get_worse(*at, change.index),
                None => level.get_better(followed, change, change.index..next, end),
            }
        }
        accepted_at.for_each(|index| level.begin(index, end));
        let start = level.ranges.last().map_or(0, |last| last.start);
        let pending = followed.changes.iter().position(|(change, stored)| {
            stored.state == ChangeState::Pending
                && stored.review.is_none()
                && change.index >= first.max(start + 1)
                && is_worse(change, stored, direction)
        });
        let Level { ranges, before, open } = level;
        Self { ranges, before, open, dismissed, pending }
    }

    /// Returns the point from which on the values may be of a worse level that nobody accepted.
    pub(super) fn apart(&self, followed: &Followed) -> Option<usize> {
        let index = |at: usize| followed.changes[at].0.index;
        self.open.map(index).or(self.pending.map(index))
    }

    /// Returns the state in which a series is unstable, and nothing else is known of it. A regression that was open before
    /// stays open, whatever its level does since.
    pub(super) fn unstable<'a>(&self, followed: &'a Followed) -> Option<&'a State> {
        let is_later = |state: &&State| self.open.is_none_or(|open| open >= state.first);
        followed.unstable().filter(is_later)
    }

    /// Returns the points of the accepted level.
    pub(super) fn indices(&self) -> impl Iterator<Item = usize> {
        self.ranges.iter().cloned().flatten()
    }
}

/// The accepted level while a series is read.
struct Level {
    ranges: Vec<Range<usize>>,
    before: Vec<Range<usize>>,
    open: Option<usize>,
}

impl Level {
    fn begin(&mut self, index: usize, end: usize) {
        // What came after an open change is of another level, and no point is of two.
        self.before = std::mem::take(&mut self.ranges);
        for range in &mut self.before {
            range.end = range.end.min(index);
        }
        self.before.retain(|range| !range.is_empty());
        self.ranges = std::iter::once(index..end).collect();
        self.open = None;
    }

    fn get_worse(&mut self, at: usize, index: usize) {
        if self.open.is_none() {
            self.open = Some(at);
            if let Some(last) = self.ranges.last_mut() {
                last.end = index;
            }
        }
    }

    /// A better level is the accepted one, unless it is still worse than that.
    fn get_better(&mut self, followed: &Followed, change: &Change, now: Range<usize>, end: usize) {
        if self.open.is_none() {
            return self.begin(now.start, end);
        }
        let value = |at: usize| followed.points[at].value;
        let mut before: Vec<f64> = self.ranges.iter().cloned().flatten().map(value).collect();
        before.drain(..before.len().saturating_sub(REACH));
        let after: Vec<f64> = now.clone().take(REACH).map(value).collect();
        let Some(shift) = shift(&before, &after, change.correlation, CONFIDENCE) else { return };
        let ratio =
            becalm_model::RatioInterval { estimate: shift.ratio, low: shift.low, high: shift.high };
        let worse = Worse::of(&ratio, followed.series.key.direction, Loss::OfOld);
        if worse.high < 0.0 {
            self.begin(now.start, end);
        } else if worse.low <= 0.0 {
            self.ranges.push(now.start..end);
            self.open = None;
        }
    }
}

/// Says whether a change is one for the worse.
fn is_worse(change: &Change, stored: &StoredChange, direction: Direction) -> bool {
    rose(change, stored) == (direction == Direction::Lower)
}
