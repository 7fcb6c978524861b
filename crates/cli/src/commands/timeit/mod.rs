//! `becalm timeit`: how long does this statement take?

mod amount;

use becalm_model::RecordKind;
use becalm_model::terms::Terms;
use becalm_report::{Detail, Timed, comparison_text, loops_in_words, timeit_text};
use becalm_runner::timeit::{Language, Snippet};
use becalm_session::timeit::{Timeit, Tools};

use self::amount::AmountFlags;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::compare::margin;
use crate::flags::{ConditionFlags, ElsewhereFlags, ExportFlags, confidence};
use crate::measuring::{conduct, interrupt};
use crate::ui::Ui;

/// From this many seconds on, a line says how long it will take.
const LONG: f64 = 60.0;

/// Time a statement of Python, JavaScript, C, Rust and others
///
/// Languages: Python, JavaScript, Ruby, Perl, shell, C, C++ and Rust.
///
/// It works like `pyperf timeit`, and has its options: a first process finds out how many loops
/// take 0.1 s; then each of 20 processes gives 3 values of that many loops, after one that is not
/// used. The process is the unit of inference. Code in C, C++ and Rust is compiled first; there,
/// and in JavaScript, pass what the statement computes to `becalm_use(...)`, or the compiler may
/// remove it (in C and C++, `becalm_change(x)` makes it forget what it knows about a variable).
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The statement; several run one after the other in the same loop
    #[arg(value_name = "STMT", required = true)]
    statement: Vec<String>,

    /// Language of the statement [default: guessed from --interpreter, else python]
    #[arg(long, value_name = "LANGUAGE", value_parser = language, help_heading = "Statement")]
    lang: Option<Language>,

    /// Code before the first loop of each value; may be repeated. A line with `#include` or another
    /// directive goes to the top of a C or C++ file
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

    /// How often the statement itself repeats what you want to time; the result is divided by it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Statement")]
    inner_loops: u32,

    /// Write the statement N times into the loop, to reduce the cost of the loop; the result is
    /// divided by N
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Statement")]
    duplicate: u32,

    /// Name of the benchmark [default: the statement]
    #[arg(long, value_name = "NAME", help_heading = "Statement")]
    name: Option<String>,

    /// Interpreter or compiler, with its arguments [default: the usual one of the language]
    #[arg(long, alias = "python", value_name = "PROGRAM", help_heading = "Interpreter")]
    interpreter: Option<String>,

    /// Compare with the same statement under this interpreter or compiler, which is the baseline:
    /// in rounds of random order until the answer is known, by the rules of `becalm compare`, for
    /// at most twice as many processes
    #[arg(long, value_name = "PROGRAM", help_heading = "Interpreter")]
    compare_to: Option<String>,

    /// Flags of the compiler [default: -O2 for C and C++, -O for Rust]
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, help_heading = "Interpreter")]
    flags: Vec<String>,

    #[command(flatten)]
    amount: AmountFlags,

    /// With --compare-to: smallest relative change that matters; 0 tests for any difference
    #[arg(long, value_name = "SHARE", value_parser = margin, default_value = "1%", help_heading = "Deciding")]
    margin: f64,

    /// Confidence of intervals and verdicts
    #[arg(long, value_name = "SHARE", value_parser = confidence, default_value = "95%", help_heading = "Deciding")]
    confidence: f64,

    #[command(flatten)]
    conditions: ConditionFlags,

    #[command(flatten)]
    exports: ExportFlags,

    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereFlags,
}

fn language(name: &str) -> Result<Language, String> {
    Language::of_name(name).ok_or_else(|| {
        let names: Vec<&str> = Language::ALL.into_iter().map(Language::name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

pub(crate) fn run(args: &Args, given: &[String], ui: &Ui) -> Result<Exit, CommandError> {
    let tools =
        Tools::of(args.lang, args.interpreter.as_deref(), args.compare_to.as_deref(), &args.flags)?;
    let snippet = Snippet {
        language: tools.language,
        global: args.global.clone(),
        setup: args.setup.clone(),
        statement: args.statement.clone(),
        teardown: args.teardown.clone(),
        inner_loops: args.inner_loops,
        duplicate: args.duplicate,
    };
    let mut terms = Terms { confidence: args.confidence, margin: args.margin, ..Terms::default() };
    args.conditions.apply(&mut terms.runs);
    args.exports.apply(&mut terms.exports);
    let (name, wish) = (args.name.as_deref(), args.amount.wish());
    let interrupt = interrupt()?;
    // What it has made is removed when it is dropped.
    let timeit = Timeit::prepare(&snippet, &tools, name, &wish, terms, interrupt)?;
    announce(&timeit, ui);
    let timed = Timed {
        loops: timeit.loops().map(loops_in_words).collect(),
        values: timeit.values(),
        is_compiled: tools.language.is_compiled() || tools.language == Language::Node,
    };
    let finished = conduct(timeit.request(given.to_vec()), ui)?.once_only();
    finished.report(
        |record, disturbed| match record.kind {
            RecordKind::Comparison => comparison_text(record, disturbed, Detail::Short, ui.style()),
            _ => timeit_text(record, disturbed, &timed, ui.style()),
        },
        ui,
    )
}

/// Says how long it will take, if that is long.
fn announce(timeit: &Timeit, ui: &Ui) {
    let (slowest, total) = timeit.seconds();
    if total >= LONG {
        ui.say(format!(
            "note: a value takes {slowest:.2} s, so this will take up to {:.0} minutes; --fast, \
             -p, -n, -w or --loops 1 shorten it",
            (total / 60.0).ceil()
        ));
    }
}
