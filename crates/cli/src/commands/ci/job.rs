//! The job: builds of two commits, measured in the same rounds.

use std::time::Duration;

use becalm_forge::Surroundings;
use becalm_model::ci::{CiCommit, CiReport, CiResult, CiRule};
use becalm_model::terms::{Goal, Terms, Unlimited};
use becalm_model::{GateNote, Interruption, Note, Record, RecordKind, Side, Subject};
use becalm_report::machine_words;
use becalm_series::cut_off;
use becalm_series::judge::ci::{BASE, HEAD, conclude, sides};
use becalm_session::{Builds, Recipe, Repository, Request, Revisions, is_documentation, subjects};

use super::Args;
use super::base::find_base;
use super::command_line::{reproduce, without_secrets};
use crate::error::CommandError;
use crate::flags::{command_of, stop};
use crate::measuring::{Finished, conduct, interrupt, with_listener};
use crate::ui::Ui;

/// Time after which no further round starts, unless the user says otherwise.
const BUDGET: Duration = Duration::from_secs(60);

/// Rounds that are made regardless of their duration, unless the user sets a number.
const MINIMUM: u32 = 10;

/// The same for servers, whose runs take seconds each.
const SERVER_BUDGET: Duration = Duration::from_secs(240);

/// The same for the benchmarks of a harness.
const HARNESS_BUDGET: Duration = Duration::from_secs(240);

/// The same for the benchmarks of a harness.
const HARNESS_MINIMUM: u32 = 14;

/// What is to be compared.
pub(super) struct Job {
    base: CiCommit,
    head: CiCommit,
    /// The commit that gets the status.
    commit: Option<String>,
    /// Paths in which the commits differ.
    differing: Vec<String>,
    /// The command line, without secrets.
    arguments: Vec<String>,
    /// The command to measure.
    command: Vec<String>,
    /// The terms by which it is measured.
    terms: Terms,
}

/// The result.
pub(super) enum Done {
    Identical(Note),
    Measured(Box<Finished>),
    Failed(CommandError),
}

impl Done {
    pub(super) fn record(&self) -> Option<&Record> {
        match self {
            Self::Measured(finished) => Some(&finished.record),
            Self::Identical(_) | Self::Failed(_) => None,
        }
    }
}

impl Job {
    pub(super) fn new(
        args: &Args,
        arguments: &[String],
        around: &Surroundings,
    ) -> Result<Self, CommandError> {
        let terms = terms(args)?;
        let repository = Repository::here("`becalm ci`")?;
        let commit = |name: &str, option: &str| -> Result<CiCommit, CommandError> {
            let id = repository.committed(name).map(|commit| commit.id).ok_or_else(|| {
                CommandError::usage(format!("{option} {name}: no such revision in this clone"))
                    .hint(
                        "shallow clones lack most revisions: give actions/checkout `with: \
                         {fetch-depth: 0}`",
                    )
            })?;
            let title = repository.title(&id).unwrap_or_default();
            Ok::<_, CommandError>(CiCommit { id, title })
        };
        let head = commit(&args.head, "--head")?;
        let base = match &args.base {
            Some(base) => base.clone(),
            None => find_base(&repository, &head.id, around)?,
        };
        let base = commit(&base, "--base")?;
        let commit = around.commit_of_status(&head.id, &repository.parents(&head.id)?);
        let differing = repository.differing(&base.id, &head.id)?;
        let line = command_of(&args.command, &terms.runs);
        let command = subjects(&[line], &terms.runs)?.remove(0).command;
        let arguments = without_secrets(arguments);
        Ok(Self { base, head, commit, differing, arguments, command, terms })
    }

    /// Builds and measures.
    pub(super) fn carry_out(&self, ui: &Ui) -> Done {
        if self.differing.iter().all(|path| is_documentation(path)) {
            let same = match &self.differing[..] {
                [] => GateNote::SameFiles,
                [path, more @ ..] => {
                    GateNote::OnlyDocumentation { path: path.clone(), more: more.len() }
                }
            };
            return Done::Identical(same.into());
        }
        match self.build(ui).and_then(|built| match built {
            Err(told) => Ok(Done::Identical(told)),
            Ok((mut revisions, subjects)) => {
                // The worktrees stay until everything is measured.
                let finished = conduct(self.request(revisions.all(), subjects), ui)?;
                Ok(Done::Measured(Box::new(finished)))
            }
        }) {
            Ok(done) => done,
            Err(error) => Done::Failed(error),
        }
    }

    /// Builds both commits; says so if the program is the same.
    fn build(&self, ui: &Ui) -> Result<Result<(Revisions, Vec<Subject>), Note>, CommandError> {
        let runs = &self.terms.runs;
        let ids = [self.base.id.clone(), self.head.id.clone()];
        let interrupt = interrupt()?;
        let mut revisions = with_listener(ui, |listener| {
            let words = &self.command[..];
            Revisions::build(&ids, Recipe { words, runs, interrupt, listener })
        })?;
        revisions.rename(&["base", "head"]);
        if let Some(note) = revisions.identical(&self.command) {
            return Ok(Err(note.into()));
        }
        revisions.repeat_first("base again");
        let subjects = revisions.subjects(&self.command)?;
        Ok(Ok((revisions, subjects)))
    }

    fn request(&self, builds: Builds, subjects: Vec<Subject>) -> Request {
        let (terms, arguments) = (self.terms.clone(), self.arguments.clone());
        Request {
            builds: Some(builds),
            ..Request::new("ci", RecordKind::Comparison, terms, subjects, arguments)
        }
    }

    /// Says what was measured instead of the commit that the job is for.
    fn told_of_commit(&self, commit: &str) -> Option<Note> {
        let (is_status, commit) = (self.commit.as_deref() == Some(commit), commit.to_owned());
        if commit == self.head.id {
            return None;
        }
        let measured = self.head.id.clone();
        Some(if is_status {
            GateNote::CheckedOutMeasured { commit }.into()
        } else {
            GateNote::OtherCommitMeasured { commit, measured }.into()
        })
    }

    pub(super) fn report(&self, args: &Args, around: &Surroundings, done: &Done) -> CiReport {
        let name = match self.terms.runs.names.first() {
            Some(name) => name.clone(),
            None => shell_words::join(&self.command),
        };
        let (mut result, machine, mut notes) = match done {
            Done::Identical(why) => (CiResult::Identical(why.clone()), String::new(), Vec::new()),
            Done::Failed(error) => {
                let error = error.message.clone();
                (CiResult::Failed(Interruption::Failure { error }), String::new(), Vec::new())
            }
            Done::Measured(finished) => {
                let record = &finished.record;
                let machine = machine_words(&record.machine);
                let broken = record.interrupted.clone().or_else(|| {
                    let error = finished.failure.as_ref()?.message.clone();
                    Some(Interruption::Failure { error })
                });
                let result = match broken {
                    Some(why) => CiResult::Failed(why),
                    None => sides(record, &name),
                };
                (result, machine, cut_off_sides(record))
            }
        };
        notes.extend(around.commit.as_ref().and_then(|commit| self.told_of_commit(commit)));
        let rule = CiRule {
            confidence: self.terms.confidence,
            margin: self.terms.margin,
            allow: args.allow,
            strict: args.strict,
        };
        CiReport {
            id: args.id.clone(),
            base: self.base.clone(),
            head: self.head.clone(),
            commit: self.commit.clone(),
            change: around.change,
            conclusion: conclude(&mut result, &rule),
            rule,
            result,
            machine,
            reproduce: reproduce(&self.arguments, &self.base.id, &self.head.id),
            notes,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Says which side had runs that were ended at the timeout.
fn cut_off_sides(record: &Record) -> Vec<Note> {
    let side = |subject: usize| match subject {
        BASE => Some(Side::Base),
        HEAD => Some(Side::Head),
        _ => None,
    };
    let of = cut_off(record).into_iter();
    of.filter_map(|one| {
        let side = side(one.subject)?;
        Some(GateNote::SideCutOff { side, runs: one.runs, of: one.of }.into())
    })
    .collect()
}

/// Returns the terms that the flags make.
fn terms(args: &Args) -> Result<Terms, CommandError> {
    let mut terms = Terms { margin: args.margin, ..Terms::default() };
    args.flags.apply(&mut terms)?;
    let (minimum, budget) = match (&terms.runs.harness, &terms.runs.load) {
        (Some(_), _) => (HARNESS_MINIMUM, HARNESS_BUDGET),
        (None, Some(_)) => (MINIMUM, SERVER_BUDGET),
        (None, None) => (MINIMUM, BUDGET),
    };
    let unlimited = Unlimited { minimum, budget: Some(budget), goal: Goal::Verdict };
    terms.stop = stop(&terms, &unlimited)?;
    Ok(terms)
}
