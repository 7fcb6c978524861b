//! `becalm compare`: which is faster, and by how much?

use becalm_model::terms::{CommandLine, RunTerms, SubjectSource, Terms};
use becalm_model::{Record, RecordKind, SessionNote, Subject};
use becalm_report::{comparison_text, note_sentence};
use becalm_session::{Machine, Recipe, Request, Revisions, name, subjects};

use crate::commands::history::now;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::compare;
use crate::measuring::{begun, check_exports, conduct, export, interrupt, with_listener};
use crate::records;
use crate::ui::Ui;

pub(crate) use crate::flags::compare::Args;

pub(crate) fn run(args: &compare::Args, given: &[String], ui: &Ui) -> Result<Exit, CommandError> {
    let mut asked = match asked(args, given, ui)? {
        Asked::Same(same) => return say_same(*same, ui),
        Asked::Session(asked) => asked,
    };
    let finished = conduct(asked.take(), ui)?;
    let detail = args.verbose.detail();
    finished.report(|record, disturbed| comparison_text(record, disturbed, detail, ui.style()), ui)
}

/// What a command line asks for.
pub(crate) enum Asked {
    /// Nothing to measure: the revisions have the same program.
    Same(Box<Same>),
    /// A session.
    Session(Box<AskedSession>),
}

/// A session that is asked for.
pub(crate) struct AskedSession {
    request: Option<Request>,
    /// The worktrees, which stay as long as this.
    _revisions: Option<Revisions>,
}

impl AskedSession {
    /// Takes the session, once. Its builds stay as long as this.
    pub(crate) fn take(&mut self) -> Request {
        self.request.take().expect("a session is taken once")
    }
}

/// Why there is nothing to measure.
pub(crate) struct Same {
    why: SessionNote,
    terms: Terms,
    arguments: Vec<String>,
}

/// Returns what a command line asks for, with the revisions built.
pub(crate) fn asked(
    args: &compare::Args,
    given: &[String],
    ui: &Ui,
) -> Result<Asked, CommandError> {
    let (terms, arguments, resumed) =
        begun("compare", &args.flags, given, |before| args.terms(before), ui)?;
    let mut revisions = None;
    let subjects =
        match &terms.source {
            SubjectSource::Revisions { revisions: names, command } => {
                match build(names, command, &terms, ui)? {
                    Builds::Same(_) if resumed.is_some() => {
                        return Err(CommandError::usage(
                        "the revisions now have the same program, and the saved session measured \
                         several",
                    )
                    .hint("give --rev the commits that the session measured; the file was not \
                         changed"));
                    }
                    Builds::Same(why) => {
                        return Ok(Asked::Same(Box::new(Same { why, terms, arguments })));
                    }
                    Builds::Different(built) => {
                        let (built, subjects) = *built;
                        revisions = Some(built);
                        subjects
                    }
                }
            }
            source => subjects_of(source, &terms.runs)?,
        };
    let aa = matches!(terms.source, SubjectSource::Itself { .. });
    if subjects.len() < 2 {
        return Err(CommandError::usage("nothing to compare: only one command was given").hint(
            "give two commands, add --aa to compare the command with itself, or use `becalm run`",
        ));
    }
    if aa && subjects.len() > 2 {
        return Err(CommandError::usage("--aa takes one command without parameter scans"));
    }
    let request = Request {
        aa,
        resumed_from: resumed.as_ref().map(|resumed| resumed.path.clone()),
        resumed: resumed.map(|resumed| resumed.record),
        builds: revisions.as_mut().map(Revisions::all),
        ..Request::new("compare", RecordKind::Comparison, terms, subjects, arguments)
    };
    Ok(Asked::Session(Box::new(AskedSession { request: Some(request), _revisions: revisions })))
}

/// Returns the subjects of commands that are there.
fn subjects_of(source: &SubjectSource, runs: &RunTerms) -> Result<Vec<Subject>, CommandError> {
    Ok(match source {
        SubjectSource::Itself { command } => subjects(&[command.clone(), command.clone()], runs)?,
        SubjectSource::Commands { commands } => subjects(commands, runs)?,
        _ => Vec::new(),
    })
}

/// What the builds of several revisions led to.
enum Builds {
    /// The program is the same in all of them; why.
    Same(SessionNote),
    /// What to measure.
    Different(Box<(Revisions, Vec<Subject>)>),
}

fn build(
    names: &[String],
    command: &CommandLine,
    terms: &Terms,
    ui: &Ui,
) -> Result<Builds, CommandError> {
    if names.len() < 2 {
        return Err(CommandError::usage(
            "only one revision was given, so there is nothing to compare it with",
        )
        .hint("give --rev twice, as in --rev main --rev HEAD"));
    }
    let runs = &terms.runs;
    if runs.in_memory || !runs.parameters.is_empty() {
        return Err(CommandError::usage(
            "--rev cannot be combined with --in-memory or with parameters",
        ));
    }
    let one = RunTerms { names: Vec::new(), ..runs.clone() };
    let command = subjects(std::slice::from_ref(command), &one)?.remove(0).command;
    let interrupt = interrupt()?;
    check_exports(&terms.exports)?;
    let revisions = with_listener(ui, |listener| {
        let recipe = Recipe { words: &command, runs, interrupt, listener };
        Revisions::build(names, recipe)
    })?;
    if let Some(why) = revisions.identical(&command) {
        return Ok(Builds::Same(why));
    }
    let mut subjects = revisions.subjects(&command)?;
    name(&mut subjects, &runs.names)?;
    Ok(Builds::Different(Box::new((revisions, subjects))))
}

/// Says that there is nothing to measure.
pub(crate) fn say_same(same: Same, ui: &Ui) -> Result<Exit, CommandError> {
    let Same { why, terms, arguments } = same;
    if !terms.exports.print {
        ui.print_folded(&format!("{}.\n", note_sentence(&why.clone().into())))?;
    }
    let exports = terms.exports.clone();
    let record = Record {
        arguments,
        started_at: now(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        confidence: terms.confidence,
        margin: terms.margin,
        machine: Machine::read()?.facts,
        notes: vec![why.into()],
        terms: Some(terms),
        ..Record::empty(RecordKind::Comparison)
    };
    if exports.print {
        ui.print(&records::json(&record))?;
    }
    export(&record, &[], &exports)?;
    Ok(Exit::Done)
}
