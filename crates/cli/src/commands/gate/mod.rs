//! `becalm gate`: results against rules, as an exit code.

mod changes;
mod comparison;
mod history;

use std::path::PathBuf;

use becalm_model::gate::{GateBy, GateOutcome, GateReport, GateResult, GateSeries};
use becalm_model::wire::gate_document;
use becalm_model::{RecordKind, Unit};
use becalm_report::{Style, gate_text, interruption, note_sentence};
use clap::builder::NonEmptyStringValueParser;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::gate::{Rule, Rules, against_limit, next, put_worst_first};
use crate::history::{Content, Settings, StoreFlags, content, measurements};
use crate::measuring::confidence;
use crate::ui::Ui;

/// Largest change for the worse that is let through where nobody says.
const MARGIN: f64 = 0.01;

/// Judge results by the rules of becalm.toml, and say yes or no with the exit code
///
/// A record of `becalm compare` is judged by its intervals: it fails where all of an interval exceeds the margin. A
/// record of one side is judged by the history of the same benchmark on the same kind of machine: it fails where it
/// is beyond what its level may give by more than the margin. Without a record the open changes of the history
/// are judged, and what was cut off at its timeout at the newest commit is not decided. Exit code 0: within the
/// rules; 1: not; 3: the data do not tell.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files that `becalm compare` or `run` saved, or results of other tools; none for the changes of the history
    #[arg(value_name = "RECORD")]
    records: Vec<PathBuf>,
    #[command(flatten)]
    store: StoreFlags,
    /// The branch whose history is looked at; by default that of becalm.toml, or main
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// The commit that was measured, if it is not the one that is checked out: any name that git knows, or a name of
    /// your own
    #[arg(long, value_name = "REV", requires = "records", value_parser = NonEmptyStringValueParser::new())]
    commit: Option<String>,
    /// Largest relative change for the worse that is let through, in place of what becalm.toml says
    #[arg(long, value_name = "SHARE", value_parser = super::compare::margin)]
    margin: Option<f64>,
    /// Confidence of all intervals from the history together
    #[arg(long, value_name = "SHARE", value_parser = confidence, default_value = "95%")]
    confidence: f64,
    /// Without a record: only changes among the last so many runs of a series
    #[arg(long, value_name = "N", default_value_t = 30)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    last: u32,
    /// Let pass what the data do not tell, with a warning
    #[arg(long)]
    allow_inconclusive: bool,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

/// What was judged so far.
#[derive(Debug, Default)]
struct Judged {
    results: Vec<GateResult>,
    notes: Vec<String>,
    /// Files of measurements that did not come to their end, and why.
    broken_off: Vec<String>,
}

impl Judged {
    /// What did not come to its end may say no, but not yes: a program that crashes is never slow.
    fn doubt_what_was_broken_off(&mut self) {
        if self.broken_off.is_empty() {
            return;
        }
        for result in &mut self.results {
            result.doubt("the measurement was broken off");
        }
        self.notes.extend(self.broken_off.iter().map(|one| format!("Broken off: {one}.")));
    }
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let settings = Settings::read()?;
    let mut rules = Rules::read(args.margin)?;
    let mut judged = Judged::default();
    if args.records.is_empty() {
        changes::judge(args, &settings, &mut rules, &mut judged, ui)?;
    } else {
        let mut new = Vec::new();
        for path in &args.records {
            let found = match content(path, None, ui)? {
                Content::Commits(commits) => commits,
                Content::Record(record) => {
                    let left_out = record.notes.iter().filter(|note| note.is_of_left_out());
                    let whys = record.interrupted.iter().map(interruption);
                    let whys = whys.chain(left_out.map(note_sentence));
                    judged.broken_off.extend(whys.map(|why| format!("{}: {why}", path.display())));
                    if record.kind == RecordKind::Comparison {
                        let known = judged.results.len();
                        comparison::judge(&record, &mut rules, &mut judged);
                        if judged.results.len() == known && !record.is_of_one_program() {
                            return Err(nothing(&path.display().to_string()));
                        }
                        continue;
                    }
                    measurements(*record)
                }
            };
            match &found[..] {
                [one] => new.push(one.clone()),
                many => {
                    return Err(CommandError::usage(format!(
                        "{} has results of {} commits, and a record is of one",
                        path.display(),
                        many.len()
                    ))
                    .hint("add it with `becalm history add`; `becalm gate` without a file judges the history"));
                }
            }
        }
        if !new.is_empty() {
            history::judge(&new, args, &settings, &mut rules, &mut judged)?;
        }
        let is_whole = judged.broken_off.is_empty();
        if judged.results.is_empty() && (judged.notes.is_empty() || !is_whole) {
            return Err(nothing("it"));
        }
    }
    judged.doubt_what_was_broken_off();
    rules.check()?;
    // Where there is one program no rule is asked.
    for name in rules.unused().into_iter().filter(|_| !judged.results.is_empty()) {
        ui.warn(format!(
            "nothing was judged by [gate.rules] {name}: no benchmark or metric here has that name"
        ));
    }
    conclude(judged, args, ui)
}

fn nothing(place: &str) -> CommandError {
    CommandError::measure(format!("there is no value in {place} that could be judged"))
}

fn conclude(judged: Judged, args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let Judged { mut results, notes, broken_off } = judged;
    put_worst_first(&mut results);
    let advice = results.first().and_then(next);
    let mut report = GateReport { confidence: args.confidence, results, next: advice, notes };
    let outcome = report.outcome();
    if outcome == GateOutcome::Inconclusive && !broken_off.is_empty() {
        report.next = Some("Measure again, to the end.".to_owned());
    }
    if args.json {
        ui.print_json(&gate_document(&report))?;
    } else {
        let style = Style { width: ui.table_width(), ..*ui.style() };
        ui.print(&gate_text(&report, &style))?;
    }
    Ok(match outcome {
        GateOutcome::Pass => Exit::Done,
        GateOutcome::Fail => Exit::No,
        GateOutcome::Inconclusive if args.allow_inconclusive => {
            ui.warn("the data do not tell, which --allow-inconclusive lets pass");
            Exit::Done
        }
        GateOutcome::Inconclusive => Exit::Inconclusive,
    })
}

/// Judges a value by the limits of a rule.
fn limits(value: f64, rule: &Rule, of: &GateSeries, judged: &mut Judged) {
    for limit in &rule.limits {
        let (outcome, limit) = against_limit(value, *limit);
        let reason =
            if outcome == GateOutcome::Fail { "beyond the limit" } else { "within the limit" };
        judged.results.push(GateResult {
            value: Some(value),
            reference: Some(limit),
            ..GateResult::new(of.clone(), GateBy::Limit, outcome, reason)
        });
    }
}

/// Names what is judged.
fn named(
    benchmark: &str,
    metric: &str,
    unit: &Unit,
    parameters: &[(String, String)],
) -> GateSeries {
    GateSeries {
        benchmark: benchmark.to_owned(),
        metric: metric.to_owned(),
        unit: unit.clone(),
        parameters: parameters.iter().cloned().collect(),
    }
}
