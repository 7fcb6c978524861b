//! What is known of a branch on a machine beside its changes: how much there is of it, its noise over time, and how long its
//! last commit took. Found once, because pages of machines and suites show it for all of them.

use becalm_model::Unit;
use becalm_model::history::{EntryId, Series};
use becalm_model::wire::WebNoiseDocument;

use super::noise::OverTime;
use crate::kept::Line;

/// A branch on a machine, of which there are values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outline {
    /// Series that are watched and have values.
    pub(crate) series: usize,
    /// Its entries; none if no series has values.
    pub(crate) entries: usize,
    /// When its first entry was, in seconds since the Unix epoch.
    pub(crate) first: f64,
    /// When its last entry was.
    pub(crate) last: f64,
    /// The last one.
    pub(crate) last_entry: Option<EntryId>,
    /// Benchmarks of the entries of the last commit whose values are times.
    pub(crate) timed: usize,
    /// How long these took together, in seconds.
    pub(crate) seconds: f64,
    /// The noise of its series over time.
    pub(crate) noise: Vec<WebNoiseDocument>,
}

/// An outline while series are added to it.
#[derive(Debug, Default)]
pub(super) struct Sketch {
    outline: Outline,
    over_time: OverTime,
}

impl Sketch {
    /// Adds a series with its values.
    pub(super) fn take(&mut self, series: &Series, line: Line<'_>) {
        self.over_time.take(line);
        let outline = &mut self.outline;
        outline.series += 1;
        let [Some(first), Some(last)] = [line.moments.first(), line.moments.last()] else { return };
        (outline.entries, outline.first, outline.last) = (line.moments.len(), first.at, last.at);
        outline.last_entry = Some(last.entry);
        if series.key.unit == Unit::Second
            && let Some(at) = line.of_last_commit()
        {
            outline.timed += 1;
            outline.seconds += line.values[at] * f64::from(line.runs[at]);
        }
    }

    /// Returns what was found.
    pub(super) fn done(self) -> Outline {
        Outline { noise: self.over_time.documents(), ..self.outline }
    }
}
