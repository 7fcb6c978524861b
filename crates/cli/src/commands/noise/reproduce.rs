//! `becalm noise reproduce`: published experiments about noise, on this machine.

use std::time::Duration;

use becalm_lab::reproduce::{
    ARTICLES, Article, Bench, Effort, Machine, MachineError, Permission, ReproduceError,
    ReproduceProgress, reproduce,
};
use becalm_machine::tune::Wait;
use becalm_model::parse_duration;
use becalm_model::wire::ReproduceDocument;
use becalm_report::{WORDS, reproduce_html, reproduce_markdown, reproduce_text};
use becalm_runner::Interrupt;
use becalm_session::{Machine as Here, TunedError, queue};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::{ElsewhereFlags, ReportFlags, WaitFlag};
use crate::measuring::interrupt;
use crate::tuning::report;
use crate::ui::Ui;

/// Repeat the noise experiments of published articles, and show this machine's figures beside theirs
///
/// Configurations take turns in random order. Rows that need root, bare metal or SMT are skipped if
/// it is missing, with the reason. becalm changes settings of the machine as `becalm tune` does,
/// for one run at a time, and puts them back after it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The articles, by their authors
    #[arg(required = true, value_name = "ARTICLE", value_parser = names())]
    articles: Vec<&'static [Article]>,

    /// Only check that everything runs: a few short runs, whose figures mean nothing
    #[arg(long)]
    quick: bool,

    /// Start no further round of runs of an article after this time
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "100s", conflicts_with = "quick")]
    budget: Duration,

    /// Leave the settings of the machine unchanged; rows that need others are skipped
    #[arg(long)]
    no_tune: bool,

    #[command(flatten)]
    wait: WaitFlag,

    /// Seed of the order of the runs
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Print the tables and all values as JSON, one line for each article
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    report: ReportFlags,

    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereFlags,
}

/// How long a run waits while another becalm tunes the machine, by default.
const PATIENCE: Duration = Duration::from_secs(20);

/// What stands for every article.
const ALL: &str = "all";

fn names() -> impl TypedValueParser<Value = &'static [Article]> {
    let one = |article: &Article| {
        let Article { name, author, title, .. } = article;
        PossibleValue::new(*name).help(format!("{author}: {title}"))
    };
    let all = PossibleValue::new(ALL).help("All of them, one after the other");
    PossibleValuesParser::new(ARTICLES.iter().map(one).chain([all])).map(|name| {
        let chosen = ARTICLES.iter().position(|article| article.name == name);
        chosen.map_or(&ARTICLES[..], |at| &ARTICLES[at..=at])
    })
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    args.report.check()?;
    let interrupt = interrupt()?;
    let here = Here::read()?;
    let mut documents = Vec::new();
    let mut failed = None;
    for article in args.articles.iter().copied().flatten() {
        match measured(args, article, &here, interrupt, ui) {
            Ok(document) => documents.push(document),
            Err(error) => failed = Some(error),
        }
        if failed.is_some() || interrupt.signal().is_some() {
            break;
        }
    }
    ui.progress_line("");
    let signal =
        interrupt.signal().filter(|_| documents.iter().any(|one| one.interrupted.is_some()));
    if args.json {
        documents.iter().try_for_each(|document| ui.print(&json(document)))?;
    }
    // One that was stopped before it measured anything has nothing to show.
    documents.retain(|one| signal.is_none() || !one.experiments.is_empty());
    if !documents.is_empty() {
        args.report.write(
            || reproduce_html(&documents, env!("CARGO_PKG_VERSION")),
            || reproduce_markdown(&documents),
        )?;
        if !args.json {
            ui.print(&reproduce_text(&documents, ui.style()))?;
        }
    }
    match failed {
        None => Ok(signal.map_or(Exit::Done, |signal| stopped(signal, ui))),
        Some(ReproduceError::Interrupted(signal)) => Ok(stopped(signal, ui)),
        Some(ReproduceError::Machine(MachineError::NotRestored(recovered))) => {
            Ok(report(&recovered, ui))
        }
        Some(ReproduceError::Machine(MachineError::Tune(source))) => {
            Err(TunedError::Begin { source, signal: interrupt.signal() }.into())
        }
        Some(ReproduceError::Machine(MachineError::Journal(error))) => {
            Err(TunedError::NotRestored(error).into())
        }
        Some(ReproduceError::Machine(MachineError::Turn(error))) => {
            Err(TunedError::from(error).into())
        }
        Some(error @ ReproduceError::Broken(_)) => Err(CommandError::measure(error)),
    }
}

fn stopped(signal: i32, ui: &Ui) -> Exit {
    ui.say("Stopped; the machine is as it was.");
    Exit::Signal(signal)
}

fn measured(
    args: &Args,
    article: &Article,
    here: &Here,
    interrupt: &Interrupt,
    ui: &Ui,
) -> Result<ReproduceDocument, ReproduceError> {
    let permission =
        if args.no_tune { Permission::NotWanted } else { Permission::of_this_process(&here.root) };
    let machine = Machine {
        root: &here.root,
        topology: &here.topology,
        permission,
        wait: args.wait.wait.map_or(Wait::For(PATIENCE), queue),
        stop: &|| interrupt.signal().is_some(),
    };
    let becalm = std::env::current_exe().map_err(|error| {
        ReproduceError::Broken(format!("cannot find becalm's own program file: {error}"))
    })?;
    let bench = Bench::new(
        machine,
        becalm.display().to_string(),
        interrupt,
        &std::env::vars_os().collect::<Vec<_>>(),
        args.seed,
    )?;
    let effort = if args.quick { Effort::Quick } else { Effort::Full(args.budget) };
    let mut tell = |progress: &ReproduceProgress<'_>| {
        let ReproduceProgress { experiment, done, of } = progress;
        ui.progress_line(&format!("{}: {experiment}: run {} of {of}", article.name, done + 1));
    };
    reproduce(article, &bench, &here.facts, effort, &WORDS, &mut tell)
}

fn json(document: &ReproduceDocument) -> String {
    let mut text = serde_json::to_string(document).expect("plain values are JSON");
    text.push('\n');
    text
}
