//! Continuing a saved session.

use std::path::Path;

use becalm_model::terms::{Exports, Goal, OtherRuns, Stop, Terms};
use becalm_model::{MachineFacts, Metric, Record, Subject};

use crate::files;
use crate::log::{OF_LOG, PARTIAL};
use crate::notes::Spent;
use crate::record::conclude_log;

/// Why a session cannot be continued. The file that it is saved in stays as it was.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// Further runs would be made differently.
    #[error(transparent)]
    OtherRuns(#[from] OtherRuns),
    /// Other subjects.
    #[error("the subjects differ from those of the saved session: {0}")]
    Subjects(String),
    /// Another machine, or the same in another state.
    #[error(
        "the saved session is from another machine or another state of it: {fact} was {then}, now \
         it is {now}"
    )]
    Machine {
        /// What differs.
        fact: &'static str,
        /// Its value then.
        then: String,
        /// Its value now.
        now: String,
    },
    /// Other metrics.
    #[error("this session records other metrics than the saved one")]
    Metrics,
}

/// Facts that have to be the same for runs to belong to one record.
const MUST_AGREE: [&str; 4] = ["cpu_model", "kernel_release", "microcode", "cpu_online"];

/// Returns where a session that is read from `path` will be saved: there, wherever it was saved at
/// first. A log beside a file is a part of that; standard input and the log of a session that was
/// saved nowhere are not places.
pub fn exports(path: &Path, saved: &Exports) -> Exports {
    let mut exports = saved.clone();
    if path == Path::new("-") || files::is_special(path) {
        return exports;
    }
    let Some(name) = path.to_str() else { return exports };
    let place = match name.strip_suffix(PARTIAL) {
        Some(whole) => saved.json.is_some().then_some(whole),
        None => (saved.json.is_some() || path.extension().is_none_or(|end| end != OF_LOG))
            .then_some(name),
    };
    if let Some(place) = place {
        exports.json = Some(place.into());
    }
    exports
}

/// Returns what a session that continues by the terms `now` has spent of its error, if these do not
/// say.
pub fn spent(record: &Record, now: &Terms) -> Option<Spent> {
    let then = record.terms.as_ref()?;
    let mut concluded = record.clone();
    let is_log = record.comparisons.is_empty();
    let is_over = if is_log { conclude_log(&mut concluded) } else { record.interrupted.is_none() };
    let rounds = concluded.rounds();
    if is_over {
        return Some(Spent::All { rounds });
    }
    // What decided then has had its looks, whatever decides now.
    let plan = |terms: &Terms| (terms.stop, terms.confidence, terms.metrics.clone());
    let has_looked = matches!(
        then.stop,
        Stop::Until { minimum, goal: Goal::Verdict, .. } if rounds >= minimum
    );
    (has_looked && plan(then) != plan(now)).then_some(Spent::ByAnotherPlan { rounds })
}

/// Says in which subjects two sessions differ.
fn difference(saved: &[Subject], now: &[Subject]) -> String {
    let is_in = |all: &[Subject], name: &str| all.iter().any(|one| one.name == name);
    let gone = saved.iter().filter(|one| !is_in(now, &one.name)).map(|one| (one, "is missing"));
    let new = now.iter().filter(|one| !is_in(saved, &one.name)).map(|one| (one, "is new"));
    let other = now.iter().filter(|one| is_in(saved, &one.name) && !saved.contains(one));
    let other = other.map(|one| (one, "is another command"));
    let all: Vec<String> =
        gone.chain(new).chain(other).map(|(one, how)| format!("`{}` {how}", one.name)).collect();
    if all.is_empty() { "they are in another order".to_owned() } else { all.join(", ") }
}

/// Refuses to mix what does not belong together.
pub(crate) fn check_same(
    resumed: &Record,
    subjects: &[Subject],
    machine: &MachineFacts,
    metrics: &[Metric],
) -> Result<(), ResumeError> {
    if resumed.subjects != subjects {
        return Err(ResumeError::Subjects(difference(&resumed.subjects, subjects)));
    }
    for key in MUST_AGREE {
        let (then, now) = (resumed.machine.facts.get(key), machine.facts.get(key));
        if then != now {
            let shown = |value: Option<&String>| value.map_or("unknown".to_owned(), Clone::clone);
            return Err(ResumeError::Machine { fact: key, then: shown(then), now: shown(now) });
        }
    }
    // Which benchmarks there are inside a subject is seen by running it.
    let of_process = resumed.metrics.iter().take_while(|metric| metric.benchmark.is_none());
    if !of_process.eq(metrics) {
        return Err(ResumeError::Metrics);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_is_the_file_that_is_named() {
        let saved = Exports { json: Some("r.json".into()), ..Exports::default() };
        let place = |path: &str, saved: &Exports| exports(Path::new(path), saved).json;
        assert_eq!(place("k.json", &saved), Some("k.json".into()));
        assert_eq!(place("x/r.json.partial", &saved), Some("x/r.json".into()));
        assert_eq!(place("-", &saved), saved.json);
        let nowhere = Exports::default();
        assert_eq!(place("state/1-2.jsonl", &nowhere), None);
        assert_eq!(place("r.json.partial", &nowhere), None);
        assert_eq!(place("k.json", &nowhere), Some("k.json".into()));
    }
}
