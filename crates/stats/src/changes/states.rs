//! Series whose level does not stay: those that are unstable, and trends.
//!
//! A list of changes says that each of them happened once, and why is to be found. Three findings say otherwise:
//!
//! - A **second return** to a level that was there a while ago: up, down, and up again. Nothing in the code goes back and
//!   forth; the machine does, or the program has two modes and stays in each for a while. The series is unstable from the
//!   first of these changes on.
//! - **Hindsight**: what followed a change says that noise that wanders, or moods, explain the series as well as the change
//!   does ([`super::wander`]), which the few values that confirmed it could not know. The series is unstable from it on.
//! - A **staircase**: changes in the same direction that a slope explains at least as well ([`super::ramp`]). They are one
//!   trend, with a start, an end and a size.
//!
//! A change that was confirmed stays confirmed: it becomes a part of the state, and keeps its place, its size and what was
//! decided about it. Each finding is made at a fixed number of values, so that a series read run by run gives the same
//! states as the whole. A state only ever gets longer.

use std::ops::Range;

use super::ramp::ramp;
use super::split::{clipped, deviation, median};
use super::wander::{LONGEST, in_hindsight, prepared};
use super::window::REACH;
use super::{Change, SHORTEST};

/// Values within which a level is a recent one.
const RECENT: usize = 200;

/// How near a level has to be to an earlier one to be the same, as a share of the step to it.
const NEAR: f64 = 0.4;

/// Values after which an unstable series, or a trend, that moved no more is over.
const CALM: usize = 100;

/// How far outside of the levels of an unstable series a level is another one, as a share of their distance.
const OUTSIDE: f64 = 0.5;

/// How many values of a new level there are when its change is asked about again.
const HINDSIGHT: [usize; 5] = [20, 40, 80, 160, 320];

/// What a change has to reach then, of what is all but standard normal where there is none.
const HELD: f64 = 2.5;

/// Twice the gain in log likelihood from which on there may be another step, in logarithms of the number of values.
const ANOTHER: f64 = 8.0;

/// Values before its first change from which a slope may have begun.
const LONGEST_SLOPE: usize = 300;

/// Deviations at which values are clipped.
const FARTHEST: f64 = 3.5;

/// What a series is in while its level does not stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateKind {
    /// It goes back and forth, or wanders.
    Unstable,
    /// It moves slowly from one level to another.
    Trend,
}

/// A stretch of a series whose level does not stay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct State {
    /// Which.
    pub kind: StateKind,
    /// First value that is of it, counted from 0.
    pub start: usize,
    /// Last value that is known to be of it.
    pub end: usize,
    /// The value after which it was found.
    pub seen: usize,
    /// Of a trend the level before; of an unstable series the lowest level.
    pub from: f64,
    /// Of a trend the level after as far as it was seen; of an unstable series the highest level.
    pub to: f64,
    /// Which of the confirmed changes are parts of it: the first, and how many.
    pub first: usize,
    /// See `first`.
    pub count: usize,
}

impl State {
    /// Returns which of the confirmed changes are parts of it.
    pub fn parts(&self) -> Range<usize> {
        self.first..self.first + self.count
    }

    /// Returns a trend that goes on as far as this one, which has the same parts and perhaps more.
    fn with(self, longer: &Self) -> Self {
        Self { end: self.end.max(longer.end), to: longer.to, count: longer.count, ..self }
    }

    /// Says whether a series of so many values is in it still: it moved not long ago.
    pub fn is_current(&self, values: usize) -> bool {
        values <= self.end + CALM
    }
}

/// Returns the states of a series whose confirmed changes are these, in order. `known` are those that were found in its
/// first `seen` values.
pub fn states(values: &[f64], confirmed: &[Change], seen: usize, known: &[State]) -> Vec<State> {
    let mut events: Vec<(usize, Event)> = Vec::new();
    for (i, change) in confirmed.iter().enumerate() {
        events.push((change.seen, Event::Confirmed(i)));
        let next = confirmed.get(i + 1).map_or(values.len(), |next| next.seen);
        let again = HINDSIGHT.map(|age| change.index + age - 1).into_iter();
        let again = again.filter(|at| *at > change.seen && *at < next);
        events.extend(again.map(|at| (at, Event::Again(i))));
    }
    events.sort_by_key(|(at, _)| *at);
    let mut series = Series { values, confirmed, states: known.to_vec() };
    for (at, event) in events.into_iter().filter(|(at, _)| *at >= seen) {
        match event {
            Event::Confirmed(i) => series.take(i),
            Event::Again(i) => series.look_again(i, at),
        }
    }
    series.states
}

/// What there is to be looked at.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// A change is confirmed.
    Confirmed(usize),
    /// There is more of the level after a change.
    Again(usize),
}

struct Series<'a> {
    values: &'a [f64],
    confirmed: &'a [Change],
    states: Vec<State>,
}

impl Series<'_> {
    /// Takes a change that is confirmed.
    fn take(&mut self, i: usize) {
        if self.extends(i) {
            return;
        }
        let free = self.states.last().map_or(0, |state| state.parts().end);
        if let Some(state) = self.returned(free, i).or_else(|| self.sloped(free, i)) {
            self.states.push(state);
        }
    }

    /// Adds a change to the last state, if it is one more of its kind.
    fn extends(&mut self, i: usize) -> bool {
        let Some(last) = self.states.last().copied().filter(|one| one.parts().end == i) else {
            return false;
        };
        let change = &self.confirmed[i];
        if !last.is_current(change.index) {
            return false;
        }
        let extended = match last.kind {
            StateKind::Unstable => {
                let level = self.level(i + 1, change.seen);
                let beyond = OUTSIDE * (last.to - last.from);
                let is_inside = (last.from - beyond..=last.to + beyond).contains(&level);
                is_inside.then(|| State {
                    from: last.from.min(level),
                    to: last.to.max(level),
                    end: last.end.max(change.index),
                    count: last.count + 1,
                    ..last
                })
            }
            StateKind::Trend => self.sloped(last.first, i).map(|slope| last.with(&slope)),
        };
        if let Some(extended) = extended {
            self.states.pop();
            self.states.push(extended);
        }
        extended.is_some()
    }

    /// Says whether change `i` leads back to a recent level for the second time, among the changes from `free` on.
    fn returned(&self, free: usize, i: usize) -> Option<State> {
        let seen = self.confirmed[i].seen;
        let now = self.confirmed[i].index;
        // The level before each change, and the present one.
        let is_recent = |j: usize| now - self.confirmed[j].index <= RECENT;
        let first = (free..=i).find(|j| is_recent(*j))?;
        let levels: Vec<f64> = (first..=i + 1).map(|j| self.level(j, seen)).collect();
        let back = |j: usize| -> Option<usize> {
            let step = (levels[j] - levels[j - 1]).abs();
            (0..j - 1).rev().find(|k| (levels[j] - levels[*k]).abs() <= NEAR * step)
        };
        let last = levels.len() - 1;
        back(last)?;
        let before = (2..last).find_map(back)?;
        let parts = first + before..i + 1;
        let levels = &levels[before..];
        Some(State {
            kind: StateKind::Unstable,
            start: self.confirmed[parts.start].index,
            end: now,
            seen,
            from: levels.iter().copied().fold(f64::INFINITY, f64::min),
            to: levels.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            first: parts.start,
            count: parts.len(),
        })
    }

    /// Says whether a slope explains change `i` and the ones before it that went the same way, at least one, from `free` on.
    fn sloped(&self, free: usize, i: usize) -> Option<State> {
        let follows = |j: &usize| {
            let (one, next) = (&self.confirmed[*j], &self.confirmed[*j + 1]);
            (one.z > 0.0) == (next.z > 0.0) && next.index - one.index <= RECENT
        };
        let first = (free..i).rev().take_while(follows).last()?;
        self.slope(first..i + 1, None, self.confirmed[i].seen)
    }

    /// Says whether a slope explains the values around these changes, and one at `another` place that is not confirmed, up to
    /// the one at `now`, at least as well as they do.
    fn slope(&self, parts: Range<usize>, another: Option<usize>, now: usize) -> Option<State> {
        let changes = &self.confirmed[parts.clone()];
        let earlier = parts.start.checked_sub(1).map_or(0, |j| self.confirmed[j].index);
        let begin = earlier.max(changes[0].index.saturating_sub(LONGEST_SLOPE));
        let ends = changes.iter().map(|change| change.index).chain(another).chain([now + 1]);
        let (mut values, mut left, mut from) = (Vec::new(), 0.0, begin);
        for end in ends {
            let level = &self.values[from..end];
            let reach = FARTHEST * deviation(level, median(level));
            let level: Vec<f64> = clipped(level, reach).collect();
            let mean = level.iter().sum::<f64>() / level.len() as f64;
            left += level.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
            values.extend(level);
            from = end;
        }
        let slope = ramp(&values)?;
        let n = values.len() as f64;
        // Steps have a level and a place each, and one level more; a slope has two of each.
        let steps = parts.len() + usize::from(another.is_some());
        let more = 2.0 * steps as f64 + 1.0 - 4.0;
        let is_slope = n * (slope.squares / left).ln() <= more * n.ln();
        let goes_up = changes.iter().all(|change| change.z > 0.0);
        (is_slope && (slope.after > slope.before) == goes_up).then(|| State {
            kind: StateKind::Trend,
            start: begin + slope.first,
            end: (begin + slope.last).max(changes[changes.len() - 1].index),
            seen: now,
            from: slope.before,
            to: slope.after,
            first: parts.start,
            count: parts.len(),
        })
    }

    /// Asks about a change again, when there are more values of the level after it, up to the one at `now`.
    fn look_again(&mut self, i: usize, now: usize) {
        if let Some(last) = self.states.last().copied().filter(|one| one.parts().contains(&i)) {
            // Whether a trend goes on shows without further changes.
            let slope =
                self.slope(last.parts(), None, now).filter(|_| last.kind == StateKind::Trend);
            if let Some(slope) = slope {
                self.states.pop();
                self.states.push(last.with(&slope));
            }
            return;
        }
        let Some(values) = self.around(i, now) else { return };
        let at = values.len() - (now + 1 - self.confirmed[i].index);
        let is_explained = |end: usize| in_hindsight(&values[..end], at, HELD) < HELD;
        if !is_explained(values.len()) {
            return;
        }
        // If there may be another change meanwhile, which is not confirmed yet, the values before that have to say so too.
        let another = another_step(&values[at..]);
        let is_unstable = || another.is_none_or(|later| is_explained(at + later));
        let place = another.map(|later| self.confirmed[i].index + later);
        let state = self.slope(i..i + 1, place, now).or_else(|| {
            is_unstable().then(|| {
                let levels = [self.level(i, now), self.level(i + 1, now)];
                State {
                    kind: StateKind::Unstable,
                    start: self.confirmed[i].index,
                    end: now,
                    seen: now,
                    from: levels[0].min(levels[1]),
                    to: levels[0].max(levels[1]),
                    first: i,
                    count: 1,
                }
            })
        });
        self.states.extend(state);
    }

    /// Returns the values around a change, up to the one at `now`, as the laws of noise take them; nothing where most of those
    /// before are equal.
    fn around(&self, i: usize, now: usize) -> Option<Vec<f64>> {
        let change = &self.confirmed[i];
        let earlier = i.checked_sub(1).map_or(0, |j| self.confirmed[j].index);
        let after = &self.values[change.index..=now];
        let most = LONGEST - after.len();
        let before = &self.values[earlier.max(change.index.saturating_sub(most))..change.index];
        let middle = median(before);
        let scale = deviation(before, middle);
        let equal = before.iter().filter(|value| (*value - middle).abs() <= 0.0).count();
        let is_coarse = scale <= 0.0 || 2 * equal > before.len();
        (!is_coarse).then(|| prepared(before, after, FARTHEST * scale, middle))
    }

    /// Returns the level before change `j`, or the one after the last change, as far as it was `seen`.
    fn level(&self, j: usize, seen: usize) -> f64 {
        let end = self.confirmed.get(j).filter(|change| change.seen <= seen);
        let end = end.map_or(seen + 1, |change| change.index);
        let start = j.checked_sub(1).map_or(0, |j| self.confirmed[j].index);
        median(&self.values[start.max(end.saturating_sub(REACH))..end])
    }
}

/// Returns where values are most likely on another level, if they are.
fn another_step(values: &[f64]) -> Option<usize> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let mut sum = 0.0;
    let mut best = (0.0, 0);
    for (place, value) in values.iter().enumerate() {
        // What the means of both sides explain.
        let before = place as f64;
        let explained = if place < SHORTEST || values.len() - place < SHORTEST {
            0.0
        } else {
            sum * sum * n / (before * (n - before))
        };
        if explained > best.0 {
            best = (explained, place);
        }
        sum += value - mean;
    }
    let gain = n * (squares / (squares - best.0)).ln();
    (gain > ANOTHER * n.ln()).then_some(best.1)
}
