//! `JUnit` XML of a job.

use becalm_formats::{Options, writer};
use becalm_model::ci::{CiReport, CiResult, Standing};
use becalm_model::{ComparisonNote, Record, Verdict};
use becalm_report::note_sentence;
use becalm_series::judge::ci::{HEAD, standings};

use crate::error::CommandError;

/// Returns `JUnit` XML in which the cases of the head fail if the gate does.
pub(super) fn junit(report: &CiReport, record: Option<&Record>) -> Result<Vec<u8>, CommandError> {
    let CiResult::Measured { lines, .. } = &report.result else {
        let failed = usize::from(matches!(report.result, CiResult::Failed(_)));
        return Ok(without_cases(failed).into_bytes());
    };
    let (Some(record), false) = (record, lines.is_empty()) else {
        return Ok(without_cases(0).into_bytes());
    };
    let mut judged = record.clone();
    judged.comparisons.retain(|one| one.primary && one.candidate == HEAD);
    for (one, standing) in judged.comparisons.iter_mut().zip(standings(record, &report.rule)) {
        one.verdict = match standing {
            Standing::Regression => Verdict::Slower,
            Standing::Improvement => Verdict::Faster,
            Standing::Equivalent => Verdict::Equivalent,
            Standing::Tolerated => {
                one.notes.push(ComparisonNote::PerhapsAllowed.into());
                Verdict::Equivalent
            }
            Standing::Doubtful => {
                one.notes.push(ComparisonNote::AsTheBaseFromItself.into());
                Verdict::Inconclusive
            }
            Standing::Inconclusive => Verdict::Inconclusive,
        };
    }
    let refused =
        |error: becalm_formats::ExportError| CommandError::measure(format!("--junit: {error}"));
    let options =
        Options::choose(&judged, &[], &[]).map_err(refused)?.with_sentences(note_sentence);
    let junit = writer("junit").map_err(refused)?;
    Ok((junit.write)(&judged, &options).map_err(refused)?.bytes)
}

fn without_cases(errors: usize) -> String {
    let attributes =
        format!("name=\"becalm\" tests=\"{errors}\" failures=\"0\" errors=\"{errors}\" time=\"0\"");
    let case = match errors {
        0 => String::new(),
        _ => "    <testcase classname=\"becalm\" name=\"measuring\" time=\"0\">\n      <error \
             message=\"the measurement failed; see the log of the job\"/>\n    </testcase>\n"
            .to_owned(),
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {attributes}>\n  <testsuite {attributes} \
         skipped=\"0\">\n{case}  </testsuite>\n</testsuites>\n"
    )
}
