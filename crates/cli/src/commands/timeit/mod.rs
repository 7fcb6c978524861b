//! `becalm timeit`: how long does this statement take?

mod amount;
mod workers;

use std::ffi::OsString;
use std::time::Duration;

use becalm_model::conditions::{OwnTiming, StatementWorker};
use becalm_model::terms::{Goal, Stop, SubjectSource, Terms};
use becalm_model::{RecordKind, Subject};
use becalm_report::{Timed, comparison_text, loops_in_words, timeit_text};
use becalm_runner::timeit::{Language, Rule, Snippet, Usual};
use becalm_session::{Request, Statement, surroundings};

use self::amount::{Amount, AmountFlags};
use self::workers::{Ready, ReadyWorker, Tools};
use crate::caller;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::compare::margin;
use crate::flags::{ConditionFlags, ExportFlags, confidence};
use crate::measuring::{as_texts, conduct};
use crate::ui::Ui;

/// Rounds of a comparison before its first look.
const MINIMUM: u32 = 8;

/// From this duration on the user is told how long it will take.
const LONG: Duration = Duration::from_secs(60);

/// Time a statement of Python, JavaScript, Ruby, Perl, shell, C, C++ or Rust
///
/// As `pyperf timeit` does, and with its options: a first process finds out how many loops take 0.1 s; then
/// each of 20 processes gives 3 values of so many loops, after one that is not used. The process is the unit
/// of inference. Code in C, C++ and Rust is compiled first; there, and in JavaScript, hand what the statement
/// computes to `becalm_use(...)`, or the compiler may leave it out (`becalm_change(x)` in C and C++ makes it
/// forget what it knows of a variable).
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The statement; several are one after the other in the same loop
    #[arg(value_name = "STMT", required = true)]
    statement: Vec<String>,

    /// Language of the statement; guessed from --interpreter otherwise, else python
    #[arg(long, value_name = "LANGUAGE", value_parser = language, help_heading = "Statement")]
    lang: Option<Language>,

    /// Code before the first loop of each value, several times one after the other; a line with `#include`
    /// or another directive goes to the top of a C or C++ file
    #[arg(
        short,
        long,
        value_name = "STMT",
        allow_hyphen_values = true,
        help_heading = "Statement"
    )]
    setup: Vec<String>,

    /// Code after the last loop of each value
    #[arg(long, value_name = "STMT", allow_hyphen_values = true, help_heading = "Statement")]
    teardown: Vec<String>,

    /// Code outside of functions, for C, C++ and Rust: functions and types
    #[arg(long, value_name = "CODE", allow_hyphen_values = true, help_heading = "Statement")]
    global: Vec<String>,

    /// How often the statement itself repeats what is to be timed; the result is divided by it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Statement")]
    inner_loops: u32,

    /// Write the statement N times into the loop, which then costs the less; the result is divided by it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Statement")]
    duplicate: u32,

    /// Name of the benchmark, instead of the statement
    #[arg(long, value_name = "NAME", help_heading = "Statement")]
    name: Option<String>,

    /// Interpreter or compiler, with arguments of its own, instead of the usual one of the language
    #[arg(long, alias = "python", value_name = "PROGRAM", help_heading = "Interpreter")]
    interpreter: Option<String>,

    /// Compare with the same statement under this interpreter or compiler, which is the baseline: rounds in
    /// random order until the answer is known, by the rules of `becalm compare`, or for twice as many processes
    #[arg(long, value_name = "PROGRAM", help_heading = "Interpreter")]
    compare_to: Option<String>,

    /// Flags of the compiler, instead of -O2 (C, C++) or -O (Rust)
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, help_heading = "Interpreter")]
    flags: Vec<String>,

    #[command(flatten)]
    amount: AmountFlags,

    /// With --compare-to: smallest relative change that matters; 0 asks for a difference only
    #[arg(long, value_name = "SHARE", value_parser = margin, default_value = "1%", help_heading = "Deciding")]
    margin: f64,

    /// Confidence of intervals and verdicts
    #[arg(long, value_name = "SHARE", value_parser = confidence, default_value = "95%", help_heading = "Deciding")]
    confidence: f64,

    #[command(flatten)]
    conditions: ConditionFlags,

    #[command(flatten)]
    exports: ExportFlags,
}

fn language(name: &str) -> Result<Language, String> {
    Language::of_name(name).ok_or_else(|| {
        let names: Vec<&str> = Language::ALL.into_iter().map(Language::name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

pub(crate) fn run(args: &Args, given: &[OsString], ui: &Ui) -> Result<Exit, CommandError> {
    let tools =
        Tools::of(args.lang, args.interpreter.as_deref(), args.compare_to.as_deref(), &args.flags)?;
    let snippet = snippet(args, tools.language)?;
    let name = benchmark_name(args.name.as_deref(), &snippet)?;
    let is_comparison = args.compare_to.is_some();
    let mut terms = Terms {
        source: SubjectSource::Statement,
        confidence: args.confidence,
        margin: if is_comparison { args.margin } else { 0.0 },
        ..Terms::default()
    };
    args.conditions.apply(&mut terms.runs);
    args.exports.apply(&mut terms.exports);
    let interrupt = caller::interrupt()?;
    let surroundings = surroundings(&terms.runs)?;
    let ready = workers::ready(&snippet, &tools, &args.amount, &surroundings, interrupt)?;
    let usual = Usual::of(ready.workers.iter().map(|worker| worker.version.as_str()));
    let amount = Amount::of(&args.amount, usual, is_comparison);
    announce(&ready, &amount, ui);
    let subjects = ready
        .workers
        .iter()
        .map(|worker| Subject {
            name: worker.name.clone(),
            command: worker.tool.clone(),
            parameters: Vec::new(),
        })
        .collect();
    let commands = ready
        .workers
        .iter()
        .map(|worker| worker.worker.run(worker.loops, amount.warmups, amount.values));
    let statement = Statement {
        commands: commands.collect(),
        rule: Rule {
            name,
            operations: snippet.operations(),
            timing: own_timing(&snippet, &ready, &amount),
        },
    };
    let timed = Timed {
        loops: ready.workers.iter().map(|worker| loops_in_words(worker.loops)).collect(),
        values: amount.values,
        is_compiled: tools.language.is_compiled() || tools.language == Language::Node,
    };
    let kind = if is_comparison { RecordKind::Comparison } else { RecordKind::Run };
    terms.stop = stop(&amount, is_comparison);
    let request = Request {
        statement: Some(statement),
        ..Request::new("timeit", kind, terms, subjects, as_texts(given))
    };
    let finished = conduct(request, ui)?.once_only();
    finished.report(
        |record, disturbed| {
            if is_comparison {
                comparison_text(record, disturbed, ui.style())
            } else {
                timeit_text(record, disturbed, &timed, ui.style())
            }
        },
        ui,
    )
}

fn snippet(args: &Args, language: Language) -> Result<Snippet, CommandError> {
    if !args.global.is_empty() && !language.is_compiled() {
        return Err(CommandError::usage("--global is for C, C++ and Rust; use --setup"));
    }
    let snippet = Snippet {
        language,
        global: args.global.clone(),
        setup: args.setup.clone(),
        statement: args.statement.clone(),
        teardown: args.teardown.clone(),
        inner_loops: args.inner_loops,
        duplicate: args.duplicate,
    };
    if snippet.is_empty() {
        return Err(CommandError::usage("the statement is empty"));
    }
    Ok(snippet)
}

/// Returns what the benchmark is called: the metric of the record, which must not be taken for another one.
fn benchmark_name(given: Option<&str>, snippet: &Snippet) -> Result<String, CommandError> {
    let name = given.map_or_else(|| snippet.shown(), |name| name.trim().to_owned());
    if name.is_empty() {
        return Err(CommandError::usage("--name: a benchmark needs a name"));
    }
    if becalm_model::metric::is_builtin(&name) {
        return Err(CommandError::usage(format!(
            "`{name}` is what becalm calls a metric of its own"
        ))
        .hint("give the benchmark another name, with --name"));
    }
    Ok(name)
}

/// Returns when to end: a comparison when the answer is known, unless the user says after how many processes.
fn stop(amount: &Amount, is_comparison: bool) -> Stop {
    if is_comparison && !amount.is_exact {
        Stop::Until {
            minimum: MINIMUM.min(amount.processes),
            maximum: Some(amount.processes),
            budget: None,
            goal: Goal::Verdict,
        }
    } else {
        Stop::Rounds(amount.processes)
    }
}

/// Says how long it will take, where that is long.
fn announce(ready: &Ready, amount: &Amount, ui: &Ui) {
    let round: f64 = ready.workers.iter().map(|one| one.value).sum::<f64>() * amount.per_process();
    let rounds = f64::from(amount.processes) + 1.0;
    let Ok(total) = Duration::try_from_secs_f64(round * rounds) else { return };
    if total < LONG {
        return;
    }
    let slowest = ready.workers.iter().map(|one| one.value).fold(0.0, f64::max);
    ui.say(format!(
        "note: a value takes {slowest:.2} s, so this will take up to {:.0} minutes; --fast, -p, -n, -w or --loops 1 \
         make it shorter",
        (total.as_secs_f64() / 60.0).ceil()
    ));
}

/// Returns how the statement is timed, for the record.
fn own_timing(snippet: &Snippet, ready: &Ready, amount: &Amount) -> OwnTiming {
    let worker = |one: &ReadyWorker| StatementWorker {
        version: if one.version.is_empty() { one.name.clone() } else { one.version.clone() },
        loops: one.loops,
    };
    OwnTiming::Statement {
        language: snippet.language.name().to_owned(),
        values: amount.values,
        warmups: amount.warmups,
        workers: ready.workers.iter().map(worker).collect(),
        operations: Some(snippet.operations()).filter(|&operations| operations > 1.0),
    }
}
