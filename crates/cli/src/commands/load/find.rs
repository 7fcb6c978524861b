//! `becalm load --find`: the highest rate that meets an objective.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use becalm_load::{Live, Plan, Schedule, Search, Sought, try_rate, wait_until_idle};
use becalm_model::load::{
    FindAnswer, FindGenerator, FindWindow, LoadFindDocument, LoadTerms, Objective, Rates, Trust,
};
use becalm_model::wire::{LOAD_FIND_SCHEMA, json_text};
use becalm_report::{
    distrust, load_find_html, load_find_markdown, load_find_text, load_progress_line,
};
use becalm_session::{Machine, files};

use super::{Args, Asked, asked, machine, not_loaded, progress};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::interrupt;
use crate::ui::Ui;

/// Rates that are searched if none are given.
const RANGE: [f64; 2] = [10.0, 100_000.0];

/// The longest wait for a server that was asked for too much.
const IDLE: Duration = Duration::from_secs(10);

pub(super) fn run(args: &Args, objective: &Objective, ui: &Ui) -> Result<Exit, CommandError> {
    let range = args.rate.as_ref().map_or(Ok(RANGE), range)?;
    let max_time = args.max_time.as_secs_f64();
    let sought = Sought::new(objective, range, max_time).map_err(CommandError::usage)?;
    if Search::new(sought, 0).next(0.0).is_none() {
        return Err(CommandError::usage(format!(
            "a --max-time of {max_time} s is too short for a single window at {} requests/s",
            range[0]
        )));
    }
    let mut asked = Asked::of(args)?;
    if asked.scenario.replay.is_some() {
        return Err(CommandError::usage(
            "--find changes the rate, and the scenario replays the times of a file",
        ));
    }
    let target = asked.target()?;
    let machine = Machine::read()?;
    let cpus = args.connections.cpus.as_ref();
    let (place, _awake) = machine::prepare(&machine, &target, cpus, &mut asked)?;
    let seed = args.seed.unwrap_or_else(asked::seed_of_now);
    let terms = LoadTerms { duration: max_time, stages: Vec::new(), ..asked.terms(seed) };
    let plan = asked.plan(target, Schedule::of_times(Vec::new()), 1.0, seed)?;
    let found = search(&plan, &sought, &terms, ui)?;
    let Searched { search, windows, elapsed, started, is_unanswered, signal } = found;
    let document = LoadFindDocument {
        schema: LOAD_FIND_SCHEMA.to_owned(),
        becalm: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
        machine: machine.facts,
        terms,
        objective: objective.clone(),
        range,
        answer: search.answer(),
        generator: FindGenerator { place: Some(place), ..generator(&search, &windows) },
        windows,
        elapsed,
        is_unanswered,
        signal,
    };
    // What cannot be saved is still shown.
    let saved = save(args, &document);
    ui.print_either(args.json, &document, |style| load_find_text(&document, style))?;
    saved?;
    Ok(exit(&document))
}

fn save(args: &Args, document: &LoadFindDocument) -> Result<(), CommandError> {
    if let Some(path) = &args.export_json {
        files::write_atomically(path, &json_text(document))?;
    }
    let html = || load_find_html(document, env!("CARGO_PKG_VERSION"));
    args.report.write(html, || load_find_markdown(document))
}

/// A search that is over.
struct Searched {
    search: Search,
    windows: Vec<FindWindow>,
    elapsed: f64,
    started: SystemTime,
    is_unanswered: bool,
    signal: Option<i32>,
}

fn search(
    plan: &Plan,
    sought: &Sought,
    terms: &LoadTerms,
    ui: &Ui,
) -> Result<Searched, CommandError> {
    let interrupt = interrupt()?;
    let (started, began) = (SystemTime::now(), Instant::now());
    let elapsed = || began.elapsed().as_secs_f64();
    let mut search = Search::new(*sought, terms.seed);
    let mut windows: Vec<FindWindow> = Vec::new();
    let mut is_unanswered = false;
    // A number that was used is not used again.
    let mut sent = 0;
    let from = |sent| Plan { requests: plan.requests.clone().starting_at(sent), ..plan.clone() };
    while interrupt.signal().is_none()
        && let Some(wish) = search.next(elapsed())
    {
        let mut show = |live: &Live<'_>| {
            let mut progress = progress(live, terms);
            (progress.elapsed, progress.asked) = (began.elapsed(), wish.rate);
            ui.progress_line(&load_progress_line(&progress, ui.style()));
        };
        let seed = terms.seed.wrapping_add(windows.len() as u64);
        let arrivals = (terms.arrivals, seed);
        let tried = try_rate(from(sent), &wish, sought, arrivals, distrust, interrupt, &mut show);
        let (tried, mut window) = tried.map_err(not_loaded)?;
        if interrupt.signal().is_some() {
            break;
        }
        sent += window.counts.scheduled;
        let is_cut = window.is_cut;
        // Nothing that a rate could change.
        is_unanswered = windows.is_empty() && window.has_no_answer()
            || window.has_refusals() && !plan.target.is_taken();
        window.is_unanswered = is_unanswered;
        windows.push(window);
        if is_unanswered {
            break;
        }
        search.take(tried);
        if is_cut {
            wait_until_idle(from(sent), IDLE, interrupt).map_err(not_loaded)?;
            sent += 1;
        }
    }
    ui.progress_line("");
    let signal = interrupt.signal();
    Ok(Searched { search, windows, elapsed: elapsed(), started, is_unanswered, signal })
}

/// Returns how far the generator could be trusted.
fn generator(search: &Search, windows: &[FindWindow]) -> FindGenerator {
    let valid = windows.iter().filter(|one| one.verdict == Trust::Valid && !one.is_unanswered);
    let trusted_to = valid.map(|one| one.rate).reduce(f64::max);
    let failed_from = search.ceiling();
    let mut failed = windows.iter().filter(|one| {
        one.verdict == Trust::Invalid && trusted_to.is_none_or(|trusted| one.rate > trusted)
    });
    let reasons = failed.next_back().map(|one| one.reasons.clone()).unwrap_or_default();
    FindGenerator {
        trusted_to,
        failed_from,
        place: None,
        reasons: if failed_from.is_some() { reasons } else { Vec::new() },
    }
}

fn exit(document: &LoadFindDocument) -> Exit {
    if let Some(signal) = document.signal {
        return Exit::Signal(signal);
    }
    match document.answer {
        _ if document.is_unanswered => Exit::CouldNotMeasure,
        FindAnswer::Nothing => Exit::CouldNotMeasure,
        FindAnswer::Found { .. } => Exit::Done,
        FindAnswer::Below { .. } => Exit::No,
        FindAnswer::Unresolved { .. } | FindAnswer::AtLeast { .. } | FindAnswer::AtMost { .. } => {
            Exit::Inconclusive
        }
    }
}

fn range(rates: &Rates) -> Result<[f64; 2], CommandError> {
    rates.range().ok_or_else(|| {
        CommandError::usage("with --find, --rate is the range that is searched, such as 100..5000")
    })
}
