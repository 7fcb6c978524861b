//! What the detector of changes leaves with a series, as the text that a store keeps.

use std::fmt::Write as _;
use std::str::FromStr;

use becalm_stats::changes::{Change, Checkpoint, Correlation, Rules};
use becalm_store::DetectorState;

/// Version of the detector and of what it leaves: others begin anew.
pub(crate) const VERSION: u32 = 2;

/// What the detector leaves with a series: a line with where it stands, and one for each change.
pub(crate) struct Left {
    /// Where it stands.
    pub(crate) at: Checkpoint,
    /// The changes that it confirmed.
    pub(crate) confirmed: Vec<Change>,
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
        let confirmed: Option<Vec<Change>> = lines.map(change).collect();
        let confirmed = confirmed.filter(|all| all.iter().all(|one| one.seen < at.seen))?;
        let fits = at.start <= at.seen && at.seen <= points && at.needed() <= at.seen;
        fits.then_some(Self { at, confirmed })
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

fn next<'a, T: FromStr>(words: &mut impl Iterator<Item = &'a str>) -> Option<T> {
    words.next()?.parse().ok()
}
