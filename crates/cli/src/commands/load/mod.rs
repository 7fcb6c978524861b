//! `becalm load`: requests to a server at a rate of their own.

mod apart;
mod archetype;
mod asked;
mod connections;
mod demo;
mod find;
mod machine;
mod requests;
mod wanted;

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use becalm_load::{
    About, Live, LoadError, Loaded, TargetError, document, load, seconds_csv, write_log,
};
use becalm_model::load::{LoadRunDocument, LoadTerms, Objective, Rates};
use becalm_model::parse_duration;
use becalm_model::wire::json_text;
use becalm_report::{
    LoadProgress, distrust, load_html, load_markdown, load_progress_line, load_text,
};
use becalm_session::{Machine, files};

use self::archetype::ArchetypeFlag;
use self::connections::ConnectionFlags;
use self::requests::RequestFlags;
use self::wanted::Asked;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::{ElsewhereFlags, ReportFlags, checked};
use crate::measuring::interrupt;
use crate::ui::Ui;
use crate::written::check_files;

/// Load a server at a constant rate, whether or not it keeps up
///
/// Each request has a time at which it is due. Response time counts from there to the last byte of the answer, service time
/// from the first byte of the request, and lag is what lies between: it is the generator's, not the server's. If the lag is
/// not negligible, or a request was never sent, the result is `invalid` and the exit code 4.
///
/// Guide: docs/LOAD.md
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where the requests go: http://HOST:PORT/PATH, or https
    #[arg(required_unless_present_any = ["scenario", "demo"])]
    url: Option<String>,

    /// Send the load [load.NAME] of becalm.toml; other flags change it
    #[arg(long, value_name = "NAME", conflicts_with = "replay")]
    scenario: Option<String>,

    /// Requests per second: 2000; 100..2000 rises; 500,1000 are phases of equal length; 100..2000:30s,2000:2m
    /// says how long each phase is
    #[arg(long, value_name = "RATE", required_unless_present_any = ["replay", "find", "scenario", "archetype", "demo"])]
    rate: Option<Rates>,

    /// Measure the capacity of the server, and send it a load like one in production
    #[arg(long, value_enum, conflicts_with_all = ["rate", "replay", "find", "scenario", "arrivals"])]
    archetype: Option<ArchetypeFlag>,

    /// Length of the schedule: how long becalm sends requests [default: 10s; 30s with
    /// --archetype]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    duration: Option<Duration>,

    /// How requests follow each other: at random, as independent users arrive, or evenly [default: poisson]
    #[arg(long, value_enum)]
    arrivals: Option<ArrivalsFlag>,

    /// Send requests at the times in a file: seconds from the start, one per line
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rate", "duration", "arrivals"])]
    replay: Option<PathBuf>,

    /// Seed of the random arrivals; the same seed gives the same times [default: from the clock]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    #[command(flatten)]
    requests: RequestFlags,

    #[command(flatten)]
    connections: ConnectionFlags,

    /// Objective that the server has to meet: 'p99 < 20ms', 'max < 1s', 'errors < 0.1%'; may be
    /// repeated. The exit code is 1 if one is missed
    #[arg(long, value_name = "OBJECTIVE")]
    objective: Vec<Objective>,

    /// Find the highest rate that meets this objective, such as 'p99 < 20ms'; --rate 100..5000 is the
    /// range that is searched
    #[arg(long, value_name = "OBJECTIVE", conflicts_with_all = ["replay", "duration", "objective", "export_hdr", "export_csv"])]
    find: Option<Objective>,

    /// Time that --find may take
    #[arg(long, value_name = "TIME", default_value = "2m", requires = "find", value_parser = duration)]
    max_time: Duration,

    /// Show with a built-in server, in half a minute, what it looks like if the server or the generator stops
    #[arg(long, conflicts_with_all = NOT_IN_DEMO)]
    demo: bool,

    /// Print everything as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Save everything as JSON
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    export_json: Option<PathBuf>,

    /// Save the histograms of each second as an HdrHistogram log
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    export_hdr: Option<PathBuf>,

    /// Save the figures of each second as CSV
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    export_csv: Option<PathBuf>,

    #[command(flatten)]
    report: ReportFlags,

    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereFlags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ArrivalsFlag {
    /// At random
    Poisson,
    /// At equal distances
    Even,
}

/// Everything but the length: the demonstration has a server and loads of its own.
const NOT_IN_DEMO: &[&str] = &[
    "url",
    "scenario",
    "rate",
    "archetype",
    "arrivals",
    "replay",
    "seed",
    "method",
    "header",
    "body",
    "body_file",
    "grpc",
    "requests",
    "values",
    "user",
    "bearer",
    "follow",
    "expect_status",
    "expect_body",
    "expect_exact_body",
    "timeout",
    "connections",
    "new_connections",
    "unix_socket",
    "http2",
    "streams",
    "cacert",
    "insecure",
    "threads",
    "batch",
    "cpus",
    "keep_awake",
    "objective",
    "find",
    "json",
    "export_json",
    "export_hdr",
    "export_csv",
    "export_html",
    "export_markdown",
];

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    if args.demo {
        return demo::run(args, ui);
    }
    check_files(
        [&args.export_json, &args.export_hdr, &args.export_csv]
            .into_iter()
            .chain([&args.report.export_html, &args.report.export_markdown])
            .flatten(),
    )?;
    if let Some(objective) = &args.find {
        return find::run(args, objective, ui);
    }
    let mut asked = Asked::of(args)?;
    let target = asked.target()?;
    let machine = Machine::read()?;
    let cpus = args.connections.cpus.as_ref();
    let (place, _awake) = machine::prepare(&machine, &target, cpus, &mut asked)?;
    let seed = args.seed.unwrap_or_else(asked::seed_of_now);
    let archetype = args
        .archetype
        .map(|one| archetype::settle(one, args.duration, &mut asked, &target, seed))
        .transpose()?;
    let terms = LoadTerms { archetype: archetype.map(|(terms, _)| terms), ..asked.terms(seed) };
    let highest_rate = asked.scenario.highest_rate();
    let mut plan = asked.plan(target, asked.schedule(seed), highest_rate, seed)?;
    if let Some((_, sent)) = archetype {
        plan.requests = plan.requests.starting_at(sent);
    }
    let started = SystemTime::now();
    let interrupt = interrupt()?;
    let loaded = load(plan, interrupt, &mut |live| {
        ui.progress_line(&load_progress_line(&progress(live, &terms), ui.style()));
    });
    ui.progress_line("");
    let loaded = loaded.map_err(not_loaded)?;
    let about = About {
        becalm: env!("CARGO_PKG_VERSION"),
        started_at: started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
        machine: machine.facts,
        terms,
        place: Some(place),
        objectives: &args.objective,
        signal: interrupt.signal(),
        words: distrust,
    };
    let document = document(&loaded, about);
    // What cannot be saved is still shown.
    let saved = args.save(&loaded, &document, started);
    ui.print_either(args.json, &document, |style| load_text(&document, style))?;
    saved?;
    Ok(exit(&document))
}

/// An answer to a question needs a valid load, and figures need answers.
fn exit(document: &LoadRunDocument) -> Exit {
    if let Some(signal) = document.signal {
        Exit::Signal(signal)
    } else if !document.is_valid() || document.counts.answered == 0 {
        Exit::CouldNotMeasure
    } else if document.keeps_objectives() {
        Exit::Done
    } else {
        Exit::No
    }
}

impl Args {
    fn save(
        &self,
        loaded: &Loaded,
        document: &LoadRunDocument,
        started: SystemTime,
    ) -> Result<(), CommandError> {
        if let Some(path) = &self.export_json {
            files::write_atomically(path, &json_text(document))?;
        }
        if let Some(path) = &self.export_hdr {
            let mut log = Vec::new();
            let reasons = document.fidelity.reasons.iter().map(|one| distrust(one.get()));
            let silence = document.errors.first().filter(|_| document.counts.answered == 0);
            let reasons: Vec<String> = reasons
                .chain(silence.map(|one| format!("no answer: {}", one.in_words())))
                .collect();
            write_log(&mut log, started, &loaded.seconds, &reasons)
                .map_err(CommandError::measure)?;
            files::write_bytes_atomically(path, &log)?;
        }
        if let Some(path) = &self.export_csv {
            files::write_atomically(path, &seconds_csv(&loaded.seconds))?;
        }
        let html = || load_html(document, env!("CARGO_PKG_VERSION"));
        self.report.write(html, || load_markdown(document))
    }
}

fn progress(live: &Live<'_>, terms: &LoadTerms) -> LoadProgress {
    let window = live.window.as_secs_f64().max(f64::MIN_POSITIVE);
    let counts = &live.recent.counts;
    LoadProgress {
        elapsed: live.elapsed,
        duration: Duration::from_secs_f64(terms.duration),
        asked: asked::rate_at(&terms.stages, live.elapsed.as_secs_f64())
            .unwrap_or(counts.scheduled as f64 / window),
        answered: counts.answered as f64 / window,
        response_p50: live.recent.response.quantile(0.5),
        response_p99: live.recent.response.quantile(0.99),
        lag_p99: live.recent.lag.quantile(0.99).map(|one| one.value),
        errors: live.total.counts.errors,
    }
}

fn not_loaded(error: LoadError) -> CommandError {
    match error {
        LoadError::Files { possible, .. } => CommandError::measure(&error)
            .hint(format!("use --connections {possible}, or raise the limit (ulimit -n)")),
        LoadError::Threads(_) => CommandError::measure(error),
    }
}

fn no_target(error: TargetError) -> CommandError {
    match error {
        TargetError::Lookup { .. } => CommandError::measure(error),
        error => CommandError::usage(error),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    checked(parse_duration(text), |duration| !duration.is_zero(), "it must be above zero")
}

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::*;

    #[test]
    fn the_demonstration_ignores_no_flag() {
        let command = Args::augment_args(clap::Command::new("load"));
        let demo = command.get_arguments().find(|one| one.get_id() == "demo").unwrap();
        let refused = command.get_arg_conflicts_with(demo);
        // The others need another one, or say where the demonstration runs.
        let taken = ["demo", "duration", "max_time", "on", "send"];
        let ids = command.get_arguments().map(|one| one.get_id().as_str());
        for id in ids.filter(|id| !taken.contains(id)) {
            assert!(refused.iter().any(|one| one.get_id() == id), "--demo ignores {id}");
        }
    }
}
