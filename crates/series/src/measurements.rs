//! The measurements in a record: one, or that of each commit that was compared.

use becalm_model::history::AtCommit;
use becalm_model::{Record, RecordKind, Revision, SessionNote};

/// Returns the measurements of a record: one, or that of each commit which `compare --rev` compared. `measured_last` is
/// the one subject that counts, where a tool saved what it was compared with beside it.
pub fn measurements(record: Record, measured_last: Option<usize>) -> Vec<AtCommit> {
    by_revision(match measured_last {
        Some(subject) => alone(&record, subject),
        None => record,
    })
}

/// Returns a record with one of its subjects.
fn alone(record: &Record, subject: usize) -> Record {
    let mut alone = record.clone();
    alone.comparisons.clear();
    alone.subjects = vec![record.subjects[subject].clone()];
    alone.suite = record.suite.get(subject).cloned().into_iter().collect();
    alone.runs.retain(|run| run.subject == subject);
    for run in &mut alone.runs {
        run.subject = 0;
    }
    alone.summaries.retain(|one| one.subject == subject);
    for one in &mut alone.summaries {
        one.subject = 0;
    }
    alone.trace = None;
    alone
}

/// Takes the subjects of `compare --rev` apart, of which each is of another commit, under one name.
fn by_revision(record: Record) -> Vec<AtCommit> {
    let revisions: Option<Vec<_>> =
        record.subjects.iter().map(|subject| subject.revision.clone()).collect();
    let Some(revisions) = revisions.filter(|all| !all.is_empty()) else {
        return vec![AtCommit::of(None, record)];
    };
    let one = |(subject, revision): (usize, Revision)| {
        let mut alone = alone(&record, subject);
        alone.kind = RecordKind::Run;
        alone.subjects[0].name = shell_words::join(record.subjects[subject].asked_command());
        let commit = Some(revision.commit().to_owned());
        alone.notes.push(SessionNote::OfComparison { built: revision.built }.into());
        AtCommit::of(commit, alone)
    };
    revisions.into_iter().enumerate().map(one).collect()
}
