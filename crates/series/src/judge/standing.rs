//! A series read value by value, as the gate saw it: what belongs to the accepted level, and what failed.
//!
//! Values that the level may well give belong to it. From the first that failed on, none does, and each further one
//! fails as well, until the newest ones have left the level of those that failed. So the gate says the same about one
//! regression as long as it is there, and what failed is never what the next value is compared with.

use becalm_model::gate::GateOutcome;
use becalm_model::{Direction, RatioInterval};
use becalm_stats::changes::Shift;
use becalm_stats::newest::{self, LONGEST, Level, REACH, left, moved, turn};
use becalm_stats::prediction::predict;
use becalm_stats::{Interval, Sample};

use super::comparison::{Extent, Loss, PROVED, Worse};

/// The share of the error that is granted where the place is chosen by the values themselves, and what is to be exceeded is
/// fine. More than that keeps chance out by itself.
const CHOSEN: f64 = 0.25;

/// A change for the worse is fine if it is less than this part of what one value may be off by.
const FINE: f64 = 0.25;

/// The shares of the error that are granted for saying that values fail.
#[derive(Debug, Clone, Copy)]
struct Granted {
    /// Because all of the interval is beyond the margin.
    beyond: f64,
    /// Because it is beyond the margin rather than within it.
    rather: f64,
}

impl Granted {
    /// All of it for each.
    const WHOLE: Self = Self { beyond: 1.0, rather: 1.0 };
}

/// The share of the error that is granted for saying that what failed is over.
const BACK: f64 = 0.1;

/// Fewest values that show together that the first was an outlier.
const FEWEST_BACK: usize = 3;

/// A value of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// The value.
    pub value: f64,
    /// Its standard error, as its runs tell it.
    pub error: Option<f64>,
}

/// What a value is judged by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StandingTerms {
    /// Which way is better.
    pub direction: Direction,
    /// Largest relative change for the worse that passes.
    pub margin: f64,
    /// Confidence of an interval.
    pub confidence: f64,
}

/// What was found of the newest values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// What that means.
    pub outcome: GateOutcome,
    /// How many of the newest values it is about.
    pub newest: usize,
    /// Whether an earlier one of these failed, and nothing shows that this is over.
    pub is_held: bool,
    /// How many times the level they are; nothing where there is no ratio.
    pub ratio: Option<RatioInterval>,
}

/// A series up to a value.
#[derive(Debug, Clone)]
pub struct Standing {
    terms: StandingTerms,
    /// The values of the accepted level.
    accepted: Vec<Value>,
    /// Values that do not belong to it: those that failed and what came since, or what came after a change that was
    /// found otherwise.
    apart: Vec<Value>,
    has_failed: bool,
    /// How many of the accepted values somebody decided about: no turn is looked for among them.
    settled: usize,
    /// Whether they came back, so that a change that was found before is over.
    is_back: bool,
    /// Variance of the center of the accepted level, beyond what its values say.
    level_variance: f64,
}

impl Standing {
    /// Begins with values of the accepted level.
    pub fn new(terms: StandingTerms, accepted: Vec<Value>) -> Self {
        Self {
            terms,
            accepted,
            apart: Vec::new(),
            has_failed: false,
            settled: 0,
            is_back: false,
            level_variance: 0.0,
        }
    }

    /// Says by how much the center of the accepted level is less certain than so many values would be.
    #[must_use]
    pub fn with_level_variance(self, level_variance: f64) -> Self {
        Self { level_variance, ..self }
    }

    /// Says of how many of the first values nothing more is to be decided.
    #[must_use]
    pub fn with_settled(self, settled: usize) -> Self {
        Self { settled, ..self }
    }

    /// Takes values after a change for the worse without judging each.
    pub fn keep_apart(&mut self, values: &[Value]) {
        self.apart.extend_from_slice(values);
    }

    /// Returns the accepted values that others are compared with: the newest.
    pub fn compared(&self) -> &[Value] {
        &self.accepted[self.accepted.len().saturating_sub(REACH)..]
    }

    /// Returns the values of the accepted level.
    pub fn accepted(&self) -> &[Value] {
        &self.accepted
    }

    /// Takes values, of which the last is judged together with the others: those of the same commit. `is_apart` says
    /// that they come after a change for the worse.
    pub fn take(&mut self, group: &[Value], is_apart: bool) -> Found {
        if is_apart && !self.is_back || !self.apart.is_empty() {
            self.apart.extend_from_slice(group);
            return match self.back() {
                Some(newest) => self.rejoin(newest),
                None => self.still_apart(),
            };
        }
        let found = self.judge(group);
        if found.ratio.is_none() && self.is_unusual(group) {
            // There is no ratio around zero, but the level does not give such values.
            self.apart.extend_from_slice(group);
            return found;
        }
        self.accepted.extend_from_slice(group);
        if found.outcome == GateOutcome::Fail {
            self.apart = self.accepted.split_off(self.accepted.len() - found.newest);
            self.has_failed = true;
        }
        found
    }

    fn judge(&self, group: &[Value]) -> Found {
        let alone = self.compare(&self.accepted, group, Granted::WHOLE);
        let all: Vec<f64> = self.accepted.iter().chain(group).map(|one| one.value).collect();
        let Some(count) = turn(&all, self.worse_side()).filter(|count| {
            let earlier = count.saturating_sub(group.len());
            earlier > 0 && earlier <= self.accepted.len() - self.settled
        }) else {
            return alone;
        };
        let (earlier, newer) = self.accepted.split_at(self.accepted.len() - (count - group.len()));
        let newer: Vec<Value> = newer.iter().chain(group).copied().collect();
        let margin = self.terms.margin;
        let reach = self.reach();
        let granted = |change| if change < FINE * reach { CHOSEN } else { 1.0 };
        let of_chosen = Granted { beyond: granted(margin), rather: granted(PROVED * margin) };
        let together = self.compare(earlier, &newer, of_chosen);
        // What cannot be decided together is not decided because of the last alone.
        if alone.outcome > together.outcome { alone } else { together }
    }

    /// Judges values that stay apart.
    fn still_apart(&mut self) -> Found {
        let from = self.apart.len().saturating_sub(100);
        let found = self.compare(&self.accepted, &self.apart[from..], Granted::WHOLE);
        let is_held = self.has_failed;
        self.has_failed |= found.outcome == GateOutcome::Fail;
        let outcome = if self.has_failed { GateOutcome::Fail } else { found.outcome };
        Found { outcome, is_held, newest: self.apart.len(), ..found }
    }

    /// Returns how many of the newest values are back on the accepted level: they left the level of those before, or all
    /// of them together are not worse after all, because the first was an outlier.
    fn back(&self) -> Option<usize> {
        let values = |all: &[Value]| all.iter().map(|one| one.value).collect::<Vec<f64>>();
        let accepted = values(self.compared());
        let apart = values(&self.apart);
        let level =
            |granted: f64| Level::of(&accepted, 1.0 - granted * (1.0 - self.terms.confidence));
        // One that failed alone is soon known for an outlier.
        let (of_one, of_more) = (level(1.0), level(BACK));
        let is_back = |count: &usize| {
            let (before, newest) = apart.split_at(apart.len() - count);
            let level = if before.len() == 1 { &of_one } else { &of_more };
            level.as_ref().is_some_and(|level| left(level, before, newest, self.worse_side()))
                && self.together(&self.apart[apart.len() - count..]).outcome != GateOutcome::Fail
        };
        (1..apart.len().min(LONGEST)).find(is_back).or_else(|| {
            let is_known = (FEWEST_BACK..=LONGEST).contains(&apart.len());
            if !self.has_failed || !is_known {
                return None;
            }
            let worse = self.together(&self.apart).ratio.map(|ratio| self.worse_by(&ratio));
            let is_calm = worse.is_some_and(|worse| worse.estimate <= self.terms.margin / 2.0);
            is_calm.then_some(apart.len())
        })
    }

    /// Judges values together by the accepted level.
    fn together(&self, values: &[Value]) -> Found {
        self.compare(&self.accepted, values, Granted::WHOLE)
    }

    fn rejoin(&mut self, newest: usize) -> Found {
        let back = self.apart.split_off(self.apart.len() - newest);
        self.apart.clear();
        self.has_failed = false;
        self.is_back = true;
        let found = self.compare(&self.accepted, &back, Granted::WHOLE);
        self.accepted.extend(back);
        found
    }

    /// Returns where the next value of the level lies.
    pub(super) fn predicted(&self) -> Option<Interval> {
        let values = self.compared().iter().map(|one| one.value).collect();
        let sample = Sample::new(values).ok()?;
        Some(predict(&sample, self.terms.confidence)?.interval)
    }

    /// Returns what one value may be off by for the worse, as a share of the level.
    fn reach(&self) -> f64 {
        self.predicted().map_or(f64::INFINITY, |Interval { estimate, low, high }| {
            match self.terms.direction {
                Direction::Lower => 1.0 - estimate / high,
                Direction::Higher => estimate / low.max(0.0) - 1.0,
            }
        })
    }

    /// Says whether one of these values is worse than the next value of the level may be.
    fn is_unusual(&self, group: &[Value]) -> bool {
        let Some(Interval { low, high, .. }) = self.predicted() else { return false };
        group.iter().any(|one| match self.terms.direction {
            Direction::Lower => one.value > high,
            Direction::Higher => one.value < low,
        })
    }

    /// Judges values by the level.
    fn compare(&self, earlier: &[Value], newest: &[Value], granted: Granted) -> Found {
        let margin = self.terms.margin;
        let ratio = self.ratio(earlier, newest, granted.beyond);
        let extent =
            ratio.map_or(Extent::Across, |ratio| Extent::of(self.worse_by(&ratio), margin));
        // Part of a fine margin is exceeded by chance too often.
        let is_rather_beyond = || {
            let share = granted.rather;
            let wider = || self.ratio(earlier, newest, share);
            let ratio = if share < granted.beyond { wider() } else { ratio };
            ratio.is_some_and(|ratio| self.worse_by(&ratio).is_rather_beyond(margin))
                && margin >= FINE * self.reach()
        };
        let outcome = match extent.outcome() {
            GateOutcome::Inconclusive if is_rather_beyond() => GateOutcome::Fail,
            outcome => outcome,
        };
        Found { outcome, newest: newest.len(), is_held: false, ratio }
    }

    /// Returns how many times the level values are, with an interval that misses at this share of the error.
    fn ratio(&self, earlier: &[Value], newest: &[Value], granted: f64) -> Option<RatioInterval> {
        let values = |all: &[Value]| all.iter().map(|one| one.value).collect::<Vec<f64>>();
        let own = excess(earlier, newest).max(0.0);
        // The center is one for all values: more of them tell no more of it.
        let excess = own + newest.len() as f64 * self.level_variance;
        let confidence = 1.0 - granted * (1.0 - self.terms.confidence);
        let found = moved(&values(earlier), &values(newest), excess, confidence);
        found.map(|Shift { ratio, low, high }| RatioInterval { estimate: ratio, low, high })
    }

    fn worse_by(&self, ratio: &RatioInterval) -> Worse {
        Worse::of(ratio, self.terms.direction, Loss::OfOld)
    }

    fn worse_side(&self) -> newest::Worse {
        match self.terms.direction {
            Direction::Lower => newest::Worse::Larger,
            Direction::Higher => newest::Worse::Smaller,
        }
    }
}

/// Returns by how much the variance of a new value exceeds what is usual, because it has fewer runs or they scatter more.
fn excess(earlier: &[Value], newest: &[Value]) -> f64 {
    let squares = |all: &[Value]| -> Vec<f64> {
        all.iter().filter_map(|one| one.error).map(|error| error * error).collect()
    };
    let mut usual = squares(earlier);
    let new = squares(newest);
    if usual.is_empty() || new.is_empty() {
        return 0.0;
    }
    usual.sort_unstable_by(f64::total_cmp);
    new.iter().sum::<f64>() / new.len() as f64 - usual[usual.len() / 2]
}
