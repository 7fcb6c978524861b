//! A run on one screen: the estimate, the statistics, every run as a dot, and what puts them in doubt.

use becalm_model::{DisturbedRun, Record};

use crate::comparison_brief;
use crate::disturbed;
use crate::labels::Labels;
use crate::outcomes;
use crate::page::Page;
use crate::sentence;
use crate::single::{Drawn, estimates, say_if_nothing};
use crate::steady;
use crate::style::Role;

/// Writes the short report.
pub(crate) fn write(page: &mut Page, record: &Record, labels: &Labels, disturbed: &[DisturbedRun]) {
    say_if_nothing(page, record);
    for subject in 0..record.subjects.len() {
        page.gap();
        estimates(page, record, labels, subject, Drawn::Runs);
        page.gap();
        page.say(&sentence::of_fragment(&disturbed::summary(record, disturbed, Some(subject))));
        steady::section(page, record, subject);
    }
    if record.subjects.len() > 1 {
        page.gap();
        page.say_as(
            Role::Hint,
            "These subjects were not compared: use `becalm compare` for a verdict.",
        );
    }
    outcomes::say(page, record);
    comparison_brief::limits(page, record, labels);
}
