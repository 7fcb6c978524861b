//! A change of level in a series, as it was found and as people see it.

use std::fmt;
use std::str::FromStr;

use super::entry::EntryId;
use super::series::SeriesId;

/// What names a change: its series and its entry, as in `3@120`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeId {
    /// The series.
    pub series: SeriesId,
    /// The first entry of the new level.
    pub entry: EntryId,
}

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.series.0, self.entry.0)
    }
}

/// A text that names no change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a series and an entry, such as 3@120")]
pub struct ChangeIdError;

impl FromStr for ChangeId {
    type Err = ChangeIdError;

    fn from_str(text: &str) -> Result<Self, ChangeIdError> {
        let (series, entry) = text.split_once('@').ok_or(ChangeIdError)?;
        let number = |text: &str| text.parse::<i64>().map_err(|_| ChangeIdError);
        Ok(Self { series: SeriesId(number(series)?), entry: EntryId(number(entry)?) })
    }
}

/// Whether a change is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeState {
    /// Too few values since then; it may vanish again.
    Pending,
    /// Enough values since.
    Confirmed,
}

/// When a change was reported first. It stays, however often the series is looked at again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FirstSeen {
    /// The entry with which it was seen: the first that made it out.
    pub entry: EntryId,
    /// When becalm reported it, by the clock, in seconds since the Unix epoch.
    pub time: f64,
}

/// What somebody decided about a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It is real and known.
    Acknowledged {
        /// Why; `None` if nobody said.
        reason: Option<String>,
    },
    /// It is not real or does not matter.
    Dismissed {
        /// Why.
        reason: String,
    },
}

/// A decision about a change. A change without one is open.
#[derive(Debug, Clone, PartialEq)]
pub struct Review {
    /// What was decided.
    pub decision: Decision,
    /// By whom; empty if nobody said.
    pub by: String,
    /// When, in seconds since the Unix epoch.
    pub time: f64,
}

/// One change of level of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredChange {
    /// The first entry of the new level.
    pub entry: EntryId,
    /// The last entry of the old level: the change happened after it, up to `entry`.
    pub last_before: EntryId,
    /// The old level, in the unit of the metric.
    pub before: f64,
    /// The new level, in the unit of the metric.
    pub after: f64,
    /// New level over old level.
    pub ratio: f64,
    /// Lower end of the confidence interval of the ratio.
    pub ratio_low: f64,
    /// Upper end of the confidence interval of the ratio; may be infinite.
    pub ratio_high: f64,
    /// Whether it is settled.
    pub state: ChangeState,
    /// When it was reported first.
    pub first_seen: FirstSeen,
    /// What somebody decided about it; `None` while it is open.
    pub review: Option<Review>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_change_is_read_as_it_is_written() {
        let id = ChangeId { series: SeriesId(3), entry: EntryId(120) };
        assert_eq!((id.to_string().as_str(), "3@120".parse()), ("3@120", Ok(id)));
        for text in ["3", "3@", "@120", "3@x", "3@120@4"] {
            assert_eq!(text.parse::<ChangeId>(), Err(ChangeIdError), "{text}");
        }
    }
}
