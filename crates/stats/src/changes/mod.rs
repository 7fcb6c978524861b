//! Change points: where the level of a series of results changed.
//!
//! A series is one value for each run of a benchmark, in the order of the commits. The detector reads it
//! once from the beginning to the end. After each value it asks whether a split of the current level is
//! beyond chance: whether the values after it stand on another level than those before it
//! (`judge`), counting that the split is the best of many and that the question is asked
//! anew after every run. If so, a change is confirmed, its place is settled (`locate`),
//! and the new level begins there with nothing of the old one. What was decided is never decided again:
//! a series read run by run gives the same changes as the whole, they do not wander, and a further run
//! costs the same however long the series is.
//!
//! A level has at least [`SHORTEST`] values. Younger suspects, and splits that are only unlikely, are
//! pending.
//!
//! What is kept from E-divisive (Matteson and James, "A Nonparametric Approach for Multiple Change Point
//! Analysis of Multivariate Data", JASA 109, 2014) is that nothing is assumed of the distribution; from
//! CUSUM charts, that false alarms are counted per run (Page, "Continuous Inspection Schemes", Biometrika
//! 41, 1954); the statistic is a scan over splits with scores (Pettitt, "A Non-Parametric Approach to the
//! Change-Point Problem", Applied Statistics 28, 1979).

mod age;
pub(crate) mod correlation;
mod detector;
mod differences;
pub mod engines;
mod errors;
mod exp;
mod fewest;
mod judge;
mod jump;
mod locate;
mod log_sum;
mod moods;
mod noisier;
mod order;
mod pool;
mod ramp;
mod scores;
mod shift;
mod sides;
mod sorted;
mod split;
mod spread;
mod spread_change;
mod states;
mod tilt;
mod wander;
mod window;

#[cfg(test)]
mod tests;

use std::ops::Range;

pub use correlation::Correlation;
pub use detector::{Change, Checkpoint, Detector, News};
pub use errors::errors;
pub use fewest::fewest_values;
pub use shift::{Shift, shift, size, sizes, stretches};
pub use sides::{SideModes, Sides, sides};
pub use spread_change::SpreadChange;
pub use states::{State, StateKind, states};

/// Fewest values of a level that is confirmed.
pub const SHORTEST: usize = 3;

/// One value of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The value, in any unit; finite.
    pub value: f64,
    /// Its standard error from the runs that it summarises, in the same unit; 0 where it is not known.
    pub error: f64,
}

impl From<f64> for Point {
    /// A value of which no error is known.
    fn from(value: f64) -> Self {
        Self { value, error: 0.0 }
    }
}

/// By what the size of a change is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Size {
    /// By what is typical: medians, and Hodges and Lehmann's shift.
    #[default]
    Median,
    /// By the means.
    Mean,
}

/// When a change is confirmed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    boundary: f64,
    margin: f64,
    size: Size,
}

/// Share of unchanged series of 500 independent values with an alarm, and the boundary that gives at
/// most so many, by simulation (`crates/calibrate/tests/calibration/changes.rs`).
const BOUNDARIES: [(f64, f64); 5] =
    [(0.1, 3.38), (0.05, 3.56), (DEFAULT_FALSE_ALARMS, 3.72), (0.01, 4.0), (0.001, 4.6)];

/// Share of unchanged series of 500 independent values in which a change is confirmed, at most, where
/// nothing else is asked for.
pub const DEFAULT_FALSE_ALARMS: f64 = 0.03;

impl Rules {
    /// Confirms changes in at most a share `false_alarms` of unchanged series of 500 independent values,
    /// from 0.001 to 0.1 (brought into that range), and only steps of at least `margin`, a share
    /// of the level before.
    pub fn new(false_alarms: f64, margin: f64) -> Self {
        let wanted = false_alarms.clamp(0.001, 0.1);
        let above = BOUNDARIES.iter().position(|(share, _)| *share <= wanted).unwrap_or(0);
        let boundary = match above {
            0 => BOUNDARIES[0].1,
            i => {
                let ((s0, b0), (s1, b1)) = (BOUNDARIES[i - 1], BOUNDARIES[i]);
                b0 + (b1 - b0) * (wanted / s0).ln() / (s1 / s0).ln()
            }
        };
        Self { boundary, margin: margin.max(0.0), size: Size::default() }
    }

    /// The same rules, by which a step is as large as `size` says.
    #[must_use]
    pub fn sized(self, size: Size) -> Self {
        Self { size, ..self }
    }

    /// Returns by what the size of a step is judged.
    pub fn size(&self) -> Size {
        self.size
    }

    /// What |z| has to reach, without surcharges.
    pub fn boundary(&self) -> f64 {
        self.boundary
    }
}

impl Default for Rules {
    /// [`DEFAULT_FALSE_ALARMS`], and steps of any size.
    fn default() -> Self {
        Self::new(DEFAULT_FALSE_ALARMS, 0.0)
    }
}

/// The changes of a series: those confirmed, in order, and the one that is pending at its end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Changes {
    /// Confirmed changes, by index.
    pub confirmed: Vec<Change>,
    /// What may become one.
    pub pending: Option<Change>,
    /// Confirmed changes of spread, by index; the level is the same on both sides.
    pub spreads: Vec<SpreadChange>,
    /// Stretches whose level does not stay, of which some of the confirmed changes are parts, by index.
    pub states: Vec<State>,
}

impl Changes {
    /// Takes what the detector confirmed.
    pub fn take(&mut self, news: Option<News>) {
        match news {
            Some(News::Level(change)) => self.confirmed.push(change),
            Some(News::Spread(change)) => self.spreads.push(change),
            None => {}
        }
    }

    /// Returns the state that a confirmed change is a part of.
    pub fn state_of(&self, confirmed: usize) -> Option<&State> {
        self.states.iter().find(|state| state.parts().contains(&confirmed))
    }

    /// Returns the [stretches](stretches()) of every change of level, in a series of so many values.
    pub fn stretches(&self, values: usize) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        let previous = [None].into_iter().chain(self.all().map(Some));
        let next = self.all().map(Some).skip(1).chain([None]);
        let all = previous.zip(self.all()).zip(next);
        all.map(move |((previous, change), next)| stretches(previous, change, next, values))
    }

    /// Returns every change of level: those confirmed, then what is pending.
    pub fn all(&self) -> impl Iterator<Item = &Change> {
        self.confirmed.iter().chain(&self.pending)
    }
}

/// Reads a whole series; every value has to be finite.
pub fn detect<P: Into<Point>>(values: impl IntoIterator<Item = P>, rules: Rules) -> Changes {
    let mut detector = Detector::new(rules);
    let mut changes = Changes::default();
    let mut all = Vec::new();
    for point in values {
        let point = point.into();
        all.push(point.value);
        changes.take(detector.push(point));
    }
    changes.pending = detector.pending();
    changes.states = states(&all, &changes.confirmed, 0, &[]);
    changes
}
