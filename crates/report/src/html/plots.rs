//! The pictures of the HTML report, in their sections.

use std::fmt::Write as _;

use becalm_model::{DisturbedRun, Record};

use crate::labels::Labels;
use crate::pictures::{self, Drawn, Kind, Picture};
use crate::shown;

/// Writes every picture that the record has values for.
pub(crate) fn all(out: &mut String, record: &Record, labels: &Labels, disturbed: &[DisturbedRun]) {
    let metrics = shown::full_metrics(record);
    let drawn = Drawn { record, labels, disturbed };
    let mut section = "";
    for picture in pictures::of(drawn, &metrics, &Kind::USUAL) {
        if picture.section != section {
            section = picture.section;
            let _ = writeln!(out, "<h2>{section}</h2>");
        }
        out.push_str(&picture.figure());
    }
    for kind in Kind::FURTHER {
        let folded = pictures::of(drawn, &metrics, &[kind]);
        if let Some(first) = folded.first() {
            let body: String = folded.iter().map(Picture::figure).collect();
            let title = first.section;
            let _ = write!(out, "<details>\n<summary>{title}</summary>\n{body}</details>\n");
        }
    }
}
