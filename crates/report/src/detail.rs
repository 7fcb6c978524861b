//! How much of a report is written, and the reports that are written short or in full.

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

/// Returns the report of a comparison: what `becalm compare` prints.
pub fn comparison_text(
    record: &Record,
    disturbed: &[DisturbedRun],
    detail: Detail,
    style: &Style,
) -> String {
    let labels = Labels::of(&record.subjects);
    let mut page = Page::new(style);
    match detail {
        Detail::Short => comparison_brief::write(&mut page, record, &labels, disturbed),
        Detail::Full => comparison::write(&mut page, record, &labels, disturbed),
    }
    page.finish()
}

/// Returns the report of subjects that were not compared: what `becalm run` prints.
pub fn run_text(
    record: &Record,
    disturbed: &[DisturbedRun],
    detail: Detail,
    style: &Style,
) -> String {
    let labels = Labels::of(&record.subjects);
    let mut page = Page::new(style);
    single::say_if_nothing(&mut page, record);
    match detail {
        Detail::Short => single_brief::write(&mut page, record, &labels, disturbed),
        Detail::Full => single::write(&mut page, record, &labels, disturbed),
    }
    page.finish()
}
