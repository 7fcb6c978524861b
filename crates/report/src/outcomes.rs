//! How runs ended, if they did not simply succeed.

use std::collections::BTreeMap;

use becalm_model::{Outcome, Record};

use crate::page::Page;
use crate::quantity::count;
use crate::style::Role;

/// Warns of runs that failed or were cut off.
pub(crate) fn say(page: &mut Page<'_>, record: &Record) {
    if let Some(remark) = remark(record) {
        page.gap();
        page.say_as(Role::Warning, &remark);
    }
}

/// Says what went wrong with the runs, or nothing when all of them succeeded.
pub(crate) fn remark(record: &Record) -> Option<String> {
    let mut failures: BTreeMap<String, usize> = BTreeMap::new();
    for run in record.runs.iter().filter(|run| !run.outcome.is_success()) {
        *failures.entry(describe(run.outcome)).or_default() += 1;
    }
    if failures.is_empty() {
        return None;
    }
    let parts: Vec<String> =
        failures.into_iter().map(|(how, n)| format!("{} {how}", count(n, "run"))).collect();
    // The other figures of a report leave the warm-up out.
    let has_warmup = record.runs.iter().any(|run| run.warmup && !run.outcome.is_success());
    let warmup = if has_warmup { ", warm-up included" } else { "" };
    let mut text = format!("Not every run succeeded: {}{warmup}.", parts.join(", "));
    if record.runs.iter().any(|run| run.is_censored() && run.is_measured()) {
        text.push_str(" The time of a run that was cut off is a lower bound.");
    }
    Some(text)
}

/// Describes one outcome, in words that can follow `1 run` and `2 runs`.
pub(crate) fn describe(outcome: Outcome) -> String {
    match outcome {
        Outcome::Exited(0) => "succeeded".to_owned(),
        // Of one run or of several.
        other => other.to_string().trim_start_matches("was ").to_owned(),
    }
}
