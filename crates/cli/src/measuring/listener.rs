//! What happens in a session, on the terminal.

use std::cell::RefCell;

use becalm_machine::service::TimeUp;
use becalm_report::{confidence_in_words, limit_sentence, note_sentence, outlook_text, printable};
use becalm_runner::Interrupt;
use becalm_session::{Commit, Event, Listener, SearchEvent, failures};

use super::progress::ProgressLine;
use crate::error::CommandError;
use crate::tuning;
use crate::ui::Ui;
use becalm_model::terms::Stop;
use becalm_model::{Note, Record, SessionLimit, SessionNote, counted};

/// Handles the signals that ask becalm to stop.
pub(crate) fn interrupt() -> Result<&'static Interrupt, CommandError> {
    Ok(Interrupt::install().map_err(becalm_session::Error::Signals)?)
}

/// Does something and shows each of its events.
pub(crate) fn with_listener<T>(ui: &Ui, work: impl FnOnce(Listener<'_>) -> T) -> T {
    let line: RefCell<Option<ProgressLine>> = RefCell::new(None);
    work(Listener::new(&|event| show(ui, &mut line.borrow_mut(), event)))
}

/// Shows an event; anything but progress takes the place of the progress line.
fn show(ui: &Ui, line: &mut Option<ProgressLine>, event: Event<'_>) {
    match (event, line.as_mut()) {
        (Event::Started { plan, record }, _) => {
            if let Some(outlook) = outlook_of_harness(record) {
                ui.say(outlook);
            }
            // A single run may take minutes, and nothing is drawn while it does.
            ui.progress_line("the first run");
            *line = Some(ProgressLine::new(plan, record));
        }
        (Event::Logged(lines), _) => ui.log(lines),
        (Event::Ran { subject, warmup }, Some(line)) => line.run(ui, subject, warmup),
        (Event::Round { rounds, fraction, warmup }, Some(line)) => {
            line.round(ui, rounds, fraction, warmup);
        }
        (Event::Looked(comparisons), Some(line)) => line.look(comparisons),
        (event, line) => {
            if line.is_some() {
                ui.progress_line("");
            }
            say(ui, &event);
        }
    }
}

/// Says whether a note names a revision whose build has named it already.
fn is_of_a_build(note: &Note) -> bool {
    matches!(note, Note::Session(SessionNote::Revision { built_by: Some(_), .. }))
}

/// Says how long a comparison of the benchmarks of a harness takes, which is longer than usual.
fn outlook_of_harness(record: &Record) -> Option<String> {
    let terms = record.terms.as_ref().filter(|terms| terms.runs.harness.is_some())?;
    let Stop::Until { minimum, budget: Some(budget), .. } = terms.stop else { return None };
    let is_compare = record.arguments.first().is_some_and(|command| command == "compare");
    is_compare.then(|| {
        let rounds = counted(minimum as usize, "round");
        let takes = if minimum == 1 { "takes" } else { "take" };
        format!(
            "this takes up to {} s: less if every benchmark is decided earlier, more if {rounds} {takes} longer",
            budget.as_secs()
        )
    })
}

fn say(ui: &Ui, event: &Event<'_>) {
    match *event {
        Event::Note(note) if is_of_a_build(note) => {}
        Event::Note(note) => ui.say(format!("note: {}", note_sentence(note))),
        Event::Undecidable { possible, needed, confidence } => {
            ui.warn(undecidable(possible, needed, confidence));
        }
        Event::LongerThanPlanned { round, minimum } => ui.say(format!(
            "a round takes {:.1} s here, so {} will take about {:.0} s; --max-time without \
             --min-rounds ends it earlier",
            round.as_secs_f64(),
            counted(minimum as usize, "round"),
            (round * minimum).as_secs_f64()
        )),
        Event::Outlook(ref outlook) => ui.say(outlook_text(outlook)),
        Event::NothingAdded { rounds, took } => ui.warn(format!(
            "no round was added: limits count from the beginning of the saved session, which \
             already has {} and took {:.1} s",
            counted(rounds as usize, "round"),
            took.as_secs_f64()
        )),
        Event::LogSetAside(aside) => ui.say(format!(
            "the log of a session that was killed is kept in {0}: --resume {0} continues it",
            aside.display()
        )),
        Event::Building(command) => ui.say(format!("building: {command}")),
        Event::BuildingRevision { name, commit } => {
            let is = if commit.id == name { String::new() } else { format!("{name} is ") };
            ui.say(format!("{is}{}, {}", commit.short(), commit.title));
        }
        Event::LastLayoutStays(layout) => {
            ui.say(format!("the files that the build command wrote here now belong to layout {layout}"));
        }
        Event::NotBuilt { revision, program } => ui.warn(format!(
            "{revision} has no {program}, and nothing was built: --build CMD builds each revision in its own folder"
        )),
        Event::Queued(queued) => ui.say(tuning::place_in_queue(queued)),
        Event::TimeUp(TimeUp { seconds }) => {
            ui.warn(limit_sentence(&SessionLimit::PutBackEarly { seconds }.into()));
        }
        Event::Leftovers(recovered) => {
            tuning::say_leftovers(recovered, ui);
        }
        Event::Restored(recovered) => {
            tuning::report(recovered, ui);
        }
        Event::Changed(applied) => failures(applied).iter().for_each(|one| ui.warn(one)),
        Event::LatencyNotHeld(error) => {
            ui.warn(format!("cstates: cannot hold /dev/cpu_dma_latency: {error}"));
        }
        Event::GroupRemoved(line) => ui.say(line),
        Event::NotTuned(limit) => ui.warn(limit_sentence(&limit.clone().into())),
        Event::NotIsolated(reason) => ui.warn(reason),
        Event::Hook { hook, command } => ui.step(format!("{hook}: {}", printable(command))),
        Event::Tries(mitigation) => ui.progress_line(&format!("trying {mitigation}")),
        Event::Block { stage, block, used, whole } => ui.progress_line(&format!(
            "{stage}: block {block}, {:.0} of {:.0} s",
            used.as_secs_f64(),
            whole.as_secs_f64()
        )),
        Event::Search(ref event) => ui.say(of_search(event)),
        Event::Started { .. }
        | Event::Logged(_)
        | Event::Ran { .. }
        | Event::Round { .. }
        | Event::Looked(_)
        | Event::Measured => {}
    }
}

fn of_search(event: &SearchEvent<'_>) -> String {
    let named = |commit: &Commit| format!("{} \"{}\"", commit.short(), commit.title);
    match *event {
        SearchEvent::Begins { commits, place } => {
            format!("{} to search, saved in {}", counted(commits, "commit"), place.display())
        }
        SearchEvent::ComparesEnds { budget: None } => "comparing the ends".to_owned(),
        SearchEvent::ComparesEnds { budget: Some(budget) } => {
            format!("comparing the ends, for at most {} s", budget.as_secs())
        }
        SearchEvent::EndsDiffer { verdict, metric } => {
            format!("the bad end is {verdict} on {metric}")
        }
        SearchEvent::Step { number, commit, verdict, probability, likeliest, of_likeliest } => {
            format!(
                "step {number}: {} is {verdict} with a probability of {:.1} %; the likeliest first commit is {} with {:.1} %",
                named(commit),
                100.0 * probability,
                likeliest.short(),
                100.0 * of_likeliest
            )
        }
        SearchEvent::BuiltAnew(commit) => {
            named(commit) + " is measured in a new build before becalm accepts the answer"
        }
        SearchEvent::SameProgram(commit) => {
            named(commit) + " has the same program as an earlier commit"
        }
        SearchEvent::Skipped(commit) => named(commit) + " is skipped: it cannot be built or run",
    }
}

fn undecidable(possible: u32, needed: u32, confidence: f64) -> String {
    let level = confidence_in_words(confidence).replace('\u{a0}', " ");
    format!(
        "{} cannot give a verdict at {level} confidence; at least {needed} are needed, and more for a small difference",
        counted(possible as usize, "round")
    )
}
