//! Objectives of a load as test cases: `classname` is the server, `name` the objective as it was written, and it fails if it
//! was missed. If the load is invalid, its figures are not those of the server, and the case is an error; if a signal ended
//! it before its time, the case is skipped. Where metrics are chosen by name, objectives are not among them.

use becalm_model::Record;
use becalm_model::load::{Objective, ObjectiveOf, ObjectiveResult};

use super::{Case, CaseResult, seconds, unique};
use crate::writers::names::Unique;
use crate::writers::{Options, numbers};

/// Returns a case for each objective of each load.
pub(super) fn cases(record: &Record, options: &Options, names: &mut Unique) -> Vec<Case> {
    if options.metrics.is_some() {
        return Vec::new();
    }
    let is_chosen = |subject| options.subjects.as_ref().is_none_or(|few| few.contains(&subject));
    let runs = record.runs.iter().filter(|run| is_chosen(run.subject));
    let loads = runs.filter_map(|run| Some((run, run.load.as_deref()?)));
    loads
        .flat_map(|(run, load)| {
            let class = &record.subjects[run.subject].name;
            let of = match (load.invalid, record.interrupted.is_some()) {
                (true, _) => Of::Invalid,
                (false, true) => Of::Ended,
                (false, false) => Of::Whole,
            };
            load.objectives.iter().map(move |result| (class, result, of))
        })
        .map(|(class, result, of)| case(class, result, of, names))
        .collect()
}

/// Of which load an objective is.
#[derive(Debug, Clone, Copy)]
enum Of {
    /// One whose figures are those of the server.
    Whole,
    /// One that ended before its time.
    Ended,
    /// One whose figures are not only those of the server.
    Invalid,
}

fn case(class: &str, result: &ObjectiveResult, load: Of, names: &mut Unique) -> Case {
    let ObjectiveResult { objective: Objective { text, of, limit }, found, is_kept } = result;
    let time = found.filter(|_| matches!(of, ObjectiveOf::Response(_)));
    let mut figures = vec![("limit", numbers::text(*limit))];
    figures.extend(found.map(|found| ("found", seconds(found))));
    let value = match (found, of) {
        (None, _) => "too many requests without the expected answer".to_owned(),
        (Some(found), ObjectiveOf::Response(_)) => format!("{} s", seconds(*found)),
        (Some(found), ObjectiveOf::Errors) => format!("{} %", super::percent(*found)),
    };
    let (result, rest) = match (load, is_kept) {
        (Of::Invalid, _) => (
            CaseResult::Broken,
            "the load is invalid, so nothing is known about the server".to_owned(),
        ),
        (Of::Ended, _) => (CaseResult::Skipped, "a signal ended the load early".to_owned()),
        (Of::Whole, true) => (CaseResult::Passes, format!("met ({value})")),
        (Of::Whole, false) => (CaseResult::Fails("missed"), format!("missed ({value})")),
    };
    // `p99<20ms` is the same case from one job to the next.
    let text = text.split('<').map(str::trim).collect::<Vec<_>>().join(" < ");
    let sentence = format!("{text}: {rest}");
    let (name, class) = (unique(names, class, &text), class.to_owned());
    Case { class, name, time, result, sentence, numbers: figures }
}
