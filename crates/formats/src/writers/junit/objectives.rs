//! Objectives of a load as test cases: `classname` is the server, `name` the objective as it was written, and it fails if it
//! was missed. If the load is invalid, its figures are not those of the server, and the case is an error.

use becalm_model::Record;
use becalm_model::load::{Objective, ObjectiveOf, ObjectiveResult};

use super::{Case, CaseResult, unique};
use crate::writers::names::Unique;
use crate::writers::{Options, numbers};

/// Returns a case for each objective of each load.
pub(super) fn cases(record: &Record, options: &Options, names: &mut Unique) -> Vec<Case> {
    let is_chosen = |subject| options.subjects.as_ref().is_none_or(|few| few.contains(&subject));
    let runs = record.runs.iter().filter(|run| is_chosen(run.subject));
    let loads = runs.filter_map(|run| Some((run, run.load.as_deref()?)));
    loads
        .flat_map(|(run, load)| {
            let class = &record.subjects[run.subject].name;
            // A server that answers nothing misses its objectives, however little the run is a measurement.
            let is_invalid = run.discarded && load.counts.answered > 0;
            load.objectives.iter().map(move |result| (class, result, is_invalid))
        })
        .map(|(class, result, is_invalid)| case(class, result, is_invalid, names))
        .collect()
}

fn case(class: &str, result: &ObjectiveResult, is_invalid: bool, names: &mut Unique) -> Case {
    let ObjectiveResult { objective: Objective { text, of, limit }, found, is_kept } = result;
    let time = found.filter(|_| matches!(of, ObjectiveOf::Response(_)));
    let mut figures = vec![("limit", numbers::text(*limit))];
    figures.extend(found.map(|found| ("found", numbers::text(found))));
    let value = match (found, of) {
        (None, _) => "too many requests were never answered".to_owned(),
        (Some(found), ObjectiveOf::Response(_)) => format!("{} s", numbers::text(*found)),
        (Some(found), ObjectiveOf::Errors) => format!("{} %", super::percent(*found)),
    };
    let (result, sentence) = match (is_invalid, is_kept) {
        (true, _) => (
            CaseResult::Broken,
            format!("{text}: the load is invalid, so nothing is known about the server"),
        ),
        (false, true) => (CaseResult::Passes, format!("{text}: met ({value})")),
        (false, false) => (CaseResult::Fails("missed"), format!("{text}: missed ({value})")),
    };
    let (name, class) = (unique(names, class, text), class.to_owned());
    Case { class, name, time, result, sentence, numbers: figures }
}
