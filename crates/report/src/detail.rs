//! How much of a report is written, and the reports in short or in full.

use becalm_model::{DisturbedRun, Record};

use crate::labels::Labels;
use crate::page::Page;
use crate::style::Style;
use crate::{comparison, comparison_brief, single, single_brief};

/// How much of a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What a reader needs in order to decide, on one screen.
    Short,
    /// Everything.
    Full,
}

/// Writes a report on a page.
type Write = fn(&mut Page, &Record, &Labels, &[DisturbedRun]);

impl Detail {
    fn choose(self, short: Write, full: Write) -> Write {
        match self {
            Self::Short => short,
            Self::Full => full,
        }
    }
}

/// Returns the report of a comparison: what `becalm compare` prints.
pub fn comparison_text(
    record: &Record,
    disturbed: &[DisturbedRun],
    detail: Detail,
    style: &Style,
) -> String {
    let write = detail.choose(comparison_brief::write, comparison::write);
    written(record, disturbed, write, style)
}

/// Returns the report of subjects that were not compared: what `becalm run` prints.
pub fn run_text(
    record: &Record,
    disturbed: &[DisturbedRun],
    detail: Detail,
    style: &Style,
) -> String {
    written(record, disturbed, detail.choose(single_brief::write, single::write), style)
}

fn written(record: &Record, disturbed: &[DisturbedRun], write: Write, style: &Style) -> String {
    let mut page = Page::new(style);
    write(&mut page, record, &Labels::of(&record.subjects), disturbed);
    page.finish()
}
