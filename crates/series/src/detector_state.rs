//! What the detector of changes leaves with a series, as the text that a store keeps.

use std::fmt::Write as _;
use std::str::FromStr;

use becalm_stats::changes::{Change, Checkpoint, Correlation, Rules, SpreadChange};
use becalm_store::DetectorState;

/// Version of the detector and of what it leaves: others begin anew.
pub(crate) const VERSION: u32 = 4;

/// The first word of a line about a change of spread.
const SPREAD: &str = "spread";

/// What the detector leaves with a series: a line with where it stands, and one for each change; those of spread begin
/// with a word.
pub(crate) struct Left {
    /// Where it stands.
    pub(crate) at: Checkpoint,
    /// The changes of level that it confirmed.
    pub(crate) confirmed: Vec<Change>,
    /// The changes of spread that it confirmed.
    pub(crate) spreads: Vec<SpreadChange>,
}

impl Left {
    /// Writes it, with the rules by which it was found.
    pub(crate) fn written(&self, rules: Rules) -> DetectorState {
        let Checkpoint { start, seen, past } = self.at;
        let mut text = format!(
            "{rules:?}\n{start} {seen} {:?} {:?} {:?}\n",
            past.products, past.squares, past.count
        );
        for one in &self.confirmed {
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
        for one in &self.spreads {
            let _ = writeln!(
                text,
                "{SPREAD} {} {} {} {} {:?} {:?} {:?}",
                one.index, one.earliest, one.latest, one.seen, one.z, one.before, one.after
            );
        }
        DetectorState { version: VERSION, bytes: text.into_bytes() }
    }

    /// Reads what was left; nothing if it is of another version, by other rules, or not of this series.
    pub(crate) fn read(state: &DetectorState, rules: Rules, points: usize) -> Option<Self> {
        let text = std::str::from_utf8(&state.bytes).ok().filter(|_| state.version == VERSION)?;
        let mut lines = text.lines();
        if lines.next()? != format!("{rules:?}") {
            return None;
        }
        let at = checkpoint(lines.next()?)?;
        let (of_spread, of_level): (Vec<&str>, Vec<&str>) =
            lines.partition(|line| line.starts_with(SPREAD));
        let confirmed: Option<Vec<Change>> = of_level.into_iter().map(change).collect();
        let confirmed = confirmed.filter(|all| all.iter().all(|one| one.seen < at.seen))?;
        let spreads: Option<Vec<SpreadChange>> = of_spread.into_iter().map(spread).collect();
        let spreads = spreads.filter(|all| all.iter().all(|one| one.seen < at.seen))?;
        let fits = at.start <= at.seen && at.seen <= points && at.needed() <= at.seen;
        fits.then_some(Self { at, confirmed, spreads })
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

fn next<'a, T: FromStr>(words: &mut impl Iterator<Item = &'a str>) -> Option<T> {
    words.next()?.parse().ok()
}
