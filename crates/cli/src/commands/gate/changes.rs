//! The changes of level of a history, and its newest values.

use becalm_model::history::ChangeState;
use becalm_model::wire::SuiteGateChanges;
use becalm_model::{Direction, RatioInterval};
use becalm_store::{Access, SeriesFilter};

use super::{Args, Judged, Judgement, limits, named};
use crate::error::CommandError;
use crate::gate::{Outcome, Rules, Worse, against_margin};
use crate::history::{Followed, Settings, Terms, follow, rose, told};
use crate::ui::Ui;

/// Judges every open change for the worse among the last runs of each series, and the last value by the limits.
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
        judge_one(one, args, rules, judged);
    }
    judged.notes.push(format!("{} series of the branch {branch} were looked at.", all.len()));
    Ok(())
}

fn judge_one(followed: &Followed, args: &Args, rules: &mut Rules, judged: &mut Judged) {
    let key = &followed.series.key;
    let rule =
        rules.of((&key.benchmark, &key.parameters), &key.metric, &key.unit, followed.series.main);
    let names = named(&key.benchmark, &key.metric, &key.unit, &key.parameters);
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
            Outcome::Fail
        };
        let state = match stored.state {
            ChangeState::Confirmed => "confirmed",
            ChangeState::Pending => "pending",
        };
        let commit = |place: usize| followed.points[place].commit.as_deref().map(str::to_owned);
        let place = commit(change.index).map_or_else(
            || format!("entry {}", stored.entry.0),
            |id| id.chars().take(10).collect(),
        );
        let result = becalm_model::wire::GateResultDocument {
            by: "change".to_owned(),
            verdict: outcome.word().to_owned(),
            value: Some(stored.after),
            reference: Some(stored.before),
            ratio: Some(ratio.estimate).filter(|_| known),
            ratio_low: Some(ratio.low).filter(|_| known),
            ratio_high: Some(ratio.high).filter(|high| high.is_finite()),
            margin: Some(margin),
            change: Some(format!("{}@{}", followed.series.id.0, stored.entry.0)),
            reason: format!("{state} change at {place}"),
            ..names.clone()
        };
        let base = change.earliest.checked_sub(1).and_then(commit);
        judged.results.push(Judgement { result, base, head: commit(change.latest) });
    }
    if let Some(last) = followed.points.last() {
        limits(last.value, &rule, &names, judged);
    }
}
