//! The detector: one value after another, each change when it is confirmed.

use std::cell::{RefCell, RefMut};

use super::age::{Age, FEW};
use super::correlation::Correlation;
use super::differences::Differences;
use super::judge::{COARSE_DISCOUNT, Judgement, Ranked, Sides, sharp_discount};
use super::locate::{Located, Places, unripe};
use super::pool::Pool;
use super::wander::{Filtered, LONGEST, are_all_near, beyond_wandering, prepared};
use super::window::{self, Window};
use super::{Point, Rules, SHORTEST, Size, SpreadChange, spread};

/// Share of the boundary from which a split is pending.
const PENDING: f64 = 0.7;

/// Fewest values behind a pending change: one alone is an outlier.
const PENDING_SHORTEST: usize = 2;

/// How many differences before a change may belong to a noisier stretch.
const NEAREST: [usize; 4] = [4, 7, 12, 20];

/// How much noisier the values around a change may be without any doubt about it, and if they are few, which hardly tell;
/// of a grown level, which tells its noise, by how much less.
const CALM: f64 = 1.5;
const CALM_OF_FEW: f64 = 1.8;
const GROWN_IS_LESS: f64 = 0.8;

/// From how many values on the new level is doubted no more.
const DOUBTED: f64 = 40.0;

/// How many places are tried against noise that wanders, which takes most time.
const WORTH_TRYING: usize = 3;

/// How much nearer the boundary is against noise that wanders: what is weighed by how likely it is needs less.
const WANDERING_DISCOUNT: f64 = 0.1;

/// The same where most values are equal.
const COARSE_WANDERING_DISCOUNT: f64 = 0.25;

/// Deviations from the middle of their neighbours at which values are clipped.
const FARTHEST: f64 = 3.5;

/// What is added to the boundary for a change of spread.
const SPREAD_SURCHARGE: f64 = 0.5;

/// After how many values each a change of spread is asked about.
const SPREAD_EACH: usize = 4;

/// From how many standard errors on the level may change where the spread does.
const SHIFTS: f64 = 2.5;

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

/// What a value confirms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum News {
    /// Another level.
    Level(Change),
    /// Another spread around the same level.
    Spread(SpreadChange),
}

impl News {
    /// Returns the change of level, if it is one.
    pub fn level(self) -> Option<Change> {
        match self {
            Self::Level(change) => Some(change),
            Self::Spread(_) => None,
        }
    }
}

/// Where a detector stands: enough to go on with the last values of a series instead of all.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Checkpoint {
    /// First value of the current level and spread.
    pub start: usize,
    /// How many values were seen.
    pub seen: usize,
    /// What earlier levels showed of the correlation of neighbours.
    pub past: Correlation,
}

impl Checkpoint {
    /// Returns how many of the newest values are needed to go on from here.
    pub fn needed(self) -> usize {
        let age = self.seen - self.start;
        // The differences are one less, of one value more.
        window::needed(age).max(1 + window::needed(age.saturating_sub(1))).max(LONGEST).min(age)
    }
}

/// Reads a series.
#[derive(Debug, Clone)]
pub struct Detector {
    rules: Rules,
    at: Checkpoint,
    window: Window,
    /// What neighbours of the level differ by.
    differences: Differences,
    last: Option<f64>,
    /// Values of the level, the newest [`LONGEST`] and some.
    level: Vec<f64>,
    /// What the laws of noise made of the newest values when that was last asked for.
    filtered: RefCell<Option<Known>>,
}

/// What the laws of noise make of some values of the level.
#[derive(Debug, Clone)]
struct Known {
    /// The first of the values, counted from 0.
    first: usize,
    filtered: Box<Filtered>,
}

/// Returns how much nearer the boundary is against noise that wanders.
fn nearer(judged: &Judgement) -> f64 {
    if judged.is_coarse { COARSE_WANDERING_DISCOUNT } else { WANDERING_DISCOUNT }
}

impl Detector {
    /// A detector at the beginning of a series.
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            at: Checkpoint::default(),
            window: Window::new(),
            differences: Differences::new(),
            last: None,
            level: Vec::new(),
            filtered: RefCell::default(),
        }
    }

    /// A detector that goes on from a checkpoint. `newest` are the values before it, at least as many as
    /// [`Checkpoint::needed`] says, in order; it gives what the detector that made the checkpoint would
    /// have given.
    pub fn resume(rules: Rules, at: Checkpoint, newest: &[Point]) -> Self {
        let surplus = newest.len().saturating_sub(at.needed());
        let newest = &newest[surplus..];
        let age = at.seen - at.start;
        let latest = |count: usize, all: &[Point]| all[all.len() - count..].to_vec();
        let differences: Vec<Point> =
            newest.windows(2).map(|two| (two[1].value - two[0].value).abs().into()).collect();
        let older = age.saturating_sub(1);
        Self {
            rules,
            at,
            window: Window::resume(age, &latest(window::needed(age), newest)),
            differences: Differences::resume(older, latest(window::needed(older), &differences)),
            last: newest.last().map(|point| point.value),
            level: newest.iter().map(|point| point.value).collect(),
            filtered: RefCell::default(),
        }
    }

    /// Returns where it stands.
    pub fn checkpoint(&self) -> Checkpoint {
        self.at
    }

    /// Takes the next value, and returns what it confirms. The value has to be finite.
    pub fn push(&mut self, point: Point) -> Option<News> {
        self.window.push(point);
        self.level.push(point.value);
        if self.level.len() >= 2 * LONGEST {
            self.level.drain(..LONGEST);
        }
        if let Some(last) = self.last.replace(point.value) {
            self.differences.push((point.value - last).abs());
        }
        self.at.seen += 1;
        if self.window.len() < 2 * SHORTEST {
            return None;
        }
        let level = self.level().map(News::Level);
        level.or_else(|| {
            // It takes ten differences anyway: a few values more are not worth the time.
            let is_asked = self.age().0.is_multiple_of(SPREAD_EACH);
            if is_asked { self.spread().map(News::Spread) } else { None }
        })
    }

    fn level(&mut self) -> Option<Change> {
        let (place, judged) = self.confirmed()?;
        self.differences.catch_up();
        if judged.excess < self.doubt(place.index) {
            return None;
        }
        if unripe(self.window.values(), self.window.order(), place.index, &judged) {
            return None;
        }
        let change = self.change(place.index, place.earliest, place.latest, &judged);
        self.restart(place.index);
        Some(change)
    }

    /// Returns what is added to the boundary of a change of level at a place where the series may be getting noisier: from
    /// some values before it on, the difference of the change itself left out.
    fn doubt(&self, place: usize) -> f64 {
        let differences = self.differences.window();
        let n = differences.len();
        // The difference of the change is that to the value before it.
        let step = n - (self.window.len() - place);
        let first = step.saturating_sub(window::REACH);
        let noisier = |before, after| {
            let split = differences.between(before, after);
            spread::judge(split, 0.0)
        };
        let since = noisier((first, step), (step + 1, n));
        let doubt = NEAREST
            .into_iter()
            .filter(|near| first + spread::FEWEST + near <= step)
            .map(|near| noisier((first, step - near), (step - near, step)))
            .map(|near| near.max((near + since) / std::f64::consts::SQRT_2))
            .fold(since, f64::max);
        let count = self.window.len() - place;
        let calm = if count <= FEW { CALM_OF_FEW } else { CALM };
        let calm = calm - GROWN_IS_LESS * self.age().grown();
        // Many values tell their own scatter.
        let few = 1.0 - count as f64 / DOUBTED;
        (doubt - calm).max(0.0) * few.max(0.0)
    }

    /// Says whether the level may change at a place as well: then that is to be decided first.
    fn shifts(&self, place: usize) -> bool {
        let split = self.window.split(place);
        let pool = Pool::of(&split, split.before, split.after);
        pool.signed_root(f64::INFINITY).abs() > SHIFTS * pool.unevenness()
    }

    fn spread(&mut self) -> Option<SpreadChange> {
        let boundary = self.rules.boundary() + SPREAD_SURCHARGE;
        self.differences.catch_up();
        let window = self.differences.window();
        let (split, z) = window
            .candidates(SPREAD_SURCHARGE)
            .into_iter()
            .filter(|split| *split >= spread::FEWEST && window.len() - split >= spread::FEWEST)
            .map(|split| (split, spread::judge(window.split(split), boundary)))
            .filter(|(_, z)| z.abs() >= boundary)
            .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        let differences = window.values();
        let (index, earliest, latest) = spread::locate(differences, split);
        let (before, after) = differences.split_at(index);
        let before = &before[before.len().saturating_sub(window::REACH)..];
        let (before, after) = (spread::deviation(before), spread::deviation(after));
        if (after > before) != (z > 0.0) {
            return None;
        }
        // The second value of a difference is the first of the new spread; of both windows the newest values are the same.
        let to_value = |place: usize| self.window.len() - (differences.len() - place);
        let first = self.at.seen - self.window.len();
        let [index, earliest, latest] = [index, earliest, latest].map(to_value);
        if self.shifts(index) {
            return None;
        }
        let change = SpreadChange {
            index: first + index,
            earliest: first + earliest,
            latest: first + latest,
            seen: self.at.seen - 1,
            z,
            before,
            after,
        };
        self.restart(index);
        Some(change)
    }

    /// Returns the split that would be confirmed if there were a little more of it.
    pub fn pending(&self) -> Option<Change> {
        if self.window.len() < 2 * SHORTEST {
            return None;
        }
        let least = PENDING * self.rules.boundary();
        let suspects = self.window.suspects(PENDING_SHORTEST);
        let mut sorted = self.window.sorted();
        let mut sides: Vec<(usize, Sides<'_>)> = suspects
            .filter_map(|split| {
                let sides = Sides::of(self.window.split(split), sorted.at(split), least)?;
                Some((split, sides))
            })
            .collect();
        sides.sort_by(|a, b| a.1.most().total_cmp(&b.1.most()));
        // Those whose ranks were looked at: only of those that may have the largest |z| of all that are left.
        let mut ranked: Vec<(usize, Ranked<'_>)> = Vec::new();
        // By falling z, of equal ones the nearest to the end first.
        let mut found: Vec<(usize, Judgement)> = Vec::new();
        loop {
            let tried = found.get(WORTH_TRYING - 1).map_or(0.0, |(_, last)| last.z.abs());
            let best = ranked.iter().map(|(split, one)| (one.most(), *split)).enumerate();
            let best = best.max_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let most = best.map_or(f64::NEG_INFINITY, |(_, (most, _))| most);
            let next = sides.pop_if(|(_, one)| one.most() >= most);
            // What is left is less than each of those that are tried.
            if tried > next.as_ref().map_or(most, |(_, one)| one.most()) {
                break;
            }
            if let Some((split, one)) = next {
                ranked.extend(one.ranked(self.age(), least).map(|one| (split, one)));
                continue;
            }
            let Some((place, _)) = best else { break };
            let (split, one) = ranked.swap_remove(place);
            let judged = one.judge(self.at.past, self.age(), self.rules.boundary(), Some(least));
            let Some(judged) = judged.filter(|judged| self.matters(split, judged)) else {
                continue;
            };
            found.push((split, judged));
            found.sort_by(|a, b| b.1.z.abs().total_cmp(&a.1.z.abs()).then(b.0.cmp(&a.0)));
        }
        found.into_iter().take(WORTH_TRYING).find_map(|(split, judged)| {
            let judged = self.against_wandering(split, judged, least);
            let is_pending = judged.z.abs() >= least;
            is_pending.then(|| self.change(split, split, split, &judged))
        })
    }

    /// Returns where a new level begins, and what says so. Noise that wanders is asked about there and not at the split that
    /// stood out: what it does not have is the edge.
    fn confirmed(&self) -> Option<(Located, Judgement)> {
        let surcharge = self.age().surcharge(window::REACH, self.window.is_coarse());
        let mut sorted = self.window.sorted();
        let mut found: Vec<(usize, Judgement)> = self
            .window
            .candidates(surcharge)
            .into_iter()
            .filter_map(|split| {
                let least = self.least(split);
                let sides = Sides::of(self.window.split(split), sorted.at(split), least)?;
                let sides = sides.ranked(self.age(), least)?;
                let boundary = self.rules.boundary();
                Some((split, sides.judge(self.at.past, self.age(), boundary, None)?))
            })
            .filter(|(split, judged)| self.matters(*split, judged))
            .collect();
        found.sort_by(|a, b| b.1.excess.total_cmp(&a.1.excess));
        let mut tried = Vec::new();
        for (split, judged) in found {
            let places = Places::of(self.window.values(), self.window.order(), split, &judged);
            let edge = places.edge();
            if tried.contains(&edge) {
                continue;
            }
            if tried.len() == WORTH_TRYING {
                break;
            }
            tried.push(edge);
            let needed = judged.z.abs() - nearer(&judged) - judged.excess;
            let judged = self.against_wandering(edge, judged, needed);
            if judged.excess >= 0.0 {
                return Some((places.located(), judged));
            }
        }
        None
    }

    /// Returns how far a finding still stands out where the noise may wander ([`super::wander`]); if that is less than
    /// `needed`, hardly more than it says.
    fn against_wandering(&self, split: usize, mut judged: Judgement, needed: f64) -> Judgement {
        if judged.scale <= 0.0 {
            return judged;
        }
        let level = self.newest();
        let at = level.len() - (self.window.len() - split);
        let (before, after) = level.split_at(at);
        let reach = FARTHEST * judged.scale;
        let prepared = || prepared(before, after, reach, judged.before);
        let moods = (!judged.is_coarse).then_some(prepared);
        let needed = needed.max(0.0);
        let z = if are_all_near(before, after, reach) {
            beyond_wandering(&self.filtered(), at, moods, needed)
        } else {
            beyond_wandering(&Filtered::of(prepared().into_iter()), at, moods, needed)
        };
        let found = judged.z.abs();
        judged.excess = judged.excess.min(judged.excess + z + nearer(&judged) - found);
        judged.z = found.min(z).copysign(judged.z);
        judged
    }

    /// Returns the values of the level that are laid beside noise that wanders.
    fn newest(&self) -> &[f64] {
        &self.level[self.level.len().saturating_sub(LONGEST)..]
    }

    /// Returns what noise that wanders makes of these values, which is the same for every split. As long as the first of
    /// them is the same, it goes on from what was made of them before.
    fn filtered(&self) -> RefMut<'_, Filtered> {
        let level = self.newest();
        let first = self.at.seen - level.len();
        let mut known = self.filtered.borrow_mut();
        if known.as_ref().is_some_and(|known| known.first != first) {
            *known = None;
        }
        let begin = || Known { first, filtered: Box::new(Filtered::new(level.len())) };
        let mut filtered =
            RefMut::map(known, |known| &mut *known.get_or_insert_with(begin).filtered);
        let more = &level[filtered.len()..];
        if !more.is_empty() {
            filtered.go_on(more.iter().map(|value| value - level[0]));
        }
        filtered
    }

    /// Returns what a split has to reach for a change to be confirmed, at least.
    fn least(&self, split: usize) -> f64 {
        let count = split.min(window::REACH) + self.window.len() - split;
        let surcharge = self.age().surcharge(window::REACH, false);
        let nearer = sharp_discount(count) - surcharge;
        let coarse = if self.window.is_coarse() { COARSE_DISCOUNT } else { 0.0 };
        self.rules.boundary() - nearer.max(coarse)
    }

    fn age(&self) -> Age {
        Age(self.at.seen - self.at.start)
    }

    fn matters(&self, split: usize, judged: &Judgement) -> bool {
        let (before, after) = match self.rules.size() {
            Size::Median => (judged.before, judged.after),
            Size::Mean => {
                let (before, after) = self.window.values().split_at(split);
                let before = &before[before.len().saturating_sub(window::REACH)..];
                let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
                (mean(before), mean(after))
            }
        };
        (after - before).abs() >= self.rules.margin * before.abs()
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

    /// Begins anew at place `index` of the window.
    fn restart(&mut self, index: usize) {
        let ended = Correlation::of(self.window.scores_before(index));
        self.at.past = self.at.past.after(ended);
        self.at.start = self.at.seen - self.window.len() + index;
        let points: Vec<Point> = self.window.points().skip(index).collect();
        self.level = points.iter().map(|point| point.value).collect();
        self.window = Window::new();
        self.differences = Differences::new();
        for two in points.windows(2) {
            self.differences.push((two[1].value - two[0].value).abs());
        }
        for point in points {
            self.window.push(point);
        }
    }
}
