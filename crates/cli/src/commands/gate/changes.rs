//! The changes of level of a history, and its newest values.

use std::collections::BTreeSet;

use becalm_model::gate::{GateBy, GateOutcome, GateResult};
use becalm_model::history::{ChangeId, ChangeState, Point, short_commit};
use becalm_model::wire::{SuiteGateChanges, read_document};
use becalm_model::{Direction, RatioInterval};
use becalm_store::{Access, EntryFilter, SeriesFilter, Store};

use super::history::doubt;
use super::{Args, Judged, limits, named};
use crate::error::CommandError;
use crate::gate::{Rules, Worse, against_margin};
use crate::history::{CutOff, Followed, Settings, Terms, cut_off, follow, rose, told};
use crate::ui::Ui;

/// Judges every open change for the worse among the last runs of each series, and the last value by the limits; doubts
/// what the newest commit has no value of.
pub(super) fn judge(
    args: &Args,
    settings: &Settings,
    rules: &mut Rules,
    judged: &mut Judged,
    ui: &Ui,
) -> Result<(), CommandError> {
    let (mut store, keep) = args.store.open_to_follow(settings, ui)?;
    let branch = args.branch.as_ref().unwrap_or(&settings.branch).clone();
    let filter = SeriesFilter { branch: Some(branch.clone()), ..SeriesFilter::default() };
    let mut series = store.series(&filter).map_err(told)?;
    if series.is_empty() {
        return Err(nothing_of(&branch, &mut *store));
    }
    series.retain(|one| {
        let key = &one.key;
        one.main
            || rules
                .of((&key.benchmark, &key.parameters), &key.metric, &key.unit, false)
                .names_metric
    });
    let terms = Terms { configured: settings.changes.clone(), ..Terms::default() };
    let all = follow(&mut *store, series, &terms, keep == Access::Write)?;
    for one in &all {
        let is_newest = all.iter().all(|other| !has_taken_over(other, one));
        judge_one(one, is_newest, args, rules, judged);
    }
    for cut_off in without_value(&mut *store, &branch, &all)? {
        doubt(&cut_off, rules, judged);
    }
    judged.notes.push(format!("{} series of the branch {branch} were looked at.", all.len()));
    Ok(())
}

/// Returns what the newest commit of a branch has no value of, because its runs were cut off at the timeout. No series
/// tells of that. It is over with a run that has a value, and with a newer commit of which it is not measured.
fn without_value(
    store: &mut dyn Store,
    branch: &str,
    all: &[Followed],
) -> Result<Vec<CutOff>, CommandError> {
    let of_branch = EntryFilter { branch: Some(branch.to_owned()), ..EntryFilter::default() };
    let last = EntryFilter { limit: Some(1), ..of_branch.clone() };
    let Some(newest) = store.entries(&last).map_err(told)?.pop() else { return Ok(Vec::new()) };
    let of_commit = EntryFilter { since: Some(newest.at()), ..of_branch };
    let mut found: Vec<CutOff> = Vec::new();
    for entry in store.entries(&of_commit).map_err(told)?.iter().rev() {
        let Some(text) = store.document(entry.id).map_err(told)? else { continue };
        let record = read_document(&text).map_err(|error| {
            CommandError::measure(format!("the record of entry {}: {error}", entry.id))
        })?;
        let has_later_value = |one: &CutOff| {
            let is_later = |points: &[Point]| {
                points.last().is_some_and(|last| (last.at, last.entry) > (entry.at(), entry.id))
            };
            all.iter().any(|other| one.has(&other.series.key) && is_later(&other.points))
        };
        let is_new = |one: &CutOff| found.iter().all(|known| known.name() != one.name());
        let more: Vec<CutOff> = cut_off(&record)
            .into_iter()
            .filter(|one| one.is_without_value() && !has_later_value(one) && is_new(one))
            .collect();
        found.extend(more);
    }
    Ok(found)
}

/// Says that there is nothing to judge: a name that is wrong must not pass for ever.
fn nothing_of(branch: &str, store: &mut dyn Store) -> CommandError {
    let all = match store.series(&SeriesFilter::default()).map_err(told) {
        Ok(all) => all,
        Err(error) => return error,
    };
    let branches: BTreeSet<String> = all.into_iter().map(|one| one.key.branch).collect();
    let error = CommandError::measure(format!("the history has no series of the branch {branch}"));
    if branches.is_empty() {
        return error.hint("it is empty: `becalm history add FILE` fills it");
    }
    let names: Vec<String> = branches.into_iter().collect();
    error.hint(format!(
        "it has {}; --branch, or [history] branch in becalm.toml, names the one that is judged",
        names.join(", ")
    ))
}

/// Says whether a series goes on where another ends: the same measured on another machine since.
fn has_taken_over(newer: &Followed, older: &Followed) -> bool {
    let (a, b) = (&newer.series.key, &older.series.key);
    let is_same = (&a.benchmark, &a.metric, &a.unit, &a.parameters)
        == (&b.benchmark, &b.metric, &b.unit, &b.parameters);
    // Machines that measure the same commits side by side stand at the same one.
    let end = |one: &Followed| one.points.last().map(|last| last.at);
    is_same && end(newer).zip(end(older)).is_some_and(|(newer, older)| newer > older)
}

/// `is_newest` says whether the series has values of the latest machine that has any; limits are for that one.
fn judge_one(
    followed: &Followed,
    is_newest: bool,
    args: &Args,
    rules: &mut Rules,
    judged: &mut Judged,
) {
    let key = &followed.series.key;
    let rule =
        rules.of((&key.benchmark, &key.parameters), &key.metric, &key.unit, followed.series.main);
    let of = named(&key.benchmark, &key.metric, &key.unit, &key.parameters);
    let first = followed.points.len().saturating_sub(args.last as usize);
    for (change, stored) in followed.changes.iter().filter(|(change, _)| change.index >= first) {
        let counts = match rule.changes {
            SuiteGateChanges::None => false,
            SuiteGateChanges::Confirmed => stored.state == ChangeState::Confirmed,
            SuiteGateChanges::Pending => true,
        };
        let is_worse = rose(change, stored) == (key.direction == Direction::Lower);
        if !counts || stored.review.is_some() || !is_worse {
            continue;
        }
        // Without a margin any change that was found is one.
        let margin = rule.margin.unwrap_or(0.0);
        let ratio = RatioInterval {
            estimate: stored.ratio,
            low: stored.ratio_low,
            high: stored.ratio_high,
        };
        let known = ratio.estimate.is_finite();
        let outcome = if known && margin > 0.0 {
            against_margin(Worse::of(&ratio, key.direction), margin)
        } else {
            GateOutcome::Fail
        };
        let state = match stored.state {
            ChangeState::Confirmed => "confirmed",
            ChangeState::Pending => "pending",
        };
        let commit = |place: usize| followed.points[place].commit.as_deref().map(str::to_owned);
        let place = commit(change.index)
            .map_or_else(|| format!("entry {}", stored.entry.0), |id| short_commit(&id).to_owned());
        let id = ChangeId { series: followed.series.id, entry: stored.entry };
        let reason = format!("{state} change at {place}");
        judged.results.push(GateResult {
            value: Some(stored.after),
            reference: Some(stored.before),
            ratio: Some(ratio).filter(|_| known),
            margin: Some(margin),
            base: change.earliest.checked_sub(1).and_then(commit),
            head: commit(change.latest),
            ..GateResult::new(of.clone(), GateBy::Change(id), outcome, reason)
        });
    }
    if let Some(last) = followed.points.last().filter(|_| is_newest) {
        limits(last.value, &rule, &of, judged);
    }
}
