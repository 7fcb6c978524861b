//! `becalm noise ablate`: which mitigation helps here.

mod output;

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use becalm_lab::Workload;
use becalm_lab::ablate::effects;
use becalm_lab::ablate::mitigation::{self, MITIGATIONS};
use becalm_machine::{MitigationEffects, SysRoot};
use becalm_model::ablate::AblateDocument;
use becalm_model::parse_duration;
use becalm_runner::own_affinity;
use becalm_session::ablate::{AblateRequest, Subject, ablate};
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::{ElsewhereFlags, WaitFlag, confidence};
use crate::measuring::{interrupt, with_listener};
use crate::ui::Ui;
use crate::written::check_files;

/// Name of a profile while none is written.
const UNWRITTEN: &str = "quiet.toml";

/// Find out which mitigation makes times steadier here, by how much, and at what cost
///
/// becalm tries every mitigation that is possible here alone, then in combination, in blocks of
/// random order. It changes settings of the machine for one run and puts them back after it. It
/// recommends the smallest set that is nearly as good as the best, and measures that again against
/// the unchanged machine, because chance flatters the best of many.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches of the command line")]
pub(crate) struct Args {
    /// A built-in workload, which times its own iterations
    #[arg(value_parser = workloads(), conflicts_with = "command", required_unless_present_any = ["command", "list"])]
    workload: Option<Workload>,

    /// Program and arguments, after `--`; each run is timed as a whole
    #[arg(value_name = "COMMAND", last = true)]
    command: Vec<String>,

    /// Timed iterations of each run of a workload
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..))]
    iterations: u32,

    /// Time to take, approximately; a longer time detects smaller effects
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "150s")]
    max_time: Duration,

    /// Only these mitigations (comma-separated; `--list` names them)
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = known)]
    only: Vec<String>,

    /// Skip these mitigations
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = known)]
    skip: Vec<String>,

    /// Also try what others on this machine may notice: stopped services, an empty page cache
    #[arg(long)]
    strict: bool,

    /// Keep the machine busy meanwhile: one computing process on every CPU
    #[arg(long)]
    busy: bool,

    /// List which mitigations are possible here, and why others are not, and exit; without a
    /// subject, the list is for one that computes in one thread
    #[arg(long)]
    list: bool,

    /// Confidence of intervals and verdicts
    #[arg(long, value_name = "SHARE", value_parser = confidence, default_value = "95%")]
    confidence: f64,

    /// Seed of the order in the blocks [default: random, and recorded]
    #[arg(long, value_name = "N")]
    seed: Option<u32>,

    /// End a run, and give up its mitigations, after this time
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "60s")]
    timeout: Duration,

    /// Under sudo, run the subject as root and not as the user who called sudo
    #[arg(long)]
    keep_root: bool,

    /// Do not save the measured effects; `becalm check` shows them beside its findings
    #[arg(long)]
    no_save: bool,

    #[command(flatten)]
    wait: WaitFlag,

    /// Print everything as JSON
    #[arg(long)]
    json: bool,

    /// Save everything as JSON
    #[arg(long, value_name = "FILE")]
    export_json: Option<PathBuf>,

    /// Save an HTML report
    #[arg(long, value_name = "FILE")]
    export_html: Option<PathBuf>,

    /// Save the recommended settings as a profile for `becalm tune --profile FILE`; exits with 3 if
    /// nothing is recommended
    #[arg(long, value_name = "FILE")]
    write_profile: Option<PathBuf>,

    /// Read and change the settings of this folder instead of the machine
    #[arg(long, default_value = "/", hide = true)]
    root: PathBuf,

    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereFlags,
}

fn workloads() -> impl TypedValueParser<Value = Workload> {
    PossibleValuesParser::new(Workload::all().map(Workload::name))
        .map(|name| Workload::from_name(&name).expect("the parser accepts only names of workloads"))
}

fn known(name: &str) -> Result<String, String> {
    if mitigation::find(name).is_some() {
        return Ok(name.to_owned());
    }
    let names: Vec<&str> = MITIGATIONS.iter().map(|one| one.name).collect();
    Err(format!("there is no such mitigation; the mitigations are {}", names.join(", ")))
}

pub(crate) fn run(args: &Args, given: &[String], ui: &Ui) -> Result<Exit, CommandError> {
    let broken = |error: std::io::Error| {
        CommandError::measure(format!("cannot find becalm's own program file: {error}"))
    };
    let becalm = std::env::current_exe().map_err(broken)?;
    let becalm = becalm.to_str().map(ToOwned::to_owned).ok_or_else(|| {
        CommandError::measure(format!(
            "the path of becalm's program file is not valid UTF-8: {}",
            becalm.display()
        ))
    })?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seed = args.seed.unwrap_or_else(|| now.subsec_nanos() ^ std::process::id() << 8);
    let root = SysRoot::new(&args.root);
    let request = AblateRequest {
        topology: crate::topology::read(&root)?,
        root,
        subject: subject(args, &becalm),
        becalm,
        seed: u64::from(seed),
        confidence: args.confidence,
        max_time: args.max_time,
        timeout: args.timeout,
        wait: args.wait.wait.unwrap_or_default(),
        only: args.only.clone(),
        skip: args.skip.clone(),
        is_strict: args.strict,
        is_busy: args.busy,
        is_list: args.list,
    };
    if MITIGATIONS.iter().all(|one| request.is_unwanted(one.name)) {
        let all = if args.only.is_empty() { "the only one is" } else { "--only names" };
        return Err(CommandError::usage(format!(
            "nothing to try: --skip excludes everything that {all}"
        )));
    }
    let files = [&args.export_json, &args.export_html, &args.write_profile];
    check_files(files.into_iter().flatten())?;
    let profile = args.write_profile.as_ref().map(|path| path.display().to_string());
    let profile = profile.as_deref().unwrap_or(UNWRITTEN);
    let interrupt = interrupt()?;
    let result = with_listener(ui, |listener| ablate(&request, profile, interrupt, listener));
    ui.progress_line("");
    let (mut document, ended) = result?;
    document.started_at = now.as_secs_f64();
    document.arguments = given.to_vec();
    if !args.no_save && !args.list && ended.is_ok() {
        save(&request.root, &mut document, ui);
    }
    output::give(&document, ended.map_err(CommandError::from), args, ui)
}

fn subject(args: &Args, becalm: &str) -> Subject {
    // What there is to list depends on little of the subject, and on this the least.
    let unnamed = args.command.is_empty().then_some(Workload::Compute);
    match args.workload.or(unnamed) {
        Some(workload) => {
            let cpus = own_affinity().map_or(1, |cpus| cpus.len());
            Subject::Workload {
                becalm: becalm.to_owned(),
                workload,
                iterations: args.iterations,
                threads: workload.threads_on(cpus),
            }
        }
        None => Subject::Command(args.command.clone()),
    }
}

/// Saves what the mitigations did. A failure to save it is only worth a warning.
fn save(root: &SysRoot, document: &mut AblateDocument, ui: &Ui) {
    let effects = effects(document);
    if effects.is_empty() {
        return;
    }
    match MitigationEffects::add(root, effects) {
        Ok(place) => document.saved = Some(place.display().to_string()),
        Err(error) => ui.warn(format!("the measured effects could not be saved: {error}")),
    }
}
