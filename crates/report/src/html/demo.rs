//! The page of `becalm demo`: the comparison, and before it the same program twice, without which nobody knows what a
//! difference means on this machine.

use std::fmt::Write as _;

use becalm_model::{DisturbedRun, Record};

use super::{Lead, headlines, page};
use crate::escape;
use crate::heading;
use crate::labels::Labels;
use crate::pictures;
use crate::remarks;
use crate::shown;

/// Writes the page of a demonstration: a comparison of a program with itself, and one with another.
pub fn demo_html(
    (same, same_disturbed): (&Record, &[DisturbedRun]),
    (record, disturbed): (&Record, &[DisturbedRun]),
) -> String {
    let before = same_program(same, same_disturbed);
    let results = Some("A program against one that does more work");
    page(record, disturbed, &Lead { headline: None, before: &before, results })
}

fn same_program(record: &Record, disturbed: &[DisturbedRun]) -> String {
    let labels = Labels::of(&record.subjects);
    let mut out = "<h2>The same program twice: what can this machine resolve?</h2>\n".to_owned();
    headlines(&mut out, &heading::lines(record, &labels), "div");
    if let Some(rounds) = remarks::rounds(record) {
        let _ = writeln!(out, "<p>{}</p>", escape::html(&rounds));
    }
    let metrics: Vec<usize> = shown::headline_metric(record).into_iter().collect();
    let drawn = pictures::Drawn { record, labels: &labels, disturbed };
    let kinds = [pictures::Kind::Dots, pictures::Kind::Differences];
    for mut picture in pictures::of(drawn, &metrics, &kinds) {
        picture.drawing.id.insert_str(0, "same-");
        out.push_str(&picture.figure());
    }
    out
}
