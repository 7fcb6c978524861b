//! The changes of the series of a history.

use becalm_model::history::{ChangeState, Decision, StoredChange};
use becalm_model::wire::{ChangePointDocument, SeriesStateDocument, SpreadChangeDocument};
use becalm_report::WORDS;
use becalm_series::{
    Access, ChangeTerms, Followed, SeriesFilter, Store, Unchanged, change_in_history, follow_each,
    placed, spread_in_history, state_in_history, too_few,
};
use becalm_stats::changes::{Changes, State};

use super::series::find;
use super::{Args, Engine, Found};
use crate::commands::history::{Home, LeftOut, Settings, now};
use crate::error::CommandError;
use crate::ui::Ui;

/// Finds the changes of the series that are asked for.
pub(super) fn changes(args: &Args, ui: &Ui) -> Result<Found, CommandError> {
    let settings = Settings::read()?;
    let filter = SeriesFilter { main: !args.all, ..SeriesFilter::from(&args.chosen) };
    let ours = args.finding.engine == Engine::Becalm;
    let asked = args.finding.margin.is_some()
        || args.finding.false_alarms.is_some()
        || args.finding.size.is_some();
    let (mut store, keep) = if ours && !asked {
        args.store.open_to_follow(&settings, ui)?
    } else {
        (args.store.open_for_reading(&settings)?, Access::Read)
    };
    let series = store.series(&filter)?;
    let count = series.len();
    if count == 0 && args.chosen.any() {
        return Err(CommandError::usage("no series of the history matches").hint(
            "`becalm history list --series` lists them; --all also includes those beside the \
                 main metric",
        ));
    }
    if !ours {
        let ids: Vec<_> = series.iter().map(|one| one.id).collect();
        let points = store.points(&ids)?;
        let mut documents = Vec::new();
        for (series, points) in series.into_iter().zip(points) {
            let values: Vec<f64> = points.iter().map(|point| point.value).collect();
            let found = find(&values, &args.finding);
            let size = args.finding.size.unwrap_or_default().into();
            let changes = placed(&points, &found, size, now());
            let Changes { spreads, states, .. } = found;
            let decided = Vec::new();
            let followed = Followed { series, points, changes, spreads, states, decided };
            documents.extend(documents_of(&followed, args));
        }
        let size = args.finding.size.unwrap_or_default().into();
        return Ok(Found { series: count, size, changes: documents, ..Found::default() });
    }
    warn_of_margins(&mut store, &settings, ui)?;
    let home = Home::look()?;
    let LeftOut { entries: left_out, notes, is_view } =
        home.left_out_of(&mut store, &series, &args.counted)?;
    for note in &notes {
        ui.say((WORDS.note)(note));
    }
    let terms = ChangeTerms {
        left_out,
        margin: args.finding.margin,
        false_alarms: args.finding.false_alarms,
        size: args.finding.size.map(Into::into),
        configured: settings.changes.clone(),
    };
    let keep = keep == Access::Write && !is_view;
    let listed =
        follow_each(&mut store, series, &terms, keep, now(), |one| Listed::of(&one, &terms, args))?;
    let mut found = Found { series: count, size: terms.size(), ..Found::default() };
    let mut unchanged = Vec::new();
    for one in listed {
        unchanged.extend(one.unchanged);
        found.changes.extend(one.changes);
        found.spreads.extend(one.spreads);
        found.states.extend(one.states);
    }
    found.too_few = too_few(unchanged);
    Ok(found)
}

/// What is listed of a series.
struct Listed {
    /// The series, if no change in it is confirmed.
    unchanged: Option<Unchanged>,
    changes: Vec<ChangePointDocument>,
    spreads: Vec<SpreadChangeDocument>,
    states: Vec<SeriesStateDocument>,
}

impl Listed {
    fn of(followed: &Followed, terms: &ChangeTerms, args: &Args) -> Self {
        let is_confirmed = |(_, stored): &(_, StoredChange)| stored.state == ChangeState::Confirmed;
        let key = &followed.series.key;
        let unchanged = (!followed.changes.iter().any(is_confirmed)).then(|| Unchanged {
            values: followed.points.len(),
            rules: terms.rules(&key.benchmark, &key.metric),
        });
        let mut listed = Self {
            unchanged,
            changes: documents_of(followed, args),
            spreads: Vec::new(),
            states: Vec::new(),
        };
        // What was first reported when is kept of changes of level alone.
        if args.since.is_none() {
            let spreads = followed.spreads.iter();
            listed.spreads = spreads.map(|one| spread_in_history(followed, one)).collect();
        }
        // A state is one line in place of its parts, of which the newest may be new; and it goes on without them.
        let is_new = |state: &&State| {
            let parts = &followed.changes[state.parts()];
            args.since.is_none_or(|since| {
                state.is_current(followed.points.len())
                    || parts.iter().any(|(_, part)| part.first_seen.time >= since)
            })
        };
        let states = followed.states.iter().filter(is_new);
        listed.states = states.map(|state| state_in_history(followed, state)).collect();
        listed
    }
}

/// Warns of margins in `becalm.toml` that match no series.
fn warn_of_margins(store: &mut Store, settings: &Settings, ui: &Ui) -> Result<(), CommandError> {
    let margins = &settings.changes.margins;
    if margins.is_empty() {
        return Ok(());
    }
    let all = store.series(&SeriesFilter::default())?;
    for name in margins.keys() {
        if !all.iter().any(|one| one.key.benchmark == *name || one.key.metric == *name) {
            ui.warn(format!(
                "[changes] margins in becalm.toml: no benchmark or metric of the history is called {name}"
            ));
        }
    }
    Ok(())
}

fn documents_of(followed: &Followed, args: &Args) -> Vec<ChangePointDocument> {
    let dismissed = |stored: &StoredChange| {
        let decision = stored.review.as_ref().map(|review| &review.decision);
        matches!(decision, Some(Decision::Dismissed { .. }))
    };
    followed
        .changes
        .iter()
        .enumerate()
        .filter(|(_, (_, stored))| args.dismissed || !dismissed(stored))
        .filter(|(_, (_, stored))| args.since.is_none_or(|since| stored.first_seen.time >= since))
        .map(|(at, _)| change_in_history(followed, at))
        .collect()
}
