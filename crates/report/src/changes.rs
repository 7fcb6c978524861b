//! The output of `becalm changes`.

use std::fmt::Write as _;

use becalm_model::Unit;
use becalm_model::history::{full_name, short_commit};
use becalm_model::wire::{
    ChangePointDocument, ChangesDocument, SpreadChangeDocument, TooFewValues,
};

use crate::page::Page;
use crate::quantity::{NBSP, Scale, count, signed_percent};
use crate::states::say_states;
use crate::style::{Role, Style};
use crate::table::{Align, Cell, Table};

/// From how many changes on the worst alone are listed, and how many of them.
const MANY: usize = 100;
const LISTED: usize = 30;

/// Lists the changes: those of a history with where they are, those of one series by their index. Of more than a hundred
/// it lists the worst, or those that `limit` says. Parts of a series that is unstable or on a trend are one line together.
/// The table may be `table_width` wide.
pub fn changes_text(
    document: &ChangesDocument,
    limit: Option<usize>,
    style: &Style,
    table_width: usize,
) -> String {
    let mut page = Page::with_tables(style, table_width);
    let changes: Vec<ChangePointDocument> =
        document.changes.iter().filter(|change| change.part_of.is_none()).cloned().collect();
    let all = changes.len();
    let listed = limit.unwrap_or(if all > MANY { LISTED } else { all }).min(all);
    let worst = (listed < all).then(|| worst(&changes, listed));
    let shown = worst.as_deref().unwrap_or(&changes);
    let (confirmed, pending): (Vec<_>, Vec<_>) =
        changes.iter().partition(|change| change.state == "confirmed");
    if changes.iter().any(|change| change.history.is_some()) {
        page.table(&of_history(shown, style));
    } else if !changes.is_empty() {
        page.table(&of_series(shown, style));
    }
    for change in shown {
        if let Some(text) = sides(change, &document.size) {
            page.say(&text);
        }
    }
    if listed < all {
        page.say(&summary(&changes, listed));
    }
    let series = match document.series {
        0 => "There is no such series.".to_owned(),
        n => format!("{n} series"),
    };
    if document.series == 0 {
        page.say(&series);
    } else {
        page.say(&format!(
            "{series}: {} confirmed, {} pending.",
            count(confirmed.len(), "change"),
            pending.len()
        ));
        say_states(&mut page, &document.states, style);
        if !document.spreads.is_empty() {
            page.say(&spread_changes(&document.spreads));
            page.table(&spread_table(&document.spreads, style));
        }
        if let Some(few) = &document.too_few {
            page.say(&too_few(few, document.series));
        }
    }
    page.finish()
}

/// Returns the worst changes, the worst first: those for the worse by their size, then the others.
fn worst(changes: &[ChangePointDocument], count: usize) -> Vec<ChangePointDocument> {
    let size =
        |change: &ChangePointDocument| change.ratio.map_or(f64::INFINITY, |ratio| ratio.ln().abs());
    let mut sorted: Vec<&ChangePointDocument> = changes.iter().collect();
    sorted.sort_by(|a, b| {
        let is_better = |one: &ChangePointDocument| one.kind == "improvement";
        is_better(a).cmp(&is_better(b)).then_with(|| size(b).total_cmp(&size(a)))
    });
    sorted.into_iter().take(count).cloned().collect()
}

/// Says what median and mean of a change are, and the modes, where one number does not say it: the other of both is beyond
/// the interval, or a mode got more frequent.
fn sides(change: &ChangePointDocument, size: &str) -> Option<String> {
    /// Share of the values by which a mode got more or less frequent, at least.
    const MODE_CHANGED: f64 = 0.1;
    let (low, high) = (change.ratio_low?, change.ratio_high.unwrap_or(f64::INFINITY));
    let typical = if size == "mean" { change.after / change.before } else { change.ratio? };
    let ratios = [typical, change.mean_after / change.mean_before];
    let is_beyond = ratios.iter().any(|ratio| ratio.is_finite() && !(low..=high).contains(ratio));
    let modes = change
        .modes
        .filter(|modes| (modes.upper_share_after - modes.upper_share_before).abs() >= MODE_CHANGED);
    if !is_beyond && modes.is_none() {
        return None;
    }
    let percent = |ratio: f64| signed_percent(ratio - 1.0, 1);
    let named = change
        .history
        .as_ref()
        .map_or_else(|| format!("index {}", change.index), |place| place.id.clone());
    let mut text = format!(
        "{named}: the median changed by {}, the mean by {}",
        percent(ratios[0]),
        percent(ratios[1])
    );
    if let Some(modes) = modes {
        let unit =
            change.history.as_ref().map_or(Unit::Count, |place| Unit::from_name(&place.unit));
        let scale = Scale::of(&unit, [modes.lower, modes.upper], true);
        let share = |share: f64| format!("{:.0}{NBSP}%", 100.0 * share);
        let _ = write!(
            text,
            "; {} of the values before and {} of those after are in a second mode around {}, the others around {}",
            share(modes.upper_share_before),
            share(modes.upper_share_after),
            scale.with_unit(modes.upper),
            scale.with_unit(modes.lower),
        );
    }
    Some(text + ".")
}

/// Says what there is beside the changes that are listed.
fn summary(changes: &[ChangePointDocument], listed: usize) -> String {
    let of_kind = |kind: &str| changes.iter().filter(|change| change.kind == kind).count();
    let benchmarks: std::collections::BTreeSet<&str> = changes
        .iter()
        .filter_map(|change| change.history.as_ref())
        .map(|place| place.benchmark.as_str())
        .collect();
    format!(
        "These are the {listed} worst of {} ({} for the worse, {} for the better, {}). --benchmark and --metric choose \
         among them, --limit lists more, --json has all.",
        count(changes.len(), "change"),
        of_kind("regression"),
        of_kind("improvement"),
        count(benchmarks.len(), "benchmark"),
    )
}

/// Says that no change can be found in some series yet.
pub(crate) fn too_few(few: &TooFewValues, all: usize) -> String {
    let TooFewValues { series, most, needed } = *few;
    let which = match (series, all) {
        (1, 1) => format!("It has too few values ({most})"),
        (one, all) if one == all => format!("All have too few values (at most {most})"),
        (one, _) => format!(
            "{} too few values (at most {most})",
            if one == 1 { "One has".to_owned() } else { format!("{one} have") }
        ),
    };
    format!("{which}: a change can be confirmed from {needed} values on.")
}

/// Says what changes of spread are.
fn spread_changes(spreads: &[SpreadChangeDocument]) -> String {
    format!(
        "{} of spread: the level stays, and the points scatter more or less around it. Look at the machine, or at what \
         the program does at random.",
        count(spreads.len(), "change")
    )
}

fn spread_table(spreads: &[SpreadChangeDocument], style: &Style) -> Table {
    if spreads.iter().any(|one| one.history.is_some()) {
        return spreads_of_history(spreads, style);
    }
    let mut table = Table::new([
        ("index", Align::Right),
        ("between", Align::Left),
        ("deviation before", Align::Right),
        ("after", Align::Right),
        ("", Align::Left),
    ]);
    for one in spreads {
        let [before, after] = deviations(one, &Unit::Count, style);
        table.push([
            one.index.to_string().into(),
            format!("{} and {}", one.earliest, one.latest).into(),
            before,
            after,
            one.kind.as_str().into(),
        ]);
    }
    table
}

fn spreads_of_history(spreads: &[SpreadChangeDocument], style: &Style) -> Table {
    let mut table = Table::new([
        ("benchmark", Align::Left),
        ("metric", Align::Left),
        ("deviation before", Align::Right),
        ("after", Align::Right),
        ("", Align::Left),
        ("after commit", Align::Left),
        ("up to", Align::Left),
    ]);
    for one in spreads {
        let Some(place) = &one.history else { continue };
        let [before, after] = deviations(one, &Unit::from_name(&place.unit), style);
        let short = |commit: &Option<String>| -> Cell {
            commit.as_deref().map_or("-", short_commit).into()
        };
        table.push([
            full_name(&place.benchmark, &place.parameters).into(),
            place.metric.as_str().into(),
            before,
            after,
            one.kind.as_str().into(),
            short(&place.after_commit),
            short(&place.until_commit),
        ]);
    }
    table
}

fn deviations(change: &SpreadChangeDocument, unit: &Unit, style: &Style) -> [Cell; 2] {
    let scale = Scale::of(unit, [change.before, change.after], style.unicode);
    [change.before, change.after].map(|deviation| scale.with_unit(deviation).into())
}

fn of_series(changes: &[ChangePointDocument], style: &Style) -> Table {
    let mut table = Table::new([
        ("index", Align::Right),
        ("between", Align::Left),
        ("before", Align::Right),
        ("after", Align::Right),
        ("change", Align::Right),
        ("95 % interval", Align::Left),
        ("state", Align::Left),
    ]);
    for change in changes {
        let [before, after] = levels(change, &Unit::Count, style);
        let [size, interval] = size(change);
        table.push([
            change.index.to_string().into(),
            format!("{} and {}", change.earliest, change.latest).into(),
            before,
            after,
            size,
            interval,
            change.state.as_str().into(),
        ]);
    }
    table
}

fn of_history(changes: &[ChangePointDocument], style: &Style) -> Table {
    let mut table = Table::new([
        ("id", Align::Right),
        ("benchmark", Align::Left),
        ("metric", Align::Left),
        ("before", Align::Right),
        ("after", Align::Right),
        ("change", Align::Right),
        ("95 % interval", Align::Left),
        ("", Align::Left),
        ("state", Align::Left),
        ("after commit", Align::Left),
        ("up to", Align::Left),
        ("review", Align::Left),
    ]);
    for change in changes {
        let Some(place) = &change.history else { continue };
        let [before, after] = levels(change, &Unit::from_name(&place.unit), style);
        let [size, interval] = size(change);
        let short = |commit: &Option<String>| -> Cell {
            commit.as_deref().map_or("-", short_commit).into()
        };
        let kind = change.kind.as_str();
        let kind = match kind {
            "regression" => Cell::of(Role::Slower, kind),
            "improvement" => Cell::of(Role::Faster, kind),
            _ => kind.into(),
        };
        let review = match &place.reason {
            Some(reason) => format!("{}: {reason}", place.review),
            None => place.review.clone(),
        };
        table.push([
            place.id.as_str().into(),
            full_name(&place.benchmark, &place.parameters).into(),
            place.metric.as_str().into(),
            before,
            after,
            size,
            interval,
            kind,
            change.state.as_str().into(),
            short(&place.after_commit),
            short(&place.until_commit),
            review.into(),
        ]);
    }
    table
}

fn levels(change: &ChangePointDocument, unit: &Unit, style: &Style) -> [Cell; 2] {
    let scale = Scale::of(unit, [change.before, change.after], style.unicode);
    [change.before, change.after].map(|level| scale.with_unit(level).into())
}

fn size(change: &ChangePointDocument) -> [Cell; 2] {
    let percent = |ratio: f64| signed_percent(ratio - 1.0, 1);
    let size = change.ratio.map_or("-".into(), |ratio| percent(ratio).into());
    let interval = match (change.ratio_low, change.ratio_high) {
        (Some(low), Some(high)) => {
            format!("{}{NBSP}..{NBSP}{}", percent(low), percent(high)).into()
        }
        _ => "-".into(),
    };
    [size, interval]
}
