//! `becalm gate`: judges results by rules, and exits accordingly.

use std::path::PathBuf;

use becalm_model::gate::{GateOutcome, GateReport};
use becalm_model::wire::gate_document;
use becalm_model::{GateNote, GateReason, Note, Record, RecordKind};
use becalm_report::{WORDS, gate_text};
use becalm_series::judge::{
    Findings, GateError, GateTerms, MeasuredSide, Rules, judge_by_history, judge_changes,
    judge_interleaved, put_worst_first,
};
use becalm_series::{Access, ChangeTerms, EntryTerms, cut_off, points};
use becalm_session::suite::SuiteFile;
use clap::builder::NonEmptyStringValueParser;

use super::history::{
    Content, CountedFlags, Home, LeftOut, Settings, StoreFlags, broken_off_by, content,
    measurements, now,
};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::confidence;
use crate::ui::Ui;

/// Judge results by the rules of becalm.toml
///
/// A record of `becalm compare` is judged by its intervals: it fails if a whole interval exceeds
/// the margin. A record of one side is judged by the history of the same benchmark on the same kind
/// of machine: it passes if the interval of its change is within the margin, and fails if the
/// estimate is beyond the margin and all of the interval beyond half of it, until `becalm changes
/// acknowledge` accepts the level or the old one is back. Without a record, becalm judges the
/// current level of each series by the one that was last accepted; results that were
/// cut off at their timeout at the newest commit are undecided. Exit code 0: within the rules; 1:
/// not; 3: the data do not allow a decision.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files that `becalm compare` or `run` saved, or results of other tools; without any, the
    /// changes of the history are judged
    #[arg(value_name = "RECORD")]
    records: Vec<PathBuf>,
    #[command(flatten)]
    store: StoreFlags,
    /// The branch whose history is used [default: the branch in becalm.toml, else the main branch
    /// that git names, else the one that has the history]
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// The commit that was measured: any name that git knows, or a name of your own [default: the
    /// checked-out commit]
    #[arg(long, value_name = "REV", requires = "records", value_parser = NonEmptyStringValueParser::new())]
    commit: Option<String>,
    /// Largest relative change for the worse that passes, instead of the value in becalm.toml
    #[arg(long, value_name = "SHARE", value_parser = crate::flags::compare::margin)]
    margin: Option<f64>,
    /// Confidence of all intervals from the history together
    #[arg(long, value_name = "SHARE", value_parser = confidence, default_value = "95%")]
    confidence: f64,
    /// Accept every change before the last N points of a series
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    last: Option<u32>,
    #[command(flatten)]
    counted: CountedFlags,
    /// Let undecided results pass, with a warning
    #[arg(long)]
    allow_inconclusive: bool,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

/// Says that results which did not finish may fail, but not pass: a program that crashes is never
/// slow.
fn doubt_what_was_broken_off(findings: &mut Findings, broken_off: Vec<Note>) {
    if broken_off.is_empty() {
        return;
    }
    for result in &mut findings.results {
        result.doubt(GateReason::BrokenOff);
    }
    findings.notes.extend(broken_off);
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let settings = Settings::read()?;
    let file = SuiteFile::read_if_there()?;
    let gate = file.as_ref().map(|file| file.document.gate.clone()).unwrap_or_default();
    let mut rules = Rules::new(gate, args.margin);
    let mut findings = Findings::default();
    let branch = match &args.branch {
        Some(branch) => branch.clone(),
        None => branch_with_history(args, &settings, &mut findings)?,
    };
    let home = Home::look()?;
    let left_out = match args.store.open_if_there(&settings)? {
        Some(mut store) => home.left_out(&mut store, &branch, &args.counted)?,
        None => LeftOut::default(),
    };
    let LeftOut { entries: left_out, notes, is_view } = left_out;
    findings.notes.extend(notes);
    let changes = ChangeTerms { left_out, ..settings.change_terms() };
    let terms = GateTerms {
        branch,
        confidence: args.confidence,
        last: args.last.map(|last| last as usize),
        changes,
        now: now(),
    };
    if args.records.is_empty() {
        let (mut store, access) = args.store.open_to_follow(&settings, ui)?;
        let keep = access == Access::Write && !is_view;
        judge_changes(&mut store, keep, &terms, &mut rules, &mut findings)?;
    } else {
        let broken_off =
            judge_files(args, &settings, &home, &terms, &mut rules, &mut findings, ui)?;
        doubt_what_was_broken_off(&mut findings, broken_off);
    }
    if let (Some(wrong), Some(file)) = (rules.unsuited(), &file) {
        return Err(file.error_at(&["gate", "rules", &wrong.rule, wrong.key], wrong).into());
    }
    // Where there is one program no rule is asked.
    for name in rules.unused().into_iter().filter(|_| !findings.results.is_empty()) {
        ui.warn(format!(
            "[gate.rules] {name} matched nothing: no benchmark or metric here has that name"
        ));
    }
    conclude(findings, args, ui)
}

/// Judges the files, and returns which of them are of measurements that did not come to their end, and why.
fn judge_files(
    args: &Args,
    settings: &Settings,
    home: &Home,
    terms: &GateTerms,
    rules: &mut Rules,
    findings: &mut Findings,
    ui: &Ui,
) -> Result<Vec<Note>, CommandError> {
    let mut broken_off = Vec::new();
    let mut is_of_one_program = false;
    let mut new = Vec::new();
    for path in &args.records {
        let known_before = broken_off.len();
        let found = match content(path, None, ui)? {
            Content::Commits(commits) => commits,
            Content::Record(record) => {
                broken_off.extend(broken_off_by(&record, &path.display().to_string()));
                if record.kind == RecordKind::Comparison {
                    // It is within every margin of itself.
                    if record.is_of_one_program() {
                        findings.notes.extend(record.notes);
                        is_of_one_program = true;
                        continue;
                    }
                    let known = findings.results.len();
                    judge_interleaved(&record, rules, findings);
                    if findings.results.len() == known {
                        return Err(nothing(&path.display().to_string()));
                    }
                    continue;
                }
                measurements(*record)
            }
        };
        match &found[..] {
            [one] => {
                // One that was broken off is doubted.
                if broken_off.len() == known_before && !has_values(&one.record) {
                    return Err(nothing(&path.display().to_string()));
                }
                new.push(one.clone());
            }
            many => {
                return Err(CommandError::usage(format!(
                    "{} has results of {} commits, but only a record of one commit can be judged",
                    path.display(),
                    many.len()
                ))
                .hint(
                    "add it with `becalm history add`; then `becalm gate` without a file judges \
                     the history",
                ));
            }
        }
    }
    if !new.is_empty() {
        let of = EntryTerms {
            commit: args.commit.clone(),
            branch: Some(terms.branch.clone()),
            ..EntryTerms::default()
        };
        let measured: Vec<MeasuredSide<'_>> = new
            .iter()
            .map(|one| MeasuredSide {
                record: &one.record,
                entry: home.entry(one, &of, &terms.branch),
            })
            .collect();
        let mut store = args.store.open_if_there(settings)?;
        judge_by_history(&measured, store.as_mut(), terms, rules, findings)?;
    }
    if findings.results.is_empty() && !(is_of_one_program && broken_off.is_empty()) {
        return Err(nothing("it"));
    }
    Ok(broken_off)
}

/// Returns the branch to judge by if none is named: the main one, or if the history has nothing of it, the one that has
/// most.
fn branch_with_history(
    args: &Args,
    settings: &Settings,
    findings: &mut Findings,
) -> Result<String, CommandError> {
    let main = settings.branch.clone();
    if settings.is_branch_named {
        return Ok(main);
    }
    let Some(mut store) = args.store.open_if_there(settings)? else { return Ok(main) };
    let branches = store.branches()?;
    let most = branches.iter().max_by_key(|(_, entries)| *entries);
    match most {
        Some((most, _)) if branches.iter().all(|(name, _)| *name != main) => {
            let (branch, instead_of) = (most.clone(), main);
            findings
                .notes
                .push(GateNote::BranchWithHistory { branch: branch.clone(), instead_of }.into());
            Ok(branch)
        }
        _ => {
            if settings.is_only_branch {
                findings.notes.push(GateNote::OnlyBranch { branch: main.clone() }.into());
            }
            Ok(main)
        }
    }
}

/// Says whether a record of one side has a value, or a benchmark without one because its runs were cut off.
fn has_values(record: &Record) -> bool {
    !points(record).is_empty() || !cut_off(record).is_empty()
}

fn nothing(place: &str) -> CommandError {
    CommandError::measure(format!("{place} has no value that could be judged"))
}

impl From<GateError> for CommandError {
    fn from(error: GateError) -> Self {
        match error {
            GateError::Store(error) => error.into(),
            GateError::Record { .. } => Self::measure(error),
            GateError::NoSeries { ref branches, .. } if branches.is_empty() => {
                Self::measure(&error).hint("it is empty: `becalm history add FILE` fills it")
            }
            GateError::NoSeries { ref branches, .. } => Self::measure(&error).hint(format!(
                "it has {}; --branch, or [history] branch in becalm.toml, chooses the one to judge",
                branches.join(", ")
            )),
        }
    }
}

fn conclude(findings: Findings, args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let Findings { mut results, notes } = findings;
    put_worst_first(&mut results);
    let report = GateReport { confidence: args.confidence, results, notes };
    let outcome = report.outcome();
    let document = gate_document(&report, &WORDS);
    ui.print_either(args.json, &document, |style| gate_text(&report, style, ui.table_width()))?;
    Ok(match outcome {
        GateOutcome::Pass => Exit::Done,
        GateOutcome::Fail => Exit::No,
        GateOutcome::Inconclusive if args.allow_inconclusive => {
            ui.warn("the data do not allow a decision, which --allow-inconclusive lets pass");
            Exit::Done
        }
        GateOutcome::Inconclusive => Exit::Inconclusive,
    })
}
