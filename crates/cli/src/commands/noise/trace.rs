//! `becalm noise trace`: who takes time from a program, by name.

use std::time::Duration;

use becalm_lab::trace::{Mode, Tracer, explain, watched, watched_timeline, worst_of_cpus};
use becalm_machine::SysRoot;
use becalm_model::terms::{Goal, Terms, Unlimited};
use becalm_model::trace::{Trace, TraceCost};
use becalm_model::wire::{TraceDocument, json_text};
use becalm_model::{Record, RecordKind, TraceLimit, parse_duration};
use becalm_report::{
    TraceCostTold, WORDS, trace_html, trace_report_markdown, trace_text, watch_html,
    watch_markdown, watch_text,
};
use becalm_runner::monotonic_raw;
use becalm_session::{Request, Tracing, subjects};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::{MeasureFlags, checked, line_of, stop};
use crate::measuring::{conduct, interrupt};
use crate::ui::Ui;

/// A shorter watch shows too little.
const SHORTEST: Duration = Duration::from_millis(50);

/// Time after which no further round starts, unless the user says otherwise.
const BUDGET: Duration = Duration::from_secs(20);

/// Rounds that are made regardless of their duration, unless the user sets a number.
const MINIMUM: u32 = 10;

/// Which of the two subjects is traced; the other one shows what that costs.
const TRACED: usize = 1;

/// Trace the kernel and report by name who takes time: programs, kernel threads, interrupts,
/// softirqs, page faults, the hypervisor (needs root)
///
/// becalm runs the command again and again, every other time without the trace, so that you also
/// see what the trace costs. Without a command, becalm watches the CPUs for a while and reports
/// everything that would have interrupted a program on them; then only the flags `--duration`,
/// `--json`, `--export-html` and `--export-markdown` apply.
#[derive(Debug, clap::Args)]
#[command(mut_arg("resume", |resume| resume.hide(true)))]
pub(crate) struct Args {
    /// Program and arguments, after `--`
    #[arg(value_name = "COMMAND", last = true)]
    command: Vec<String>,

    /// How long to watch the CPUs if no command is given
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "10s", conflicts_with = "command")]
    duration: Duration,

    /// Trace every run, and do not measure what that costs
    #[arg(long)]
    no_cost: bool,

    #[command(flatten)]
    flags: MeasureFlags,
}

pub(crate) fn run(args: &Args, given: &[String], ui: &Ui) -> Result<Exit, CommandError> {
    if args.flags.resume.is_some() {
        return Err(CommandError::usage("a trace cannot be resumed"));
    }
    if !args.command.is_empty() {
        return trace(args, given, ui);
    }
    match not_of_watch(given) {
        None => watch(args, ui),
        Some(flag) => Err(CommandError::usage(format!(
            "{flag} applies to a command that is run and traced; without a command, becalm only \
             watches the CPUs"
        ))
        .hint("give the command after `--`, or drop the flag")),
    }
}

/// Returns the first flag that a watch would silently ignore.
fn not_of_watch(given: &[String]) -> Option<String> {
    const OF_WATCH: [&str; 5] =
        ["--duration", "--json", "--quiet", "--export-html", "--export-markdown"];
    let names = given.iter().filter_map(|word| word.split('=').next());
    let mut flags = names.filter(|name| name.starts_with('-') && *name != "--");
    flags.find(|flag| !OF_WATCH.contains(flag)).map(str::to_owned)
}

fn trace(args: &Args, given: &[String], ui: &Ui) -> Result<Exit, CommandError> {
    let mut terms = Terms { margin: 0.01, ..Terms::default() };
    args.flags.apply(&mut terms)?;
    let command = line_of(&args.command, &terms.runs);
    let (kind, copies, tracing) = if args.no_cost {
        (RecordKind::Run, 1, Tracing::Every)
    } else {
        (RecordKind::Comparison, 2, Tracing::Only(TRACED))
    };
    let mut subjects = subjects(&vec![command; copies], &terms.runs)?;
    if subjects.len() > copies {
        return Err(CommandError::usage(
            "only one command can be traced at a time, without parameters",
        ));
    }
    if let [untraced, traced] = subjects.as_mut_slice()
        && terms.runs.names.is_empty()
    {
        traced.name = format!("{} (traced)", untraced.name);
    }
    let unlimited = Unlimited { minimum: MINIMUM, budget: Some(BUDGET), goal: Goal::Budget };
    terms.stop = stop(&terms, &unlimited)?;
    let as_json = terms.exports.print;
    let request = Request {
        aa: !args.no_cost,
        tracing,
        ..Request::new("noise trace", kind, terms, subjects, given.to_vec())
    };
    let finished = conduct(request, ui)?.once_only();
    let is_measured = finished.record.runs.iter().any(|run| !run.warmup);
    // What failed before the first round is told by the error alone.
    if let Some(trace) = &finished.record.trace
        && (is_measured || finished.failure.is_none())
    {
        let record = &finished.record;
        let explanation = explain(record, trace);
        let cost = cost(record);
        let told = match &cost {
            Some(cost) => TraceCostTold::Measured(cost),
            None if args.no_cost => TraceCostTold::LeftOut,
            None => TraceCostTold::TooFewRounds(rounds_for_cost(record)),
        };
        if is_measured {
            // In place of the reports of any session, which have few sentences for a trace.
            let disturbed = &finished.disturbed;
            args.flags.exports.report.write(
                || trace_html(record, disturbed, trace, &explanation, told),
                || trace_report_markdown(record, disturbed, trace, &explanation, told),
            )?;
        }
        if as_json {
            let document = TraceDocument::of_session(record, trace, &explanation, cost, &WORDS);
            ui.print(&json_text(&document))?;
        } else {
            let text = trace_text(record, trace, &explanation, told, ui.style());
            ui.print(&text)?;
        }
    }
    finished.end(ui)
}

/// Returns traced against untraced, on the metric that decides.
fn cost(record: &Record) -> Option<TraceCost> {
    let one = record.comparisons.iter().find(|one| one.primary && one.candidate == TRACED)?;
    Some(TraceCost {
        metric: record.metrics.get(one.metric)?.name.clone(),
        ratio: one.ratio?,
        rounds: one.rounds,
    })
}

/// Returns how many rounds it takes to compare traced with untraced, if known.
fn rounds_for_cost(record: &Record) -> Option<u64> {
    let one = record.comparisons.iter().find(|one| one.primary && one.candidate == TRACED)?;
    Some(u64::from(one.rounds) + one.rounds_needed?)
}

fn duration(text: &str) -> Result<Duration, String> {
    let why = "the CPUs must be watched for at least 50ms";
    checked(parse_duration(text), |duration| *duration >= SHORTEST, why)
}

fn watch(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    args.flags.exports.report.check()?;
    let interrupt = interrupt()?;
    let root = SysRoot::default();
    let tracer = Tracer::start(&root, Mode::Watch)?;
    let started = monotonic_raw();
    let is_whole = interrupt.sleep(args.duration);
    let watched_for = monotonic_raw().saturating_sub(started);
    let mut recording = tracer.finish();
    if !is_whole {
        let (after, of) = (watched_for.as_secs_f64(), args.duration.as_secs_f64());
        recording.limits.push(TraceLimit::Stopped { after, of }.into());
    }
    let cpus = watched(&recording);
    let timelines = watched_timeline(&recording).into_iter().collect();
    let worst = worst_of_cpus(&cpus);
    let trace = Trace {
        events: recording.events,
        lost: recording.lost,
        timelines,
        limits: recording.limits,
        ..Trace::default()
    };
    args.flags.exports.report.write(
        || watch_html(&cpus, &worst, &trace, env!("CARGO_PKG_VERSION")),
        || watch_markdown(&cpus, &worst, &trace),
    )?;
    if args.flags.exports.json {
        ui.print(&json_text(&TraceDocument::of_watch(cpus, worst, &trace, &WORDS)))?;
    } else {
        ui.print(&watch_text(&cpus, &worst, &trace, ui.style()))?;
    }
    Ok(interrupt.signal().map_or(Exit::Done, Exit::Signal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_a_command_are_not_taken_in_silence() {
        let flag =
            |words: &str| not_of_watch(&words.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(flag("--quiet noise trace --duration=2s --json"), None);
        assert_eq!(flag("noise trace --export-html=r.html --export-markdown r.md"), None);
        assert_eq!(flag("noise trace --duration 2s --tune"), Some("--tune".to_owned()));
    }

    #[test]
    fn a_watch_has_some_length() {
        assert_eq!(duration("10s"), Ok(Duration::from_secs(10)));
        assert!(duration("10ms").unwrap_err().contains("at least 50ms"));
    }
}
