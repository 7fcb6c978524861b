//! The detector: one value after another, each change when it is confirmed.

use super::correlation::Correlation;
use super::judge::{GLARING_DISCOUNT, Judgement, judge};
use super::locate::{locate, unripe};
use super::window::{self, Window};
use super::{Point, Rules, SHORTEST};

/// Share of the boundary from which a split is pending.
const PENDING: f64 = 0.7;

/// Fewest values behind a pending change: one alone is an outlier.
const PENDING_SHORTEST: usize = 2;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// First value of the new level, counted from 0.
    pub index: usize,
    /// First and last place at which the new level may have begun instead.
    pub earliest: usize,
    /// See `earliest`.
    pub latest: usize,
    /// The value after which it was confirmed, or at which it is pending.
    pub seen: usize,
    /// Standard normal statistic of the split; above 0 where the level rose.
    pub z: f64,
    /// Median of at most 100 values of the old level, and of the new one as far as it was seen.
    pub before: f64,
    /// See `before`.
    pub after: f64,
    /// Correlation of neighbours that was reckoned with.
    pub correlation: f64,
}

/// Where a detector stands: enough to go on with the last values of a series instead of all.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Checkpoint {
    /// First value of the current level.
    pub start: usize,
    /// How many values were seen.
    pub seen: usize,
    /// What earlier levels showed of the correlation of neighbours.
    pub past: Correlation,
}

impl Checkpoint {
    /// Returns how many of the newest values are needed to go on from here.
    pub fn needed(self) -> usize {
        window::needed(self.seen - self.start)
    }
}

/// Reads a series.
#[derive(Debug, Clone)]
pub struct Detector {
    rules: Rules,
    at: Checkpoint,
    window: Window,
}

impl Detector {
    /// A detector at the beginning of a series.
    pub fn new(rules: Rules) -> Self {
        Self { rules, at: Checkpoint::default(), window: Window::new() }
    }

    /// A detector that goes on from a checkpoint. `newest` are the values before it, at least as many as
    /// [`Checkpoint::needed`] says, in order; it gives what the detector that made the checkpoint would
    /// have given.
    pub fn resume(rules: Rules, at: Checkpoint, newest: &[Point]) -> Self {
        let surplus = newest.len().saturating_sub(at.needed());
        Self { rules, at, window: Window::resume(at.seen - at.start, &newest[surplus..]) }
    }

    /// Returns where it stands.
    pub fn checkpoint(&self) -> Checkpoint {
        self.at
    }

    /// Takes the next value, and returns the change that it confirms. The value has to be finite.
    pub fn push(&mut self, point: Point) -> Option<Change> {
        self.window.push(point);
        self.at.seen += 1;
        if self.window.len() < 2 * SHORTEST {
            return None;
        }
        let (split, judged) = self.confirmed()?;
        let place = locate(self.window.values(), split, &judged);
        if unripe(self.window.values(), place.index, &judged) {
            return None;
        }
        let change = self.change(place.index, place.earliest, place.latest, &judged);
        let ended = Correlation::of(self.window.scores_before(place.index));
        self.at.past = self.at.past.after(ended);
        self.at.start = change.index;
        self.restart(place.index);
        Some(change)
    }

    /// Returns the split that would be confirmed if there were a little more of it.
    pub fn pending(&self) -> Option<Change> {
        if self.window.len() < 2 * SHORTEST {
            return None;
        }
        let least = PENDING * self.rules.boundary();
        let (split, judged) = self
            .window
            .suspects(PENDING_SHORTEST)
            .filter_map(|split| Some((split, self.judge(split, least)?)))
            .filter(|(_, judged)| self.matters(judged))
            .max_by(|a, b| a.1.z.abs().total_cmp(&b.1.z.abs()))?;
        Some(self.change(split, split, split, &judged))
    }

    fn confirmed(&self) -> Option<(usize, Judgement)> {
        let least = self.rules.boundary() - GLARING_DISCOUNT;
        self.window
            .candidates()
            .into_iter()
            .filter_map(|split| Some((split, self.judge(split, least)?)))
            .filter(|(_, judged)| judged.excess >= 0.0 && self.matters(judged))
            .max_by(|a, b| a.1.excess.total_cmp(&b.1.excess))
    }

    fn judge(&self, split: usize, least: f64) -> Option<Judgement> {
        judge(self.window.split(split), self.at.past, self.rules.boundary(), least)
    }

    fn matters(&self, judged: &Judgement) -> bool {
        (judged.after - judged.before).abs() >= self.rules.margin * judged.before.abs()
    }

    fn change(&self, index: usize, earliest: usize, latest: usize, judged: &Judgement) -> Change {
        let first = self.at.seen - self.window.len();
        Change {
            index: first + index,
            earliest: first + earliest,
            latest: first + latest,
            seen: self.at.seen - 1,
            z: judged.z,
            before: judged.before,
            after: judged.after,
            correlation: judged.correlation,
        }
    }

    /// Begins the level at place `index` of the window.
    fn restart(&mut self, index: usize) {
        let points: Vec<Point> = self.window.points().skip(index).collect();
        self.window = Window::new();
        for point in points {
            self.window.push(point);
        }
    }
}
