//! What the detector of changes leaves with a series, as the text that a store keeps.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::str::FromStr;

use becalm_model::fnv1a;
use becalm_model::history::{EntryId, Point};
use becalm_stats::changes::{
    Change, Changes, Checkpoint, Correlation, Rules, SpreadChange, State, StateKind,
};
use becalm_store::DetectorState;

/// Version of the detector and of what it leaves: others begin anew.
pub(crate) const VERSION: u32 = 6;

/// The first word of a line about points that do not count, about a change of spread, and about a state.
const SKIPPED: &str = "skipped";
const SPREAD: &str = "spread";
const UNSTABLE: &str = "unstable";
const TREND: &str = "trend";

/// What the detector leaves with a series: a line with where it stands, and one for each change and each state; those of
/// spread and the states begin with a word.
pub(crate) struct Left {
    /// Where it stands.
    pub(crate) at: Checkpoint,
    /// What it found; nothing of it is pending.
    pub(crate) found: Changes,
    /// The points that it did not read because they do not count.
    pub(crate) skipped: Skipped,
}

/// Points of a series that do not count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Skipped {
    /// How many points there are with them.
    whole: usize,
    /// Their places among all points, and their entries.
    points: Vec<(usize, EntryId)>,
}

impl Skipped {
    /// Finds the points of these entries.
    pub(crate) fn among(points: &[Point], left_out: &HashSet<EntryId>) -> Self {
        let all = points.iter().map(|point| point.entry).enumerate();
        Self {
            whole: points.len(),
            points: all.filter(|(_, entry)| left_out.contains(entry)).collect(),
        }
    }

    /// Returns how many of the first points do not count, and a number that is another one for other entries.
    fn of_first(&self, whole: usize) -> (usize, u64) {
        let first = &self.points[..self.points.partition_point(|(place, _)| *place < whole)];
        (first.len(), fnv1a(first.iter().flat_map(|(_, entry)| entry.0.to_le_bytes())))
    }
}

impl Left {
    /// Writes it, with the rules by which it was found.
    pub(crate) fn written(&self, rules: Rules) -> DetectorState {
        let Checkpoint { start, seen, past } = self.at;
        let mut text = format!(
            "{rules:?}\n{start} {seen} {:?} {:?} {:?}\n",
            past.products, past.squares, past.count
        );
        if !self.skipped.points.is_empty() {
            let whole = self.skipped.whole;
            let (count, hash) = self.skipped.of_first(whole);
            let _ = writeln!(text, "{SKIPPED} {whole} {count} {hash}");
        }
        for one in &self.found.confirmed {
            let _ = writeln!(
                text,
                "{} {} {} {} {:?} {:?} {:?} {:?}",
                one.index,
                one.earliest,
                one.latest,
                one.seen,
                one.z,
                one.before,
                one.after,
                one.correlation
            );
        }
        for one in &self.found.spreads {
            let _ = writeln!(
                text,
                "{SPREAD} {} {} {} {} {:?} {:?} {:?}",
                one.index, one.earliest, one.latest, one.seen, one.z, one.before, one.after
            );
        }
        for one in &self.found.states {
            let State { start, end, seen, from, to, first, count, .. } = one;
            let kind = match one.kind {
                StateKind::Unstable => UNSTABLE,
                StateKind::Trend => TREND,
            };
            let _ = writeln!(text, "{kind} {start} {end} {seen} {from:?} {to:?} {first} {count}");
        }
        DetectorState { version: VERSION, bytes: text.into_bytes() }
    }

    /// Reads what was left; nothing if it is of another version, by other rules, or not of this series without the points
    /// that are `skipped` now.
    pub(crate) fn read(
        state: &DetectorState,
        rules: Rules,
        points: usize,
        skipped: &Skipped,
    ) -> Option<Self> {
        let text = std::str::from_utf8(&state.bytes).ok().filter(|_| state.version == VERSION)?;
        let mut lines = text.lines();
        if lines.next()? != format!("{rules:?}") {
            return None;
        }
        let at = checkpoint(lines.next()?)?;
        let mut found = Changes::default();
        let (mut whole, mut known) = (at.seen, Skipped::default().of_first(0));
        for line in lines {
            match line.split_once(' ')?.0 {
                SKIPPED => (whole, known) = self::skipped(line)?,
                SPREAD => found.spreads.push(spread(line)?),
                UNSTABLE => found.states.push(self::state(line, StateKind::Unstable)?),
                TREND => found.states.push(self::state(line, StateKind::Trend)?),
                _ => found.confirmed.push(change(line)?),
            }
        }
        let count = found.confirmed.len();
        let seen = (found.confirmed.iter().map(|one| one.seen))
            .chain(found.spreads.iter().map(|one| one.seen))
            .chain(found.states.iter().map(|one| one.seen.max(one.end)));
        let are_seen = seen.max().is_none_or(|last| last < at.seen);
        let have_parts = found.states.iter().all(|one| one.parts().end <= count);
        let is_whole = at.start <= at.seen && at.seen <= points && at.needed() <= at.seen;
        let are_same = skipped.of_first(whole) == known && at.seen + known.0 == whole;
        let skipped = skipped.clone();
        (is_whole && are_seen && have_parts && are_same).then_some(Self { at, found, skipped })
    }
}

fn checkpoint(line: &str) -> Option<Checkpoint> {
    let mut words = line.split(' ');
    Some(Checkpoint {
        start: next(&mut words)?,
        seen: next(&mut words)?,
        past: Correlation {
            products: next(&mut words)?,
            squares: next(&mut words)?,
            count: next(&mut words)?,
        },
    })
}

fn change(line: &str) -> Option<Change> {
    let mut words = line.split(' ');
    Some(Change {
        index: next(&mut words)?,
        earliest: next(&mut words)?,
        latest: next(&mut words)?,
        seen: next(&mut words)?,
        z: next(&mut words)?,
        before: next(&mut words)?,
        after: next(&mut words)?,
        correlation: next(&mut words)?,
    })
}

/// Reads how many points there were with those that did not count, and what is known of these.
fn skipped(line: &str) -> Option<(usize, (usize, u64))> {
    let mut words = line.split(' ').skip(1);
    Some((next(&mut words)?, (next(&mut words)?, next(&mut words)?)))
}

fn spread(line: &str) -> Option<SpreadChange> {
    let mut words = line.split(' ').skip(1);
    Some(SpreadChange {
        index: next(&mut words)?,
        earliest: next(&mut words)?,
        latest: next(&mut words)?,
        seen: next(&mut words)?,
        z: next(&mut words)?,
        before: next(&mut words)?,
        after: next(&mut words)?,
    })
}

fn state(line: &str, kind: StateKind) -> Option<State> {
    let mut words = line.split(' ').skip(1);
    Some(State {
        kind,
        start: next(&mut words)?,
        end: next(&mut words)?,
        seen: next(&mut words)?,
        from: next(&mut words)?,
        to: next(&mut words)?,
        first: next(&mut words)?,
        count: next(&mut words)?,
    })
}

fn next<'a, T: FromStr>(words: &mut impl Iterator<Item = &'a str>) -> Option<T> {
    words.next()?.parse().ok()
}
